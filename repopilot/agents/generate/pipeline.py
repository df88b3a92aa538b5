"""From a task to a checked change: the edit, its tests in parallel with the debate on a model's edit, the Controller's
verdict, the impact, and the edits that the change makes necessary elsewhere.

One failing agent never loses the others' results; cancelling the task stops every model call and sandbox.
"""

from __future__ import annotations

import asyncio
import time
from collections.abc import Sequence
from dataclasses import replace

from repopilot import i18n
from repopilot.agents.coding.agent import LoopEdit
from repopilot.agents.coding.editor import edit_by_command, edit_with_model
from repopilot.agents.coding.follow_ups import follow_ups
from repopilot.agents.coding.tool_edit import EditOutcome
from repopilot.agents.exploration import retrieve
from repopilot.agents.generate.evidence import ChangeContext
from repopilot.agents.generate.judging import NOT_DEBATED, Debated, Version, debated, inputs_of, judged, tests_of
from repopilot.agents.generate.loop_rounds import LoopVersion, change_by_loop
from repopilot.agents.generate.render import answered
from repopilot.errors import RepoPilotError
from repopilot.foreign_text import code_span, visible
from repopilot.redaction.shown_diff import shown_diffs
from repopilot.repo.patches.diff_hunks import before_change
from repopilot.results import Answer, FollowUpEdit, Generation, ImpactReport
from repopilot.retrieval.query.parse import reply_language
from repopilot.sandbox.controls.mutants import changed_lines
from repopilot.tools.file_change import Changes, texts_of
from repopilot.trace import Step, result_or_none
from repopilot.types import OpenReference
from repopilot.workspace import Workspace

SMALL_WITHIN_S = 15.0
"""A small model's edit should be ready within this time; the debate on it gets what is left."""


async def generate(question: str, workspace: Workspace, step: Step) -> Answer:
    """Files for a task, with the Controller's verdict, tests and impact in the answer's `result`.

    The files come first: they are published before tests, debate, impact and prose.

    Args:
        question: the task as the user wrote it.
        workspace: the repository.
        step: the step of the work.

    Returns:
        The answer. Without usable files it says why, and keeps what the other agents found.
    """
    answer = await examined(question, workspace, step)
    await step.answer(answer.text)
    return answer


async def examined(question: str, workspace: Workspace, step: Step) -> Answer:
    """As `generate`, without the step of the answer.

    Args:
        question: the task as the user wrote it.
        workspace: the repository.
        step: the step of the work; what is finished is published on it.

    Returns:
        The answer, its `result` a Generation.
    """
    language = reply_language(question, workspace.settings)
    if workspace.uses_tools:
        return await _by_loop(question, workspace, step, language)
    ends = time.monotonic() + SMALL_WITHIN_S
    try:
        edit = await _edited(question, workspace, step, ends)
    except RepoPilotError as error:
        step.note(failure=error.message)
        choices = getattr(error, "choices", ())
        failure = _in_markdown(error.message if choices else i18n.reason(error), language)
        return answered((), Generation(failure=failure, choices=choices), language)
    by_code = edit.by_code and not edit.interpreted
    made = Generation(by_code=by_code, notes=edit.notes, open_references=edit.open_references)
    step.publish(answered(edit.changes, made, language))
    async with inputs_of(edit.changes, workspace) as inputs:
        context = ChangeContext(
            question, workspace, inputs, language, by_code, edit.is_refactoring, edit.left, edit.interpreted
        )
        debate = _debated(edit, context, step, ends)
        report, found = await asyncio.gather(tests_of(context, edit.changes, step), debate)
        version = await judged(context, edit.changes, report, step, found)
    return await _with_impact(version.changes, _decided(made, version), workspace, step, language)


def _in_markdown(reason: str, language: str) -> str:
    """The reason of an error as Markdown: below its first line it quotes lines of the repository, which are code."""
    told, *quoted = i18n.translated(reason, language).splitlines()
    return "\n".join([told, *(f"- {code_span(line)}" for line in quoted if line.strip())])


async def _debated(edit: EditOutcome, context: ChangeContext, step: Step, ends: float) -> Debated:
    """The debate on a small model's edit, in the time that is left; an edit by code is exact and isn't debated."""
    if edit.by_code:
        return NOT_DEBATED
    return await debated(context, edit.changes, step, ends=ends)


