"""Context for a model: the best hits as numbered excerpts within a token budget, whole symbols where they fit."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass, replace

from repopilot.index.store import Index
from repopilot.prompts import defused, nonce
from repopilot.retrieval.cite import Excerpt
from repopilot.retrieval.claims import identifiers
from repopilot.types import Hit, Symbol

CountTokens = Callable[[str], int]
NEAR = 3
"""Excerpts of one file with at most this many lines between them are joined."""
WHOLE_SYMBOL = 120
"""A hit inside a symbol of at most this many lines is widened to the whole symbol."""
LONGEST_LINE = 400
IMPORTS, SHORT_LINE = 3, 120
"""At most so many import lines, so long, are shown above an excerpt that uses what they import."""
LEAST = 60
"""An excerpt that would get fewer tokens than this is left out rather than cut."""


@dataclass(frozen=True, slots=True)
class Pack:
    """`text` is what the model reads, `tokens` long; `excerpts` the exact lines behind its numbers; `left_out` counts
    the hits that did not fit; `mark` the delimiter that begins each excerpt."""

    text: str
    excerpts: tuple[Excerpt, ...]
    tokens: int
    left_out: int
    mark: str


def pack(index: Index, hits: Sequence[Hit], count_tokens: CountTokens, max_tokens: int) -> Pack:
    """The hits in order as excerpts, deduplicated and joined, at most `max_tokens` tokens in all."""
    mark = nonce()
    places = _joined([_widened(hit, index.outline(hit.chunk.path)) for hit in hits])
    shown: list[str] = []
    excerpts: list[Excerpt] = []
    left = max_tokens
    for place in places:
        excerpt = _excerpt(index, place, len(excerpts) + 1)
        if excerpt is None:
            continue
        # The first hits matter most, but one long symbol must not crowd out all others.
        text, tokens = _fitted(excerpt, mark, _neighbours(index, excerpt), count_tokens, min(left, max_tokens * 3 // 5))
        if text:
            shown.append(text)
            excerpts.append(excerpt)
            left -= tokens
        if left < LEAST:
            break
    return Pack("\n".join(shown), tuple(excerpts), max_tokens - left, len(places) - len(excerpts), mark)


def markdown(excerpts: Sequence[Excerpt], title: str, name: str, commit: str) -> str:
    """A context pack to paste elsewhere: path, lines and commit with every excerpt."""
    parts = [f"# {title}", f"From {name} at {commit}.", ""]
    for e in excerpts:
        fence = "`" * max(3, _longest_ticks(e.text) + 1)
        where = f"## {e.path}:{e.start_line}-{e.end_line}" + (f" ({e.symbol})" if e.symbol else "")
        parts += [where, f"{fence}{e.path.rpartition('.')[2] if '.' in e.path else ''}", e.text, fence, ""]
    return "\n".join(parts)


@dataclass(frozen=True, slots=True)
class _Place:
    path: str
    start: int
    end: int
    symbol: str


def _widened(hit: Hit, outline: Sequence[Symbol]) -> _Place:
    """The hit's lines, or the smallest symbol around them when that is short enough to be read whole."""
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


def _joined(places: Sequence[_Place]) -> list[_Place]:
    """Overlapping and near places of one file become one, at the rank of the better; order is kept otherwise."""
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


def _excerpt(index: Index, place: _Place, number: int) -> Excerpt | None:
    text = index.text(place.path)
    if text is None:
        return None
    lines = text.split("\n")[place.start - 1 : place.end]
    return Excerpt(number, place.path, place.start, place.start + len(lines) - 1, place.symbol, "\n".join(lines))


def _fitted(
    excerpt: Excerpt, mark: str, neighbours: Sequence[str], count_tokens: CountTokens, budget: int
) -> tuple[str, int]:
    """The excerpt as shown, at most `budget` tokens: whole, else its head and tail, else nothing."""
    head = f"{mark} [{excerpt.number}] {excerpt.path}" + (f" · {excerpt.symbol}" if excerpt.symbol else "")
    head = "\n".join([head, *neighbours])
    lines = [line[:LONGEST_LINE] for line in defused(excerpt.text, mark).split("\n")]
    whole = "\n".join([head, *lines])
    tokens = count_tokens(whole)
    if tokens <= budget:
        return whole, tokens
    if budget < LEAST:
        return "", 0
    keep = max(4, int(len(lines) * budget / tokens) - 2)
    while keep >= 4:
        front = keep * 2 // 3
        cut = [*lines[:front], f"… {len(lines) - keep} lines left out …", *lines[len(lines) - (keep - front) :]]
        text = "\n".join([head, *cut])
        tokens = count_tokens(text)
        if tokens <= budget:
            return text, tokens
        keep = keep * 3 // 4
    return "", 0


def _neighbours(index: Index, excerpt: Excerpt) -> list[str]:
    """Lines outside the excerpt that are cheap and explain it: the imports it uses, the class it stands in."""
    lines = (index.text(excerpt.path) or "").split("\n")
    used = identifiers(excerpt.text)
    wanted = [i.line for i in index.imports(excerpt.path) if used & set(i.bound) and i.line < excerpt.start_line]
    shown = [lines[number - 1].strip()[:SHORT_LINE] for number in wanted[:IMPORTS]]
    owner = _owner(excerpt, index.outline(excerpt.path))
    return [*shown, f"{owner.signature}  …"] if owner else shown


def _owner(excerpt: Excerpt, outline: Sequence[Symbol]) -> Symbol | None:
    """The class around the excerpt, whose signature is a cheap neighbour worth showing."""
    around = [
        s for s in outline if s.start_line < excerpt.start_line and excerpt.end_line <= s.end_line and s.signature
    ]
    return min(around, key=lambda s: s.end_line - s.start_line, default=None)


def _longest_ticks(text: str) -> int:
    longest = run = 0
    for character in text:
        run = run + 1 if character == "`" else 0
        longest = max(longest, run)
    return longest
