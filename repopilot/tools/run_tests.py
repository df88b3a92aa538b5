"""Tests of the working copy: which of them the edits turn red or green, and what is known before anything is edited."""

from __future__ import annotations

import asyncio
import re
from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass, replace
from functools import partial

from pydantic import Field

from repopilot.errors import NoRunner, SandboxError, UsageError
from repopilot.i18n import joined, message, reason, translated
from repopilot.project_environment import until_fetched
from repopilot.repo.project_file import project_file
from repopilot.repo.submodules import fetched_submodules
from repopilot.retrieval.search import search
from repopilot.sandbox.baseline import BaselineComparison, compare_same_tests, path_in
from repopilot.sandbox.failures import last_error, missing_modules
from repopilot.sandbox.output.plain_text import plain
from repopilot.sandbox.runners.runner_table import language_of_tests
from repopilot.sandbox.verdict import variants_together
from repopilot.tools import result_types
from repopilot.tools.checkout import checked_out
from repopilot.tools.file_change import Changes, texts_of
from repopilot.tools.registry import Arguments, Tool, ToolContext, ToolResult
from repopilot.tools.stored_text import stored_text
from repopilot.tools.test_suites import (
    TestSelection,
    brings,
    files_of,
    has_known_tests,
    key_of,
    own_tests,
    run_selected,
    runner_suite,
    tests_near,
    tests_of_changes,
)
from repopilot.tools.working_copy import StateBefore
from repopilot.types import Hit, TestRun
from repopilot.workspace import Workspace

MOST_NAMED = 10
LONGEST_NAME = 160
LINES_SHOWN = 12
NEAR = 8
"""Most places of a task whose tests are looked for."""
OUTPUT_SHOWN = 2000
END_SHOWN = 600
"""Characters shown of the end of an output that names no error."""
_CONFTEST = re.compile(r"while loading conftest '([^'\n]*conftest\.py)'")


class RunTests(Arguments):
    """Which tests."""

    paths: list[str] = Field(default_factory=list, description="test files; empty for those that cover the changes")


@dataclass(frozen=True, slots=True)
class TestsBefore:
    """What is known of the tests before a change: a text for the model, and whether `run_tests` is of any use."""

    __test__ = False

    text: str
    can_run: bool


def seen_green(states: Iterable[StateBefore]) -> set[str]:
    """The ids of the tests that passed in some run without the edits."""
    return {name for state in states for name in state.run.tests("passed")}


async def places_near(task: str, workspace: Workspace) -> tuple[Hit, ...]:
    """The places that a task, as the user wrote it, is likely about."""
    return (await asyncio.to_thread(search, workspace.index, task, NEAR)).hits


async def tests_before(near: Sequence[Hit], context: ToolContext) -> TestsBefore:
    """Run the tests near a task once, before anything is edited.

    Args:
        near: the places that the task is likely about.
        context: a working copy without edits.

    Returns:
        How many there are, whether they run, and which fail already; or why they can't run here.
    """
    found = tuple(dict.fromkeys(hit.chunk.path for hit in near))
    names = {hit.chunk.symbol.rpartition(".")[2] for hit in near if hit.chunk.symbol}
    paths = await asyncio.to_thread(tests_near, found, context.workspace, names)
    if not paths:
        return TestsBefore(message("tests_before.none"), True)
    async with context.step.child("tests before", "tool", ", ".join(paths)) as step:
        try:
            chosen = await asyncio.to_thread(
                _tests_or_command, partial(tests_at, paths, context.working_copy.original), context
            )
            before = await _state_before(chosen, context)
        except SandboxError as error:
            step.degrade(reason(error))
            return _not_here(error.message)
        run = before.run
        step.note(passed=run.passed, failed=run.failed, errors=run.errors, level=run.level)
        if not _ran(run):
            left_open = _limits_of(before, context)
            step.degrade(joined((_why_not(run), *left_open)))
            of_others = bool(missing_modules(run)) or run.ended == "timeout"
            told = _others_may(run, paths) if of_others else _not_here(_why_not(run))
            return replace(told, text=joined((told.text, *left_open)))
    red = list(run.tests("failed", "error"))
    key = "run" if run.ended == "finished" else "cut"
    rows = [message(f"tests_before.{key}", count=len(run.outcomes), files=", ".join(paths))]
    rows += [message("tests_before.red", count=len(red), names=_names(red))] if red else []
    return TestsBefore(joined((*rows, *_limits_of(before, context))), True)


