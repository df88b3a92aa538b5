"""The hunks of a change, and the text that it was made from. Pure."""

from __future__ import annotations

import re
from collections.abc import Collection
from dataclasses import dataclass

from repopilot.types import FileChange

NO_NEWLINE = "\\ No newline at end of file"
_HEADER = re.compile(r"@@ -(\d+)(?:,(\d+))? \+(\d+)(?:,(\d+))? @@.*")


@dataclass(frozen=True, slots=True)
class DiffHunk:
    """One hunk of a unified diff: the first lines that it is about in the two files, 0 for an empty one, and its lines
    with their signs."""

    old: int
    new: int
    lines: tuple[str, ...]

    def side(self, sign: str) -> list[str]:
        """The lines of one side (`-` before, `+` after), each with its end."""
        found: list[str] = []
        for at, line in enumerate(self.lines):
            if line[:1] in (sign, " "):
                ends = self.lines[at + 1 : at + 2] != (NO_NEWLINE,)
                found.append(line[1:] + ("\n" if ends else ""))
        return found


def hunks_of(change: FileChange) -> list[DiffHunk]:
    """The hunks of a change, in order; for a new file without a diff one with all its lines."""
    found: list[tuple[int, int, list[str]]] = []
    for line in change.diff.split("\n"):
        if header := _HEADER.fullmatch(line):
            found.append((int(header[1]), int(header[3]), []))
        elif found and line[:1] in (" ", "+", "-", "\\"):
            found[-1][2].append(line)
    if not found and change.change == "added" and change.content:
        lines = [f"+{line}" for line in change.content.split("\n")]
        found.append((0, 1, lines[:-1] if lines[-1] == "+" else [*lines, NO_NEWLINE]))
    return [DiffHunk(old, new, tuple(lines)) for old, new, lines in found]


def before_change(change: FileChange) -> str | None:
    """The text before a change; None for a new file, and where its hunks don't fit its new text."""
    return None if change.change == "added" else with_hunks(change.content, hunks_of(change), ())


def with_hunks(text: str, hunks: list[DiffHunk], kept: Collection[int]) -> str | None:
    """A new text with the hunks taken back that aren't kept; None where they don't fit it.

    Args:
        text: after the change.
        hunks: all of the change, in order.
        kept: the numbers of those that stay, from 0.
    """
    lines = [line + "\n" for line in text.split("\n")]
    lines[-1] = lines[-1][:-1]
    lines = lines if lines[-1] else lines[:-1]
    for number, hunk in reversed(list(enumerate(hunks))):
        after = hunk.side("+")
        start = max(0, hunk.new - 1) if after else hunk.new
        if lines[start : start + len(after)] != after:
            return None
        if number not in kept:
            lines[start : start + len(after)] = hunk.side("-")
    return "".join(lines)
