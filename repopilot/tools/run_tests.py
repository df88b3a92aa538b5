"""Tests of the working copy: which of them the edits turn red or green, and what is known before anything is edited."""

from __future__ import annotations

import asyncio
import re
from collections.abc import Sequence
from dataclasses import dataclass

from pydantic import Field

from repopilot.code.languages import is_test_path
from repopilot.errors import SandboxError, UsageError
from repopilot.i18n import joined, message, reason, said
from repopilot.project_environment import until_fetched
from repopilot.retrieval.search import search
from repopilot.sandbox.baseline import BaselineComparison, compare
from repopilot.sandbox.failures import missing_modules
from repopilot.sandbox.output.plain_text import plain
from repopilot.sandbox.runners.runner_table import language_of_tests
from repopilot.tools import result_types
from repopilot.tools.checkout import checked_out
from repopilot.tools.file_change import Changes, texts_of
from repopilot.tools.registry import Arguments, Desk, Tool, ToolResult
from repopilot.tools.stored_text import stored_text
from repopilot.tools.test_suites import TestSelection, run_selected, runner_suite, tests_near, tests_of_changes
from repopilot.types import TestRun

MOST_NAMED = 10
LONGEST_NAME = 160
LINES_SHOWN = 12
NEAR = 8
"""Places of a task whose tests are looked for."""
OUTPUT_SHOWN = 2000
_ERROR = re.compile(r"\w(?:Error|Exception)\b")
_CONFTEST = re.compile(r"while loading conftest '([^'\n]*conftest\.py)'")


class RunTests(Arguments):
    """Which tests."""

    paths: list[str] = Field(default_factory=list, description="test files; empty for those that cover the changes")


@dataclass(frozen=True, slots=True)
class StateBefore:
    """The run of some tests without any edit.

    Attributes:
        run: how it went.
        emptied: paths of `conftest.py` that can't be imported; the tests are run as if these were empty.
    """

    run: TestRun
    emptied: tuple[str, ...] = ()


@dataclass(frozen=True, slots=True)
class TestsBefore:
    """What is known of the tests before a change: a text for the model, and whether `run_tests` is of any use."""

    __test__ = False

    text: str
    can_run: bool


async def tests_before(task: str, desk: Desk) -> TestsBefore:
    """Run the tests near a task once, before anything is edited.

    Args:
        task: as the user wrote it.
        desk: a working copy without edits.

    Returns:
        How many there are, whether they run, and which fail already; or why they can't run here.
    """
    hits = (await asyncio.to_thread(search, desk.workspace.index, task, NEAR)).hits
    paths = await asyncio.to_thread(tests_near, [hit.chunk.path for hit in hits], desk.workspace)
    if not paths:
        return TestsBefore(message("tests_before.none"), True)
    async with desk.step.child("tests before", "tool", ", ".join(paths)) as step:
        try:
            before = await _state_before(await asyncio.to_thread(_of_paths, paths, desk), desk)
        except SandboxError as error:
            step.degrade(reason(error))
            return _not_here(error.message)
        run = before.run
        step.note(passed=run.passed, failed=run.failed, errors=run.errors, level=run.level)
        if not _ran(run):
            step.degrade(_why_not(run))
            return _not_here(_why_not(run))
    red = [name for name, outcome in run.outcomes.items() if outcome in ("failed", "error")]
    rows = [message("tests_before.run", count=len(run.outcomes), files=", ".join(paths))]
    rows += [message("tests_before.red", count=len(red), names=_names(red))] if red else []
    return TestsBefore(joined((*rows, *_limits_of(before))), True)


def _not_here(why: str) -> TestsBefore:
    return TestsBefore(message("tests_before.not_here", why=said(why, "en").rstrip(".")), False)


