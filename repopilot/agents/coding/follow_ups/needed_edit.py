"""A place that a change makes it necessary to edit, and how far code can write that edit. Pure."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass

from repopilot import i18n
from repopilot.agents.coding.checks import edits
from repopilot.code.source_positions import Replacement, replaced
from repopilot.results import FollowUpEdit
from repopilot.tools import file_change

MOST_SHOWN = 8


@dataclass(frozen=True, slots=True)
class NeededEdit:
    """One place to edit.

    Attributes:
        path, line: where it is, in the text after the change.
        reason: why, as a message.
        rank: how urgent it is: 0 breaks code, 1 breaks a test, 2 and more leave something out of date.
        replacement: what to write there; None where code can't tell.
    """

    path: str
    line: int
    reason: str
    rank: int
    replacement: Replacement | None = None


@dataclass(frozen=True, slots=True)
class FileTexts:
    """A file's `stored` text in the snapshot, None for a new one, and its text after the change with LF line ends."""

    stored: str | None
    current: str


def joined(needed: Sequence[NeededEdit], texts: Mapping[str, FileTexts]) -> tuple[FollowUpEdit, ...]:
    """Put the edits of one file into one change.

    Args:
        needed: the places.
        texts: of their files.

    Returns:
        The most urgent MOST_SHOWN; an edit after which a file would no longer parse is only named.
    """
    ordered = sorted(dict.fromkeys(needed), key=lambda n: (n.rank, n.path, n.line))
    by_path: dict[str, list[NeededEdit]] = {}
    for each in ordered:
        by_path.setdefault(each.path, []).append(each)
    found: list[tuple[int, FollowUpEdit]] = []
    for path, places in by_path.items():
        found += _of_file(path, places, texts[path])
    return tuple(follow_up for _, follow_up in sorted(found, key=lambda f: f[0])[:MOST_SHOWN])


def _of_file(path: str, places: Sequence[NeededEdit], texts: FileTexts) -> list[tuple[int, FollowUpEdit]]:
    written = [place for place in places if place.replacement is not None]
    new = replaced(texts.current, [place.replacement for place in written if place.replacement])
    if edits.problem_of(path, new, texts.current) is not None:
        written, new = [], texts.current
    found = []
    if written:
        content = file_change.with_line_ends(new, texts.stored or "")
        first = written[0]
        change = file_change.change(path, content, texts.stored)
        found.append((first.rank, FollowUpEdit(path, first.line, _reason(written), change)))
    left = [place for place in places if place not in written]
    return found + [(place.rank, FollowUpEdit(path, place.line, place.reason)) for place in left]


def _reason(places: Sequence[NeededEdit]) -> str:
    """The reasons of a file's edits, each once."""
    return i18n.joined(list(dict.fromkeys(place.reason for place in places))[:3])
