"""A change by a model in the loop; the verdict goes back to the model until the change is accepted or given up.

Tests run in parallel with the debate. A Critic's test that proved a fault is added to the change once it passes.
"""

from __future__ import annotations

import asyncio
from contextlib import AsyncExitStack
from dataclasses import dataclass, replace
from typing import Protocol

from repopilot import i18n
from repopilot.agents.coding.agent import LoopEdit
from repopilot.agents.generate import scoring
from repopilot.agents.generate.change_summary import checked_summary
from repopilot.agents.generate.debate import TriedTest
from repopilot.agents.generate.evidence import ChangeContext
from repopilot.agents.generate.judging import Version, debated, inputs_of, judged, tests_of
from repopilot.agents.generate.loop_attempts import Attempt, best_attempt
from repopilot.agents.loop_values import answered
from repopilot.prompts import nonce, render, sanitized
from repopilot.results import Sentence, TestReport
from repopilot.tools.file_change import change
from repopilot.tools.working_copy import WorkingCopy
from repopilot.trace import Step, result_or_none
from repopilot.workspace import Workspace


@dataclass(frozen=True, slots=True)
class LoopVersion:
    """The result of the rounds: the best version, how often the verdict went back, messages for the user, and what the
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
    """Have a model make a change, and improve it by what tests, analysers and the debate find.

    Args:
        task: as the user wrote it.
        workspace: the repository, with a model that calls tools.
        step: the step of the work. Each round with the reasons against a version is a child of it.
        language: of the messages.
        show: is given the first files before anything is known about them, then each better version.

    Returns:
        The edit of the best version, and what is known about it; None where nothing was changed.

    Raises:
        RepoPilotError: the work could not be started.
    """
    async with AsyncExitStack() as opened:
        examiner = _Examiner(task, ChangeContext(task, workspace, None, language), opened)
        best = await best_attempt(task, workspace, opened, step, show, examiner.test)
        edit = best.edit
        if not edit.changes:
            return edit, None
        if edit.silent:
            examiner.without_model()
        copy = best.editor.copy
        version, said = await asyncio.gather(examiner.examine(edit, step, best), _said(edit, task, copy, step))
        edit, done = await _rounds(best, version, examiner, step, show)
        if edit is not best.edit:
            said = await _said(edit, task, copy, step)
        return edit, await _with_proved(replace(done, said=said), step)


async def _said(edit: LoopEdit, task: str, copy: WorkingCopy, step: Step) -> tuple[Sentence, ...]:
    """What the model says of its change, checked; nothing where that fails, which the step says."""
    if not edit.summary:
        return ()
    work = i18n.message("generate.work.summary")
    return await result_or_none(checked_summary(edit, _as_answered(task, edit), copy), work, step) or ()


def _as_answered(task: str, edit: LoopEdit) -> str:
    """A task with the questions asked about it and their answers, without which it could be read differently."""
    return "\n".join([task, *(f"Asked and answered: {each}" for each in answered(edit.records))])


@dataclass(slots=True)
class _Examiner:
    """Finds out about versions of a change.

    Attributes:
        task: as the user wrote it.
        context: of the version at hand.
        opened: keeps the repository as a folder from the first run on.
        objections: the Critic's tests that failed on a version.
    """

    task: str
    context: ChangeContext
    opened: AsyncExitStack
    objections: tuple[TriedTest, ...] = ()

    def without_model(self) -> None:
        """Go on without the model, which doesn't answer any more."""
        workspace = replace(self.context.workspace, model=None)
        self.context = replace(self.context, workspace=workspace)

    async def test(self, edit: LoopEdit, step: Step) -> TestReport | None:
        """Run the tests of a version; None where they can't be run."""
        await self._turn_to(edit)
        return await tests_of(self.context, edit.changes, step)

    async def examine(self, edit: LoopEdit, step: Step, attempt: Attempt | None = None) -> Version:
        """The verdict on a version. Its tests run beside the debate, unless an attempt had them run."""
        await self._turn_to(edit)
        tests = _known(attempt.report) if attempt and attempt.tested else tests_of(self.context, edit.changes, step)
        # Measured with a 0.5B model in the process, on a machine busy with other work. On one processor, medians of 5:
        # a reply alone took 10.7 s, a run of tests alone 3.3 s, both together 10.7 s. On two, once: 5 to 7, 5.4, 5.3 s.
        report, found = await asyncio.gather(tests, debated(self.context, edit.changes, step, self.objections))
        self.objections = (*self.objections, *(each for each in found.tried if each.borne_out))
        return await judged(self.context, edit.changes, report, step, found)

    async def _turn_to(self, edit: LoopEdit) -> None:
        at = self.context
        inputs = at.inputs or await self.opened.enter_async_context(inputs_of(edit.changes, at.workspace))
        at = replace(at, task=_as_answered(self.task, edit), inputs=inputs, refactoring=edit.refactored, left=edit.left)
        self.context = replace(at, before=edit.before, left_behind=edit.left_behind, checked_by=edit.checked_by)


