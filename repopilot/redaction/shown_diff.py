"""A diff as it is shown: without the secrets of the lines around the change. Files that are written keep them. Pure."""

from __future__ import annotations

import re
from collections.abc import Iterable
from typing import NamedTuple

from repopilot.redaction.known_values import hidden, values_in
from repopilot.redaction.redact import MARK, redacted
from repopilot.types import FileChange

_HUNK = re.compile(r"@@ -\d+(?:,\d+)? \+(\d+)(?:,(\d+))? @@")


class _Place(NamedTuple):
    """Where a line of a diff stands in the two files, from 0; None in the file that doesn't have it."""

    old: int | None
    new: int | None


def shown_diff(diff: str, new: str) -> str:
    """A unified diff of one file without secrets.

    A secret is recognized by what stands around it, which may be outside the hunk, so both files are redacted as a
    whole. A value that was a secret before the change is one after it, whatever its name is now.

    Args:
        diff: with or without its headers.
        new: the file's text after the change; '' for a deleted file.

    Returns:
        The diff, with the same number of lines.
    """
    lines = diff.split("\n")
    after = new.split("\n")
    places, before = _places(lines, after)
    safe_before = redacted("\n".join(before)).split("\n")
    safe_after = redacted(new).split("\n")
    values = values_in(["\n".join(before)])
    shown = list(lines)
    for at, place in places.items():
        text = lines[at][1:]
        safe = text
        if place.new is not None and after[place.new : place.new + 1] == [text]:
            safe = safe_after[place.new]
        if place.old is not None and safe == text:
            safe = safe_before[place.old]
        safe = redacted(text) if safe == text else safe
        shown[at] = lines[at][:1] + (hidden(values, safe) if safe or not text else f"{MARK}continued]")
    return "\n".join(shown)


def shown_diffs(changes: Iterable[FileChange]) -> str:
    """The diffs of changed files, one after the other, without secrets."""
    return "\n".join(shown_diff(change.diff, change.content) for change in changes)


def _places(lines: list[str], after: list[str]) -> tuple[dict[int, _Place], list[str]]:
    """Where each line of a diff stands, by its number in the diff, and the old file's lines."""
    places: dict[int, _Place] = {}
    before: list[str] = []
    at = 0
    inside = False
    for number, line in enumerate(lines):
        if hunk := _HUNK.match(line):
            start = int(hunk[1]) - (hunk[2] != "0")
            before += after[at:start]
            at = start
            inside = True
        elif inside and line[:1] in ("+", "-", " ") and line:
            kept = line[0] != "+"
            added = line[0] != "-"
            places[number] = _Place(len(before) if kept else None, at if added else None)
            before += [line[1:]] if kept else []
            at += added
    return places, [*before, *after[at:]]
