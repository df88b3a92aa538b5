"""Where an entry of a change log belongs, and how it is written there. Pure."""

from __future__ import annotations

import itertools
import re
from collections.abc import Sequence
from typing import NamedTuple

_VERSION = re.compile(r"\bv?\d+\.\d+|\d{4}-\d\d-\d\d")
_COMING = re.compile(
    r"\b(?:unreleased|development|dev|upcoming|next|tbd|tba|to be (?:released|determined)|in progress|wip)\b", re.I
)
_MONTHS = "jan|feb|mar|apr|may|jun|jul|aug|sep|oct|nov|dec"
_DATE = re.compile(rf"\b\d{{4}}[-/.]\d\d?[-/.]\d\d?\b|\b(?:{_MONTHS})\w*\.? .*\d{{4}}|\d{{4}}\)", re.I)
_BULLET = re.compile(r"(?P<indent>[ \t]*)(?P<mark>[-*+•]\s+)(?=\S)")
_UNDERLINE = re.compile(r"(?P<mark>[-=~^\"'`#*+])(?P=mark){2,}\s*$")
_PLACEHOLDER = re.compile(
    r"(?:[-*]\s+)?(?:nothing(?: yet| so far)?|none|tbd|n/a|no (?:significant )?changes(?: yet)?|\\?\[.*\\?\])\.?", re.I
)
_SUBJECTS = (
    ("fix", "fixed", "fixes", "bug", "bugs", "bugfix", "bugfixes", "correct", "corrected", "resolve", "repair"),
    ("add", "added", "adds", "feature", "features", "new", "support", "introduce", "implement", "addition",
     "additions"),
    ("change", "changed", "changes", "update", "updated", "improve", "improved", "improvement", "improvements",
     "enhancement", "enhancements", "use", "make", "rename", "refactor", "bump", "raise", "increase"),
    ("remove", "removed", "removes", "removal", "removals", "drop", "dropped", "delete", "deleted"),
    ("deprecate", "deprecated", "deprecates", "deprecation", "deprecations"),
    ("security", "vulnerability"),
    ("doc", "docs", "document", "documentation"),
)  # fmt: skip
_NAMES = ("Fixed", "Added", "Changed", "Removed", "Deprecated", "Security", "Documentation")


class LogHeading(NamedTuple):
    """A heading: its first line, the line behind it, its level (1 is the highest), its text and its mark."""

    line: int
    behind: int
    level: int
    text: str
    mark: str


class LogEntry(NamedTuple):
    """What to write into a change log: the lines [start, end) that are replaced, and the new ones."""

    start: int
    end: int
    rows: list[str]


def changelog_entry(text: str, entry: str, section: str) -> LogEntry | None:
    """Where an entry goes, and its lines.

    Args:
        text: of the change log.
        entry: what it says, with or without a bullet.
        section: the version or kind of change that it belongs to, '' for the newest.

    Returns:
        The change; None for a log without headings of versions.
    """
    rows = text.split("\n")
    headings = headings_of(rows)
    versions = [h for h in headings if _is_version(h)]
    if not versions:
        return None
    named = next((h for h in versions if section and section.lower() in h.text.lower()), None)
    newest = named or versions[0]
    end = next((h.line for h in headings if h.line > newest.line and h.level <= newest.level), len(rows))
    log = _Log(rows, headings, newest, [h for h in headings if newest.line < h.line < end], end)
    if named is None and _is_released(rows, newest):
        return _new_version(log, entry, section)
    return _in_version(log, entry, "" if named is not None else section)


class _Log(NamedTuple):
    """A change log, with the version that an entry is for, the headings in that and the line behind it."""

    rows: list[str]
    headings: Sequence[LogHeading]
    version: LogHeading
    inside: Sequence[LogHeading]
    end: int