def _not_here(why: str) -> TestsBefore:
    return TestsBefore(message("tests_before.not_here", why=translated(why, "en").rstrip(".")), False)


def _others_may(run: TestRun, paths: Sequence[str]) -> TestsBefore:
    """The message for tests that lack modules, or took too long together: a test in a file of its own may run."""
    key = "lacking" if missing_modules(run) else "too_long"
    why = translated(_why_not(run), "en").rstrip(".")
    return TestsBefore(message(f"tests_before.{key}", files=", ".join(paths), why=why), True)


async def run_tests(arguments: RunTests, context: ToolContext) -> ToolResult:
    """Run tests with the edits, and say which turned red or green against the state before. After
    edits; they run in a sandbox."""
    copy = context.working_copy
    made = await asyncio.to_thread(copy.changes)
    await until_fetched(copy.original.snapshot, copy.original.index, copy.original.settings)
    try:
        choose = partial(_chosen_tests, arguments.paths, made, context)
        tests = await asyncio.to_thread(_tests_or_command, choose, context)
        if not tests:
            text = message("check_tools.no_tests")
            return ToolResult(text, {"tests": [], "passed": 0, "failed": 0, "turned_red": [], "turned_green": []})
        own = own_tests(made)
        async with context.step.child("without the change", "tool"):
            before = await _state_before(tests, context, own)
        after = before.run
        if made:
            async with context.step.child("tests", "tool"):
                after = await _run_edited(tests, context, before)
        compared = await _compared(before.run, after, tests, context)
    except SandboxError as error:
        raise type(error)(error.message, joined((error.hint, message("check_tools.not_again")))) from error
    rows = [*_told(compared, after, tests), *_told_of_own(own, compared), *_limits_of(before, context)]
    return ToolResult("\n".join(rows), {**_data(compared, after, tests), "fails_without": list(compared.own)})


async def _compared(before: TestRun, after: TestRun, tests: TestSelection, context: ToolContext) -> BaselineComparison:
    """Compare runs of the same tests, in which the tests that the edits change have their new texts. Raises
    SandboxError."""
    made = await asyncio.to_thread(context.working_copy.changes)
    files = files_of(tests, made, seen_green(context.working_copy.before.values()))

    async def with_old_texts() -> TestRun:
        async with context.step.child("without the change", "tool"):
            return (await _state_before(tests, context)).run

    return await compare_same_tests(before, after, files, with_old_texts)


def _told_of_own(own: Changes, compared: BaselineComparison) -> list[str]:
    """Messages on whether the tests that the edits add or change fail without the other edits."""
    if compared.own:
        return [message("check_tools.fails_without", names=_names(compared.own))]
    before = compared.before.outcomes if compared.before else {}
    both = [name for name in before if before[name] == compared.after.outcomes.get(name) == "passed"]
    passing = [name for name in both if brings(own, name)]
    return [message("check_tools.passes_without", names=_names(passing))] if passing else []


def _tests_or_command(choose: Callable[[], TestSelection], context: ToolContext) -> TestSelection:
    """The chosen tests; where no runner is known for them, the command that the repository names for its tests."""
    original = context.working_copy.original
    command = project_file(original.snapshot).options.test_command
    try:
        chosen = choose()
    except NoRunner:
        if not command:
            raise
        return TestSelection(command=command)
    return chosen if chosen or has_known_tests(original.index) else TestSelection(command=command)


