"""Context for a model: the places of hits as complete symbols, and as many of their lines as fit a token budget."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass

from repopilot.index.store import Index
from repopilot.retrieval.cite import Excerpt
from repopilot.types import Hit, Symbol

CountTokens = Callable[[str], int]
WHOLE_SYMBOL = 120
"""A hit inside a symbol of at most this many lines is widened to the symbol."""
LONGEST_LINE = 400
LEAST = 60
"""An excerpt for which fewer tokens than this remain is left out rather than shortened."""


@dataclass(frozen=True, slots=True)
class Pack:
    """Excerpts as a text for a model.

    `text` is `tokens` tokens long; `excerpts` are the exact lines behind its numbers; `left_out` counts the hits that
    did not fit; `mark` is the delimiter that each excerpt begins with.
    """

    text: str
    excerpts: tuple[Excerpt, ...]
    tokens: int
    left_out: int
    mark: str


def places_of(index: Index, hits: Sequence[Hit]) -> list[Excerpt]:
    """The places of hits with all their lines, best first: each a separate symbol, none inside a better one."""
    kept: list[_Place] = []
    for place in (_definition(hit, index.outline(hit.chunk.path)) for hit in hits):
        within = (each.path == place.path and each.start <= place.start and place.end <= each.end for each in kept)
        if not any(within):
            kept.append(place)
    return [excerpt for place in kept if (excerpt := _excerpt(index, place)) is not None]


def fitted_lines(excerpt: Excerpt, count_tokens: CountTokens, budget: int) -> tuple[str, int]:
    """The lines of an excerpt within a budget: all, else the first and last ones, else ''; and their tokens."""
    return _shortened(excerpt.text.split("\n"), count_tokens, budget)


@dataclass(frozen=True, slots=True)
class _Place:
    path: str
    start: int
    end: int
    symbol: str


def _widened(hit: Hit, outline: Sequence[Symbol]) -> _Place:
    """The lines of a hit, or of the smallest symbol around them that is at most WHOLE_SYMBOL lines long."""
    c = hit.chunk
    around = [
        s
        for s in outline
        if s.start_line <= c.start_line and c.end_line <= s.end_line and s.end_line - s.start_line < WHOLE_SYMBOL
    ]
    if not around:
        return _Place(c.path, c.start_line, c.end_line, c.symbol)
    s = min(around, key=lambda s: s.end_line - s.start_line)
    return _Place(c.path, s.start_line, s.end_line, s.qualified)


def _definition(hit: Hit, outline: Sequence[Symbol]) -> _Place:
    """The definition that a hit is named after, without others in its passage; else the lines of `_widened`."""
    c = hit.chunk
    named = (s for s in outline if s.qualified == c.symbol and c.start_line <= s.start_line <= s.end_line <= c.end_line)
    found = next(named, None)
    return _Place(c.path, found.start_line, found.end_line, found.qualified) if found else _widened(hit, outline)


def _excerpt(index: Index, place: _Place) -> Excerpt | None:
    text = index.text(place.path)
    if text is None:
        return None
    lines = text.split("\n")[place.start - 1 : place.end]
    return Excerpt(0, place.path, place.start, place.start + len(lines) - 1, place.symbol, "\n".join(lines))


def _shortened(all_lines: Sequence[str], count_tokens: CountTokens, budget: int) -> tuple[str, int]:
    """Lines within a budget: all, else the first and last ones, else ''; and the tokens."""
    lines = [line[:LONGEST_LINE] for line in all_lines]
    text = "\n".join(lines)
    tokens = count_tokens(text)
    if tokens <= budget:
        return text, tokens
    if budget < LEAST:
        return "", 0
    keep = max(4, int(len(lines) * budget / tokens) - 2)
    while keep >= 4:
        front = keep * 2 // 3
        shortened = [*lines[:front], f"… {len(lines) - keep} lines left out …", *lines[len(lines) - (keep - front) :]]
        text = "\n".join(shortened)
        tokens = count_tokens(text)
        if tokens <= budget:
            return text, tokens
        keep = keep * 3 // 4
    return "", 0
