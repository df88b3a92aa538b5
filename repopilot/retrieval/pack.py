"""Context for a model: the places of hits as complete symbols, and as many of their lines as fit a token budget."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass

from repopilot.index.store import Index
from repopilot.types import Chunk, Excerpt, Hit, Symbol, contains

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
    kept: list[Chunk | Symbol] = []
    for place in (_definition(hit, index.outline(hit.chunk.path)) for hit in hits):
        if not any(contains(each, place) for each in kept):
            kept.append(place)
    return [excerpt for place in kept if (excerpt := _excerpt(index, place)) is not None]


def _definition(hit: Hit, outline: Sequence[Symbol]) -> Chunk | Symbol:
    """The definition that a hit is named after, without others in its passage; else the smallest one around the passage
    that is at most WHOLE_SYMBOL lines long; else the passage."""
    passage = hit.chunk
    named = [s for s in outline if s.qualified == passage.symbol and contains(passage, s)]
    around = (s for s in outline if contains(s, passage) and s.end_line - s.start_line < WHOLE_SYMBOL)
    return named[0] if named else min(around, key=lambda s: s.end_line - s.start_line, default=passage)


def _excerpt(index: Index, place: Chunk | Symbol) -> Excerpt | None:
    text = index.lines(place.path, place.start_line, place.end_line)
    if text is None:
        return None
    name = place.qualified if isinstance(place, Symbol) else place.symbol
    return Excerpt(0, place.path, place.start_line, place.start_line + text.count("\n"), name, text)


def fitted_lines(excerpt: Excerpt, count_tokens: CountTokens, budget: int) -> tuple[str, int]:
    """The lines of an excerpt within a budget: all, else the first and last ones, else ''; and their tokens."""
    lines = [line[:LONGEST_LINE] for line in excerpt.text.split("\n")]
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
