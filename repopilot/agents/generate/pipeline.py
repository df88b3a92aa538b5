"""From a task to a checked change: the edit, its tests, the debate on what a model did in the loop, the controller's
verdict, the impact, and the edits that it makes necessary elsewhere.

One failing agent never loses the others' results; cancelling the task stops every model call and sandbox.
"""

from __future__ import annotations

import time
from collections.abc import AsyncIterator, Sequence
from contextlib import AsyncExitStack, asynccontextmanager
from dataclasses import dataclass, replace
from pathlib import Path

from repopilot import i18n
from repopilot.agents.coding.agent import LoopEdit
from repopilot.agents.coding.edit_request import EditRequest
from repopilot.agents.coding.editor import edit_by_command, edit_with_model
from repopilot.agents.coding.failing_tests import named_test, with_failing_test, without_tests
from repopilot.agents.coding.follow_ups.find import follow_ups
from repopilot.agents.coding.outcome import EditOutcome
from repopilot.agents.exploration import Exploration, explore
from repopilot.agents.generate import scoring
from repopilot.agents.generate.debate import debate, try_objection
from repopilot.agents.generate.edit_tests import choose_by_tests
from repopilot.agents.generate.evidence import Examination, gather_evidence, old_texts
from repopilot.agents.generate.loop_attempts import best_attempt
from repopilot.agents.generate.render import GenerationOutcome, answer_text
from repopilot.agents.generate.scoring import ChangeEvidence, Objection, Opinions
from repopilot.errors import RepoPilotError
from repopilot.foreign_text import visible
from repopilot.redaction.shown_diff import shown_diffs
from repopilot.results import Answer, FollowUpEdit, ImpactReport, TestReport
from repopilot.retrieval.query.parse import reply_language
from repopilot.review.type_errors import new_type_errors
from repopilot.sandbox.runners.runner_table import language_of_tests
from repopilot.tools.checkout import checked_out
from repopilot.tools.file_change import Changes
from repopilot.trace import Step, result_or_none
from repopilot.types import Finding, Verdict
from repopilot.workspace import Workspace

MOST_VERSIONS = 3
"""Versions that are checked by the type checker to put them in order."""
MOST_REVISIONS = 2
NO_OPINIONS = Opinions()


@dataclass(frozen=True, slots=True)
class Version:
    """One version of the files, with what was found out about it. `report` is None when its tests could not be run."""

    changes: Changes
    evidence: ChangeEvidence
    opinions: Opinions
    verdict: Verdict
    reasons: tuple[str, ...]
    report: TestReport | None


async def generate(question: str, workspace: Workspace, step: Step) -> Answer:
    """Files for a task, with the Controller's verdict, tests and impact in the answer's `result`.

    The files come first, and stand from then on: they are published before tests, debate, impact and prose.

    Args:
        question: the task as the user wrote it.
        workspace: the repository.
        step: the step of the work.

    Returns:
        The answer. Without usable files it says why, and keeps what the other agents found.
    """
    return await _answer(await examined(question, workspace, step), step)


async def examined(question: str, workspace: Workspace, step: Step) -> GenerationOutcome:
    """What `generate` finds out, without an answer.

    Args:
        question: the task as the user wrote it.
        workspace: the repository.
        step: the step of the work; what is finished is published on it.

    Returns:
        The outcome.
    """
    language = reply_language(question, workspace.settings)
    until = time.monotonic() + workspace.settings.revise_within_s
    if workspace.uses_tools:
        return await _by_loop(question, workspace, step, until)
    found, edit = await _first_version(EditRequest(question), workspace, step)
    if isinstance(edit, RepoPilotError):
        choices = getattr(edit, "choices", ())
        failure = i18n.said(edit.message if choices else i18n.reason(edit), language)
        return GenerationOutcome(failure=failure, choices=choices, language=language)
    outcome = _unexamined(edit, language)
    step.publish(_published(outcome))
    async with _inputs(edit.changes, workspace) as inputs:
        examination = Examination(
            question, workspace, inputs, language, edit.by_code, edit.is_refactoring, until, edit.left
        )
        version = await _examine(examination, (edit.changes, *edit.candidates), step)
        version, revisions = await _revise(examination, found, version, step) if found else (version, 0)
        outcome = _decided(outcome, version, revisions)
    return await _with_impact(outcome, workspace, step)


