"""The hunks of a change, and the change with some of them only. Pure."""

from __future__ import annotations

import re
from collections.abc import Collection
from dataclasses import dataclass, replace

from repopilot.types import FileChange

NO_NEWLINE = "\\ No newline at end of file"
HEADER = re.compile(r"@@ -(\d+)(?:,(\d+))? \+(\d+)(?:,(\d+))? @@.*")
_SEPARATOR = "\n#"
"""Between a file's id and a hunk's number. No path holds a newline."""


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


def hunk_id(file_id: str, number: int) -> str:
    """What a hunk of a file is decided under."""
    return f"{file_id}{_SEPARATOR}{number}"


def hunk_ids(file_id: str, change: FileChange) -> list[str]:
    """What each hunk of a file is decided under, in order."""
    return [hunk_id(file_id, number) for number in range(len(hunks_of(change)))]


def file_of(id: str) -> str:
    """The id of the file that a file or a hunk is decided under."""
    return id.partition(_SEPARATOR)[0]


def hunks_of(change: FileChange) -> list[DiffHunk]:
    """The hunks of a change, in order; for a new file without a diff one with all its lines."""
    found: list[tuple[int, int, list[str]]] = []
    for line in change.diff.split("\n"):
        if header := HEADER.fullmatch(line):
            found.append((int(header[1]), int(header[3]), []))
        elif found and line[:1] in (" ", "+", "-", "\\"):
            found[-1][2].append(line)
    if not found and change.change == "added" and change.content:
        lines = [f"+{line}" for line in change.content.split("\n")]
        found.append((0, 1, lines[:-1] if lines[-1] == "+" else [*lines, NO_NEWLINE]))
    return [DiffHunk(old, new, tuple(lines)) for old, new, lines in found]


def hunks_text(change: FileChange) -> str:
    """The hunks without file headers, as in a unified diff; computed from the content for a new file without a diff."""
    start = re.search(r"^@@ ", change.diff, re.MULTILINE)
    if start:
        return change.diff[start.start() :]
    made = hunks_of(change)
    return "".join("\n".join([f"@@ -0,0 +1,{len(hunk.side('+'))} @@", *hunk.lines, ""]) for hunk in made)


def divisible(change: FileChange) -> bool:
    """Whether the hunks can be decided on one by one: there are several, and they fit the new text."""
    hunks = hunks_of(change)
    return change.change == "modified" and len(hunks) > 1 and _with(change.content, hunks, ()) is not None


def before_change(change: FileChange) -> str | None:
    """The text before a change that modifies a file; None where its hunks don't fit its new text."""
    return _with(change.content, hunks_of(change), ())


def only(change: FileChange, kept: Collection[int]) -> FileChange:
    """A change with some of its hunks only, by their numbers from 0. One that can't be divided is returned as it is."""
    hunks = hunks_of(change)
    text = _with(change.content, hunks, kept)
    if len(kept) == len(hunks) or text is None:
        return change
    shift, parts = 0, []
    for number, hunk in enumerate(hunks):
        if number in kept:
            before, after = len(hunk.side("-")), len(hunk.side("+"))
            # git counts the line before an empty side
            start = hunk.old + shift + (not before) - (not after)
            parts.append("\n".join([f"@@ -{hunk.old},{before} +{start},{after} @@", *hunk.lines]))
            shift += after - before
    head = change.diff.partition("@@ -")[0]
    return replace(change, content=text, diff=head + "\n".join(parts) + "\n" if parts else "")


def _with(text: str, hunks: list[DiffHunk], kept: Collection[int]) -> str | None:
    """The new text with the hunks taken back that aren't kept; None where they don't fit it."""
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
