"""Tools that check the edits of the working copy: what is newly wrong in them, and which tests they turn."""

from __future__ import annotations

import asyncio
from collections.abc import Sequence
from dataclasses import dataclass

from pydantic import Field

from repopilot.code.languages import is_test_path
from repopilot.errors import UsageError
from repopilot.i18n import joined, message
from repopilot.impact.covering_tests import is_test_file, reaching_tests
from repopilot.redaction.shown_diff import shown_diff
from repopilot.repo.apply import conflicts
from repopilot.repo.diff_hunks import before_change
from repopilot.review.broken_uses import captured, changed_definitions, left_behind, versions_of
from repopilot.review.type_errors import new_type_errors
from repopilot.sandbox.async_runner import run_in_sandbox, run_suite_in_sandbox
from repopilot.sandbox.baseline import BaselineComparison, compare
from repopilot.sandbox.run import ChosenTests
from repopilot.sandbox.run_program import RunnerSuite
from repopilot.tools import result_types
from repopilot.tools.checkout import checked_out
from repopilot.tools.file_change import Changes, syntax_error, texts_of
from repopilot.tools.new_errors import new_errors
from repopilot.tools.registry import Arguments, Desk, Tool, ToolResult
from repopilot.tools.stored_text import stored_text
from repopilot.tools.test_suites import suite_language, suite_of
from repopilot.types import FileChange, TestRun

MOST_TEST_FILES = 6
MOST_NAMED = 10
OUTPUT_SHOWN = 2000


class CheckPaths(Arguments):
    """Which files."""

    paths: list[str] = Field(default_factory=list, description="files; empty for all that were changed")


class RunTests(Arguments):
    """Which tests."""

    paths: list[str] = Field(default_factory=list, description="test files; empty for those that cover the changes")


class NoArguments(Arguments):
    """Nothing to say."""


@dataclass(frozen=True, slots=True)
class _Tests:
    """The tests to run: `files` of pytest, or the `suite` of another runner."""

    files: tuple[str, ...] = ()
    suite: RunnerSuite | None = None


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


async def run_tests(arguments: RunTests, desk: Desk) -> ToolResult:
    """Run tests with the edits and without, and say which turned red or green. They run in a sandbox."""
    copy = desk.working_copy
    made = await asyncio.to_thread(copy.changes)
    tests = await asyncio.to_thread(_chosen_tests, arguments.paths, made, desk)
    if not tests.files and tests.suite is None:
        text = message("check_tools.no_tests")
        return ToolResult(text, {"tests": [], "passed": 0, "failed": 0, "turned_red": [], "turned_green": []})
    async with desk.step.child("tests", "tool"):
        after = await _run(tests, desk, edited=True)
    before = after
    if made:
        async with desk.step.child("without the change", "tool"):
            before = await _run(tests, desk, edited=False)
    compared = compare(before, after, [c.path for c in made if is_test_path(c.path)])
    return ToolResult(_told(compared, after), _data(compared, after, tests))


def _chosen_tests(paths: Sequence[str], made: Changes, desk: Desk) -> _Tests:
    copy, original = desk.working_copy, desk.working_copy.original
    missing = [path for path in paths if copy.text(path) is None]
    if missing:
        raise UsageError(message("tools.unknown_file", path=", ".join(missing)))
    if paths and all(path.endswith(".py") for path in paths):
        return _Tests(tuple(paths))
    language = suite_language(made) if made else None
    if language is not None:
        suite = suite_of(made, language, original)
        return _Tests(suite=suite)
    if paths:
        raise UsageError(message("check_tools.change_first"))
    own = [c.path for c in made if c.change != "deleted" and is_test_path(c.path) and is_test_file(c.path)]
    code = [c.path for c in made if c.path.endswith(".py") and not is_test_path(c.path)]
    covering = [test for path in code for test in reaching_tests(original.index, path)]
    return _Tests(tuple(dict.fromkeys([*own, *covering]))[:MOST_TEST_FILES])


async def _run(tests: _Tests, desk: Desk, *, edited: bool) -> TestRun:
    """Run the tests on the repository with the edits, or as it is."""
    copy, original = desk.working_copy, desk.working_copy.original
    made = await asyncio.to_thread(copy.changes) if edited else ()
    files = texts_of(made)
    async with checked_out(original) as folder:
        inputs = await asyncio.to_thread(copy.root) if edited and made else folder
        if tests.suite is not None:
            return await run_suite_in_sandbox(files, tests.suite, original.settings, inputs)
        read = copy.text if edited else lambda path: stored_text(path, original)
        texts = {path: text for path in tests.files if (text := await asyncio.to_thread(read, path)) is not None}
        if not texts:
            return TestRun(0, 0, 0, 0.0, "limits", "", False)
        chosen = ChosenTests(tuple(texts))
        return await run_in_sandbox(
            {**files, **texts}, chosen, original.settings, inputs, original.environment, verify=False
        )


def _told(compared: BaselineComparison, after: TestRun) -> str:
    """The comparison as a person would tell it."""
    same = not (compared.broken or compared.repaired)
    key, count = ("check_tools.as_before", compared.green) if same else ("check_tools.passed", after.passed)
    ran = after.passed or after.failed
    rows: list[str] = [message(key, count=count)] if ran and (count or not compared.added) else []
    if not ran:
        rows.append(message("check_tools.none_ran"))
    if compared.added:
        rows.append(message("check_tools.added", count=len(compared.added), names=_names(compared.added)))
    if compared.red:
        rows.append(message("check_tools.red_before", count=len(compared.red)))
    if compared.broken:
        rows.append(message("check_tools.broken", names=_names(compared.broken)))
        rows += [f"{f.test_id}: {f.assertion}" for f in after.failures if f.test_id in compared.broken][:3]
    if compared.repaired:
        rows.append(message("check_tools.repaired", names=_names(compared.repaired)))
    if after.ended != "finished":
        rows.append(message("check_tools.ended", why=after.ended))
    if not after.outcomes and after.output:
        rows.append(after.output[-OUTPUT_SHOWN:])
    return "\n".join(rows)


def _names(ids: Sequence[str]) -> str:
    more = f" +{len(ids) - MOST_NAMED}" if len(ids) > MOST_NAMED else ""
    return ", ".join(ids[:MOST_NAMED]) + more


def _data(compared: BaselineComparison, after: TestRun, tests: _Tests) -> dict[str, object]:
    return {
        "tests": list(tests.suite.tests if tests.suite else tests.files),
        "passed": after.passed,
        "failed": after.failed,
        "errors": after.errors,
        "turned_red": list(compared.broken),
        "turned_green": list(compared.repaired),
        "red_before": list(compared.red),
        "ended": after.ended,
        "level": after.level,
    }


CHECK = Tool("check", CheckPaths, "check", check, result_types.Checked)
TOOLS = (
    CHECK,
    Tool("run_tests", RunTests, "run", run_tests, result_types.TestsRun),
    Tool("changes", NoArguments, "check", changes, result_types.Changed),
)
