"""Reads change logs: releases, their dates, and what each says it changed. Pure."""

from __future__ import annotations

import re
from collections.abc import Iterator
from dataclasses import dataclass

_NAME = re.compile(
    r"(^|/)(?:changelog|changes|history|news|release[-_ ]?notes|releases|whats[-_]?new|"
    r"what-s-new)\.?[^/]*?(?:\.(?:md|rst|txt|markdown|adoc|rdoc|org))?$",
    re.I,
)
_DOCUMENT = re.compile(r"(^|/)[^/.]+$|\.(?:md|rst|txt|markdown|adoc|rdoc|org)$", re.I)
_VERSION = r"v?(?P<version>\d+\.\d+(?:\.\d+)*(?:[-.]?(?:rc|alpha|beta|dev|pre|a|b)[-.]?\d*)?)"
_HEADING = re.compile(
    rf"^(?:(?:#{{1,4}}|={{1,4}})\s+(?:\w+\s+){{0,2}}|(?:version |release |"
    rf"changes in (?:version )?)?)\[?{_VERSION}(?=[\]\s,:/(]|$)",
    re.I,
)
_UNRELEASED = re.compile(
    r"^(?:#{1,4}|={1,4})?\s*\[?(?:unreleased|upcoming|next release|development|master|main)\b", re.I
)
_DATE = re.compile(
    r"\b(?:\d{4}-\d{1,2}-\d{1,2}|\d{1,2} [A-Z][a-z]{2,8}\.?,? \d{4}|[A-Z][a-z]{2,8}\.? \d{1,2}(?:st|nd|rd|"
    r"th)?,? \d{4}|\d{4}/\d{2}/\d{2})\b"
)
_BULLET = re.compile(r"^\s*(?:[*+-]|\d+\.)\s+")


@dataclass(frozen=True, slots=True)
class ChangeEntry:
    """One change of a release. `version` is '' for what is not released; `date` as written, '' for none; `heading` is
    the line of the release."""

    version: str
    date: str
    text: str
    line: int
    last_line: int
    heading: int


def is_changelog(path: str) -> bool:
    """Whether a path is that of a change log."""
    return bool(_NAME.search(path) and _DOCUMENT.search(path))


def entries_in(text: str) -> Iterator[ChangeEntry]:
    """The entries of a change log: bullets with their further lines, and paragraphs, below the heading of a release."""
    version, date, heading, known = "", "", 0, False
    rows: list[str] = []
    first = 0
    lines = text.split("\n")
    for number, line in enumerate([*lines, ""], 1):
        head = _heading(line, lines[number] if number < len(lines) else "")
        starts = (
            head is not None
            or not line.strip()
            or _BULLET.match(line) is not None
            or line.startswith(("#", "==", "--"))
        )
        if starts and rows:
            yield ChangeEntry(version, date, " ".join(rows), first, first + len(rows) - 1, heading)
            rows = []
        if head is not None:
            (version, date), heading, known = head, number, True
        elif known and line.strip() and not line.startswith(("#", "==", "--")):
            first = first if rows else number
            rows.append(_BULLET.sub("", line).strip())


def _heading(line: str, following: str) -> tuple[str, str] | None:
    """(version, date) of the heading of a release."""
    if _UNRELEASED.match(line) and (line.startswith(("#", "=")) or re.match(r"[=~-]{3}", following)):
        return "", ""
    found = _HEADING.match(line)
    if found is None or len(line) > 100:
        return None
    if not line.startswith(("#", "=")) and not re.match(r"[=~-]{3}", following) and not _DATE.search(line):
        return None
    date = _DATE.search(line)
    return found["version"], date[0] if date else ""
