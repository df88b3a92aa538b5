"""Spans of lines, which become chunks, and windows over plain lines, cut where a reader would cut."""

from __future__ import annotations

import re
from collections.abc import Callable, Sequence
from dataclasses import dataclass

from repopilot.types import ChunkKind

LONGEST = 80
"""The most lines of a chunk."""
OVERLAP = 10
"""Lines that the parts of a long definition share."""
MERGED = 25
"""Small neighbours are merged into chunks of at most this many lines."""
MAX_LINE_CHARS = 2000
"""Longer lines are cut."""
MAX_CHARS = 12_000
"""About the most characters of a chunk."""


@dataclass(frozen=True, slots=True)
class Span:
    """Lines `start` to `end` (1-based, inclusive) of a file.

    `owner` is the definition around it, '' for none: only spans of one owner are merged, and `fixed` spans never.
    """

    start: int
    end: int
    kind: ChunkKind = "module"
    symbol: str = ""
    owner: str = ""
    fixed: bool = False


def trimmed(span: Span, lines: Sequence[str]) -> Span | None:
    """The span without blank lines at its ends; None when all are blank."""
    start = span.start
    end = span.end
    while start <= end and not lines[start - 1].strip():
        start += 1
    while end >= start and not lines[end - 1].strip():
        end -= 1
    return Span(start, end, span.kind, span.symbol, span.owner, span.fixed) if start <= end else None


def fits(lines: Sequence[str], start: int, end: int, size: int = LONGEST) -> bool:
    """Whether a range of lines fits in one chunk, which has at most MAX_CHARS characters.

    Args:
        lines: the lines of the file.
        start: the first line, 1-based.
        end: the last line, inclusive.
        size: how many lines a chunk has at most.
    """
    if end - start >= size:
        return False
    lengths = list(map(len, lines[start - 1 : end]))
    return sum(lengths) <= MAX_CHARS or sum(min(length, MAX_LINE_CHARS) for length in lengths) <= MAX_CHARS


def windows(
    lines: Sequence[str],
    start: int,
    end: int,
    size: int = LONGEST,
    overlap: int = 0,
    preferred: Callable[[int], bool] | None = None,
) -> list[tuple[int, int]]:
    """Cut lines into windows of about MAX_CHARS characters at most.

    Cuts are in the second half of a window: before a preferred line, else after a blank one, else before the least
    indented one.

    Args:
        lines: the lines of the file.
        start: the first line to cover.
        end: the last line to cover.
        size: how many lines a window has at most.
        overlap: how many lines a window repeats from the one before.
        preferred: whether a window should begin on a line, given its number.

    Returns:
        First and last line of each window (1-based, inclusive).
    """
    result = []
    first = start
    while first <= end:
        last = _last_reachable(lines, first, end, size)
        if last < end:
            last = _best_cut(lines, first, last, preferred)
        result.append((first, last))
        if last >= end:
            break
        first = max(first + 1, last + 1 - overlap)
    return result


def merged(spans: Sequence[Span], lines: Sequence[str], limit: int = MERGED) -> list[Span]:
    """Merge small adjacent spans of the same owner.

    Args:
        spans: the spans, in order.
        lines: the lines of the file.
        limit: how many lines a merged span has at most.

    Returns:
        The spans; a merged one is named after its first definition.
    """
    result: list[Span] = []
    for span in spans:
        last = result[-1] if result else None
        if (
            last
            and not (last.fixed or span.fixed)
            and last.owner == span.owner
            and fits(lines, last.start, span.end, limit)
        ):
            named = last if last.symbol != last.owner or span.symbol == span.owner else span
            result[-1] = Span(last.start, span.end, named.kind, named.symbol, last.owner)
        else:
            result.append(span)
    return result


def _last_reachable(lines: Sequence[str], first: int, end: int, size: int) -> int:
    last = first
    characters = 0
    for number in range(first, min(end, first + size - 1) + 1):
        characters += min(len(lines[number - 1]), MAX_LINE_CHARS)
        if characters > MAX_CHARS and number > first:
            break
        last = number
    return last


def _best_cut(lines: Sequence[str], first: int, last: int, preferred: Callable[[int], bool] | None) -> int:
    middle = first + (last - first) // 2
    candidates = range(last, middle, -1)
    if preferred:
        for number in candidates:
            if preferred(number + 1):
                return number
    for number in candidates:
        if not lines[number - 1].strip():
            return number
    return min(candidates, key=lambda number: _indent(lines[number]), default=last)


def _indent(line: str) -> int:
    return len(line) - len(line.lstrip()) if line.strip() else 0


_COMMENT = re.compile(r"\s*(#|//|/\*|\*|--|;;|%|@\w|\[\w[^\]]*\]\s*$|<!--|'''|\"\"\")")


def with_comments(lines: Sequence[str], start: int, floor: int) -> int:
    """The line on which the comments and decorators directly above a line begin.

    Args:
        lines: the lines of the file.
        start: the line, 1-based.
        floor: the first line that may be returned.

    Returns:
        The line, `start` where there are none.
    """
    # One blank line is common between a block comment and what it describes.
    if start > floor + 1 and not lines[start - 2].strip() and lines[start - 3].rstrip().endswith("*/"):
        start -= 1
    while start > floor and _COMMENT.match(lines[start - 2]):
        start -= 1
    return start