async def _known(report: TestReport | None) -> TestReport | None:
    return report


async def _rounds(
    first: Attempt, version: Version, examiner: _Examiner, step: Step, show: Show
) -> tuple[LoopEdit, LoopVersion]:
    """Tell the model the reasons against its change, as often as the settings say; the best version counts."""
    edit = made = first.edit
    latest = version
    done = LoopVersion(version)
    most = examiner.context.workspace.settings.loop_rounds
    while (told := _reasons(latest)) and made.can_go_on and most:
        if done.rounds == most:
            step.degrade(i18n.message("generate.rounds_over", count=most))
            break
        going_back = i18n.message("generate.goes_back", number=done.rounds + 1, count=most)
        show(edit, replace(done, notes=(going_back,)))
        done = replace(done, rounds=done.rounds + 1)
        async with step.child(f"round {done.rounds}", "agent", told) as again:
            made = await first.editor.go_on(told, again)
            if made.silent or made.changes in ((), latest.changes):
                again.degrade(made.note or i18n.message("generate.round_same"))
                if latest is done.version:  # the model may say why
                    edit = replace(edit, summary=made.summary or edit.summary, records=made.records)
                break
            latest = await examiner.examine(made, again)
        if _rank(latest) >= _rank(done.version):
            edit = made
            done = replace(done, version=latest)
    return edit, done


def _rank(version: Version) -> tuple[float, int]:
    """The better one of two versions has the higher rank."""
    return version.verdict.score, -len(version.report.broken if version.report else ())


def _reasons(version: Version) -> str:
    """The message to the model with the reasons against its change; '' where it is accepted or caused none of them."""
    tests = [each for each in version.tried if each.borne_out]
    agreed = scoring.agreed_findings(version.evidence, version.opinions)
    if version.verdict.decision == "ACCEPT_ORIGINAL" and not (tests or agreed):
        return ""
    found = [*scoring.requested_corrections(version.evidence), *agreed, *map(_objection, tests)]
    mark = nonce()
    listed = sanitized("\n".join(f"- {each}" for each in found), mark)
    return render("loop_verdict", mark=mark, reasons=listed) if found else ""


def _objection(tried: TriedTest) -> str:
    passed = "It passes without your change. " if tried.shown == "regression" else ""
    return f"a reviewer's test fails. {passed}The test:\n{tried.test}\nIt says:\n{tried.failure}"


async def _with_proved(done: LoopVersion, step: Step) -> LoopVersion:
    """The best version, together with the Critic's tests that failed on an earlier version and pass on it."""
    version = done.version
    taken = {each.path for each in version.changes}
    proved = [each for each in version.tried if each.proved and each.path not in taken]
    if not proved:
        return done
    kept = tuple(change(test.path, f"{test.test}\n", None) for test in proved)
    notes = tuple(i18n.message("generate.proved_test", path=test.path) for test in proved)
    async with step.child("keep proved tests", "tool") as keeping:
        await keeping.write("\n".join(test.path for test in proved))
    return replace(done, version=replace(version, changes=(*version.changes, *kept)), notes=(*done.notes, *notes))