def _chosen_tests(paths: Sequence[str], made: Changes, context: ToolContext) -> TestSelection:
    copy = context.working_copy
    missing = [path for path in paths if copy.text(path) is None]
    if missing:
        raise UsageError(message("tools.unknown_file", path=", ".join(missing)))
    return tests_at(paths, copy.original) if paths else tests_of_changes(made, copy.original)


def tests_at(paths: Sequence[str], workspace: Workspace) -> TestSelection:
    """Select named test files. Raises UsageError where they are of several languages, SandboxError where nothing runs
    them."""
    languages = {"python" if path.endswith(".py") else language_of_tests(path) for path in paths}
    language = languages.pop()
    if languages:
        raise UsageError(message("check_tools.several_languages", paths=", ".join(paths)))
    if language == "python":
        return TestSelection(tuple(paths))
    if language is None:
        raise NoRunner(message("check_tools.no_runner", paths=_names(paths)))
    return TestSelection(suite=runner_suite(language, tuple(paths), workspace))


async def _state_before(tests: TestSelection, context: ToolContext, own: Changes = ()) -> StateBefore:
    """The run of the tests without the edits, except those to their `own` tests; tests are run once for each key."""
    copy = context.working_copy
    key = await asyncio.to_thread(key_of, tests, copy.original, own)
    if key not in copy.before:
        texts = texts_of(own)
        run = await _run_unedited(tests, context, texts)
        emptied = tuple[str, ...]()
        while (broken := _broken_conftest(run, context)) and broken not in (*emptied, *texts):
            emptied = (*emptied, broken)
            run = await _run_unedited(tests, context, texts | dict.fromkeys(emptied, ""))
        copy.before[key] = StateBefore(run, emptied)
    return copy.before[key]


def _broken_conftest(run: TestRun, context: ToolContext) -> str:
    """The path of the `conftest.py` whose import ended a run, '' for none."""
    found = None if run.outcomes else _CONFTEST.search(run.output)
    return found[1] if found and stored_text(found[1], context.working_copy.original) else ""


async def _run_unedited(tests: TestSelection, context: ToolContext, files: Mapping[str, str]) -> TestRun:
    """Run the tests on the repository as it is, with other texts of some files."""
    copy = context.working_copy
    if not await asyncio.to_thread(copy.changes):
        return await run_selected(tests, files, copy.original, await asyncio.to_thread(copy.root))
    async with checked_out(copy.original) as folder:
        return await run_selected(tests, files, copy.original, folder)


async def _run_edited(tests: TestSelection, context: ToolContext, before: StateBefore) -> TestRun:
    """Run the tests with the edits, except those that a time limit kept from running before. Files that were emptied
    for that run are empty again, unless they are edited."""
    copy = context.working_copy
    unreached = before.run.unreached if before.run.outcomes else ()
    made = await asyncio.to_thread(copy.changes)
    edited = {change.path for change in made}
    left_out = tuple(name for name in unreached if path_in(name) not in edited)
    files = dict.fromkeys(before.emptied, "") | texts_of(made)
    inputs = await asyncio.to_thread(copy.root)
    chosen = replace(tests, left_out=left_out, seconds=before.run.seconds_needed)
    return await run_selected(chosen, files, copy.original, inputs)


def _ran(run: TestRun) -> bool:
    return bool(run.passed or run.failed)


def _why_not(run: TestRun) -> str:
    """Why no test of a run could be run, in a sentence."""
    if lacking := missing_modules(run):
        return message("testing.lacking", modules=", ".join(f"`{name}`" for name in lacking))
    if run.ended != "finished":
        return joined(run.reasons, "; ")
    told = next((failure.assertion for failure in run.failures), run.output)
    return last_error(told) or plain(told.strip()[-END_SHOWN:], END_SHOWN) or message("check_tools.nothing_said")


