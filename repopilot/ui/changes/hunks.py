"""The hunks of a change, as ids for decisions on them, and the change with only some of its hunks. Pure."""

from __future__ import annotations

from collections.abc import Collection
from dataclasses import replace

from repopilot.repo.patches.diff_hunks import hunks_of, with_hunks
from repopilot.types import FileChange

_SEPARATOR = "\n#"
"""Between a file's id and a hunk's number. No path holds a newline."""


def hunk_id(file_id: str, number: int) -> str:
    """The id of a hunk of a file, for the decision on it."""
    return f"{file_id}{_SEPARATOR}{number}"


def hunk_ids(file_id: str, change: FileChange) -> list[str]:
    """The ids of a file's hunks, in order."""
    return [hunk_id(file_id, number) for number in range(len(hunks_of(change)))]


def file_of(id: str) -> str:
    """The id of the file in the id of a file or a hunk."""
    return id.partition(_SEPARATOR)[0]


def divisible(change: FileChange) -> bool:
    """Whether the hunks can be decided on one by one: there are several, and they fit the new text."""
    hunks = hunks_of(change)
    return change.change == "modified" and len(hunks) > 1 and with_hunks(change.content, hunks, ()) is not None


def only(change: FileChange, kept: Collection[int]) -> FileChange:
    """A change with only some of its hunks, by number from 0. A change that can't be divided is returned as it is."""
    hunks = hunks_of(change)
    text = with_hunks(change.content, hunks, kept)
    if len(kept) == len(hunks) or text is None:
        return change
    shift = 0
    parts = []
    for number, hunk in enumerate(hunks):
        if number in kept:
            before = len(hunk.side("-"))
            after = len(hunk.side("+"))
            # git counts the line before an empty side
            start = hunk.old + shift + (not before) - (not after)
            parts.append("\n".join([f"@@ -{hunk.old},{before} +{start},{after} @@", *hunk.lines]))
            shift += after - before
    head = change.diff.partition("@@ -")[0]
    return replace(change, content=text, diff=head + "\n".join(parts) + "\n" if parts else "")