async def _by_loop(task: str, workspace: Workspace, step: Step, until: float) -> GenerationOutcome:
    """What a model that uses tools makes of a task: its change, then tests, debate, verdict and impact."""
    language = reply_language(task, workspace.settings)
    examination = Examination(task, workspace, None, language, revise_until=until)

    def outcome_of(edit: LoopEdit) -> GenerationOutcome:
        notes = (edit.note,) if edit.note else ()
        said = " ".join(visible(edit.summary).split())
        return GenerationOutcome(changes=edit.changes, notes=notes, said=said, calls=edit.calls, language=language)

    async with AsyncExitStack() as opened:

        async def tested(edit: LoopEdit, below: Step) -> TestReport:
            nonlocal examination
            if examination.inputs is None:
                inputs = await opened.enter_async_context(_inputs(edit.changes, workspace))
                examination = replace(examination, inputs=inputs)
            examination = replace(
                examination, refactoring=edit.refactored, left=edit.left, test_seconds=edit.test_seconds
            )
            return (await choose_by_tests(examination, (edit.changes,), below)).report

        async def test(edit: LoopEdit, below: Step) -> TestReport | None:
            return await result_or_none(tested(edit, below), i18n.message("generate.work.tests"), below)

        try:
            best = await best_attempt(
                task, workspace, step, lambda edit: step.publish(_published(outcome_of(edit))), test
            )
        except RepoPilotError as error:
            return GenerationOutcome(failure=i18n.said(i18n.reason(error), language), language=language)
        edit = best.edit
        examination = replace(examination, refactoring=edit.refactored, left=edit.left, left_behind=edit.left_behind)
        if not edit.changes:
            why = "\n\n".join(filter(None, (visible(edit.summary.strip()), i18n.said(edit.note, language))))
            return GenerationOutcome(failure=why, calls=edit.calls, language=language)
        if edit.silent:
            workspace = replace(workspace, model=None)
            examination = replace(examination, workspace=workspace)
        opinions, objection = await _debate(examination, edit.changes, step)
        version = await _judged(examination, edit.changes, best.report, step, opinions=opinions, objection=objection)
        outcome = _decided(outcome_of(edit), version, revisions=0)
    return await _with_impact(outcome, workspace, step)


async def _with_impact(outcome: GenerationOutcome, workspace: Workspace, step: Step) -> GenerationOutcome:
    """The outcome with what the change touches and makes necessary elsewhere."""
    step.publish(_published(outcome))
    work = i18n.message("generate.work.impact")
    outcome = replace(outcome, impact=await result_or_none(_impact(outcome.changes, workspace, step), work, step))
    work = i18n.message("generate.work.follow_ups")
    needed = await result_or_none(_follow_ups(outcome.changes, workspace, step), work, step)
    outcome = replace(outcome, follow_ups=needed or ())
    step.publish(_published(outcome))
    return outcome


async def _first_version(
    request: EditRequest, workspace: Workspace, step: Step
) -> tuple[Exploration | None, EditOutcome | RepoPilotError]:
    """The edit, or why there is none, and what was explored for it: nothing where code makes the edit."""
    exact = await _by_code(request, workspace, step)
    if exact is not None:
        return None, exact
    if named_test(request.task, workspace.index) is None:
        found = await explore(request.task, workspace, step)
        return found, await _edit(replace(request, found=found), workspace, step)
    found = await explore(without_tests(request.task), workspace, step)
    request = replace(request, found=found)
    async with checked_out(workspace) as folder:
        work = i18n.message("generate.work.tests")
        failing = await result_or_none(with_failing_test(request, workspace, folder, step), work, step)
        return found, await _edit(failing or request, workspace, step)


