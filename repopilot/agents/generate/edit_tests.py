"""Run the repository's own tests over the edits of a task, and tell what they broke from what failed before."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, replace
from functools import partial

from repopilot import i18n
from repopilot.agents.coding.failing_tests import named_test
from repopilot.agents.generate.evidence import Examination, TestedChanges, definitions_changed, run_tests
from repopilot.agents.generate.runner_suites import with_control
from repopilot.code.languages import file_kind, is_test_path
from repopilot.errors import SandboxError
from repopilot.project_environment import until_fetched
from repopilot.results import TestReport
from repopilot.sandbox.baseline import BaselineComparison, compare_with_baseline, without
from repopilot.sandbox.runners.runner_table import language_of_tests
from repopilot.tools.file_change import Changes, texts_of
from repopilot.tools.test_suites import RUST_TESTS, TestSelection, tests_of_changes
from repopilot.trace import Step
from repopilot.types import TestRun

_MOST_TAKEN_BACK = 6
_RUST_TARGETS = ("src/lib.rs", "src/main.rs")


@dataclass(frozen=True, slots=True)
class _Work:
    """What stays the same while versions are tested."""

    examination: Examination
    step: Step
    tests: TestSelection


_Result = tuple[int, TestedChanges, TestRun | None]


async def choose_by_tests(examination: Examination, candidates: Sequence[Changes], step: Step) -> TestedChanges:
    """Choose the first version of an edit that breaks no test of the repository.

    Where all break some, the best one is tried without the parts that the task doesn't speak of. A test that fails
    without the change as well is no evidence against it.

    Args:
        examination: the task and the repository.
        candidates: versions, the best first; at least one.
        step: the step of the work.

    Returns:
        The chosen version with the run of its tests; of versions that all break some, the one that breaks the fewest.

    Raises:
        SandboxError: nothing can be run.
        StorageError: the files can't be written.
    """
    workspace = examination.workspace
    await until_fetched(workspace.snapshot, workspace.index, workspace.settings)
    test = named_test(examination.task, workspace.index)
    try:
        tests = tests_of_changes(candidates[0], workspace, [test.path] if test else ())
    except SandboxError as error:
        return _untested(candidates[0], i18n.reason(error), step)
    if not (tests and examination.inputs):
        code = [change.path for change in candidates[0] if file_kind(change.path) == "code"]
        run = not code or any(path.endswith(".py") or language_of_tests(path) for path in code)
        why = i18n.message("generate.no_covering_tests" if run else "generate.no_runner")
        return _untested(candidates[0], why, step)
    async with step.child("tests", "agent", str(tests)) as testing:
        results = await _until_unbroken(_Work(examination, testing, tests), candidates)
        broken, chosen, _ = min(results, key=lambda result: result[0])
        testing.note(versions=len(results), broken=broken, genuine=chosen.report.genuine)
    return chosen


async def _until_unbroken(work: _Work, candidates: Sequence[Changes]) -> list[_Result]:
    """The versions tested until one breaks nothing: how many tests each broke, and its run."""
    results: list[_Result] = []
    before: TestRun | None = None
    for changes in candidates:
        compared = await _compared(work, changes, len(results) + 1, before)
        before = compared.before
        report = await _report(work, changes, compared)
        results.append((len(compared.broken), TestedChanges(changes, report), before))
        if not compared.broken:
            break
    return results


def _untested(changes: Changes, why: str, step: Step) -> TestedChanges:
    step.degrade(why)
    return TestedChanges(changes, TestReport(stopped_because=why))


async def _compared(work: _Work, changes: Changes, number: int, known: TestRun | None) -> BaselineComparison:
    """A version's run beside that of the repository as it is."""
    last: list[TestRun] = []

    async def after(left_out: tuple[str, ...]) -> TestRun:
        if left_out and work.tests.suite:
            return without(last[0], left_out)
        name = "without what failed before" if left_out else f"version {number}"
        last.append(await _run(work, changes, name, left_out))
        return last[-1]

    async def before() -> TestRun:
        return await _run(work, (), "without the change", ())

    edited = [change.path for change in changes if is_test_path(change.path)]
    if any(change.path.endswith(".rs") and RUST_TESTS.search(change.content) for change in changes):
        edited += _RUST_TARGETS  # which unit tests beside the code are reported for
    always = not work.examination.refactoring
    own = partial(_run, work, _own_tests(changes), "its own tests without the change", ()) if always else None
    return await compare_with_baseline(
        after, before, known, edited, always=always, own=own if _own_tests(changes) else None
    )