async def run_tests(arguments: RunTests, desk: Desk) -> ToolResult:
    """Run tests with the edits, and say which turned red or green against the state before. After
    edits; they run in a sandbox."""
    copy = desk.working_copy
    made = await asyncio.to_thread(copy.changes)
    await until_fetched(copy.original.snapshot, copy.original.index, copy.original.settings)
    try:
        tests = await asyncio.to_thread(_chosen_tests, arguments.paths, made, desk)
        if not tests:
            text = message("check_tools.no_tests")
            return ToolResult(text, {"tests": [], "passed": 0, "failed": 0, "turned_red": [], "turned_green": []})
        async with desk.step.child("without the change", "tool"):
            before = await _state_before(tests, desk)
        after = before.run
        if made:
            async with desk.step.child("tests", "tool"):
                after = await _run_edited(tests, desk, before)
    except SandboxError as error:
        raise SandboxError(error.message, joined((error.hint, message("check_tools.not_again")))) from error
    compared = compare(before.run, after, [c.path for c in made if is_test_path(c.path)])
    rows = [*_told(compared, after, tests), *_limits_of(before)]
    return ToolResult("\n".join(rows), _data(compared, after, tests))


def _chosen_tests(paths: Sequence[str], made: Changes, desk: Desk) -> TestSelection:
    copy = desk.working_copy
    missing = [path for path in paths if copy.text(path) is None]
    if missing:
        raise UsageError(message("tools.unknown_file", path=", ".join(missing)))
    return _of_paths(paths, desk) if paths else tests_of_changes(made, copy.original)


def _of_paths(paths: Sequence[str], desk: Desk) -> TestSelection:
    """Named test files. Raises UsageError where they are of several languages, SandboxError where nothing runs them."""
    languages = {"python" if path.endswith(".py") else language_of_tests(path) for path in paths}
    language = languages.pop()
    if languages:
        raise UsageError(message("check_tools.several_languages", paths=", ".join(paths)))
    if language == "python":
        return TestSelection(tuple(paths))
    if language is None:
        raise SandboxError(message("check_tools.no_runner", paths=_names(paths)))
    return TestSelection(suite=runner_suite(language, tuple(paths), desk.working_copy.original))


async def _state_before(tests: TestSelection, desk: Desk) -> StateBefore:
    """The tests without the edits, run once for what they need."""
    copy = desk.working_copy
    environment = await asyncio.to_thread(copy.original.current_environment)
    key = (*tests.paths, tests.suite.language if tests.suite else "", environment.key if environment else "")
    if key not in copy.before:
        run, emptied = await _run_unedited(tests, desk, ()), tuple[str, ...]()
        while (broken := _broken_conftest(run, desk)) and broken not in emptied:
            emptied = (*emptied, broken)
            run = await _run_unedited(tests, desk, emptied)
        copy.before[key] = StateBefore(run, emptied)
    return copy.before[key]


def _broken_conftest(run: TestRun, desk: Desk) -> str:
    """The path of the `conftest.py` whose import ended a run, '' for none."""
    found = None if run.outcomes else _CONFTEST.search(run.output)
    return found[1] if found and stored_text(found[1], desk.working_copy.original) else ""


async def _run_unedited(tests: TestSelection, desk: Desk, emptied: Sequence[str]) -> TestRun:
    """Run the tests on the repository as it is, with some files emptied."""
    copy, files = desk.working_copy, dict.fromkeys(emptied, "")
    if not await asyncio.to_thread(copy.changes):
        return await run_selected(tests, files, copy.original, await asyncio.to_thread(copy.root))
    async with checked_out(copy.original) as folder:
        return await run_selected(tests, files, copy.original, folder)


async def _run_edited(tests: TestSelection, desk: Desk, before: StateBefore) -> TestRun:
    """Run the tests with the edits, but not those that a time limit kept from running before. Files that were emptied
    for that run are empty again, unless they are edited."""
    copy, unreached = desk.working_copy, before.run.unreached if before.run.outcomes else ()
    made = await asyncio.to_thread(copy.changes)
    edited = {change.path for change in made}
    left_out = [name for name in unreached if name.partition("::")[0] not in edited]
    files = dict.fromkeys(before.emptied, "") | texts_of(made)
    inputs = await asyncio.to_thread(copy.root)
    return await run_selected(tests, files, copy.original, inputs, left_out=left_out, seconds=before.run.duration_s)


