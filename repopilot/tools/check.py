"""Tools that check the edits of the working copy: what is newly wrong in them."""

from __future__ import annotations

import asyncio
from collections.abc import Sequence
from dataclasses import dataclass, field

from pydantic import Field

from repopilot.code.languages import grammar, language_of
from repopilot.errors import SandboxError, UsageError
from repopilot.i18n import joined, message, reason
from repopilot.redaction.shown_diff import shown_diff
from repopilot.repo.apply import conflicts
from repopilot.repo.diff_hunks import before_change
from repopilot.review.broken_uses import captured, changed_definitions, left_behind, versions_of
from repopilot.review.type_errors import TYPESCRIPT, checker_for, new_type_errors, node_packages
from repopilot.sandbox.async_runner import check_format_in_sandbox
from repopilot.sandbox.formatters import formatters_for
from repopilot.tools import result_types
from repopilot.tools.checkout import checked_out
from repopilot.tools.file_change import Changes, syntax_error
from repopilot.tools.new_errors import new_errors
from repopilot.tools.registry import Arguments, Desk, Tool, ToolResult
from repopilot.tools.working_copy import WorkingCopy
from repopilot.types import FileChange, Finding


class CheckPaths(Arguments):
    """Which files."""

    paths: list[str] = Field(default_factory=list, description="files; empty for all that were changed")


class NoArguments(Arguments):
    """Nothing to say."""


async def changes(arguments: NoArguments, desk: Desk) -> ToolResult:
    """Show all edits so far as a diff against what the copy began with, and what changed in the folder since. Before
    you finish."""
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
    """Say what parser, linter, type checker and formatter find in changed files that they did not before, and which of
    them ran. After your edits, and before you run tests."""
    found = await asyncio.to_thread(desk.working_copy.changes)
    wanted = [c for c in found if c.change != "deleted" and (not arguments.paths or c.path in arguments.paths)]
    report = _Report()
    await asyncio.to_thread(_read_by_us, wanted, report)
    left = await asyncio.to_thread(uses_left_behind, found, desk.working_copy)
    report.rows += [{"path": each.path, "message": f"line {each.line}: {each.message}"} for each in left]
    if wanted:
        await _check_types(wanted, desk, report)
        await _check_format(wanted, desk, report)
    names = ", ".join(c.path for c in wanted)
    said = [f"{row['path']}: {row['message']}" for row in report.rows]
    if not said:
        said.append(message("check_tools.clean", paths=names) if wanted else message("edit_tools.no_changes"))
    said += [message("check_tools.ran", names=", ".join(report.ran))] if report.ran else []
    said += [message("check_tools.missing", names="; ".join(report.missing))] if report.missing else []
    checked = [c.path for c in wanted]
    data = {"new": report.rows, "checked": checked, "ran": report.ran, "missing": report.missing}
    return ToolResult(joined(said, "\n"), data)


@dataclass(slots=True)
class _Report:
    """What is newly wrong, what looked for it, and what could not."""

    rows: list[dict[str, str]] = field(default_factory=list)
    ran: list[str] = field(default_factory=list)
    missing: list[str] = field(default_factory=list)


def _read_by_us(found: Sequence[FileChange], report: _Report) -> None:
    """What parser and linter find."""
    languages = {language for c in found if (language := language_of(c.path)) is not None and grammar(language)}
    report.ran += [*["parser"] * bool(languages), *["ruff"] * ("python" in languages)]
    for change in found:
        before = before_change(change) or ""
        fault = syntax_error(change.path, change.content)
        said = [str(fault.message)] if fault is not None and syntax_error(change.path, before) is None else []
        said += new_errors(change.path, before, change.content)
        report.rows += [{"path": change.path, "message": each} for each in said]


async def _check_types(wanted: Sequence[FileChange], desk: Desk, report: _Report) -> None:
    async with checked_out(desk.workspace) as folder:
        checker = await asyncio.to_thread(checker_for, wanted, folder, desk.workspace)
        if checker is None:
            needed = any(c.path.endswith(TYPESCRIPT) for c in wanted)
            report.missing += [message("check_tools.no_packages", name="tsc")] if needed else []
            return
        try:
            found = await new_type_errors(wanted, folder, desk.workspace, desk.step)
        except SandboxError as error:
            report.missing.append(reason(error))
            return
    report.ran.append(checker.name)
    report.rows += [{"path": each.path, "message": f"line {each.line}: {each.message}"} for each in found]


async def _check_format(wanted: Sequence[FileChange], desk: Desk, report: _Report) -> None:
    """The files that the repository's formatters would write otherwise now, and didn't before."""
    copy, settings = desk.working_copy, desk.workspace.settings
    texts = {c.path: c.content for c in wanted}
    old = {c.path: before for c in wanted if c.change != "added" and (before := before_change(c)) is not None}

    def read(path: str) -> str | None:
        try:
            return copy.text(path)
        except UsageError:  # kept out as secret or ignored
            return None

    packages = await asyncio.to_thread(node_packages, desk.workspace)
    environment = await asyncio.to_thread(desk.workspace.current_environment)
    used = await asyncio.to_thread(formatters_for, list(texts), read, environment, packages)
    for each in used:
        if each.run is None:
            report.missing.append(message("check_tools.no_packages", name=each.name))
            continue
        try:
            found = await check_format_in_sandbox(each, {path: texts[path] for path in each.paths}, settings)
            earlier = {path: old[path] for path in found if path in old}
            known = await check_format_in_sandbox(each, earlier, settings) if earlier else {}
        except SandboxError as error:
            report.missing.append(reason(error))
            continue
        report.ran.append(each.name)
        report.rows += [
            {"path": path, "message": message("check_tools.unformatted", name=each.name, lines=lines)}
            for path, lines in found.items()
            if path not in known
        ]


def uses_left_behind(changes: Changes, copy: WorkingCopy) -> tuple[Finding, ...]:
    """What the edits of a working copy leave behind elsewhere: uses of what they remove or change that no longer fit;
    and remarks on what they capture. Blocking; the same edits are compared once.

    Args:
        changes: the edits.
        copy: has them.
    """
    if changes not in copy.left_behind:
        files = versions_of(changes)
        changed, left = changed_definitions(files), captured(files)
        left += left_behind(changed, files, copy.original.resolver, copy.resolver, {}) if changed else ()
        copy.left_behind[changes] = tuple(left)
    return copy.left_behind[changes]


CHECK = Tool("check", CheckPaths, "check", check, result_types.Checked)
TOOLS = (
    CHECK,
    Tool("changes", NoArguments, "check", changes, result_types.Changed),
)
