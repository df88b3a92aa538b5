"""Questions of SWE-QA-Bench with the places that their reference answers name.

An answer names files (`lib/cli.py`, or only `cli.py`) and lines (`lines 12-30`, `cli.py:12-30`, `12:30:lib/cli.py`). A
range belongs to the file named right behind it, else to the one named last before it; where code is quoted beside the
range, one of its names must occur in the lines or be that of a definition around them, in this file or in another one
that the answer names.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass

from bench.datasets.repository import unique
from repopilot.code.languages import is_doc_path

LONGEST_RANGE = 300
SLACK = 3
"""Lines by which an answer may miss the name it speaks of."""
_NUMBERS = r"\d{1,5}(?:\s?(?:[-–]|to|through)\s?\d{1,5})?(?!\d)"
_RANGE = rf"\b[Ll]ines?(?:\*\*:|:)?\s*(?P<ranges>~?{_NUMBERS}(?:(?:,\s*(?:and\s+)?|\s+and\s+){_NUMBERS})*)"
_PATH = (
    r"(?<![\w/.-])(?P<path>\.{0,2}/?(?:[\w.+-]+/)*[\w+-][\w.+-]*\.(?:py|pyi|pyx|c|h|cpp|rst|md|txt|toml|cfg|ini|js|ts"
    r"|jsx|json|html|jinja|ya?ml|sql|tex|sh))\b(?::(?P<first>\d{1,5})(?:-(?P<last>\d{1,5}))?)?"
)
_TOKEN = re.compile(rf"(?P<quoted>```(?P<from>\d{{1,5}}):(?P<to>\d{{1,5}}):(?P<cited>[^\s`]+))|{_RANGE}|{_PATH}")
_BEHIND = re.compile(rf"[\s`*)]*(?:in|of|from|inside|within)\s+(?:the\s+)?(?:file\s+)?[`*]*{_PATH}")
_CODE = re.compile(r"`([^`\n]{2,80})`")
_NAME = re.compile(r"[A-Za-z_]\w{2,}")
_DEFINITION = re.compile(r"\s*(?:async\s+def|def|class)\s+(?P<name>\w+)")
_COMMON = frozenset(("self", "cls", "None", "True", "False", "return", "not", "and"))
Read = Callable[[str], Sequence[str]]
"""The lines of a file."""


@dataclass(frozen=True, slots=True)
class Mention:
    """Lines named in an answer: the files they can be in, best first, and the names quoted beside them."""

    paths: tuple[str, ...]
    first: int
    last: int
    names: frozenset[str]


def named_places(answer: str, files: Sequence[str], read: Read) -> tuple[list[list], list[str]]:
    """The places that an answer names. Longer ranges than LONGEST_RANGE are left out: they are no places.

    Args:
        answer: the reference answer.
        files: all paths of the repository.
        read: gives the lines of one of them.

    Returns:
        The ranges as [path, first line, last line], and the paths named, each once, in their order.
    """
    resolved = _Resolver(answer, files)
    found = [place for mention in mentions(answer, resolved) if (place := _located(mention, resolved, read))]
    return unique(found), resolved.certain


def mentions(answer: str, resolved: _Resolver) -> Iterator[Mention]:
    """Every range of lines in an answer, with the files it can be meant in."""
    last_named: tuple[str, ...] = ()
    for match in _TOKEN.finditer(answer):
        names = _names_near(answer, match.start(), match.end())
        if match["quoted"]:
            last_named = resolved.paths(match["cited"]) or last_named
            block = answer[match.end() : answer.find("```", match.end())]
            names = frozenset(_NAME.findall(block)) - _COMMON
            yield Mention(last_named, int(match["from"]), int(match["to"]), names)
        elif match["ranges"]:
            behind = _BEHIND.match(answer, match.end())
            paths = resolved.paths(behind["path"]) if behind else last_named
            for first, last in _numbers(match["ranges"]):
                yield Mention(paths, first, last, names)
        else:
            last_named = resolved.paths(match["path"]) or last_named
            if match["first"]:
                yield Mention(last_named, int(match["first"]), int(match["last"] or match["first"]), names)


def _numbers(text: str) -> Iterator[tuple[int, int]]:
    for part in re.findall(_NUMBERS, text):
        first, *rest = [int(number) for number in re.findall(r"\d+", part)]
        yield first, rest[0] if rest else first


def _names_near(answer: str, start: int, end: int) -> frozenset[str]:
    """The names in code quoted in the same line of the answer, before the range and shortly behind it."""
    begin = max(answer.rfind("\n", 0, start), answer.rfind(". ", 0, start), start - 160) + 1
    stop = answer.find("\n", end, end + 120)
    stop = stop if stop >= 0 else end + 120
    quoted = (code[1] for code in _CODE.finditer(answer) if begin <= code.start() and code.end() <= stop)
    code = (text for text in quoted if not re.search(_PATH, text))
    return frozenset(name for text in code for name in _NAME.findall(text) if name not in _COMMON)


def _located(mention: Mention, resolved: _Resolver, read: Read) -> list | None:
    """The place of a mention, None where no file has fitting lines."""
    fits = [path for path in mention.paths if fitting(read(path), mention)]
    if not fits and mention.names:
        fits = [path for path in resolved.certain if not is_doc_path(path) and fitting(read(path), mention)]
    certain = len(fits) == 1 or (fits and len(mention.paths) == 1)
    return [fits[0], mention.first, mention.last] if certain else None


def fitting(lines: Sequence[str], mention: Mention) -> bool:
    """Whether a file has the lines and, if code is quoted beside them, one of its names in, beside or around them."""
    if not 0 < mention.first <= mention.last <= len(lines) or mention.last - mention.first >= LONGEST_RANGE:
        return False
    text = "\n".join(lines[max(0, mention.first - 1 - SLACK) : mention.last + SLACK])
    return not mention.names or not mention.names.isdisjoint((*_NAME.findall(text), *_around(lines, mention.first)))


def _around(lines: Sequence[str], number: int) -> Iterator[str]:
    """The names of the Python definitions around a line, by indentation, the innermost first."""
    indent = len(lines[number - 1]) - len(lines[number - 1].lstrip()) if lines[number - 1].strip() else 99
    for line in reversed(lines[: number - 1]):
        depth = len(line) - len(line.lstrip())
        if not line.strip() or depth >= indent:
            continue
        found = _DEFINITION.match(line)
        if found:
            yield found["name"]
        if found or not line.lstrip().startswith((")", "]", "}")):
            indent = depth
        if not indent:
            return


class _Resolver:
    """Resolves what an answer calls a file to paths of the repository."""

    def __init__(self, answer: str, files: Sequence[str]) -> None:
        self._by_name: dict[str, list[str]] = {}
        for path in files:
            self._by_name.setdefault(path.rpartition("/")[2], []).append(path)
        written = [match["path"] or match["cited"] for match in _TOKEN.finditer(answer)]
        written = [name for name in written if name]
        self.certain = list(dict.fromkeys(p[0] for name in written if len(p := self._matching(name)) == 1))

    def paths(self, written: str) -> tuple[str, ...]:
        """The paths that end like this; only those named in full elsewhere in the answer, where there are some."""
        found = self._matching(written)
        return tuple([path for path in found if path in self.certain] or found)

    def _matching(self, written: str) -> list[str]:
        wanted = re.sub(r"^[./]*(?:workspace/)?", "", written)
        named = self._by_name.get(wanted.rpartition("/")[2], [])
        return [p for p in named if p == wanted] or [p for p in named if p.endswith("/" + wanted)]
