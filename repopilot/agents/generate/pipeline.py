"""From a task to a checked change: the edit, its tests, the debate on what a model did in the loop, the controller's
verdict, the impact, and the edits that it makes necessary elsewhere.

One failing agent never loses the others' results; cancelling the task stops every model call and sandbox.
"""

from __future__ import annotations

import time
from collections.abc import Sequence
from dataclasses import replace

from repopilot import i18n
from repopilot.agents.coding.agent import LoopEdit
from repopilot.agents.coding.edit_request import EditRequest
from repopilot.agents.coding.editor import edit_by_command, edit_with_model
from repopilot.agents.coding.failing_tests import named_test, with_failing_test, without_tests
from repopilot.agents.coding.follow_ups.find import follow_ups
from repopilot.agents.coding.outcome import EditOutcome
from repopilot.agents.exploration import Exploration, explore
from repopilot.agents.generate import scoring
from repopilot.agents.generate.edit_tests import choose_by_tests
from repopilot.agents.generate.evidence import Examination
from repopilot.agents.generate.judging import Version, inputs_of, judged, type_errors
from repopilot.agents.generate.loop_rounds import LoopVersion, change_by_loop
from repopilot.agents.generate.render import GenerationOutcome, answer_text
from repopilot.errors import RepoPilotError
from repopilot.foreign_text import visible
from repopilot.redaction.shown_diff import shown_diffs
from repopilot.results import Answer, FollowUpEdit, ImpactReport
from repopilot.retrieval.query.parse import reply_language
from repopilot.tools.checkout import checked_out
from repopilot.tools.file_change import Changes
from repopilot.trace import Step, result_or_none
from repopilot.workspace import Workspace

MOST_VERSIONS = 3
"""Versions that are checked by the type checker to put them in order."""
MOST_REVISIONS = 2


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
    if workspace.uses_tools:
        return await _by_loop(question, workspace, step, language)
    until = time.monotonic() + workspace.settings.revise_within_s
    found, edit = await _first_version(EditRequest(question), workspace, step)
    if isinstance(edit, RepoPilotError):
        choices = getattr(edit, "choices", ())
        failure = i18n.said(edit.message if choices else i18n.reason(edit), language)
        return GenerationOutcome(failure=failure, choices=choices, language=language)
    outcome = _unexamined(edit, language)
    step.publish(_published(outcome))
    async with inputs_of(edit.changes, workspace) as inputs:
        examination = Examination(
            question, workspace, inputs, language, edit.by_code, edit.is_refactoring, until, edit.left
        )
        version = await _examine(examination, (edit.changes, *edit.candidates), step)
        version, revisions = await _revise(examination, found, version, step) if found else (version, 0)
        outcome = _decided(outcome, version, revisions)
    return await _with_impact(outcome, workspace, step)


async def _by_loop(task: str, workspace: Workspace, step: Step, language: str) -> GenerationOutcome:
    """What a model that uses tools makes of a task: its change, then tests, debate, verdict and impact."""

    def outcome_of(edit: LoopEdit) -> GenerationOutcome:
        notes = (edit.note,) if edit.note else ()
        return GenerationOutcome(changes=edit.changes, notes=notes, calls=edit.calls, language=language)

    def show(edit: LoopEdit, done: LoopVersion | None = None) -> None:
        step.publish(_published(_with_verdict(outcome_of(edit), done) if done else outcome_of(edit)))

    try:
        edit, done = await change_by_loop(task, workspace, step, language, show)
    except RepoPilotError as error:
        return GenerationOutcome(failure=i18n.said(i18n.reason(error), language), language=language)
    if done is None:
        why = "\n\n".join(filter(None, (visible(edit.summary.strip()), i18n.said(edit.note, language))))
        return GenerationOutcome(failure=why, calls=edit.calls, language=language)
    if edit.silent:
        workspace = replace(workspace, model=None)
    return await _with_impact(_with_verdict(outcome_of(edit), done), workspace, step)


def _with_verdict(outcome: GenerationOutcome, done: LoopVersion) -> GenerationOutcome:
    return _decided(replace(outcome, notes=(*outcome.notes, *done.notes), said=done.said), done.version, done.rounds)


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
    return await judged(examination, changes, report, step, suffix)


async def ordered_by_types(examination: Examination, versions: Sequence[Changes], step: Step) -> list[Changes]:
    """Versions of a change, best first, as the type checker finds new errors in them: those with the fewest first."""
    if len(versions) < 2:
        return list(versions)
    found = {changes: await type_errors(examination, changes, step) for changes in versions[:MOST_VERSIONS]}
    counts = {changes: sum(error.severity == "high" for error in errors) for changes, errors in found.items()}
    return sorted(versions, key=lambda changes: counts.get(changes, max(counts.values())))


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
