"""The components of a repository as a picture: boxes from top to bottom, and a line for each use. Pure."""

from __future__ import annotations

from collections.abc import Sequence
from statistics import fmean

from repopilot.agents.overview.layers import layered
from repopilot.agents.overview.overview_values import Component, Overview

BOX = (142, 34)
STEP = (156, 66)
MARGIN = 8
IN_A_ROW = 4
MOST_ROWS = 7
"""Where components that all use each other would make more rows, they stand side by side in the same order."""


def picture_props(overview: Overview, around: int | None = None) -> dict:
    """The picture with the positions of its boxes in pixels; {} if there are no lines.

    Args:
        overview: of the repository; its components are the boxes, in their order. A line is [from, to, weight, whether
            a longer way along other lines leads there, too].
        around: the number of the component that is shown with its neighbours only; None for all components.
    """
    uses = {
        (use.source, use.target): use.count
        for use in overview.uses
        if around is None or around in (use.source, use.target)
    }
    if not uses:
        return {}
    every = range(len(overview.components))
    shown = every if around is None else sorted({end for pair in uses for end in pair})
    downward, implied = layered(uses)
    rows = _rows(shown, downward)
    widest = max(map(len, rows))
    places = {
        number: (MARGIN + round((at + (widest - len(row)) / 2) * STEP[0]), MARGIN + depth * STEP[1])
        for depth, row in enumerate(rows)
        for at, number in enumerate(row)
    }
    heaviest = max(uses.values())
    return {
        "down": True,
        "width": 2 * MARGIN + BOX[0] + (widest - 1) * STEP[0],
        "height": 2 * MARGIN + BOX[1] + (len(rows) - 1) * STEP[1],
        "box": list(BOX),
        "boxes": [_box(overview.components[number], number, places[number], number == around) for number in shown],
        "lines": [
            [shown.index(source), shown.index(target), count / heaviest, (source, target) in implied]
            for (source, target), count in uses.items()
        ],
    }


def _box(component: Component, number: int, place: tuple[int, int], is_subject: bool) -> dict:
    return {
        "label": component.name,
        "path": component.paths[0],
        "number": number,
        "x": place[0],
        "y": place[1],
        "subject": is_subject,
    }


def _rows(shown: Sequence[int], downward: Sequence[tuple[int, int]]) -> list[Sequence[int]]:
    """The boxes by row: each below all its users, and ordered by the average position of these."""
    depths = dict.fromkeys(shown, 0)
    for _ in shown:
        for source, target in downward:
            depths[target] = max(depths[target], depths[source] + 1)
    at: dict[int, float] = {}
    rows: list[Sequence[int]] = []
    for depth in sorted(set(depths.values())):
        row = [number for number in shown if depths[number] == depth]
        above = {n: [at[a] for a, b in downward if b == n] for n in row}
        row.sort(key=lambda n: fmean(above[n]) if above[n] else 0.5)
        at |= {number: (place + 0.5) / len(row) for place, number in enumerate(row)}
        rows += _broken(row)
    return rows if len(rows) <= MOST_ROWS else _broken([number for row in rows for number in row])


def _broken(row: Sequence[int]) -> list[Sequence[int]]:
    return [row[first : first + IN_A_ROW] for first in range(0, len(row), IN_A_ROW)]