def _own_tests(changes: Changes) -> Changes:
    """The part of a change that is tests and what lies with them, of one that is more than that."""
    own = tuple(change for change in changes if is_test_path(change.path) and change.change != "deleted")
    return own if len(own) < len(changes) else ()


async def _run(work: _Work, changes: Changes, name: str, left_out: tuple[str, ...]) -> TestRun:
    return await run_tests(work.examination, texts_of(changes), work.tests, name, work.step, left_out)


async def _report(work: _Work, changes: Changes, compared: BaselineComparison) -> TestReport:
    """What is said of a version; of another language than Python after the control of its pass.

    Tests that pass without the change, too, don't ask for what is new: of 20 changes by a model in repositories never
    seen 9 passed them, verified, and 6 of these were wrong. They show that nothing broke, which verifies a refactoring
    and nothing else. Tests that the change itself brings count where they were seen to fail without the rest of it.
    """
    run, unexercised = compared.after, tuple[str, ...]()
    repaired = tuple(dict.fromkeys((*compared.repaired, *compared.own)))
    if work.tests.suite and not compared.broken:
        controlled = await with_control(work.examination, changes, work.tests.suite, run, work.step)
        run, unexercised = controlled.run, controlled.unexercised
    elif repaired and not compared.broken and run.ended == "finished":
        unexercised = await _unexercised(work, changes, repaired, (*run.outcomes, *compared.red))
    unbroken = run.genuine and not work.examination.refactoring and not repaired
    if unbroken:
        run = replace(run, genuine=False, reasons=_why_unverified(compared))
    return TestReport(
        run,
        protected=True,
        tests=_texts(work.tests.paths, changes, work.examination),
        red_before=compared.red,
        compared=compared.before is not None,
        still_green=compared.green,
        broken=compared.broken,
        repaired=repaired,
        unexercised=unexercised,
        unbroken=unbroken,
        added=tuple(name for name in compared.added if name not in compared.own),
    )


async def _unexercised(work: _Work, changes: Changes, repaired: Sequence[str], ids: Sequence[str]) -> tuple[str, ...]:
    """The changed definitions without whose change the repaired tests pass, too: each is taken back alone, and of the
    tests of some ids only the repaired ones are run."""
    definitions = definitions_changed(changes, work.examination.workspace)
    tests = TestSelection(tuple(dict.fromkeys(name.partition("::")[0] for name in repaired)))
    left_out = [name for name in ids if name not in repaired]
    found: list[str] = []
    for definition in definitions[:_MOST_TAKEN_BACK] if len(definitions) > 1 else ():
        if (text := definition.without()) is not None:
            files = texts_of(changes) | {definition.path: text}
            name = f"without {definition.name}"
            alone = await run_tests(work.examination, files, tests, name, work.step, left_out, verify=False)
            passed = all(alone.outcomes.get(test) == "passed" for test in repaired)
            found += [definition.name] if passed and alone.ended == "finished" else []
    return tuple(found) if len(found) < len(definitions) else ()


def _why_unverified(compared: BaselineComparison) -> tuple[str, ...]:
    """Why tests that pass don't verify a change: none of them was seen to fail without it."""
    if not compared.added:
        return (i18n.message("testing.tell_nothing"),)
    new = i18n.message("testing.only_with_it", count=len(compared.added))
    return (new, i18n.message("testing.others_tell_nothing", count=compared.green)) if compared.green else (new,)


def _texts(tests: Sequence[str], changes: Changes, examination: Examination) -> dict[str, str]:
    new = texts_of(changes)
    return {path: new[path] if path in new else examination.workspace.index.text(path) or "" for path in tests}