def headings_of(rows: Sequence[str]) -> list[LogHeading]:
    """The headings of a document in Markdown or reStructuredText, and lines in bold."""
    found: list[LogHeading] = []
    marks: list[str] = []
    fenced = False
    for number, row in enumerate(rows):
        fenced ^= row.lstrip().startswith("```")
        below = rows[number + 1] if number + 1 < len(rows) else ""
        under = _UNDERLINE.fullmatch(below)
        if fenced or not row.strip():
            continue
        if match := re.match(r"(?P<mark>#{1,6})\s+(?P<text>.+)", row):
            found.append(LogHeading(number, number + 1, len(match["mark"]), match["text"].strip(" #"), match["mark"]))
        elif under and not row.startswith((" ", "\t")) and not _UNDERLINE.fullmatch(row):
            if under["mark"] not in marks:
                marks.append(under["mark"])
            found.append(LogHeading(number, number + 2, marks.index(under["mark"]) + 1, row.strip(), under["mark"]))
        elif match := re.fullmatch(r"\*\*(?P<text>[^*]+)\*\*:?\s*", row):
            found.append(LogHeading(number, number + 1, 9, match["text"], "**"))
    return found


def _is_version(heading: LogHeading) -> bool:
    return heading.mark != "**" and bool(_VERSION.search(heading.text) or _COMING.search(heading.text))


def _is_released(rows: Sequence[str], heading: LogHeading) -> bool:
    """Whether a version is out: its heading, or the line below it, has a date."""
    below = next((row for row in rows[heading.behind : heading.behind + 3] if row.strip()), "")
    if _COMING.search(heading.text) or (_COMING.search(below) and not _BULLET.match(below)):
        return False
    said = re.match(r"\W*released?\b", below, re.I) is not None and _DATE.search(below) is not None
    return _DATE.search(heading.text) is not None or said


def _new_version(log: _Log, entry: str, kind: str) -> LogEntry:
    """A section for what isn't released yet, above the newest version, with a heading inside if that has some."""
    rows, newest = log.rows, log.version
    before = next((h for h in log.headings if h.level == newest.level and h.line > newest.line), None)
    gap = 1
    if before is not None:
        blank = before.line - 1 - _last_row(rows, 0, before.line)
        gap = blank
    title = "[Unreleased]" if newest.text.startswith("[") else "Unreleased"
    head = _heading(newest.mark, title)
    if _is_blank(rows, newest.behind):
        head.append("")
    first = next((row for row in rows[newest.behind :] if row.strip()), "")
    if log.inside and (kind or rows[log.inside[0].line] == first):
        head += _heading(log.inside[0].mark, _title(log, kind, entry))
        if _is_blank(rows, log.inside[0].behind):
            head.append("")
    return LogEntry(newest.line, newest.line, [*head, *_lines(rows, entry, (0, len(rows))), *[""] * gap])


def _is_blank(rows: Sequence[str], line: int) -> bool:
    return line < len(rows) and not rows[line].strip()


def _heading(mark: str, title: str) -> list[str]:
    """A heading with a mark."""
    if mark[0] == "#":
        return [f"{mark} {title}"]
    return [f"**{title}**"] if mark == "**" else [title, mark * len(title)]


def _title(log: _Log, kind: str, entry: str) -> str:
    """What a heading for a kind of change is called: like the others of that kind in the log."""
    subject = _subject(kind) if kind else _subject_of(entry)
    same = next((h.text for h in log.headings if subject is not None and h.level > log.version.level
                 and _subject(h.text) == subject), "")  # fmt: skip
    return same or (kind[:1].upper() + kind[1:] if kind else _NAMES[subject if subject is not None else 2])


def _subject_of(entry: str) -> int | None:
    return _subject(entry.lstrip("-*+ ").split(" ")[0])