async def _by_loop(task: str, workspace: Workspace, step: Step, language: str) -> Answer:
    """The answer of a model that uses tools: its change, then tests, debate, verdict and impact."""

    def show(edit: LoopEdit, done: LoopVersion | None = None) -> None:
        changes = done.version.changes if done else edit.changes
        step.publish(answered(changes, _of_loop(edit, done), language))

    try:
        edit, done = await change_by_loop(task, workspace, step, language, show)
    except RepoPilotError as error:
        return answered((), Generation(failure=_in_markdown(i18n.reason(error), language)), language)
    if done is None:
        why = "\n\n".join(filter(None, (visible(edit.summary.strip()), i18n.translated(edit.note, language))))
        return answered((), Generation(failure=why, calls=edit.calls, assumed=edit.assumed), language)
    if edit.silent:
        workspace = replace(workspace, model=None)
    return await _with_impact(done.version.changes, _of_loop(edit, done), workspace, step, language)


def _of_loop(edit: LoopEdit, done: LoopVersion | None) -> Generation:
    notes = (edit.note,) if edit.note else ()
    made = Generation(notes=notes, calls=edit.calls, assumed=edit.assumed)
    if done is None:
        return made
    made = replace(made, notes=(*notes, *done.notes), said=done.said, revisions=done.rounds)
    return _decided(made, done.version)


def _decided(made: Generation, version: Version) -> Generation:
    issues = version.opinions.issues
    return replace(
        made,
        verdict=version.verdict,
        reasons=version.reasons,
        points=tuple(f"`{issue.path}:{issue.line}` {issue.problem}" for issue in issues),
        tests=version.report,
        unrun=version.evidence.unrun,
    )


async def _with_impact(changes: Changes, made: Generation, workspace: Workspace, step: Step, language: str) -> Answer:
    """The answer with what the change touches and makes necessary elsewhere."""
    step.publish(answered(changes, made, language))
    work = i18n.message("generate.work.impact")
    impact = await result_or_none(_impact(changes, workspace, step), work, step)
    work = i18n.message("generate.work.follow_ups")
    needed = await result_or_none(_follow_ups(changes, workspace, step), work, step) or ()
    undecided = await asyncio.to_thread(_undecided, made.open_references, needed, changes)
    made = replace(made, impact=impact, follow_ups=needed, open_references=undecided)
    answer = answered(changes, made, language)
    step.publish(answer)
    return answer


def _undecided(
    references: Sequence[OpenReference], needed: Sequence[FollowUpEdit], changes: Changes
) -> tuple[OpenReference, ...]:
    """The references that no follow-up edit covers, so that each place is shown once."""
    texts = texts_of(changes)
    edited = {(each.path, each.line) for each in needed}
    for change in (each.change for each in needed if each.change is not None):
        before = texts.get(change.path, before_change(change) or "")
        edited |= {(change.path, line) for line in changed_lines(before, change.content)}
    return tuple(each for each in references if (each.path, each.line) not in edited)


async def _edited(task: str, workspace: Workspace, step: Step, ends: float) -> EditOutcome:
    """The edit by a typed command, else by a small model before the deadline. Raises RepoPilotError without an edit."""
    edit = await edit_by_command(task, workspace, step)
    if edit is not None:
        async with step.child("edit by code", "agent", task) as editing:
            await _show_edit(edit, editing)
        return edit
    found = await retrieve(task, workspace, step)
    async with step.child("generate", "agent", task) as generating:
        edit = await edit_with_model(task, workspace, generating, found.hits, ends)
        await _show_edit(edit, generating)
    return edit


async def _show_edit(edit: EditOutcome, step: Step) -> None:
    step.note(
        files=[c.path for c in edit.changes],
        places=[f"{c.path}:{edit.place}" for c in edit.changes],
        open_references=len(edit.open_references),
    )
    await step.write(shown_diffs(edit.changes))


async def _impact(changes: Changes, workspace: Workspace, step: Step) -> ImpactReport:
    """What the generated code touches."""
    async with step.child("impact", "agent", ", ".join(c.path for c in changes)) as reporting:
        from repopilot.agents.impact.impact_report import impact_report

        return await impact_report(workspace, reporting, (), patch="".join(c.diff for c in changes))


async def _follow_ups(changes: Changes, workspace: Workspace, step: Step) -> tuple[FollowUpEdit, ...]:
    """What the change makes necessary elsewhere."""
    async with step.child("follow-up edits", "tool", ", ".join(c.path for c in changes)) as finding:
        found = await follow_ups(changes, workspace)
        finding.note(count=len(found))
        await finding.write("\n".join(f"{each.path}:{each.line}" for each in found))
    return found
