"""Diagrams of boxes in columns: the call graph around a definition, the files that a change affects. Sync."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import dataclass

from repopilot.code.languages import is_test_path
from repopilot.index.store import Index
from repopilot.resolve.uses.call_graph import RelatedPlace, callees, callers
from repopilot.results import AffectedPlace, CoveringTest, ImpactReport

ROWS = 12
HOPS = 3
"""The last column of an impact diagram also holds files that are further away."""


@dataclass(frozen=True, slots=True)
class Box:
    """A definition or file; `line` is 1 for a file."""

    label: str
    path: str
    line: int
    column: int


@dataclass(frozen=True, slots=True)
class Diagram:
    """Boxes by column, the lines between them as (box, box, weight), and how many boxes each column leaves out."""

    boxes: tuple[Box, ...]
    lines: tuple[tuple[int, int, int], ...]
    left_out: tuple[int, ...] = ()


def call_diagram(index: Index, name: str) -> Diagram:
    """What uses a definition on its left, what it uses on its right.

    Args:
        index: the repository.
        name: a path, `path:Symbol` or `Class.method`.

    Raises:
        UsageError: no definition has the name.
    """
    before = _places(callers(index, name).places)
    after = _places(callees(index, name).places)
    path, _, symbol = name.rpartition(":")
    definition = next((s for s in index.outline(path) if s.qualified == symbol), None) if path else None
    subject = Box(symbol or name, path or name, definition.start_line if definition else 1, 1)
    boxes = [subject, *_column(before[:ROWS], 0), *_column(after[:ROWS], 2)]
    lines = [(n, 0, 1) if box.column == 0 else (0, n, 1) for n, box in enumerate(boxes) if n]
    return Diagram(tuple(boxes), tuple(lines), (max(0, len(before) - ROWS), 0, max(0, len(after) - ROWS)))


def impact_diagram(report: ImpactReport) -> Diagram:
    """The files of an impact report in columns by their distance from the change, with what depends on what."""
    distance = {file.path: 0 for file in report.changed}
    reached: list[AffectedPlace | CoveringTest] = [*report.affected, *report.covering_tests]
    for item in reached:
        distance.setdefault(item.path, min(item.distance, HOPS))
    columns = [[path for path, hops in distance.items() if hops == column] for column in range(HOPS + 1)]
    boxes = [Box(path, path, 1, column) for column, paths in enumerate(columns) for path in paths[:ROWS]]
    number = {box.path: at for at, box in enumerate(boxes)}
    tests = [test.path for test in report.covering_tests if test.distance == 1]
    pairs = {(place.via, place.path) for place in report.affected}
    pairs |= {(report.changed[0].path, path) for path in tests if report.changed}
    lines = [(number[a], number[b], 1) for a, b in sorted(pairs) if a != b and a in number and b in number]
    return Diagram(tuple(boxes), tuple(lines), tuple(max(0, len(paths) - ROWS) for paths in columns))


def _places(found: Iterable[RelatedPlace]) -> list[RelatedPlace]:
    """One place for each definition, the program's own before its tests."""
    first = {(place.path, place.name): place for place in reversed(list(found))}
    return sorted(first.values(), key=lambda place: (is_test_path(place.path), not place.sure))


def _column(places: Sequence[RelatedPlace], column: int) -> list[Box]:
    return [Box(place.name or place.path, place.path, place.line, column) for place in places]