async def _by_code(request: EditRequest, workspace: Workspace, step: Step) -> EditOutcome | RepoPilotError | None:
    """The edit if no model is needed for it, or why it can't be made; None where a model is needed."""
    try:
        outcome = await edit_by_command(request, workspace, step)
    except RepoPilotError as error:
        step.note(failure=error.message)
        return error
    if outcome is not None:
        async with step.child("edit by code", "agent", request.task) as editing:
            await _show_edit(outcome, editing)
    return outcome


async def _show_edit(outcome: EditOutcome, step: Step) -> None:
    step.note(
        files=[c.path for c in outcome.changes],
        places=[f"{e.path}:{e.place}" for e in outcome.edits],
        open_references=len(outcome.open_references),
    )
    await step.write(shown_diffs(outcome.changes))


def _unexamined(edit: EditOutcome, language: str) -> GenerationOutcome:
    """The outcome while nothing is known about the files but that they parse."""
    return GenerationOutcome(
        changes=edit.changes,
        by_code=edit.by_code,
        notes=edit.notes,
        open_references=edit.open_references,
        language=language,
    )


def _published(outcome: GenerationOutcome) -> Answer:
    return Answer(answer_text(outcome), files=outcome.changes, result=outcome.result)


def _decided(outcome: GenerationOutcome, version: Version, revisions: int) -> GenerationOutcome:
    return replace(
        outcome,
        changes=version.changes,
        verdict=version.verdict,
        reasons=version.reasons,
        opinions=version.opinions,
        tests=version.report,
        revisions=revisions,
    )


@asynccontextmanager
async def _inputs(changes: Changes, workspace: Workspace) -> AsyncIterator[Path | None]:
    """The repository as a folder where something can be run in it, else None."""
    if not any(c.path.endswith(".py") or language_of_tests(c.path) for c in changes):
        yield None
        return
    async with checked_out(workspace) as folder:
        yield folder


async def _edit(request: EditRequest, workspace: Workspace, step: Step) -> EditOutcome | RepoPilotError:
    """The generated files, or why there are none: the step of the generator shows it too."""
    try:
        async with step.child("generate", "agent", request.task) as generating:
            outcome = await edit_with_model(request, workspace, generating)
            await _show_edit(outcome, generating)
            return outcome
    except RepoPilotError as error:
        return error


async def _examine(examination: Examination, versions: Sequence[Changes], step: Step, suffix: str = "") -> Version:
    """Tests, then the Controller. `suffix` numbers the steps of further versions.

    Nothing is debated: what a small model says about a few lines has no weight.
    """
    candidates = await ordered_by_types(examination, versions, step)
    work = i18n.message("generate.work.tests")
    tested = await result_or_none(choose_by_tests(examination, candidates, step), work, step)
    changes, report = (tested.changes, tested.report) if tested else (versions[0], None)
    return await _judged(examination, changes, report, step, suffix)


async def _judged(
    examination: Examination,
    changes: Changes,
    report: TestReport | None,
    step: Step,
    suffix: str = "",
    *,
    opinions: Opinions = NO_OPINIONS,
    objection: Objection = "none",
) -> Version:
    """The Controller's verdict on a version."""
    async with step.child(f"controller{suffix}", "agent") as judging:
        evidence = replace(await _evidence(examination, changes, report, judging), objection=objection)
        verdict = scoring.judge(evidence, opinions)
        judging.note(score=verdict.score, decision=verdict.decision, dropped_points=opinions.dropped)
        reasons = "\n".join(f"- {i18n.said(reason, examination.language)}" for reason in verdict.reasons)
        await judging.write(f"{verdict.score}/10 {verdict.decision}\n{reasons}")
    return Version(changes, evidence, opinions, verdict, scoring.decisive_reasons(evidence, opinions), report)


async def _evidence(
    examination: Examination, changes: Changes, report: TestReport | None, step: Step
) -> ChangeEvidence:
    """What is known about a version, with what the repository's type checker finds new in it."""
    evidence = await gather_evidence(examination, changes, report, step)
    return replace(evidence, findings=(*evidence.findings, *await type_errors(examination, changes, step)))


