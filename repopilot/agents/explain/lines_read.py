"""Which lines of the repository a model has seen: those in its prompt and those that its tools showed it."""

from __future__ import annotations

import re
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from typing import Any

from repopilot.agents.loop_values import CallRecord
from repopilot.index.store import Index
from repopilot.retrieval.cite import without_spaces
from repopilot.retrieval.claims import identifiers

_PATH = re.compile(r"[\w@+.-]+(?:/[\w@+.-]+)+|[\w@+-]+\.\w+")


@dataclass(frozen=True)
class LinesRead:
    """What a model has seen.

    Attributes:
        lines: by path and number, as the index has them.
        searches: the queries and patterns that were looked for.
        told: names and paths in tool results that it didn't bring up itself, whether or not a line has them.
        results: the texts of tool results that showed no lines, such as those of tests, commands and commits.
    """

    lines: Mapping[str, Mapping[int, str]]
    searches: tuple[str, ...] = ()
    told: frozenset[str] = frozenset()
    results: str = ""

    def holds(self, path: str, start: int, end: int) -> bool:
        """Whether most of these lines were read."""
        known = self.lines.get(path, {})
        return 2 * sum(start <= number <= end for number in known) > end - start

    def with_name(self, name: str) -> Iterator[tuple[str, int]]:
        """Path and number of each line read that has an identifier."""
        for path, lines in self.lines.items():
            # Looking for the text first is a hundred times faster.
            yield from ((path, number) for number, line in lines.items() if name in line and name in identifiers(line))

    def with_text(self, text: str) -> Iterator[tuple[str, int]]:
        """Path and number of each line read that holds a text, however it is spaced."""
        wanted = without_spaces(text)
        for path, lines in self.lines.items():
            yield from ((path, number) for number, line in lines.items() if wanted in without_spaces(line))


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


def seen_in_calls(index: Index, begun: Iterable[tuple[str, int, int]], calls: Sequence[CallRecord]) -> LinesRead:
    """The lines that tools showed, and what else their results say.

    Args:
        index: the repository.
        begun: path, first and last line of each range that was shown before.
        calls: the calls of tools.
    """
    good = [call for call in calls if call.ok]
    shown = [*begun, *(found for call in good for found in ranges_in(call.data))]
    asked = [str(value) for call in calls for key, value in call.arguments.items() if key != "path"]
    told = frozenset(call.name for call in calls)
    told = told.union(*(words_told(call.text) - words_told(str(call.arguments)) for call in good))
    results = "\n".join(call.text for call in good if not any(ranges_in(call.data)))
    return replace(lines_read(index, shown, asked), told=told, results=results)


def words_told(text: str) -> frozenset[str]:
    """The identifiers and paths in a text."""
    return identifiers(text) | frozenset(_PATH.findall(text))


def ranges_in(data: Any) -> Iterator[tuple[str, int, int]]:
    """The ranges of lines in a tool's data: from rows with a path, and a line or a first line and a text."""
    if isinstance(data, list):
        for each in data:
            yield from ranges_in(each)
    elif isinstance(data, dict):
        if isinstance(path := data.get("path"), str):
            yield from ((path, start, end) for start, end in _spans(data))
        for value in data.values():
            if isinstance(value, list | dict):
                yield from ranges_in(value)


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
