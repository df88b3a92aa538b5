"""The end of a refactoring: its edits are put into the working copy, and what was left is listed."""

from __future__ import annotations

from collections.abc import Collection, Iterable, Mapping, Sequence
from typing import Any

from repopilot.code.source_positions import Replacement, replaced
from repopilot.errors import UsageError
from repopilot.i18n import message
from repopilot.redaction.redact import redacted
from repopilot.redaction.shown_diff import shown_diffs
from repopilot.resolve.values import NameSpan
from repopilot.tools.definitions import LONGEST_LINE
from repopilot.tools.edit_check import EditFault, faults, observed, refusal, told
from repopilot.tools.registry import ToolResult
from repopilot.tools.working_copy import WorkingCopy
from repopilot.types import FileChange

MOST_LISTED = 20
Texts = dict[str, str | None]


def edited(copy: WorkingCopy, edits: Mapping[str, Iterable[Replacement]]) -> Texts:
    """The texts of the files that edits change, by path."""
    return {path: replaced(copy.text(path) or "", each) for path, each in edits.items() if each}


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
        names: that the refactoring is about.
        unread: files that could not be read.
        users: further files that may become wrong.

    Raises:
        UsageError: nothing differs, or the program would no longer mean the same.
    """
    new = {path: text for path, text in texts.items() if text != copy.text(path)}
    if not new:
        raise UsageError(message("edit_tools.same"))
    before = observed(copy, names, [*new, *users])
    rows_left = [_row(copy, place) for place in sorted(left)]
    unsure = list({(row["path"], row["line"]): row for row in rows_left}.values())
    made = copy.edit(new)
    moved = {one.message.split("\n")[0].strip() for each in before.problems.values() for one in each}
    found = [one for one in faults(copy, before) if one.breaks or one.said not in moved]
    if any(one.breaks for one in found):
        copy.undo(1)
        raise UsageError(*refusal(one for one in found if one.breaks))
    return _result(made, unsure, found, list(unread))


def _result(
    made: Sequence[FileChange], unsure: Sequence[dict[str, Any]], found: Sequence[EditFault], unread: Sequence[str]
) -> ToolResult:
    rows = [f"{c.path} +{_count(c.diff, '+')} -{_count(c.diff, '-')}" for c in made]
    if unsure:
        rows.append(message("refactor_tools.unsure", count=len(unsure)))
    rows += [f"{row['path']}:{row['line']} {row['text']}" for row in unsure[:MOST_LISTED]]
    if found:
        rows += [message("refactor_tools.newly_wrong"), *told(found)[:MOST_LISTED]]
    rows += [message("refactor_tools.unread", path=path) for path in unread]
    said = [{"path": one.path, "line": one.line, "text": one.said} for one in found]
    data = {
        "files": [c.path for c in made],
        "unsure": unsure[:MOST_LISTED],
        "unsure_count": len(unsure),
        "unread": unread,
        "left": [*unsure, *said],
        "done": not (unsure or found or unread),
        "diff": shown_diffs(made),
    }
    return ToolResult("\n".join(rows), data)


def _row(copy: WorkingCopy, place: NameSpan) -> dict[str, Any]:
    """A place that is left, its line without secrets."""
    text = copy.text(place.path) or ""
    line = text.count("\n", 0, place.start) + 1
    shown = redacted(text).split("\n")[line - 1].strip()[:LONGEST_LINE]
    return {"path": place.path, "line": line, "text": shown}


def _count(diff: str, sign: str) -> int:
    return sum(line.startswith(sign) and not line.startswith(sign * 3) for line in diff.split("\n"))
