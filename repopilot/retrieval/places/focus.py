"""Which lines of a place to show, and which words in them to mark. Pure."""

from __future__ import annotations

from collections.abc import Sequence

from repopilot.index.tokens import WORD, expand, part_spans

Range = tuple[int, int]
"""First and last line, 1-based and inclusive."""
LONGEST_LINE = 240
"""Characters of a line that are shown; of a longer one the part around its first marked word."""


def adjacent(numbers: Sequence[int]) -> list[Range]:
    """Line numbers as ranges of consecutive ones, in order."""
    ranges: list[Range] = []
    for number in sorted(numbers):
        if ranges and number == ranges[-1][1] + 1:
            ranges[-1] = (ranges[-1][0], number)
        else:
            ranges.append((number, number))
    return ranges


def best_lines(ranges: Sequence[Range], start: int, end: int, count: int) -> list[int]:
    """The numbers of the lines to show of a place.

    Args:
        ranges: its lines that matter, best first; those outside of the place are left out.
        start: its first line.
        end: its last line, inclusive.
        count: how many lines at most, of which each range gets its share.

    Returns:
        All lines of a place that is short enough; else those of the ranges, or its first ones where there are none;
        ascending.
    """
    if end - start < count:
        return list(range(start, end + 1))
    share = max(1, count // max(1, len(ranges)))
    inside = [range(max(first, start), min(last, end) + 1) for first, last in ranges]
    wanted = (number for part in (*(span[:share] for span in inside), *inside) for number in part)
    chosen = list(dict.fromkeys(wanted))[:count]
    return sorted(chosen or range(start, start + count))


def matched_spans(line: str, tokens: set[str]) -> list[tuple[int, int]]:
    """Where a line has words of a query.

    Args:
        line: the line.
        tokens: the index tokens of the query.

    Returns:
        (start, end) in characters, ascending and apart: a word, or the parts of a compound identifier that match.
    """
    spans: list[tuple[int, int]] = []
    for word in WORD.finditer(line):
        if tokens.isdisjoint(expand(word[0])):
            continue
        parts = [(a, b) for a, b in part_spans(word[0]) if not tokens.isdisjoint(expand(word[0][a:b]))]
        whole = word[0].strip("_").lower() in tokens or not parts
        offset = word.start()
        spans += [word.span()] if whole else [(offset + start, offset + end) for start, end in parts]
    return spans


def clipped(line: str, spans: Sequence[tuple[int, int]]) -> tuple[str, list[tuple[int, int]]]:
    """A line that is too long to show, cut around its first marked word, with the spans that are left; `…` at the cuts.

    Args:
        line: the line.
        spans: the marked parts of the line.
    """
    if len(line) <= LONGEST_LINE:
        return line, list(spans)
    start = max(0, min((spans[0][0] if spans else 0) - LONGEST_LINE // 4, len(line) - LONGEST_LINE))
    end = start + LONGEST_LINE
    before = "…" if start else ""
    after = "…" if end < len(line) else ""
    shift = len(before) - start
    kept = [(a + shift, b + shift) for a, b in spans if a >= start and b <= end]
    return f"{before}{line[start:end]}{after}", kept
