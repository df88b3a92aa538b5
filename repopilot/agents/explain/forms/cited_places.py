"""Collects the places that an answer cites and numbers them."""

from __future__ import annotations

from repopilot.agents.explain.evidence_places import evidence_of_lines
from repopilot.index.store import Index
from repopilot.types import Evidence

MOST_LINES = 40
"""Lines of one place that are quoted."""


class CitedPlaces:
    """The places that an answer cites, numbered from 1 in the order in which they are cited first.

    Args:
        index: gives their lines.
        most: how many lines of one place are quoted; None for all.
    """

    def __init__(self, index: Index, most: int | None = MOST_LINES) -> None:
        self._index = index
        self._most = most
        self._places: dict[tuple[str, int, int], Evidence] = {}

    def cite(self, path: str, start: int, end: int = 0, symbol: str = "") -> str:
        """The citation of a range of lines, `[n]`; the same range has the same number.

        Args:
            path: the file.
            start: the first line.
            end: the last line; 0 for the first alone.
            symbol: what the lines define, '' for nothing.
        """
        last = max(start, end)
        key = (path, start, last)
        if key not in self._places:
            self._places[key] = evidence_of_lines(self._index, len(self._places) + 1, key, symbol, self._most)
        return f"[{self._places[key].number}]"

    @property
    def places(self) -> tuple[Evidence, ...]:
        """The places by number."""
        return tuple(self._places.values())
