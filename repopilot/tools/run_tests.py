"""Tests of the working copy: which of them the edits turn red or green, and what is known before anything is edited."""

from __future__ import annotations

import asyncio
import re
from collections.abc import Sequence
from contextlib import AbstractAsyncContextManager, nullcontext
from dataclasses import dataclass, replace
from pathlib import Path

from pydantic import Field

from repopilot.code.languages import file_kind, is_test_path
from repopilot.errors import SandboxError, UsageError
from repopilot.i18n import joined, message, reason, said
from repopilot.impact.covering_tests import all_tests, is_test_file, reaching_tests
from repopilot.project_environment import until_fetched
from repopilot.retrieval.search import search
from repopilot.sandbox.async_runner import run_in_sandbox, run_suite_in_sandbox
from repopilot.sandbox.baseline import BaselineComparison, compare
from repopilot.sandbox.failures import missing_modules
from repopilot.sandbox.output.plain_text import plain
from repopilot.sandbox.run import ChosenTests
from repopilot.sandbox.run_program import RunnerSuite
from repopilot.sandbox.runners.runner_table import is_run_as_test, language_of_tests
from repopilot.tools import result_types
from repopilot.tools.checkout import checked_out
from repopilot.tools.file_change import Changes, texts_of
from repopilot.tools.registry import Arguments, Desk, Tool, ToolResult
from repopilot.tools.stored_text import stored_text
from repopilot.tools.test_suites import runner_suite, suite_language, suite_of, tests_covering
from repopilot.types import TestRun
from repopilot.workspace import Workspace

MOST_TEST_FILES = 6
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
class _Tests:
    """The tests to run: `files` of pytest, or the `suite` of another runner."""

    files: tuple[str, ...] = ()
    suite: RunnerSuite | None = None

    @property
    def paths(self) -> tuple[str, ...]:
        return self.suite.tests if self.suite else self.files


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
    paths = await asyncio.to_thread(_near, task, desk.workspace)
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


def _near(task: str, workspace: Workspace) -> list[str]:
    """Test files of one language: those found for a task, and those that cover what is found; else any."""
    index = workspace.index
    found = list(dict.fromkeys(hit.chunk.path for hit in search(index, task, NEAR).hits))
    runnable = next((path for path in found if path.endswith(".py") or language_of_tests(path)), "")
    if runnable.endswith(".py"):
        tests = [path for path in found if path.endswith(".py") and is_test_file(path) and is_test_path(path)]
        covering = [test for path in found if path.endswith(".py") for test in reaching_tests(index, path)]
        return list(dict.fromkeys((*tests, *covering)))[:MOST_TEST_FILES] or all_tests(index)[:1]
    language = language_of_tests(runnable)
    every = [path for path in index.files if is_run_as_test(path) and language in (None, language_of_tests(path))]
    if not runnable:
        if some := all_tests(index) or every:
            return some[:1]
        every = [path for path in index.files if is_test_path(path) and file_kind(path) == "code"]
    tests = [path for path in found if path in every]
    covering = [path for path in tests_covering(found, workspace) if path in every]
    return list(dict.fromkeys((*tests, *covering)))[:MOST_TEST_FILES] or every[:1]


async def run_tests(arguments: RunTests, desk: Desk) -> ToolResult:
    """Run tests with the edits, and say which turned red or green against the state before. After
    edits; they run in a sandbox."""
    copy = desk.working_copy
    made = await asyncio.to_thread(copy.changes)
    await until_fetched(copy.original.snapshot, copy.original.index, copy.original.settings)
    try:
        tests = await asyncio.to_thread(_chosen_tests, arguments.paths, made, desk)
        if not tests.files and tests.suite is None:
            text = message("check_tools.no_tests")
            return ToolResult(text, {"tests": [], "passed": 0, "failed": 0, "turned_red": [], "turned_green": []})
        async with desk.step.child("without the change", "tool"):
            before = await _state_before(tests, desk)
        after = before.run
        if made:
            async with desk.step.child("tests", "tool"):
                after = await _run(tests, desk, before.emptied, before.run)
    except SandboxError as error:
        raise SandboxError(error.message, joined((error.hint, message("check_tools.not_again")))) from error
    compared = compare(before.run, after, [c.path for c in made if is_test_path(c.path)])
    rows = [*_told(compared, after, tests), *_limits_of(before)]
    return ToolResult("\n".join(rows), _data(compared, after, tests))


