"""A change by a model in the loop, and the verdict, which goes back to the model until it is accepted or given up.

Tests run beside the debate. What the Critic proved goes with the change once it is repaired: its test.
"""

from __future__ import annotations

import asyncio
from contextlib import AsyncExitStack
from dataclasses import dataclass, replace
from pathlib import PurePosixPath
from typing import Protocol

from repopilot import i18n
from repopilot.agents.coding.agent import LoopEdit
from repopilot.agents.generate import scoring
from repopilot.agents.generate.change_summary import checked_summary
from repopilot.agents.generate.debate import TriedTest, run_review_test
from repopilot.agents.generate.edit_tests import choose_by_tests
from repopilot.agents.generate.evidence import Examination
from repopilot.agents.generate.judging import Version, debated, inputs_of, judged
from repopilot.agents.generate.loop_attempts import Attempt, best_attempt
from repopilot.code.languages import is_test_path
from repopilot.prompts import nonce, render, sanitized
from repopilot.results import Sentence, TestReport
from repopilot.tools.file_change import Changes, change, texts_of
from repopilot.trace import Step, result_or_none
from repopilot.workspace import Workspace


@dataclass(frozen=True, slots=True)
class LoopVersion:
    """What the rounds came to: the best version, how often the verdict went back, messages for the user, and what the
    model says of its change."""

    version: Version
    rounds: int = 0
    notes: tuple[str, ...] = ()
    said: tuple[Sentence, ...] = ()


class Show(Protocol):
    """Shows a change, at first without a verdict."""

    def __call__(self, edit: LoopEdit, done: LoopVersion | None = None, /) -> None: ...


async def change_by_loop(
    task: str, workspace: Workspace, step: Step, language: str, show: Show
) -> tuple[LoopEdit, LoopVersion | None]:
    """Have a model make a change, and make it better by what tests, analysers and the debate find.

    Args:
        task: as the user wrote it.
        workspace: the repository, with a model that calls tools.
        step: the step of the work. Each round with the reasons against a version is a child of it.
        language: of the messages.
        show: is given the first files before anything is known about them, then each better version.

    Returns:
        The edit of the best version, and what is known about it; None where nothing was changed.

    Raises:
        RepoPilotError: the work could not be begun.
    """
    async with AsyncExitStack() as opened:
        examiner = _Examiner(Examination(task, workspace, None, language), opened)
        best = await best_attempt(task, workspace, opened, step, show, examiner.test)
        edit = best.edit
        if not edit.changes:
            return edit, None
        if edit.silent:
            examiner.without_model()
        version = await examiner.examine(edit, step, best)
        edit, done = await _rounds(best, version, examiner, step, show)
        if edit.summary:
            work = checked_summary(edit, task, best.editor.copy)
            said = await result_or_none(work, i18n.message("generate.work.summary"), step)
            done = replace(done, said=said or ())
        return edit, await _with_proved(done, examiner, step)


@dataclass(slots=True)
class _Examiner:
    """Finds out about versions of a change.

    Attributes:
        examination: of the version at hand.
        opened: keeps the repository as a folder from the first run on.
        objections: the Critic's tests that failed on a version.
    """

    examination: Examination
    opened: AsyncExitStack
    objections: tuple[TriedTest, ...] = ()

    def without_model(self) -> None:
        """Go on without the model, which doesn't answer any more."""
        workspace = replace(self.examination.workspace, model=None)
        self.examination = replace(self.examination, workspace=workspace)

    async def test(self, edit: LoopEdit, step: Step) -> TestReport | None:
        """Run the tests of a version; None where they can't be run."""
        await self._turn_to(edit)
        return await self._tests(edit.changes, step)

    async def examine(self, edit: LoopEdit, step: Step, attempt: Attempt | None = None) -> Version:
        """The verdict on a version. Its tests run beside the debate, unless an attempt had them run."""
        await self._turn_to(edit)
        tests = _known(attempt.report) if attempt and attempt.tested else self._tests(edit.changes, step)
        # Measured once, on two cores busy with other work, with a 0.5B model in the process: a reply alone took 4.9
        # and 6.7 s, one run of tests alone 5.4 s, both together 5.3 s. On a quiet machine it was not measured.
        report, found = await asyncio.gather(tests, debated(self.examination, edit.changes, step, self.objections))
        self.objections = (*self.objections, *(each for each in found.tried if each.borne_out))
        return await judged(self.examination, edit.changes, report, step, debated=found)

    async def _tests(self, changes: Changes, step: Step) -> TestReport | None:
        work = i18n.message("generate.work.tests")
        tested = await result_or_none(choose_by_tests(self.examination, (changes,), step), work, step)
        return tested.report if tested else None

    async def _turn_to(self, edit: LoopEdit) -> None:
        at = self.examination
        inputs = at.inputs or await self.opened.enter_async_context(inputs_of(edit.changes, at.workspace))
        at = replace(at, inputs=inputs, refactoring=edit.refactored, left=edit.left)
        self.examination = replace(at, test_seconds=edit.test_seconds, left_behind=edit.left_behind)