async def ordered_by_types(examination: Examination, versions: Sequence[Changes], step: Step) -> list[Changes]:
    """Versions of a change, best first, as the type checker finds new errors in them: those with the fewest first."""
    if len(versions) < 2:
        return list(versions)
    found = {changes: await type_errors(examination, changes, step) for changes in versions[:MOST_VERSIONS]}
    counts = {changes: sum(error.severity == "high" for error in errors) for changes, errors in found.items()}
    return sorted(versions, key=lambda changes: counts.get(changes, max(counts.values())))


async def type_errors(examination: Examination, changes: Changes, step: Step) -> tuple[Finding, ...]:
    """What the type checker finds new in a version, remembered; one that can't be run is said on the step."""
    if examination.inputs is not None and changes not in examination.type_errors:
        checking = new_type_errors(changes, examination.inputs, examination.workspace, step)
        work = i18n.message("generate.work.types")
        examination.type_errors[changes] = await result_or_none(checking, work, step) or ()
    return examination.type_errors.get(changes, ())


async def _debate(examination: Examination, changes: Changes, step: Step) -> tuple[Opinions, Objection]:
    """What the reviewers say, and what the Critic's test shows."""
    workspace = examination.workspace
    async with step.child("debate", "agent", examination.task) as debating:
        debated = debate(examination.task, changes, workspace, debating)
        opinions = await result_or_none(debated, i18n.message("generate.work.debate"), debating)
        opinions = opinions or Opinions(unread=("critic", "defender"))
        before = old_texts(changes, workspace)
        objection = await try_objection(opinions.test, changes, before, examination, debating)
        debating.note(issues=[f"{i.path}:{i.line} {i.problem}" for i in opinions.issues], objection=objection)
    return opinions, objection


async def _revise(examination: Examination, found: Exploration, version: Version, step: Step) -> tuple[Version, int]:
    """Ask for another version while the Controller wants one, at most MOST_REVISIONS times, and choose the best one.

    A version that comes back unchanged ends it.
    """
    first = EditRequest(without_tests(examination.task), found)
    best, latest, done = version, version, 0
    while latest.verdict.decision == "REQUEST_REVISION" and done < MOST_REVISIONS:
        if not _has_time(examination, step):
            break
        done += 1
        feedback = scoring.requested_corrections(latest.evidence)
        request = replace(first, feedback=feedback, seed=done)
        edit = await _edit(request, examination.workspace, step)
        if isinstance(edit, RepoPilotError):
            step.degrade(i18n.message("generate.revision_failed", number=done, why=i18n.reason(edit)))
            break
        if edit.changes == latest.changes:
            step.degrade(i18n.message("generate.revision_same", number=done))
            break
        latest = await _examine(examination, (edit.changes, *edit.candidates), step, f" {done + 1}")
        if latest.verdict.score > best.verdict.score:
            best = latest
    return best, done


def _has_time(examination: Examination, step: Step) -> bool:
    """Whether another version may be begun; where not, the trace says so."""
    if time.monotonic() < examination.revise_until:
        return True
    step.degrade(i18n.message("generate.revision_too_late"))
    return False


async def _impact(changes: Changes, workspace: Workspace, step: Step) -> ImpactReport:
    """What the generated code touches."""
    async with step.child("impact", "agent", ", ".join(c.path for c in changes)) as reporting:
        from repopilot.impact.impact_report import impact_report

        return await impact_report(workspace, reporting, (), patch="".join(c.diff for c in changes))


async def _follow_ups(changes: Changes, workspace: Workspace, step: Step) -> tuple[FollowUpEdit, ...]:
    """What the change makes necessary elsewhere."""
    async with step.child("follow-up edits", "tool", ", ".join(c.path for c in changes)) as finding:
        found = await follow_ups(changes, workspace)
        finding.note(count=len(found))
        await finding.write("\n".join(f"{each.path}:{each.line}" for each in found))
    return found


async def _answer(outcome: GenerationOutcome, step: Step) -> Answer:
    text = answer_text(outcome)
    async with step.child("answer", "answer") as answering:
        await answering.write(text)
    return Answer(text, files=outcome.changes, result=outcome.result)
