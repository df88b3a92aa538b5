"""Run the repository's own tests on a change, and tell what it broke from what failed before."""

from __future__ import annotations

import asyncio
from collections.abc import Collection, Mapping, Sequence
from dataclasses import dataclass, replace

from repopilot import i18n
from repopilot.agents.generate.evidence import ChangeContext, definitions_changed, run_tests
from repopilot.agents.generate.runner_suites import with_control
from repopilot.code.languages import file_kind, is_test_path
from repopilot.errors import SandboxError
from repopilot.project_environment import until_fetched
from repopilot.resolve.uses.covering_tests import is_test_file
from repopilot.results import TestReport
from repopilot.sandbox.baseline import BaselineComparison, compare_with_baseline, path_in, without
from repopilot.sandbox.runners.runner_table import language_of_tests
from repopilot.tools.file_change import Changes, texts_of
from repopilot.tools.run_tests import seen_green
from repopilot.tools.test_suites import (
    TestSelection,
    brings,
    files_of,
    is_new,
    key_of,
    own_tests,
    tests_of_changes,
)
from repopilot.trace import Step
from repopilot.types import TestRun

_MOST_TAKEN_BACK = 6


async def tested(context: ChangeContext, changes: Changes, step: Step) -> TestReport:
    """Run the tests of the repository that cover a change, and those that the task names.

    A test that fails without the change as well is no evidence against it.

    Args:
        context: the task and the repository.
        changes: the version.
        step: the step of the work.

    Returns:
        What the tests say, or why none were run.

    Raises:
        SandboxError: nothing can be run.
        StorageError: the files can't be written.
    """
    workspace = context.workspace
    await until_fetched(workspace.snapshot, workspace.index, workspace.settings)
    named = [path for path in workspace.index.files if path in context.task and is_test_path(path)]
    try:
        tests = tests_of_changes(changes, workspace, [path for path in named if path.endswith(".py")])
    except SandboxError as error:
        return _untested(i18n.reason(error), step)
    if not (tests and context.inputs):
        code = [change.path for change in changes if file_kind(change.path) == "code"]
        run = not code or any(path.endswith(".py") or language_of_tests(path) for path in code)
        return _untested(i18n.message("generate.no_covering_tests" if run else "generate.no_runner"), step)
    async with step.child("tests", "agent", str(tests)) as testing:
        version = _Version(context, changes, tests, testing)
        compared = await _compared(version)
        report = await _report(version, compared)
        testing.note(broken=len(compared.broken), genuine=report.genuine)
    return report


def _untested(why: str, step: Step) -> TestReport:
    step.degrade(why)
    return TestReport(stopped_because=why)


@dataclass(slots=True)
class _Version:
    """A version with its tests, and the last run of all of them with the change and without it."""

    context: ChangeContext
    changes: Changes
    tests: TestSelection
    step: Step
    after: TestRun | None = None
    before: TestRun | None = None

    async def run(self, texts: Mapping[str, str], name: str, tests: TestSelection | None = None) -> TestRun:
        """Run tests, by default all, in a step of that name. Nobody claims that they pass, so a pass isn't verified."""
        return await run_tests(self.context, texts, tests or self.tests, name, self.step, verify=False)

    async def with_change(self, left_out: tuple[str, ...], unchanged: TestRun | None) -> TestRun:
        """The tests on the changed tree, see `RunAfter`. A suite of another language than Python runs once: tests to
        leave out are removed from its results."""
        if self.after and self.tests.suite:
            return without(self.after, left_out)
        name = "verify the pass" if left_out else "with the change"
        tests = replace(self.tests, left_out=left_out, before=unchanged)
        self.after = await run_tests(self.context, texts_of(self.changes), tests, name, self.step)
        return self.after

    async def without_change(self, new_texts: bool, only: Collection[str]) -> TestRun:
        """The tests on the unchanged tree, see `RunBefore`; a run that the loop has made isn't made again."""
        own = own_tests(self.changes) if new_texts else ()
        known = await asyncio.to_thread(self._known_before, own)
        if only:
            return await self._once_more(texts_of(own), only, by_loop=known is not None)
        self.before = known or await self.run(texts_of(own), "without the change")
        return self.before

    def _known_before(self, own: Changes) -> TestRun | None:
        """The run of the same tests without the change that the loop has made, if it came to its end. Blocking."""
        state = self.context.before.get(key_of(self.tests, self.context.workspace, own))
        return state.run if state and not state.emptied and state.run.ended == "finished" else None

    async def _once_more(self, texts: Mapping[str, str], only: Collection[str], *, by_loop: bool) -> TestRun:
        """A further run of some tests on the unchanged tree, to find flaky ones. A suite isn't run twice here, since
        injected faults control its pass: its earlier run is returned, unless it was made by the loop."""
        assert self.before and self.after
        if not self.tests.suite:
            files = tuple(dict.fromkeys(path_in(name) for name in only))
            left_out = tuple(name for name in self.after.outcomes if name not in only)
            return await self.run(texts, "without the change", TestSelection(files, left_out=left_out))
        return await self.run(texts, "without the change") if by_loop else self.before


async def _compared(version: _Version) -> BaselineComparison:
    """A version's run, compared with a run of the same tests in the same order without the rest of the change."""
    context = version.context
    files = files_of(version.tests, version.changes, seen_green(context.before.values()))
    return await compare_with_baseline(
        version.with_change, version.without_change, files, always=not context.refactoring
    )