def _in_version(log: _Log, entry: str, kind: str) -> LogEntry:
    rows, inside = log.rows, log.inside
    subject = _subject(kind) if kind else _subject_of(entry)
    chosen = next((h for h in inside if kind and kind.lower() == h.text.lower()), None)
    chosen = chosen or next((h for h in inside if subject is not None and _subject(h.text) == subject), None)
    start = log.version.behind
    direct = not inside or any(_BULLET.match(r) for r in rows[start : inside[0].line])
    by_kind = not direct and all(_subject(h.text) is not None for h in inside)
    if chosen is None and (kind or (by_kind and subject is not None)):
        return _new_kind(log, entry, kind)
    if chosen is None and not direct:
        chosen = next((h for h in inside if _subject(h.text) == 2), inside[-1])
    if chosen is not None and (kind or not direct):
        start = chosen.behind
    stop = next((h.line for h in inside if h.line >= start), log.end)
    return _into(rows, start, stop, entry)


def _subject(text: str) -> int | None:
    """Which kind of change a word or heading speaks of."""
    words = re.findall(r"[a-z]+", text.lower())
    found = (n for word in words for n, known in enumerate(_SUBJECTS) if word in known)
    return next(found, None)


def _new_kind(log: _Log, entry: str, kind: str) -> LogEntry:
    """A heading for a kind of change that the version doesn't have yet, in the way of the others."""
    rows, version = log.rows, log.version
    below = log.inside or [h for h in log.headings if h.level > version.level]
    mark = below[0].mark if below else "#" * (version.level + 1) if version.mark[0] == "#" else "**"
    last = _last_row(rows, version.behind, log.end)
    head = _heading(mark, _title(log, kind, entry))
    if not below or _is_blank(rows, below[0].behind):
        head.append("")
    return LogEntry(last + 1, last + 1, ["", *head, *_lines(rows, entry, (version.line, len(rows)))])


def _last_row(rows: Sequence[str], start: int, end: int) -> int:
    """The last line with text before an end, at least the one before the start."""
    at = end - 1
    while at >= start and not rows[at].strip():
        at -= 1
    return at


def _into(rows: list[str], start: int, stop: int, entry: str) -> LogEntry:
    """Behind the last entry of some lines."""
    last = _last_row(rows, start, stop)
    bullets = [n for n in range(start, last + 1) if _BULLET.match(rows[n])]
    lines = _lines(rows, entry, (start, len(rows)))
    if last >= start and _PLACEHOLDER.fullmatch(rows[last].strip()) and len(bullets) <= 1:
        return LogEntry(last, last + 1, lines)
    if bullets:
        apart = _are_apart(rows, bullets) if len(bullets) > 1 else _are_apart(rows, _bullets(rows))
        apart = apart or any(not row.strip() for row in rows[bullets[-1] : last])
        return LogEntry(last + 1, last + 1, ["", *lines] if apart else lines)
    others = [n for n in _bullets(rows) if n and n != start]
    close = last < start and bool(others) and bool(rows[others[0] - 1].strip())
    return LogEntry(last + 1, last + 1, lines if close else ["", *lines])


def _bullets(rows: Sequence[str]) -> list[int]:
    return [n for n, row in enumerate(rows) if (m := _BULLET.match(row)) is not None and not m["indent"]]


def _are_apart(rows: Sequence[str], bullets: Sequence[int]) -> bool:
    """Whether blank lines stand between most entries that follow each other."""
    pairs = [(a, b) for a, b in itertools.pairwise(bullets) if all(r[:1] in ("", " ", "\t") for r in rows[a + 1 : b])]
    blank = sum(1 for _, b in pairs if not rows[b - 1].strip())
    return bool(pairs) and blank * 2 > len(pairs)


def _lines(rows: Sequence[str], entry: str, span: tuple[int, int]) -> list[str]:
    """The lines of an entry: the text as it is given, behind the bullet of the others."""
    match = next((m for row in rows[slice(*span)] if (m := _BULLET.match(row))), None)
    match = match or next((m for row in rows if (m := _BULLET.match(row))), None)
    indent, mark = (match["indent"], match["mark"]) if match is not None else ("", "- ")
    first, *rest = re.sub(r"^[-*+•]\s+", "", entry.strip()).split("\n")
    return [f"{indent}{mark}{first}", *(f"{indent}{' ' * len(mark)}{row.strip()}" for row in rest)]
