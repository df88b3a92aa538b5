"""The hunks of a change, and the text that it was made from. Pure."""

from __future__ import annotations

import re
from collections.abc import Collection, Iterable, Sequence
from dataclasses import dataclass
from typing import NamedTuple

from repopilot.types import FileChange

NO_NEWLINE = "\\ No newline at end of file"
Row = tuple[str, int | None, int | None, str]
"""(sign `+`, `-` or ` `, old line, new line, text), line numbers None where there is none."""
_HEADER = re.compile(r"@@ -(\d+)(?:,(\d+))? \+(\d+)(?:,(\d+))? @@.*")


@dataclass(frozen=True, slots=True)
class DiffHunk:
    """One hunk of a unified diff: its first line in the old and in the new file, 0 for an empty file, and its lines
    with their signs."""

    old: int
    new: int
    lines: tuple[str, ...]

    def rows(self) -> list[Row]:
        """The lines with their numbers."""
        found: list[Row] = []
        old = self.old
        new = self.new
        for line in self.lines:
            sign = line[:1]
            if sign in ("+", "-", " "):
                found.append((sign, None if sign == "+" else old, None if sign == "-" else new, line[1:]))
                old = old + (sign != "+")
                new = new + (sign != "-")
        return found

    def side(self, sign: str) -> list[str]:
        """The lines of one side (`-` before, `+` after), each with its end."""
        found: list[str] = []
        for at, line in enumerate(self.lines):
            if line[:1] in (sign, " "):
                ends = self.lines[at + 1 : at + 2] != (NO_NEWLINE,)
                found.append(line[1:] + ("\n" if ends else ""))
        return found


class Run(NamedTuple):
    """Lines at a place in a text, and the lines to replace them with. `line` counts from 1; if there are no lines to
    replace, it is the line before the place, as in a diff."""

    line: int
    there: list[str]
    instead: list[str]


def hunks_of(change: FileChange) -> list[DiffHunk]:
    """The hunks of a change, in order."""
    return hunks_in(change.diff)


def hunks_in(diff: str) -> list[DiffHunk]:
    """The hunks of a unified diff of one file, in order."""
    found: list[tuple[int, int, list[str]]] = []
    for line in diff.split("\n"):
        if header := _HEADER.fullmatch(line):
            found.append((int(header[1]), int(header[3]), []))
        elif found and line[:1] in (" ", "+", "-", "\\"):
            found[-1][2].append(line)
    return [DiffHunk(old, new, tuple(lines)) for old, new, lines in found]


def line_counts(change: FileChange) -> tuple[int, int]:
    """How many lines a change adds and removes; the diff's names of the file aren't lines of it."""
    signs = [line[:1] for hunk in hunks_of(change) for line in hunk.lines]
    return signs.count("+"), signs.count("-")


def before_change(change: FileChange) -> str | None:
    """The text before a change; None for a new file, and if the hunks don't fit the new text."""
    return None if change.change == "added" else with_hunks(change.content, hunks_of(change), ())


def with_hunks(text: str, hunks: list[DiffHunk], kept: Collection[int]) -> str | None:
    """The new text with all hunks undone but the kept ones; None if the hunks don't fit the text.

    Args:
        text: after the change.
        hunks: all of the change, in order.
        kept: the numbers of the hunks that stay, from 0.
    """
    lines = [line + "\n" for line in text.split("\n")]
    lines[-1] = lines[-1][:-1]
    lines = lines if lines[-1] else lines[:-1]
    runs = []
    for number, hunk in enumerate(hunks):
        after = hunk.side("+")
        runs.append(Run(hunk.new, after, after if number in kept else hunk.side("-")))
    found = with_runs(lines, runs)
    return None if found is None else "".join(found)


def with_runs(lines: Sequence[str], runs: Iterable[Run]) -> list[str] | None:
    """The lines of a text with some of them replaced; None if the text has other lines at these places.

    Args:
        lines: of the text.
        runs: what is replaced, in order.
    """
    found = list(lines)
    for run in reversed(list(runs)):
        start = max(0, run.line - 1) if run.there else run.line
        end = start + len(run.there)
        if found[start:end] != run.there:
            return None
        found[start:end] = run.instead
    return found
