"""Arguments of a function as documents name them: in the calls that they show, and in the sections about it."""

from __future__ import annotations

import re
from collections.abc import Collection, Iterator
from itertools import pairwise

from repopilot import i18n
from repopilot.agents.editing.exact.mentions import is_history
from repopilot.agents.editing.exact.sources import Patch, Sources
from repopilot.code.languages import file_kind
from repopilot.types import Edit, Symbol

_HEADING = re.compile(r"^(?:#{1,6} .*|(?P<title>[^\s].*)\n(?P<line>([=\-~^*#])\3{2,})[^\S\n]*)$", re.M)
_OPEN, _CLOSE = "([{", ")]}"


def rename_in_documents(functions: Collection[str], name: str, new: str, sources: Sources, patch: Patch) -> None:
    """Rename an argument where documents certainly mean it.

    Args:
        functions: names of the functions that have it, of a constructor that of its class.
        name: of the argument.
        new: its new name.
        sources: the files.
        patch: gets the changes.
    """
    paths = [p for p in sources.mentioning(name) if file_kind(p) == "doc" and not is_history(p)]
    others = _functions_with(name, sources) - set(functions) if paths else set()
    for path in paths:
        source = sources.get(path)
        if source is None:
            continue
        for at, certain in argument_mentions(source.text, functions, name, others):
            start = len(source.text[:at].encode("utf-8"))
            if not certain:
                patch.leave_open(source, start, i18n.message("exact.open.document"))
                continue
            patch.replace(path, start, start + len(name.encode("utf-8")), new)
            line = i18n.message("exact.line", line=source.line_of(start))
            patch.edits.append(Edit("rename_parameter", path, line, new))


def _functions_with(name: str, sources: Sources) -> set[str]:
    """The names of the functions that have a parameter, of constructors those of their classes."""
    symbols = [s for path in sources.mentioning(name, ("python",)) for s in sources.outline(path)]
    parameter = re.compile(rf"[(,]\s*\**{re.escape(name)}\s*[:=,)]")
    return {_label(s) for s in symbols if s.kind in ("function", "method") and parameter.search(s.signature)}


def _label(symbol: Symbol) -> str:
    parts = symbol.qualified.split(".")
    return parts[-2] if symbol.name == "__init__" and len(parts) > 1 else symbol.name


def argument_mentions(
    text: str, functions: Collection[str], name: str, others: Collection[str]
) -> Iterator[tuple[int, bool]]:
    """Where a document may mean an argument of some functions.

    Args:
        text: of the document.
        functions: names of the functions, of a constructor that of its class.
        name: of the argument.
        others: names of other functions that have such an argument.

    Yields:
        Offsets in characters, and whether it certainly does: not so in a section about one of the others as well.
    """
    keyword = re.compile(rf"(?<![\w.]){re.escape(name)}(?=\s?=(?!=))")
    told = re.compile(rf"(?<=`){re.escape(name)}(?==?`)")
    found = dict[int, bool]()
    for function in functions:
        for match in re.finditer(rf"(?<!\w){re.escape(function)}(?!\w)", text):
            spans = _arguments(text, match.start(), match.end())
            found |= {m.start(): True for m in keyword.finditer(text, *spans)}
    for start, end in _sections(text):
        section = text[start:end]
        if any(_is_about(section, f) for f in functions):
            certain = not any(_is_about(section, f) for f in others)
            found |= {start + m.start(): certain for m in told.finditer(section)}
    yield from sorted(found.items())


def _arguments(text: str, start: int, end: int) -> tuple[int, int]:
    """The parentheses behind a name, else those that it stands in as the first of several: `Middleware(Gzip, a=1)`."""
    if text[end : end + 1] == "(":
        return end, _closing(text, end)
    opening = re.search(r"\(\s*$", text[:start])
    if opening is not None and re.match(r"\s*,", text[end:]):
        return end, _closing(text, opening.start())
    return end, end


def _closing(text: str, opening: int) -> int:
    """The end of a pair of parentheses, or the offset of the opening one where it is never closed."""
    depth = 0
    for at in range(opening, len(text)):
        depth += (text[at] in _OPEN) - (text[at] in _CLOSE)
        if depth == 0:
            return at
    return opening


def _sections(text: str) -> Iterator[tuple[int, int]]:
    """The parts of a document, each with its heading."""
    starts = [0, *(match.start() for match in _HEADING.finditer(text)), len(text)]
    yield from ((a, b) for a, b in pairwise(starts) if a < b)


def _is_about(section: str, function: str) -> bool:
    """Whether a section speaks of a function: in its heading, as code, or as a call."""
    name = re.escape(function)
    heading = _HEADING.match(section)
    if heading is not None and re.search(rf"(?<!\w){name}(?!\w)", heading[0]):
        return True
    return re.search(rf"(?<!\w){name}\(|[`~.]{name}(?:\(\))?`", section) is not None
