"""Which lines of the repository a model has seen: those in its prompt and those that its tools showed it."""

from __future__ import annotations

import re
from collections.abc import Iterable, Iterator, Mapping
from dataclasses import dataclass, field
from typing import Any

from repopilot.index.store import Index
from repopilot.retrieval.claims import identifiers


@dataclass(frozen=True)
class LinesRead:
    """Lines by path and number, as the index has them. `searches` are the queries and patterns that were looked for."""

    lines: Mapping[str, Mapping[int, str]]
    searches: tuple[str, ...] = ()
    _identifiers: dict[str, dict[str, list[int]]] = field(default_factory=dict)

    def holds(self, path: str, start: int, end: int) -> bool:
        """Whether one of these lines was read."""
        known = self.lines.get(path, {})
        return any(number in known for number in range(start, end + 1))

    def with_name(self, name: str) -> Iterator[tuple[str, int]]:
        """Path and number of each line read that has an identifier."""
        for path in self.lines:
            yield from ((path, number) for number in self._names(path).get(name, ()))

    def with_text(self, text: str) -> Iterator[tuple[str, int]]:
        """Path and number of each line read that holds a text, however it is spaced."""
        wanted = without_spaces(text)
        for path, lines in self.lines.items():
            yield from ((path, number) for number, line in lines.items() if wanted in without_spaces(line))

    def _names(self, path: str) -> Mapping[str, list[int]]:
        if path not in self._identifiers:
            found: dict[str, list[int]] = {}
            for number, line in self.lines[path].items():
                for name in identifiers(line):
                    found.setdefault(name, []).append(number)
            self._identifiers[path] = found
        return self._identifiers[path]


def lines_read(index: Index, shown: Iterable[tuple[str, int, int]], searches: Iterable[str] = ()) -> LinesRead:
    """What was read, with the text of the lines.

    Args:
        index: the repository.
        shown: path, first and last line of each range that was shown.
        searches: what was searched for.
    """
    lines: dict[str, dict[int, str]] = {}
    for path, start, end in shown:
        if path in index.files and (text := index.lines(path, start, end)) is not None:
            lines.setdefault(path, {}).update(enumerate(text.split("\n"), start))
    return LinesRead({path: dict(sorted(rows.items())) for path, rows in lines.items()}, tuple(searches))


def ranges_in(data: Any) -> Iterator[tuple[str, int, int]]:
    """The ranges of lines in a tool's data: rows with a path and a line, or with as many lines as their text has."""
    if isinstance(data, list):
        for each in data:
            yield from ranges_in(each)
    elif isinstance(data, dict):
        if isinstance(path := data.get("path"), str):
            yield from ((path, start, end) for start, end in _spans(data))
        for value in data.values():
            if isinstance(value, list | dict):
                yield from ranges_in(value)


def without_spaces(text: str) -> str:
    """A text without white space, to compare code that is laid out in another way."""
    return re.sub(r"\s+", "", text)


def _spans(row: Mapping[str, Any]) -> Iterator[tuple[int, int]]:
    if isinstance(start := row.get("start_line"), int):
        lines = row.get("lines") or (row["text"].split("\n") if row.get("text") else [])
        if lines:
            yield start, start + len(lines) - 1
    elif isinstance(line := row.get("line"), int):
        yield line, line
    for symbol in row.get("symbols", ()):  # an outline shows the first line of each
        if isinstance(symbol, dict) and isinstance(symbol.get("start_line"), int):
            yield symbol["start_line"], symbol["start_line"]
