"""Plan (DECOMPOSE): the places that a task has to change, as numbered parts, and the work on these one by one.

A model that uses tools plans in the loop. Without such a model, code finds the places and says why; where the evidence
is too weak, it asks.
"""

from __future__ import annotations

import asyncio
from collections.abc import Sequence
from dataclasses import replace

from repopilot import i18n
from repopilot.agents.planning.continuation import is_continuation, wanted_parts
from repopilot.agents.planning.execution import check_numbers, proceed
from repopilot.agents.planning.finished_parts import reopened
from repopilot.agents.planning.render import plan_markdown
from repopilot.agents.wishes.likely_places import (
    confidence_note,
    evidence_of,
    file_rows,
    parts_of,
    question_of,
)
from repopilot.agents.wishes.planning_loop import plan_by_loop
from repopilot.results import Answer, Plan, Turn
from repopilot.retrieval.query.parse import reply_language
from repopilot.trace import Step
from repopilot.workspace import Workspace

FILES_SHOWN = 12


async def plan(question: str, workspace: Workspace, step: Step) -> Answer:
    """Plan a task, or go on with the conversation's plan when the question says so.

    Args:
        question: the task, or which parts to work on, skip or do again.
        workspace: the repository and the conversation, whose newest plan is the current one.
        step: the step of the work.

    Returns:
        The answer, its `result` the plan. Where it isn't clear which places to change, the plan has no parts and asks.

    Raises:
        UsageError: the question names a part that the plan doesn't have.
    """
    current = current_plan(workspace.turns)
    if current is not None and current.parts and is_continuation(question):
        return await _go_on(current, question, workspace, step)
    language = reply_language(question, workspace.settings)
    async with step.child("plan", "agent", question) as planning:
        made = await _planned(question.strip(), workspace, language, planning)
        planning.note(parts=len(made.parts), questions=len(made.questions))
        text = plan_markdown(made, language)
        await planning.write(text)
    await step.answer(text)
    return Answer(text, result=made)


async def _go_on(current: Plan, question: str, workspace: Workspace, step: Step) -> Answer:
    wanted = wanted_parts(question, current)
    check_numbers(current, (*wanted.skipped, *(wanted.numbers or ())))
    current = replace(current, questions=())
    for number in wanted.skipped:
        current = current.with_state(number, "skipped")
    if wanted.redo:
        begun = [part.number for part in current.parts if part.state in ("done", "failed")]
        for number in begun if wanted.numbers is None else wanted.numbers:
            current = reopened(current, number)
    return await proceed(current, workspace, step, wanted.numbers)


async def _planned(task: str, workspace: Workspace, language: str, step: Step) -> Plan:
    """The plan of a task: its parts, or a question where the evidence is too weak."""
    index = workspace.index
    async with step.child("find places", "retrieval", task) as finding:
        evidence = await asyncio.to_thread(evidence_of, task, index, workspace.embedder)
        finding.note(files=file_rows(evidence, FILES_SHOWN))
        if not evidence.past.commits:
            finding.degrade(i18n.message("planning.no_history"))
        likely = await asyncio.to_thread(parts_of, task, evidence, index, language)
    if workspace.uses_tools:
        parts, why = await plan_by_loop(task, [part.place for part in likely], workspace, step)
        if parts:
            return Plan(task, parts)
        step.degrade(why or i18n.message("planning.no_loop_plan"))
    asked = await asyncio.to_thread(question_of, task, evidence, index, language)
    if asked:
        return Plan(task, (), (asked,))
    note = await asyncio.to_thread(confidence_note, task, evidence, index, language)
    return Plan(task, likely, note=note)


def current_plan(turns: Sequence[Turn]) -> Plan | None:
    """The newest plan of the conversation, None without one. A part that was stopped is open."""
    found = next((turn.result for turn in reversed(turns) if isinstance(turn.result, Plan)), None)
    for part in found.parts if found else ():
        if found is not None and part.state == "running":
            found = found.with_state(part.number, "open")
    return found
