"""Which lines of a place are shown: a short definition whole, else its signature and the statements that bear on the
question, with gaps only where these save enough lines. Pure."""

from __future__ import annotations

import re
from collections.abc import Collection, Sequence

WHOLE = 24
"""Longest definition that is shown whole, in lines."""
SMALLEST_HOLE = 4
"""Fewest lines left out in one gap: a smaller gap costs more context than it saves space."""
_BRACKET = re.compile(r"[()\[\]{}]")
_LONGEST_STATEMENT = 8


def excerpt(lines: Sequence[str], start: int, end: int, chosen: Collection[int]) -> list[int]:
    """The numbers of the lines to show of a place, ascending.

    Args:
        lines: of the file, the first one is line 1.
        start: the first line of the place.
        end: its last.
        chosen: the numbers of the lines that bear on the question.
    """
    end = min(end, len(lines))
    if end - start < WHOLE:
        return list(range(start, end + 1))
    statements = _statements(lines, start, end)
    head = next((n for n in range(start, end) if any(map(str.isalnum, lines[n - 1]))), start)  # skips a bare `/**`
    shown = {n for line in {head, *chosen} if start <= line <= end for n in statements[line]}
    filled: list[int] = []
    for number in sorted(shown):
        if filled and number - filled[-1] <= SMALLEST_HOLE:
            filled += range(filled[-1] + 1, number)
        filled.append(number)
    return filled


def _statements(lines: Sequence[str], start: int, end: int) -> dict[int, range]:
    """For each line, the lines of its statement, as held together by brackets."""
    found: dict[int, range] = {}
    first = start
    depth = 0
    for number in range(start, end + 1):
        first = number if depth <= 0 else first
        opened = sum(1 if sign in "([{" else -1 for sign in _BRACKET.findall(lines[number - 1]))
        depth = max(0, depth + opened)
        body_opens = lines[number - 1].rstrip().endswith("{")
        if depth == 0 or body_opens or number - first >= _LONGEST_STATEMENT:
            found |= dict.fromkeys(range(first, number + 1), range(first, number + 1))
            depth = 0
    return found | {n: range(n, n + 1) for n in range(start, end + 1) if n not in found}
