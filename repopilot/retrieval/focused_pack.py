"""Context for a small model: the lines of each place that bear on the question, with gaps, within a token budget."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from itertools import pairwise

from repopilot.prompts import sanitized
from repopilot.retrieval.pack import CountTokens, Pack
from repopilot.types import Evidence, Excerpt

LEAST = 40
"""Tokens. A place for which fewer remain is left out."""
FIRST_SHARE = 0.6
"""Largest share of the budget for one place."""


def focused_pack(
    evidence: Sequence[Evidence], excerpts: Sequence[Excerpt], mark: str, count_tokens: CountTokens, max_tokens: int
) -> Pack:
    """Pack the lines of evidence.

    Args:
        evidence: the places, best first.
        excerpts: the same places with all their lines, under the same numbers.
        mark: the delimiter that each place begins with.
        count_tokens: counts the tokens of a text.
        max_tokens: the budget for all places together.

    Returns:
        The pack. Its excerpts are those with lines in the text.
    """
    texts: list[str] = []
    left = max_tokens
    for place in evidence:
        text, tokens = _fitted(place, mark, count_tokens, min(left, int(max_tokens * FIRST_SHARE)))
        if not text:
            break
        texts.append(text)
        left -= tokens
        if left < LEAST:
            break
    return Pack("\n".join(texts), tuple(excerpts[: len(texts)]), max_tokens - left, len(evidence) - len(texts), mark)


def _fitted(place: Evidence, mark: str, count_tokens: CountTokens, budget: int) -> tuple[str, int]:
    """The text of a place and its tokens, with the focus kept longest; '' where not even that fits."""
    keep = list(place.lines)
    while keep:
        text = "\n".join(_text(place, keep, mark))
        tokens = count_tokens(text)
        if tokens <= budget:
            return text, tokens
        rest = [line for line in keep if line[0] not in place.focus]
        if not rest:
            return "", 0
        dropped = {n for n, _ in rest[len(rest) * 3 // 4 :]} or {rest[-1][0]}
        keep = [line for line in keep if line[0] not in dropped]
    return "", 0


def _text(place: Evidence, lines: Sequence[tuple[int, str]], mark: str) -> Iterator[str]:
    yield f"{mark} [{place.number}] {place.path}" + (f" · {place.symbol}" if place.symbol else "")
    if place.summary and not any(place.summary[:20] in line for _, line in lines):
        yield f"({sanitized(place.summary, mark)})"
    numbers = [number for number, _ in lines]
    gaps = {after for before, after in pairwise(numbers) if after > before + 1}
    for number, line in lines:
        if number in gaps:
            yield "…"
        yield sanitized(line, mark)
