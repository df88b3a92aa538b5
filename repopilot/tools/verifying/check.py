"""Tools that check the edits of the working copy: what is newly wrong in them."""

from __future__ import annotations

import asyncio
import re
from collections.abc import AsyncIterator, Collection, Iterable, Sequence
from contextlib import asynccontextmanager
from dataclasses import dataclass, field
from functools import cache, partial

from pydantic import Field

from repopilot.background import run_in_thread
from repopilot.code.languages import family, file_kind, grammar, is_product_path, language_of
from repopilot.errors import SandboxError, UsageError
from repopilot.i18n import joined, message, reason
from repopilot.index.store import Index
from repopilot.project.asked_tools import asked_tools, may_ask
from repopilot.redaction.shown_diff import shown_diff
from repopilot.repo.patches.apply import conflicts
from repopilot.repo.patches.diff_hunks import before_change
from repopilot.repo.read import names_in
from repopilot.resolve.uses.broken_uses import captured, changed_definitions, left_behind, versions_of
from repopilot.sandbox.formatters import formatters_for, unformatted
from repopilot.tools import result_types
from repopilot.tools.checkout import checked_out
from repopilot.tools.file_change import Changes, syntax_error
from repopilot.tools.registry import Arguments, Tool, ToolContext, ToolResult, in_thread
from repopilot.tools.test_suites import node_suite
from repopilot.tools.verifying.new_errors import new_errors
from repopilot.tools.verifying.type_errors import (
    TYPESCRIPT,
    TypeCheck,
    type_check,
    types_before,
)
from repopilot.tools.working_copy import WorkingCopy
from repopilot.trace import Step, result_or_none
from repopilot.types import FileChange, Finding, InstalledPackages
from repopilot.workspace import Workspace

_LANGUAGES_OF_MANIFESTS = {"package.json": "javascript", "pyproject.toml": "python", "tox.ini": "python"}
"""The language of the tools that a manifest asks for; those that other files ask for may be for any language."""


class CheckPaths(Arguments):
    """Which files."""

    paths: list[str] = Field(default_factory=list, description="files; empty for all that were changed")


class NoArguments(Arguments):
    """No arguments."""


@in_thread
def changes(arguments: NoArguments, context: ToolContext) -> ToolResult:
    """Show all edits so far as a diff against what the copy began with, and what changed in the folder since. Before
    you finish."""
    copy = context.working_copy
    found = copy.changes()
    rows = [{"path": c.path, "change": c.change, "diff": shown_diff(c.diff, c.content)} for c in found]
    on_disk = copy.changed_on_disk()
    root = copy.original.snapshot.root
    places = conflicts(root, found) if root and on_disk else ()
    said = ["\n".join(row["diff"] for row in rows) or message("edit_tools.no_changes")]
    said += [message("check_tools.on_disk", paths=", ".join(on_disk))] if on_disk else []
    said += [message("check_tools.conflicts", places=", ".join(places))] if places else []
    return ToolResult(joined(said, "\n"), {"files": rows, "on_disk": on_disk, "conflicts": list(places)})


async def check(arguments: CheckPaths, context: ToolContext) -> ToolResult:
    """Say what parser, linter, type checker and formatter find in changed files that they did not before, and which of
    them ran. After your edits, and before you run tests."""
    found = await asyncio.to_thread(context.working_copy.changes)
    wanted = [c for c in found if c.change != "deleted" and (not arguments.paths or c.path in arguments.paths)]
    report = _Report()
    await asyncio.to_thread(_read_by_us, wanted, report)
    typed = await _check_types(wanted, context, report) if wanted else TypeCheck()
    left = await asyncio.to_thread(uses_left_behind, found, context.working_copy, typed.files)
    report.rows += _rows((*left, *typed.findings))
    if wanted:
        await _check_format(wanted, context, report)
        report.missing += _not_run(found, context.workspace, report)
    names = ", ".join(c.path for c in wanted)
    said = [f"{row['path']}: {row['message']}" for row in report.rows]
    if not said:
        said.append(message("check_tools.clean", paths=names) if wanted else message("edit_tools.no_changes"))
    said += [message("check_tools.ran", names=", ".join(report.ran))] if report.ran else []
    said += [message("check_tools.missing", names="; ".join(report.missing))] if report.missing else []
    checked = [c.path for c in wanted]
    data = {"new": report.rows, "checked": checked, "ran": report.ran, "missing": report.missing}
    return ToolResult(joined(said, "\n"), data)


def unrun_tools(changes: Changes, index: Index, ran: Collection[str]) -> dict[str, str]:
    """The linters, formatters and type checkers that a repository's own files ask for, and that didn't look at a change
    of code.

    Args:
        changes: the change.
        index: the repository before it.
        ran: the names of tools that ran, with or without a subcommand, such as `ruff format`.

    Returns:
        Their names, each with the path of the file that asks for it; manifests of other languages don't count.
    """
    done = {name.partition(" ")[0] for name in ran} | set(ran)
    code = [change.path for change in changes if file_kind(change.path) == "code"]
    families = {family(language_of(path) or "") for path in code}

    def concerns(path: str) -> bool:
        language = _LANGUAGES_OF_MANIFESTS.get(path.rpartition("/")[2])
        return bool(code) and (language is None or family(language) in families)

    def read(path: str) -> str | None:
        return index.text(path) if path in index.files else None

    formatters = {each.name: min(each.configs) for each in formatters_for(code, read, None, lambda: None)}
    asked = {**formatters, **{name: path for name, path in index.derived(_asked).items() if concerns(path)}}
    return {name: path for name, path in asked.items() if name not in done}


