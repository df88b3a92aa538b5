"""Tools that check the edits of the working copy: what is newly wrong in them."""

from __future__ import annotations

import asyncio
from collections.abc import Sequence

from pydantic import Field

from repopilot.i18n import joined, message
from repopilot.redaction.shown_diff import shown_diff
from repopilot.repo.apply import conflicts
from repopilot.repo.diff_hunks import before_change
from repopilot.review.broken_uses import captured, changed_definitions, left_behind, versions_of
from repopilot.review.type_errors import new_type_errors
from repopilot.tools import result_types
from repopilot.tools.checkout import checked_out
from repopilot.tools.file_change import syntax_error
from repopilot.tools.new_errors import new_errors
from repopilot.tools.registry import Arguments, Desk, Tool, ToolResult
from repopilot.types import FileChange


class CheckPaths(Arguments):
    """Which files."""

    paths: list[str] = Field(default_factory=list, description="files; empty for all that were changed")


class NoArguments(Arguments):
    """Nothing to say."""


async def changes(arguments: NoArguments, desk: Desk) -> ToolResult:
    """Show all edits so far as a diff against what the copy began with, and what changed in the folder since."""
    copy = desk.working_copy
    found = await asyncio.to_thread(copy.changes)
    rows = [{"path": c.path, "change": c.change, "diff": shown_diff(c.diff, c.content)} for c in found]
    on_disk = await asyncio.to_thread(copy.changed_on_disk)
    root = copy.original.snapshot.root
    places = await asyncio.to_thread(conflicts, root, found) if root and on_disk else ()
    said = ["\n".join(row["diff"] for row in rows) or message("edit_tools.no_changes")]
    said += [message("check_tools.on_disk", paths=", ".join(on_disk))] if on_disk else []
    said += [message("check_tools.conflicts", places=", ".join(places))] if places else []
    return ToolResult(joined(said, "\n"), {"files": rows, "on_disk": on_disk, "conflicts": list(places)})


async def check(arguments: CheckPaths, desk: Desk) -> ToolResult:
    """Say what parser, linter and the repository's type checker find in changed files that they did not before."""
    found = await asyncio.to_thread(desk.working_copy.changes)
    wanted = [c for c in found if c.change != "deleted" and (not arguments.paths or c.path in arguments.paths)]
    rows = await asyncio.to_thread(_new_findings, wanted)
    rows += await asyncio.to_thread(_left_behind, found, desk)
    if wanted:
        async with checked_out(desk.workspace) as folder:
            types = await new_type_errors(wanted, folder, desk.workspace, desk.step)
        rows += [{"path": each.path, "message": f"line {each.line}: {each.message}"} for each in types]
    names = ", ".join(c.path for c in wanted)
    text = "\n".join(f"{row['path']}: {row['message']}" for row in rows)
    clean = message("check_tools.clean", paths=names) if wanted else message("edit_tools.no_changes")
    return ToolResult(text or clean, {"new": rows, "checked": [c.path for c in wanted]})


def _new_findings(found: Sequence) -> list[dict[str, str]]:
    rows = []
    for change in found:
        before = before_change(change) or ""
        fault = syntax_error(change.path, change.content)
        if fault is not None and syntax_error(change.path, before) is None:
            rows.append({"path": change.path, "message": str(fault.message)})
        rows += [{"path": change.path, "message": said} for said in new_errors(change.path, before, change.content)]
    return rows


def _left_behind(found: Sequence[FileChange], desk: Desk) -> list[dict[str, str]]:
    """The uses of what the edits remove or change that no longer fit, and what they capture."""
    files, copy = versions_of(found), desk.working_copy
    changed, left = changed_definitions(files), captured(files)
    left += left_behind(changed, files, copy.original.resolver, copy.resolver, {}) if changed else ()
    return [{"path": each.path, "message": f"line {each.line}: {each.message}"} for each in left]


CHECK = Tool("check", CheckPaths, "check", check, result_types.Checked)
TOOLS = (
    CHECK,
    Tool("changes", NoArguments, "check", changes, result_types.Changed),
)
