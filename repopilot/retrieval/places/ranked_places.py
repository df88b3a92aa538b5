"""Turns ranked passages into places: neighbouring passages joined, and in each place the statements that matter.

Pure over arrays and texts.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, field
from functools import reduce
from operator import or_
from typing import TYPE_CHECKING

from repopilot.index.tokens import expand, words_by_line

if TYPE_CHECKING:
    import numpy as np

    from repopilot.index.lexical import LexicalIndex

LONGEST = 160
"""Most lines of a joined place."""
NEAR = 3
"""Passages of one file with at most this many lines between them are near each other."""
MOST_RANGES = 3
"""Most ranges of matching lines per place."""
MOST_LINES = 12
"""Most lines of one statement."""
LEAST_SHARE = 0.5
"""A statement with less than this share of the best one's weight is left out."""


@dataclass(frozen=True, slots=True, eq=False)
class Passages:
    """Where n passages are: `files` int (n,), `spans` int (n, 2) first and last lines, `groups` int (n,) the outermost
    definition of each."""

    files: np.ndarray
    spans: np.ndarray
    groups: np.ndarray


@dataclass(slots=True)
class Place:
    """Lines `start` to `end` of a file (by its number); `rows` are the passages in it, best first."""

    file: int
    start: int
    end: int
    rows: list[int] = field(default_factory=list)


def joined(passages: Passages, ranked: Iterable[int], count: int, outer: bool) -> list[Place]:
    """Join ranked passages into places.

    A passage that overlaps a better place, or follows or precedes it directly, makes that place longer, up to LONGEST
    lines, instead of taking a rank of its own.

    Args:
        passages: where the passages are.
        ranked: their numbers, best first.
        count: how many places at most.
        outer: whether to also join passages that are only near each other, or in one class (or other outermost
            definition).

    Returns:
        The places, ordered by their best passages.
    """
    found: list[Place] = []
    of_file: dict[int, list[Place]] = {}
    for row in ranked:
        file = int(passages.files[row])
        start, end = (int(line) for line in passages.spans[row])
        group, gap = (passages.groups[row], NEAR) if outer else (None, 0)
        candidates = (
            place
            for place in of_file.get(file, ())
            if (start <= place.end + gap + 1 and end >= place.start - gap - 1)
            or passages.groups[place.rows[0]] == group
        )
        place = next((place for place in candidates if max(end, place.end) - min(start, place.start) < LONGEST), None)
        if place is not None:
            place.start = min(place.start, start)
            place.end = max(place.end, end)
            place.rows.append(row)
        elif len(found) == count:
            break
        else:
            found.append(Place(file, start, end, [row]))
            of_file.setdefault(file, []).append(found[-1])
    return found


def token_weights(lexical: LexicalIndex, terms: Mapping[str, float]) -> dict[str, float]:
    """The terms of a query that the index has, weighted by their rarity."""
    numbers = {token: lexical.tokens[token] for token in terms if token in lexical.tokens}
    return {token: terms[token] * float(lexical.rarity[number]) for token, number in numbers.items()}


def matching_lines(text: str, first: int, weights: Mapping[str, float]) -> tuple[tuple[int, int], ...]:
    """The statements of a text that cover most of a query.

    Each further statement counts only for the tokens that those before it lack, so that together they cover the query.

    Args:
        text: the lines of a place.
        first: the number of its first line.
        weights: the tokens of the query with their weights.

    Returns:
        Ranges of line numbers (first, last), best first, at most MOST_RANGES; () where nothing matches.
    """
    mass: dict[int, float] = {}
    found = _matching_statements(text, weights)
    chosen: list[tuple[int, int]] = []
    best = 0.0
    while found and len(chosen) < MOST_RANGES:
        for _, tokens in found:
            if tokens not in mass:
                mass[tokens] = sum(weight for bit, weight in enumerate(weights.values()) if tokens >> bit & 1)
        (start, end), tokens = max(found, key=lambda statement: mass[statement[1]])
        if mass[tokens] < LEAST_SHARE * best:
            break
        best = max(best, mass[tokens])
        chosen.append((first + start, first + min(end, start + MOST_LINES) - 1))
        found = [(span, left) for span, other in found if (left := other & ~tokens)]
    return tuple(chosen)


def _matching_statements(text: str, weights: Mapping[str, float]) -> list[tuple[tuple[int, int], int]]:
    """The statements with tokens of a query, each with its tokens as a bit set: bit n is the query's nth token."""
    words_of = words_by_line(text)
    bits = {token: 1 << number for number, token in enumerate(weights)}
    tokens = bits.keys()
    matching = {
        word: sum(bits[token] for token in expand(word) if token in bits)
        for word in set().union(*words_of)
        if not tokens.isdisjoint(expand(word))
    }
    known = matching.keys()
    if not known:
        return []
    by_line = [
        0 if known.isdisjoint(found) else reduce(or_, map(matching.__getitem__, known & found)) for found in words_of
    ]
    spans = statements(text.split("\n"))
    return [(span, reduce(or_, by_line[slice(*span)])) for span in spans if any(by_line[slice(*span)])]


def statements(lines: Sequence[str]) -> list[tuple[int, int]]:
    """Group lines into statements: a line with those that close the brackets it opens. Blank lines belong to none.

    Args:
        lines: lines of code or text.

    Returns:
        (start, end) indices of each statement, end exclusive.
    """
    found: list[tuple[int, int]] = []
    start = -1
    depth = 0
    for number, line in enumerate(lines):
        if start < 0:
            if not line.strip():
                continue
            start = number
            depth = 0
        depth += _depth(line)
        if depth <= 0 or number - start + 1 >= MOST_LINES or line.rstrip().endswith(("{", ":")):
            found.append((start, number + 1))
            start = -1
    return found if start < 0 else [*found, (start, len(lines))]


def _depth(line: str) -> int:
    """How many more brackets a line opens than it closes."""
    # Written out: this runs for every line of every hit.
    opened = line.count("(") + line.count("[") + line.count("{")
    return opened - line.count(")") - line.count("]") - line.count("}")
