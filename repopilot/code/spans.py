"""Line spans: what chunks are before they have text. Windows over plain lines, cut where a reader would cut."""

from __future__ import annotations

import re
from collections.abc import Callable, Sequence
from dataclasses import dataclass

from repopilot.types import ChunkKind

LONGEST = 80
OVERLAP = 10
MERGED = 25
MAX_LINE_CHARS = 2000
MAX_CHARS = 12_000


@dataclass(frozen=True, slots=True)
class Span:
    """Lines `start` to `end` (1-based, inclusive) of a file. `owner` is the definition whose parts may be merged
    with each other; `fixed` spans are never merged."""

    start: int
    end: int
    kind: ChunkKind = "module"
    symbol: str = ""
    owner: str = ""
    fixed: bool = False


def trimmed(span: Span, lines: Sequence[str]) -> Span | None:
    """The span without blank lines at either end, None when nothing is left."""
    start, end = span.start, span.end
    while start <= end and not lines[start - 1].strip():
        start += 1
    while end >= start and not lines[end - 1].strip():
        end -= 1
    return Span(start, end, span.kind, span.symbol, span.owner, span.fixed) if start <= end else None


def fits(lines: Sequence[str], start: int, end: int, size: int = LONGEST) -> bool:
    """Do the lines make a chunk of at most `size` lines and MAX_CHARS characters?"""
    return end - start < size and sum(min(len(line), MAX_LINE_CHARS) for line in lines[start - 1 : end]) <= MAX_CHARS


def windows(lines: Sequence[str], start: int, end: int, size: int = LONGEST, overlap: int = 0,
            better: Callable[[int], bool] | None = None) -> list[tuple[int, int]]:  # fmt: skip
    """Cut `start..end` into windows of at most `size` lines and about MAX_CHARS characters.

    Cuts fall before a line that `better` likes, else behind a blank line, else before the line of the least
    indentation, in the second half of the window. Each window begins `overlap` lines before the last one's end.
    """
    result = []
    first = start
    while first <= end:
        last = _reach(lines, first, end, size)
        if last < end:
            last = _cut(lines, first, last, better)
        result.append((first, last))
        if last >= end:
            break
        first = max(first + 1, last + 1 - overlap)
    return result


def merged(spans: Sequence[Span], lines: Sequence[str], limit: int = MERGED) -> list[Span]:
    """Small neighbours of one owner as one span, up to `limit` lines together; the first definition gives its name."""
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


def _reach(lines: Sequence[str], first: int, end: int, size: int) -> int:
    last, characters = first, 0
    for number in range(first, min(end, first + size - 1) + 1):
        characters += min(len(lines[number - 1]), MAX_LINE_CHARS)
        if characters > MAX_CHARS and number > first:
            break
        last = number
    return last


def _cut(lines: Sequence[str], first: int, last: int, better: Callable[[int], bool] | None) -> int:
    middle = first + (last - first) // 2
    candidates = range(last, middle, -1)
    if better:
        for number in candidates:
            if better(number + 1):
                return number
    for number in candidates:
        if not lines[number - 1].strip():
            return number
    return min(candidates, key=lambda number: _indent(lines[number]), default=last)


def _indent(line: str) -> int:
    return len(line) - len(line.lstrip()) if line.strip() else 0


_COMMENT = re.compile(r"\s*(#|//|/\*|\*|--|;;|%|@\w|\[\w[^\]]*\]\s*$|<!--|'''|\"\"\")")


def with_comments(lines: Sequence[str], start: int, floor: int) -> int:
    """The line where the comments and decorators directly above `start` begin, not above `floor`."""
    # Some write one blank line between the comment and what it describes.
    if start > floor + 1 and not lines[start - 2].strip() and lines[start - 3].rstrip().endswith("*/"):
        start -= 1
    while start > floor and _COMMENT.match(lines[start - 2]):
        start -= 1
    return start
