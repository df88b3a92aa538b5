"""Context for a model: the best hits as numbered excerpts within a token budget, as complete symbols where they fit."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass, replace
from itertools import chain

from repopilot.foreign_text import longest_backtick_run
from repopilot.index.store import Index
from repopilot.prompts import delimiter, sanitized
from repopilot.retrieval.cite import Excerpt
from repopilot.retrieval.claims import identifiers
from repopilot.types import Hit, Symbol

CountTokens = Callable[[str], int]
NEAR = 3
"""Excerpts of one file with at most this many lines between them are joined."""
WHOLE_SYMBOL = 120
"""A hit inside a symbol of at most this many lines is widened to the symbol."""
LONGEST_LINE = 400
IMPORTS, SHORT_LINE = 3, 120
"""Import lines printed above an excerpt that uses them at most, and characters of each."""
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


def pack(
    index: Index,
    hits: Sequence[Hit],
    count_tokens: CountTokens,
    max_tokens: int,
    first: Sequence[Excerpt] = (),
) -> Pack:
    """Pack hits into excerpts.

    Args:
        index: the index the hits come from.
        hits: best first; overlapping and neighbouring ones of a file are joined.
        count_tokens: counts the tokens of a text.
        max_tokens: the budget for all excerpts together.
        first: excerpts that come before those of the hits, of files outside the index.

    Returns:
        The pack, with excerpts in the order of the hits.
    """
    mark = delimiter(f"{index.name} {index.commit}")  # the same for every question, for the caches of prompts
    places = _joined([_widened(hit, index.outline(hit.chunk.path)) for hit in hits])
    texts: list[str] = []
    excerpts: list[Excerpt] = []
    left = max_tokens
    found = (_excerpt(index, place) for place in places)
    for candidate in chain(first, (excerpt for excerpt in found if excerpt is not None)):
        excerpt = replace(candidate, number=len(excerpts) + 1)
        # The first hits matter most, but one long symbol must not crowd out all others.
        budget = min(left, max_tokens * 3 // 5)
        text, tokens = _fitted(excerpt, mark, _context_lines(index, excerpt), count_tokens, budget)
        if text:
            texts.append(text)
            excerpts.append(excerpt)
            left -= tokens
        if left < LEAST:
            break
    return Pack("\n".join(texts), tuple(excerpts), max_tokens - left, len(first) + len(places) - len(excerpts), mark)


def places_of(index: Index, hits: Sequence[Hit]) -> list[Excerpt]:
    """The places of hits with all their lines, best first: each a symbol of its own, none within a better one."""
    kept: list[_Place] = []
    for place in (_definition(hit, index.outline(hit.chunk.path)) for hit in hits):
        within = (each.path == place.path and each.start <= place.start and place.end <= each.end for each in kept)
        if not any(within):
            kept.append(place)
    return [excerpt for place in kept if (excerpt := _excerpt(index, place)) is not None]


def fitted_lines(excerpt: Excerpt, count_tokens: CountTokens, budget: int) -> tuple[str, int]:
    """The lines of an excerpt within a budget: all, else the first and last ones, else ''; and their tokens."""
    return _shortened(excerpt.text.split("\n"), [], count_tokens, budget)


def fence_of(text: str) -> str:
    """A fence that no line of a text ends."""
    return "`" * max(3, longest_backtick_run(text) + 1)


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
    """The definition that a hit is named after; of a passage of several small ones that one alone."""
    c = hit.chunk
    named = (s for s in outline if s.qualified == c.symbol and c.start_line <= s.start_line <= s.end_line <= c.end_line)
    found = next(named, None)
    return _Place(c.path, found.start_line, found.end_line, found.qualified) if found else _widened(hit, outline)


def _joined(places: Sequence[_Place]) -> list[_Place]:
    """Join overlapping and neighbouring places of one file, at the rank of the better one."""
    joined: list[_Place] = []
    for place in places:
        for i, other in enumerate(joined):
            if other.path == place.path and place.start <= other.end + NEAR and other.start <= place.end + NEAR:
                start, end = min(place.start, other.start), max(place.end, other.end)
                joined[i] = replace(other, start=start, end=end)
                break
        else:
            joined.append(place)
    return joined


def _excerpt(index: Index, place: _Place) -> Excerpt | None:
    text = index.text(place.path)
    if text is None:
        return None
    lines = text.split("\n")[place.start - 1 : place.end]
    return Excerpt(0, place.path, place.start, place.start + len(lines) - 1, place.symbol, "\n".join(lines))


def _fitted(
    excerpt: Excerpt, mark: str, context: Sequence[str], count_tokens: CountTokens, budget: int
) -> tuple[str, int]:
    """The text of an excerpt, at most `budget` tokens, and its tokens: all its lines, else the first and last, else
    ''."""
    head = f"{mark} [{excerpt.number}] {excerpt.path}" + (f" · {excerpt.symbol}" if excerpt.symbol else "")
    return _shortened(sanitized(excerpt.text, mark).split("\n"), [head, *context], count_tokens, budget)


def _shortened(all_lines: Sequence[str], head: list[str], count_tokens: CountTokens, budget: int) -> tuple[str, int]:
    """Lines below a head within a budget: all, else the first and last ones, else ''; and the tokens."""
    lines = [line[:LONGEST_LINE] for line in all_lines]
    text = "\n".join([*head, *lines])
    tokens = count_tokens(text)
    if tokens <= budget:
        return text, tokens
    if budget < LEAST:
        return "", 0
    keep = max(4, int(len(lines) * budget / tokens) - 2)
    while keep >= 4:
        front = keep * 2 // 3
        shortened = [*lines[:front], f"… {len(lines) - keep} lines left out …", *lines[len(lines) - (keep - front) :]]
        text = "\n".join([*head, *shortened])
        tokens = count_tokens(text)
        if tokens <= budget:
            return text, tokens
        keep = keep * 3 // 4
    return "", 0


def _context_lines(index: Index, excerpt: Excerpt) -> list[str]:
    """Lines outside an excerpt that explain it at little cost: the imports it uses, the signature of its class."""
    lines = (index.text(excerpt.path) or "").split("\n")
    used = identifiers(excerpt.text)
    numbers = [i.line for i in index.imports(excerpt.path) if used & set(i.bound) and i.line < excerpt.start_line]
    imports = [lines[number - 1].strip()[:SHORT_LINE] for number in numbers[:IMPORTS]]
    owner = _owner(excerpt, index.outline(excerpt.path))
    return [*imports, f"{owner.short_signature}  …"] if owner else imports


def _owner(excerpt: Excerpt, outline: Sequence[Symbol]) -> Symbol | None:
    """The innermost symbol around an excerpt."""
    around = [
        s for s in outline if s.start_line < excerpt.start_line and excerpt.end_line <= s.end_line and s.signature
    ]
    return min(around, key=lambda s: s.end_line - s.start_line, default=None)