async def _report(version: _Version, compared: BaselineComparison) -> TestReport:
    """The report on a version; in languages other than Python, its pass is controlled first.

    Tests that also pass without the change don't check what is new: of 20 changes by a model in unseen repositories, 9
    passed such tests, verified, and 6 of these were wrong. They show that nothing broke, which verifies a refactoring
    and nothing else. Tests that the change itself brings count where they were seen to fail without the rest of it;
    tests that can't run without it count where a fault in the new code makes them fail.
    """
    context = version.context
    changes = version.changes
    tests = version.tests
    run = compared.after
    unexercised = tuple[str, ...]()
    noticing = frozenset[str]()
    repaired = tuple(dict.fromkeys((*compared.repaired, *compared.own)))
    whole = not (compared.broken or compared.reached[0]) and run.ended == "finished"
    if not compared.broken and (tests.suite or (whole and run.genuine and compared.added and not repaired)):
        turned = repaired or compared.added
        controlled = await with_control(context, changes, tests, run, version.step, turned)
        run = controlled.run
        unexercised = controlled.unexercised
        noticing = controlled.noticing
    elif repaired and whole:
        unexercised = await _unexercised(version, repaired, (*run.outcomes, *compared.red))
    shown = repaired or noticing.intersection(compared.added)
    unbroken = run.genuine and not context.refactoring and not shown
    if unbroken:
        run = replace(run, genuine=False, reasons=_why_unverified(compared))
    return TestReport(
        run,
        protected=True,
        tests=_texts(tests.paths, changes, context),
        red_before=compared.red,
        compared=compared.before is not None,
        still_green=compared.green,
        broken=compared.broken,
        repaired=repaired,
        unexercised=unexercised,
        unbroken=unbroken,
        added=compared.added,
        own=compared.own,
        new=tuple(name for name in compared.own if is_new(own_tests(changes), name)),
        skipped=(*_silent(tests.paths, compared), *compared.skipped),
        reached=compared.reached,
        said_without=_said_without(repaired, compared.before),
        rewritten=await _rewritten(version, compared.after) if whole else (),
    )


async def _rewritten(version: _Version, run: TestRun) -> tuple[str, ...]:
    """The tests that the change edits and whose old versions fail with it: it alters what they expect."""
    own = own_tests(version.changes)
    old = tuple(change for change in own if change.change == "modified" and is_test_file(change.path))
    edited = [name for name in run.outcomes if brings(old, name) and not is_new(old, name)]
    if version.context.refactoring or not edited:
        return ()
    rest = texts_of(tuple(change for change in version.changes if change not in old))
    tests = version.tests if version.tests.suite else TestSelection(tuple(change.path for change in old))
    before = await version.run(rest, "with the tests as they were", tests)
    return tuple(name for name in edited if before.outcomes.get(name) in ("failed", "error"))


def _said_without(repaired: Sequence[str], before: TestRun | None) -> str:
    """The first line of the first repaired test's failure without the change. The user judges by it whether the test
    fails for the reason given in the task, which no program can tell."""
    said = {each.test_id: each.assertion.strip() for each in reversed(before.failures)} if before else {}
    told = next((said[name] for name in repaired if said.get(name)), "")
    return next(iter(told.splitlines()), "")


def _silent(paths: Sequence[str], compared: BaselineComparison) -> tuple[str, ...]:
    """The test files of which no test ran, with or without the change."""
    runs = [compared.after, *([compared.before] if compared.before else [])]
    spoken = {path_in(name) for run in runs for name in (*run.outcomes, *run.unreached)}
    return tuple(path for path in paths if path.endswith(".py") and path not in spoken)


async def _unexercised(version: _Version, repaired: Sequence[str], ids: Sequence[str]) -> tuple[str, ...]:
    """The changed definitions that the repaired tests don't need: each is reverted alone, and the repaired tests still
    pass. Of the tests in `ids` only the repaired ones are run."""
    definitions = definitions_changed(version.changes, version.context.workspace)
    paths = tuple(dict.fromkeys(path_in(name) for name in repaired))
    tests = TestSelection(paths, left_out=tuple(name for name in ids if name not in repaired))
    found: list[str] = []
    for definition in definitions[:_MOST_TAKEN_BACK] if len(definitions) > 1 else ():
        if (text := definition.without()) is not None:
            files = texts_of(version.changes) | {definition.path: text}
            alone = await version.run(files, f"without {definition.name}", tests)
            passed = all(alone.outcomes.get(test) == "passed" for test in repaired)
            found += [definition.name] if passed and alone.ended == "finished" else []
    return tuple(found) if len(found) < len(definitions) else ()


def _why_unverified(compared: BaselineComparison) -> tuple[str, ...]:
    """Why tests that pass don't verify a change: none of them was seen to fail without it."""
    if not compared.added:
        return (i18n.message("testing.tell_nothing"),)
    new = i18n.message("testing.only_with_it", count=len(compared.added))
    return (new, i18n.message("testing.others_tell_nothing", count=compared.green)) if compared.green else (new,)


def _texts(tests: Sequence[str], changes: Changes, context: ChangeContext) -> dict[str, str]:
    new = texts_of(changes)
    return {path: new[path] if path in new else context.workspace.index.text(path) or "" for path in tests}
