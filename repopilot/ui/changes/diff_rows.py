"""The rows of a diff view, with syntax colours and marks on the words in which two lines differ. Pure."""

from __future__ import annotations

import difflib
import re
from collections.abc import Iterator, Sequence
from dataclasses import replace
from itertools import pairwise

from repopilot.redaction.shown_diff import shown_diff
from repopilot.repo.patches.diff_hunks import Row, hunks_of
from repopilot.types import FileChange
from repopilot.ui.highlight import Line, highlighted

_WORD = re.compile(r"\w+|\s+|[^\w\s]")
_LEAST_ALIKE = 0.4
"""Least similarity of two lines to mark the words that differ: below it, nearly all words would be marked."""


def rows_of(change: FileChange) -> list[list[Row]]:
    """The rows of each hunk, without secrets."""
    safe = replace(change, diff=shown_diff(change.diff, change.content))
    return [hunk.rows() for hunk in hunks_of(safe)]


def coloured(path: str, rows: Sequence[Row]) -> list[list]:
    """The rows of a hunk as the element shows them: [kind, old line, new line, pieces].

    Args:
        path: of the file.
        rows: of one hunk.
    """
    sides = {sign: highlighted(path, "\n".join(row[3] for row in rows if row[0] in (sign, " "))) for sign in "+-"}
    at = {"+": 0, "-": 0}
    shown: list[list] = []
    for kind, old, new, _ in rows:
        side = "-" if kind == "-" else "+"
        shown.append([kind, old, new, sides[side][at[side]]])
        for sign in "+-":
            at[sign] += kind in (sign, " ")
    for before, after in _pairs(rows):
        marks = _differing(rows[before][3], rows[after][3])
        for number, spans in zip((before, after), marks, strict=True):
            shown[number][3] = _marked(shown[number][3], spans)
    return shown


def _pairs(rows: Sequence[Row]) -> Iterator[tuple[int, int]]:
    """The row numbers of each removed line and of the added line that replaces it."""
    at = 0
    while at < len(rows):
        removed = at
        while at < len(rows) and rows[at][0] == "-":
            at += 1
        added = at
        while at < len(rows) and rows[at][0] == "+":
            at += 1
        if added - removed == at - added:
            yield from zip(range(removed, added), range(added, at), strict=True)
        at = max(at, removed + 1)


def _differing(one: str, other: str) -> tuple[list[tuple[int, int]], list[tuple[int, int]]]:
    """Where two lines differ, in characters of each."""
    words = _WORD.findall(one), _WORD.findall(other)
    matcher = difflib.SequenceMatcher(None, *words, autojunk=False)
    if len(one) + len(other) > 1000 or matcher.ratio() < _LEAST_ALIKE:
        return [], []
    starts = [[sum(map(len, side[:n])) for n in range(len(side) + 1)] for side in words]
    changed = [code for code in matcher.get_opcodes() if code[0] != "equal"]
    return (
        [(starts[0][i1], starts[0][i2]) for _, i1, i2, _, _ in changed if i1 < i2],
        [(starts[1][j1], starts[1][j2]) for _, _, _, j1, j2 in changed if j1 < j2],
    )


def _marked(line: Line, spans: Sequence[tuple[int, int]]) -> Line:
    """The pieces of a line divided at the spans; those within get the class `m` too."""
    made: Line = []
    at = 0
    for kind, text in line:
        cuts = sorted({0, len(text), *(min(max(edge - at, 0), len(text)) for span in spans for edge in span)})
        for start, end in pairwise(cuts):
            within = any(a <= at + start and at + end <= b for a, b in spans)
            made.append([f"{kind} m" if within else kind, text[start:end]])
        at += len(text)
    return made
