"""Measures of ranked places against the gold places of a query. Pure; shared by the comparison with other programs
and the fit of the ranking.

A place is (path, first line, last line), 1-based and inclusive; lines 0, 0 mean the whole file.
"""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from itertools import islice

Place = Sequence[str | int]
"""(path, start, end): a tuple, or the list of three that JSON gives."""


def overlaps(place: Place, gold: Place) -> bool:
    """Whether two places have a line in common; a whole file has one with every place in it."""
    (path, start, end), (gold_path, gold_start, gold_end) = place, gold
    if path != gold_path:
        return False
    return not end or not gold_end or (start <= gold_end and gold_start <= end)  # type: ignore[operator]


def with_lines(gold: Iterable[Place]) -> list[Place]:
    """The gold places that name lines, without those that name a file only."""
    return [place for place in gold if place[2]]


def distinct_files(places: Iterable[Place]) -> list[str]:
    """The paths of places, each once, in order of first appearance."""
    return list(dict.fromkeys(str(place[0]) for place in places))


def first_rank(ranked: Iterable[Place], gold: Sequence[Place]) -> int | None:
    """The 1-based rank of the first place that overlaps any gold place; None when none does."""
    return next((rank for rank, place in enumerate(ranked, 1) if any(overlaps(place, right) for right in gold)), None)


def file_rank(ranked: Iterable[Place], gold: Iterable[Place]) -> int | None:
    """The 1-based rank of the first gold file among the distinct files of a ranking; None when none is there."""
    right = set(distinct_files(gold))
    return next((rank for rank, path in enumerate(distinct_files(ranked), 1) if path in right), None)


def overlap_at(ranked: Iterable[Place], gold: Sequence[Place], k: int) -> bool:
    """Whether one of the first k places overlaps a gold place."""
    return first_rank(islice(ranked, k), gold) is not None


def file_at(ranked: Iterable[Place], gold: Iterable[Place], k: int) -> bool:
    """Whether a gold file is among the first k distinct files."""
    rank = file_rank(ranked, gold)
    return rank is not None and rank <= k


def range_share_at(ranked: Iterable[Place], gold: Sequence[Place], k: int) -> float:
    """The share of gold places, in [0, 1], that one of the first k places overlaps.

    Raises:
        ValueError: there is no gold place.
    """
    if not gold:
        raise ValueError("a query without gold places has no share of them")
    first = list(islice(ranked, k))
    return sum(any(overlaps(place, right) for place in first) for right in gold) / len(gold)


def reciprocal_rank(rank: int | None) -> float:
    """1 / rank of `first_rank` or `file_rank`, 0 where nothing right was found."""
    return 1 / rank if rank else 0.0