def _told(compared: BaselineComparison, after: TestRun, tests: TestSelection) -> list[str]:
    """The comparison in sentences."""
    before = compared.before or after
    if not (_ran(after) or _ran(before)):
        key = "own_file" if missing_modules(after) else "not_again"
        again = (message(f"check_tools.{key}"),) if before.output else ()  # a new file can still be fixed
        return [message("check_tools.none_ran", why=_why_not(after)), *again]
    passed = list(after.tests("passed"))
    both = [name for name in passed if before.outcomes.get(name) == "passed"]
    others = [name for name in passed if name not in (*both, *compared.added, *compared.own, *compared.repaired)]
    rows: list[str] = []
    for key, names in {"as_before": both, "passed": others}.items():
        named = _names(names) if len(names) <= MOST_NAMED else ", ".join(tests.paths)
        rows += [message(f"check_tools.{key}", count=len(names), names=named)] if names else []
    changed: dict[str, Sequence[str]] = {
        "added": compared.added,
        "red_before": compared.red,
        "broken": [name for name in compared.broken if name in before.outcomes],
        "new_red": [name for name in compared.broken if name not in before.outcomes],
        "red_unknown": [
            n for n in after.tests("failed", "error") if n not in before.outcomes and n not in compared.broken
        ],
        "repaired": compared.repaired,
    }
    for key, ids in changed.items():
        rows += [message(f"check_tools.{key}", count=len(ids), names=_names(ids))] if ids else []
    rows += _first_failure(compared, after)
    if after.ended != "finished" and after is not before:
        rows.append(message("check_tools.ended", why=joined(after.reasons, "; ")))
    if not after.outcomes and after.output:
        rows.append(after.output[-OUTPUT_SHOWN:])
    return rows


def _first_failure(compared: BaselineComparison, after: TestRun) -> list[str]:
    """The last lines of the first failure, preferably of a test that turned red."""
    ordered = sorted(after.failures, key=lambda failure: failure.test_id not in compared.broken)
    if not ordered:
        return []
    first = ordered[0]
    place = f" ({first.path}:{first.line})" if first.path else ""
    last = "\n".join(first.assertion.splitlines()[-LINES_SHOWN:])
    return list(filter(None, (f"{first.test_id}{place}: {last}", first.lines)))


def _missing_submodules(run: TestRun, context: ToolContext) -> list[str]:
    """The folders of git submodules that failures name and whose files are not there."""
    original = context.working_copy.original
    root = original.snapshot.root
    reason = message("repo.skip.submodule")
    fetched = fetched_submodules(original.snapshot, original.settings)
    there = (each.path for each in original.index.report.skipped if each.reason == reason and each.path not in fetched)
    said = "\n".join((run.output, *(failure.assertion for failure in run.failures)))
    return [path for path in there if path in said and not (root and (root / path / ".git").exists())]


def _limits_of(before: StateBefore, context: ToolContext) -> list[str]:
    """Messages on the limits of the run without the edits."""
    run = before.run
    submodules = ", ".join(_missing_submodules(run, context))
    plugins = ", ".join(f"`{each}`" for each in run.missing_plugins)
    is_cut = run.ended != "finished" and run.outcomes
    rows = (
        message("check_tools.emptied", paths=", ".join(before.emptied)) if before.emptied else "",
        message("check_tools.submodules", paths=submodules) if submodules else "",
        message("check_tools.missing_plugins", names=plugins) if plugins else "",
        message("check_tools.cut_short", why=joined(run.reasons, "; ")) if is_cut else "",
    )
    return [row for row in rows if row]


def _names(ids: Sequence[str]) -> str:
    """The first names, with each file named once: `test_a.py::test_x, ::test_y`."""
    names = variants_together(ids)
    more = f" +{len(names) - MOST_NAMED}" if len(names) > MOST_NAMED else ""
    shown: list[str] = []
    before = ""
    for name in names[:MOST_NAMED]:
        path = path_in(name)
        shown.append(plain(name.removeprefix(path) if path == before else name, LONGEST_NAME))
        before = path
    return ", ".join(shown) + more


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
