"""The end of a refactoring: its edits are put into the working copy, and what was left is listed."""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Collection, Iterable, Sequence
from dataclasses import dataclass
from typing import Any

from repopilot.code.source_positions import Replacement, line_at, replaced
from repopilot.errors import UsageError
from repopilot.i18n import message
from repopilot.redaction.redact import redacted
from repopilot.redaction.shown_diff import shown_diffs
from repopilot.repo.patches.diff_hunks import line_counts
from repopilot.resolve.values import NameSpan
from repopilot.tools.definitions import LONGEST_LINE
from repopilot.tools.registry import ToolResult
from repopilot.tools.verifying.edit_check import EditFault, Observed, faults, observed, refusal, told
from repopilot.tools.working_copy import WorkingCopy
from repopilot.types import FileChange

MOST_LISTED = 20
Texts = dict[str, str | None]
Row = dict[str, Any]
"""A place: `path`, `line`, and the line's `text`."""


@dataclass(frozen=True, slots=True)
class Rest:
    """What a refactoring doesn't change.

    Attributes:
        left: places that may have to change.
        named: places that name the definition for human readers.
        unread: files that can't be parsed.
        outside: a message about library definitions that it overrides or implements; '' for none.
    """

    left: Sequence[Row] = ()
    named: Sequence[Row] = ()
    unread: Sequence[str] = ()
    outside: str = ""


def edited(copy: WorkingCopy, edits: Iterable[tuple[NameSpan, str]]) -> Texts:
    """The texts of the files that edits change, by path.

    Args:
        copy: the working copy.
        edits: places, and what replaces them.

    Raises:
        UsageError: a file isn't any more as it was when the working copy began.
    """
    by_path: dict[str, list[Replacement]] = defaultdict(list)
    for span, text in edits:
        by_path[span.path].append(Replacement(span.start, span.end, text))
    stale = [path for path in by_path if copy.text(path) != copy.resolver.text(path)]
    if stale:
        raise UsageError(message("refactor_tools.stale", paths=", ".join(stale)))
    return {path: replaced(copy.text(path) or "", found) for path, found in by_path.items()}


def finished(
    copy: WorkingCopy,
    texts: Texts,
    left: Collection[NameSpan],
    names: Collection[str],
    unread: Iterable[str] = (),
    users: Iterable[str] = (),
) -> ToolResult:
    """Put new texts into the working copy, and tell what changed and what was left. Blocking.

    Args:
        copy: the working copy.
        texts: by path, None for a file that goes.
        left: places of the old texts that weren't changed and may have to be.
        names: the names that the refactoring is about.
        unread: files that can't be parsed.
        users: further files that may become wrong.

    Raises:
        UsageError: nothing differs, or the program would no longer mean the same.
    """
    new = {path: text for path, text in texts.items() if text != copy.text(path)}
    if not new:
        raise UsageError(message("edit_tools.same"))
    before = observed(copy, names, [*new, *users])
    rest = Rest(rows_of(copy, sorted(left)), unread=list(unread))
    known = {one.message.split("\n")[0].strip() for each in before.problems.values() for one in each}
    return applied(copy, new, before, rest, known=known)


def applied(
    copy: WorkingCopy,
    texts: Texts,
    before: Observed,
    rest: Rest,
    skipped: Collection[str] = (),
    known: Collection[str] = (),
) -> ToolResult:
    """Put new texts into the working copy, and tell what changed and what was left. Blocking.

    Args:
        copy: the working copy.
        texts: the new ones by path, None for a file that goes.
        before: what the names concerned meant.
        rest: what isn't changed.
        skipped: files that are left as they are.
        known: faults that were reported before, and may be reported of another file now.

    Raises:
        UsageError: the program would no longer mean the same.
    """
    made = copy.edit(texts)
    found = [one for one in faults(copy, before, skipped) if one.breaks or one.said not in known]
    if any(one.breaks for one in found):
        copy.undo(1)
        said, places = refusal(one for one in found if one.breaks)
        raise UsageError(said, "\n".join([places, *copy.resolver.notes]))
    return result_of(copy, made, rest, found)


def result_of(copy: WorkingCopy, made: Sequence[FileChange], rest: Rest, found: Sequence[EditFault] = ()) -> ToolResult:
    """What was changed, what is left for the user, and what is newly wrong."""
    rows = ["{} +{} -{}".format(change.path, *line_counts(change)) for change in made]
    rows += [rest.outside] if rest.outside else []
    if rest.left:
        rows += [message("refactor_tools.unsure", count=len(rest.left)), *map(line_of, rest.left[:MOST_LISTED])]
    if found:
        rows += [message("refactor_tools.newly_wrong"), *told(found)[:MOST_LISTED]]
    if rest.named:
        rows += [message("refactor_tools.mentions", count=len(rest.named)), *map(line_of, rest.named[:MOST_LISTED])]
    rows += [message("refactor_tools.unread", path=path) for path in rest.unread]
    data = {
        "files": [c.path for c in made],
        "unsure": [*rest.left, *rest.named][:MOST_LISTED],
        "unsure_count": len(rest.left) + len(rest.named),
        "unread": list(rest.unread),
        "left": [*rest.left, *({"path": one.path, "line": one.line, "text": one.said} for one in found)],
        "done": not (rest.left or found or rest.outside or rest.unread),
        "diff": shown_diffs(made),
    }
    return ToolResult("\n".join([*rows, *copy.resolver.notes]), data)


def rows_of(copy: WorkingCopy, places: Iterable[NameSpan]) -> list[Row]:
    """The places as lines of the files as they are now, each once, without secrets."""
    rows: dict[tuple[str, int], Row] = {}
    shown: dict[str, list[str]] = {}
    for place in places:
        text = copy.resolver.text(place.path) or ""  # also of what can't be edited: notebooks, files the index skips
        line = line_at(text, place.start)
        if (place.path, line) not in rows:
            lines = shown.get(place.path) or shown.setdefault(place.path, redacted(text).split("\n"))
            rows[place.path, line] = {"path": place.path, "line": line, "text": lines[line - 1].strip()[:LONGEST_LINE]}
    return list(rows.values())


def line_of(row: Row) -> str:
    """A place as a person reads it."""
    return f"{row['path']}:{row['line']} {row['text']}"
