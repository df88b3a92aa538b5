"""The entries of parameters in a docstring, in the forms of Google, NumPy, Sphinx and Epytext. Pure."""

from __future__ import annotations

import re
from collections.abc import Iterator
from dataclasses import dataclass

_FIELD = re.compile(
    r"[ \t]*[:@](?:param|parameter|arg|argument|key|keyword|kwarg|type)\s+(?:[^:\n]*\s)?\*{0,2}(\w+)\s*:"
)
_GOOGLE = re.compile(
    r"([ \t]*)(?:Args|Arguments|Parameters|Params|Keyword Args|Keyword Arguments|Other Parameters):\s*$"
)
_NUMPY = re.compile(r"([ \t]*)(?:Other )?Parameters\s*$")
_RULE = re.compile(r"[ \t]*-{3,}\s*$")
_ENTRY = re.compile(r"([ \t]*)\*{0,2}(\w+)\s*(?:\([^)\n]*\)\s*)?:")
_NUMPY_ENTRY = re.compile(r"([ \t]*)\*{0,2}(\w+)\s*(?::.*)?$")
_MARKED = re.compile(r"`{1,2}(\w+)`{1,2}")


@dataclass(frozen=True, slots=True)
class Entry:
    """The entry of a parameter in a docstring: the span of its name, and that of all its lines."""

    name: str
    name_span: tuple[int, int]
    span: tuple[int, int]


def entries(text: str) -> list[Entry]:
    """The entries of parameters.

    Args:
        text: the docstring as it stands in the source, quotes and indentation included.
    """
    lines = list(_lines(text))
    found: list[Entry] = []
    section = None
    entry_indent = None
    for n, (start, line) in enumerate(lines):
        indent = len(line) - len(line.lstrip())
        if section is not None and line.strip() and _ends(line, indent, section, lines, n):
            section = None
        pattern = None if section is None else _NUMPY_ENTRY if section[1] else _ENTRY
        match = _FIELD.match(line)
        name = 1
        if match is None and pattern is not None and line.strip() and (entry_indent is None or indent == entry_indent):
            match = pattern.match(line)
            name = 2
            entry_indent = indent if match else entry_indent
        if match is not None:
            place = (start + match.start(name), start + match.end(name))
            found.append(Entry(match.group(name), place, (start, _end(lines, n, indent, len(text)))))
        if (head := _GOOGLE.match(line)) is not None:
            section = (len(head.group(1)), False)
            entry_indent = None
        elif section is not None and section[1] and _RULE.match(line):
            continue
        elif _NUMPY.match(line) and n + 1 < len(lines) and _RULE.match(lines[n + 1][1]):
            section = (indent, True)
            entry_indent = None
    return found


def marked(text: str, name: str) -> Iterator[tuple[int, int]]:
    """Where a docstring names a parameter in code marks."""
    yield from (found.span(1) for found in _MARKED.finditer(text) if found.group(1) == name)


def _lines(text: str) -> Iterator[tuple[int, str]]:
    start = 0
    for line in text.split("\n"):
        yield start, line.rstrip("\r")
        start += len(line) + 1


def _ends(line: str, indent: int, section: tuple[int, bool], lines: list[tuple[int, str]], n: int) -> bool:
    """Whether a line ends a section: it isn't deeper than the section's head, or is the head of another one."""
    base, numpy = section
    if numpy:
        return indent < base or (not _RULE.match(line) and n + 1 < len(lines) and bool(_RULE.match(lines[n + 1][1])))
    return indent <= base


def _end(lines: list[tuple[int, str]], n: int, indent: int, end: int) -> int:
    """Where an entry ends: before the next line that isn't deeper; blank lines behind it don't belong to it."""
    last = n
    for m in range(n + 1, len(lines)):
        line = lines[m][1]
        if line.strip() and len(line) - len(line.lstrip()) <= indent:
            break
        last = m if line.strip() and not line.strip().startswith(('"""', "'''")) else last
    return lines[last + 1][0] if last + 1 < len(lines) else end