def _ran(run: TestRun) -> bool:
    return bool(run.passed or run.failed)


def _why_not(run: TestRun) -> str:
    """Why no test of a run could be run, in a sentence."""
    if lacking := missing_modules(run):
        return message("testing.lacking", modules=", ".join(f"`{name}`" for name in lacking))
    if run.ended != "finished":
        return joined(run.reasons, "; ")
    told = [failure.assertion for failure in run.failures] or [run.output]
    lines = [line.removeprefix("E ").strip() for line in told[0].splitlines() if line.strip()]
    lines = [line for line in lines if _ERROR.search(line)] or lines
    return plain(lines[-1], 300) if lines else message("check_tools.nothing_said")


def _told(compared: BaselineComparison, after: TestRun, tests: TestSelection) -> list[str]:
    """The comparison as a person would tell it."""
    before = compared.before or after
    if not (_ran(after) or _ran(before)):
        again = (message("check_tools.not_again"),) if before.output else ()  # a new file can still be mended
        return [message("check_tools.none_ran", why=_why_not(after)), *again]
    same = not (compared.broken or compared.repaired)
    key, count = ("check_tools.as_before", compared.green) if same else ("check_tools.passed", after.passed)
    passed = [name for name, outcome in after.outcomes.items() if outcome == "passed"]
    named = _names(passed) if len(passed) <= MOST_NAMED else ", ".join(tests.paths)
    rows: list[str] = [message(key, count=count, names=named)] if count or not compared.added else []
    if compared.added:
        rows.append(message("check_tools.added", count=len(compared.added), names=_names(compared.added)))
    if compared.red:
        rows.append(message("check_tools.red_before", count=len(compared.red), names=_names(compared.red)))
    if compared.broken:
        rows.append(message("check_tools.broken", names=_names(compared.broken)))
    if compared.repaired:
        rows.append(message("check_tools.repaired", names=_names(compared.repaired)))
    rows += _first_failure(compared, after)
    if after.ended != "finished":
        rows.append(message("check_tools.ended", why=joined(after.reasons, "; ")))
    if not after.outcomes and after.output:
        rows.append(after.output[-OUTPUT_SHOWN:])
    return rows


def _first_failure(compared: BaselineComparison, after: TestRun) -> list[str]:
    """The last lines of the first failure, of a test that turned red where there is one."""
    ordered = sorted(after.failures, key=lambda failure: failure.test_id not in compared.broken)
    if not ordered:
        return []
    first = ordered[0]
    place = f" ({first.path}:{first.line})" if first.path else ""
    last = "\n".join(first.assertion.splitlines()[-LINES_SHOWN:])
    return list(filter(None, (f"{first.test_id}{place}: {last}", first.lines)))


def _limits_of(before: StateBefore) -> list[str]:
    """What the run without the edits leaves open."""
    run, done = before.run, len(before.run.outcomes)
    rows: list[str] = [message("check_tools.emptied", paths=", ".join(before.emptied))] if before.emptied else []
    if run.unreached and done:
        count = done + len(run.unreached)
        rows.append(message("check_tools.unreached", seconds=run.duration_s, done=done, count=count))
    return rows


def _names(ids: Sequence[str]) -> str:
    more = f" +{len(ids) - MOST_NAMED}" if len(ids) > MOST_NAMED else ""
    return ", ".join(plain(name, LONGEST_NAME) for name in ids[:MOST_NAMED]) + more


def _data(compared: BaselineComparison, after: TestRun, tests: TestSelection) -> dict[str, object]:
    return {
        "tests": list(tests.paths),
        "passed": after.passed,
        "failed": after.failed,
        "errors": after.errors,
        "turned_red": list(compared.broken),
        "turned_green": list(compared.repaired),
        "red_before": list(compared.red),
        "ended": after.ended,
        "level": after.level,
    }


RUN_TESTS = "run_tests"
TOOLS = (Tool(RUN_TESTS, RunTests, "run", run_tests, result_types.TestsRun),)