async def _known(report: TestReport | None) -> TestReport | None:
    return report


async def _rounds(
    first: Attempt, version: Version, examiner: _Examiner, step: Step, show: Show
) -> tuple[LoopEdit, LoopVersion]:
    """Tell the model what speaks against its change, as often as the settings say; the best version counts."""
    edit = made = first.edit
    latest, done = version, LoopVersion(version)
    most = examiner.examination.workspace.settings.loop_rounds
    while (told := _reasons(latest)) and not made.note and most:
        if done.rounds == most:
            step.degrade(i18n.message("generate.rounds_over", count=most))
            break
        show(edit, done)
        done = replace(done, rounds=done.rounds + 1)
        async with step.child(f"round {done.rounds}", "agent", told) as again:
            made = await first.editor.go_on(told, again)
            if made.silent or made.changes in ((), latest.changes):
                again.degrade(made.note or i18n.message("generate.round_same"))
                if latest is done.version:  # it may say why
                    edit = replace(edit, summary=made.summary or edit.summary, calls=made.calls)
                break
            latest = await examiner.examine(made, again)
        if _rank(latest) >= _rank(done.version):
            edit, done = made, replace(done, version=latest)
    return edit, done


def _rank(version: Version) -> tuple[float, int]:
    """The better one of two versions has the higher rank."""
    return version.verdict.score, -len(version.report.broken if version.report else ())


def _reasons(version: Version) -> str:
    """What the model is told that speaks against its change, '' where it is accepted or none of that is its doing."""
    tests = [each for each in version.tried if each.borne_out]
    if version.verdict.decision == "ACCEPT_ORIGINAL" and not tests:
        return ""
    found = [*scoring.requested_corrections(version.evidence, "high"), *map(_objection, tests)]
    mark = nonce()
    listed = sanitized("\n".join(f"- {each}" for each in found), mark)
    return render("loop_verdict", mark=mark, reasons=listed) if found else ""


def _objection(tried: TriedTest) -> str:
    passed = "It passes without your change. " if tried.shown == "regression" else ""
    return f"a reviewer's test fails. {passed}The test:\n{tried.test}\nIt says:\n{tried.failure}"


async def _with_proved(done: LoopVersion, examiner: _Examiner, step: Step) -> LoopVersion:
    """The best version with the Critic's tests that failed on an earlier one, and pass on it where they are put."""
    version, at = done.version, examiner.examination
    proved = [each.test for each in version.tried if each.shown == "none" and each.test]
    if not proved:
        return done
    changes, notes = version.changes, done.notes
    async with step.child("keep proved tests", "tool") as keeping:
        for test in proved:
            path = _new_test_path(changes, version.report, at.workspace)
            text = f"{test}\n"
            work = run_review_test(text, path, texts_of(changes), at)
            run = await result_or_none(work, i18n.message("generate.work.tests"), keeping)
            if run is not None and run.genuine:
                changes = (*changes, change(path, text, None))
                notes = (*notes, i18n.message("generate.proved_test", path=path))
    return replace(done, version=replace(version, changes=changes), notes=notes)


def _new_test_path(changes: Changes, report: TestReport | None, workspace: Workspace) -> str:
    """Where a test of a change goes: beside those that ran for it, else beside any, under a name that is free."""
    ran = report.run.outcomes if report and report.run else {}
    tests = [*(id.partition("::")[0] for id in ran), *filter(is_test_path, workspace.index.files)]
    folder = next((PurePosixPath(path).parent for path in tests if path.endswith(".py")), PurePosixPath())
    stem = next(PurePosixPath(c.path).stem for c in changes if c.path.endswith(".py"))
    taken = {*workspace.index.files, *(c.path for c in changes)}
    names = (f"test_{stem}_review{number or ''}.py" for number in range(len(taken) + 1))
    return next(path for name in names if (path := str(folder / name)) not in taken)