def _asked(index: Index) -> dict[str, str]:
    return asked_tools((path, index.text(path) or "") for path in sorted(index.files, key=_depth) if may_ask(path))


def _depth(path: str) -> int:
    return path.count("/")


def _not_run(changes: Changes, workspace: Workspace, report: _Report) -> list[str]:
    told = " ".join(report.missing)
    found = unrun_tools(changes, workspace.index, report.ran)
    return [
        message("check_tools.not_run", name=name, path=path)
        for name, path in found.items()
        if not re.search(rf"\b{re.escape(name)}\b", told)
    ]


@dataclass(slots=True)
class _Report:
    """What is newly wrong, what looked for it, and what could not."""

    rows: list[dict[str, str]] = field(default_factory=list)
    ran: list[str] = field(default_factory=list)
    missing: list[str] = field(default_factory=list)


def _read_by_us(found: Sequence[FileChange], report: _Report) -> None:
    """Add what parser and linter newly find to a report."""
    languages = {language for c in found if (language := language_of(c.path)) is not None and grammar(language)}
    report.ran += [*["parser"] * bool(languages), *["ruff"] * ("python" in languages)]
    for change in found:
        before = before_change(change) or ""
        fault = syntax_error(change.path, change.content)
        said = [str(fault.message)] if fault is not None and syntax_error(change.path, before) is None else []
        said += new_errors(change.path, before, change.content)
        report.rows += [{"path": change.path, "message": each} for each in said]


def _rows(findings: Iterable[Finding]) -> list[dict[str, str]]:
    return [{"path": each.path, "message": f"line {each.line}: {each.message}"} for each in findings]


async def _check_types(wanted: Sequence[FileChange], context: ToolContext, report: _Report) -> TypeCheck:
    """The result of the repository's type checker; its name, or why it didn't run, goes into the report."""
    async with checked_out(context.workspace) as folder:
        try:
            found = await type_check(wanted, folder, context.workspace, context.step)
        except SandboxError as error:
            report.missing.append(reason(error))
            return TypeCheck()
    needed = not found.name and any(c.path.endswith(TYPESCRIPT) for c in wanted)
    report.missing += [message("check_tools.no_packages", name="tsc")] if needed else []
    report.ran += filter(None, [found.name])
    return found


@asynccontextmanager
async def warm_type_checker(paths: Iterable[str], workspace: Workspace, step: Step) -> AsyncIterator[None]:
    """Run the repository's type checker over some files as they are while the block runs, so that its cache is warm
    once they are changed. Tests are left out."""
    changes = [FileChange(path, "modified", "", "") for path in paths if is_product_path(path)]

    async def known() -> None:
        async with checked_out(workspace) as folder:
            await result_or_none(types_before(changes, folder, workspace), message("generate.work.types"), step)

    running = asyncio.create_task(known())
    try:
        yield
    finally:
        running.cancel()
        await asyncio.wait([running])


async def _check_format(wanted: Sequence[FileChange], context: ToolContext, report: _Report) -> None:
    """Report the files that the repository's formatters would change now, and not before."""
    copy = context.working_copy
    settings = context.workspace.settings
    texts = {c.path: c.content for c in wanted}
    old = {c.path: before for c in wanted if c.change != "added" and (before := before_change(c)) is not None}
    listed = cache(partial(names_in, context.workspace.snapshot))
    in_copy = frozenset(copy.paths())

    def read(path: str) -> str | None:
        folder, _, name = path.rpartition("/")
        if path not in in_copy and name not in listed(folder):
            return None  # known without asking git of each name whether it is ignored
        try:
            return copy.text(path)
        except UsageError:  # kept out as secret or ignored
            return None

    def packages() -> InstalledPackages | None:
        return node_suite(context.workspace).packages

    environment = await asyncio.to_thread(context.workspace.current_environment)
    used = await asyncio.to_thread(formatters_for, list(texts), read, environment, packages)
    for each in used:
        if each.run is None:
            report.missing.append(message("check_tools.no_packages", name=each.name))
            continue
        try:
            found = await run_in_thread(
                partial(unformatted, each, {path: texts[path] for path in each.paths}, settings)
            )
            earlier = {path: old[path] for path in found if path in old}
            known = await run_in_thread(partial(unformatted, each, earlier, settings)) if earlier else {}
        except SandboxError as error:
            report.missing.append(reason(error))
            continue
        report.ran.append(each.name)
        report.rows += [
            {"path": path, "message": message("check_tools.unformatted", name=each.name, lines=lines)}
            for path, lines in found.items()
            if path not in known
        ]


def uses_left_behind(changes: Changes, copy: WorkingCopy, typed: Collection[str] = ()) -> tuple[Finding, ...]:
    """Findings on what edits leave behind: uses elsewhere that no longer fit the removed or changed definitions, and
    names that the edits capture. Blocking; remembered for each set of edits.

    Args:
        changes: the edits.
        copy: the working copy with the edits.
        typed: files in which a type checker checked every use.
    """
    if changes not in copy.left_behind:
        files = versions_of(changes)
        changed = changed_definitions(files)
        left = captured(files)
        left += left_behind(changed, files, copy.original.resolver, copy.resolver, {}, typed) if changed else ()
        copy.left_behind[changes] = tuple(left)
    return copy.left_behind[changes]


CHECK = Tool("check", CheckPaths, "check", check, result_types.Checked)
TOOLS = (
    CHECK,
    Tool("changes", NoArguments, "check", changes, result_types.Changed),
)