def _chosen_tests(paths: Sequence[str], made: Changes, desk: Desk) -> _Tests:
    copy, original = desk.working_copy, desk.working_copy.original
    missing = [path for path in paths if copy.text(path) is None]
    if missing:
        raise UsageError(message("tools.unknown_file", path=", ".join(missing)))
    if paths:
        return _of_paths(paths, desk)
    language = suite_language(made) if made else None
    if language is not None:
        return _Tests(suite=suite_of(made, language, original))
    own = [c.path for c in made if c.change != "deleted" and is_test_path(c.path) and is_test_file(c.path)]
    code = [c.path for c in made if c.path.endswith(".py") and not is_test_path(c.path)]
    covering = [test for path in code for test in reaching_tests(original.index, path)]
    return _Tests(tuple(dict.fromkeys([*own, *covering]))[:MOST_TEST_FILES])


def _of_paths(paths: Sequence[str], desk: Desk) -> _Tests:
    """Named test files. Raises UsageError where they are of several languages, SandboxError where nothing runs them."""
    languages = {"python" if path.endswith(".py") else language_of_tests(path) for path in paths}
    language = languages.pop()
    if languages:
        raise UsageError(message("check_tools.several_languages", paths=", ".join(paths)))
    if language == "python":
        return _Tests(tuple(paths))
    if language is None:
        raise SandboxError(message("check_tools.no_runner", paths=_names(paths)))
    return _Tests(suite=runner_suite(language, tuple(paths), desk.working_copy.original))


async def _state_before(tests: _Tests, desk: Desk) -> StateBefore:
    """The tests without the edits, run once for what they need."""
    copy = desk.working_copy
    environment = await asyncio.to_thread(copy.original.current_environment)
    key = (*tests.paths, tests.suite.language if tests.suite else "", environment.key if environment else "")
    if key not in copy.before:
        run, emptied = await _run(tests, desk, ()), tuple[str, ...]()
        while (broken := _broken_conftest(run, desk)) and broken not in emptied:
            emptied = (*emptied, broken)
            run = await _run(tests, desk, emptied)
        copy.before[key] = StateBefore(run, emptied)
    return copy.before[key]


def _broken_conftest(run: TestRun, desk: Desk) -> str:
    """The path of the `conftest.py` whose import ended a run, '' for none."""
    found = None if run.outcomes else _CONFTEST.search(run.output)
    return found[1] if found and stored_text(found[1], desk.working_copy.original) else ""


async def _run(tests: _Tests, desk: Desk, emptied: Sequence[str], before: TestRun | None = None) -> TestRun:
    """Run the tests on the repository as it is, or with the edits those that ended `before`; some files are emptied
    unless they are edited."""
    copy, original = desk.working_copy, desk.working_copy.original
    made = await asyncio.to_thread(copy.changes)
    edited = made and not before
    as_it_was: AbstractAsyncContextManager[Path | None] = checked_out(original) if edited else nullcontext()
    made = made if before else ()
    files = dict.fromkeys(emptied, "") | texts_of(made)
    async with as_it_was as folder:
        inputs = folder or await asyncio.to_thread(copy.root)
        took = before.duration_s if before else 0.0
        if tests.suite is not None:
            suite = replace(tests.suite, seconds=took)
            return await run_suite_in_sandbox(files, suite, original.settings, inputs)
        read = copy.text if before else lambda path: stored_text(path, original)
        texts = {path: text for path in tests.files if (text := await asyncio.to_thread(read, path)) is not None}
        if not texts:
            return TestRun(0, 0, 0, 0.0, "limits", "", False)
        environment = await asyncio.to_thread(original.current_environment)
        edits = {change.path for change in made}
        unreached = before.unreached if before and before.outcomes else ()
        left_out = tuple(name for name in unreached if name.partition("::")[0] not in edits)
        chosen = ChosenTests(tuple(texts), left_out, took)
        return await run_in_sandbox({**files, **texts}, chosen, original.settings, inputs, environment, verify=False)


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


def _told(compared: BaselineComparison, after: TestRun, tests: _Tests) -> list[str]:
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


def _data(compared: BaselineComparison, after: TestRun, tests: _Tests) -> dict[str, object]:
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
