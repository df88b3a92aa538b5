"""A plan made by a model that uses tools: it looks around, asks the user, and finishes with the parts as arguments."""

from __future__ import annotations

import asyncio
from collections.abc import Sequence

from pydantic import Field

from repopilot import i18n
from repopilot.agents import loop
from repopilot.agents.last_turns import with_last_turns
from repopilot.agents.loop_values import answered
from repopilot.agents.wishes.likely_places import ordered, risk_of
from repopilot.errors import UsageError
from repopilot.index.store import Index
from repopilot.prompts import render
from repopilot.results import PlanPart
from repopilot.tools.file_change import safe_path
from repopilot.tools.registry import Arguments, Tool, ToolContext, ToolResult
from repopilot.tools.talk import ASSUMED, FINISH, about_questions, say_assumed
from repopilot.tools.toolbox import offered
from repopilot.tools.working_copy import working_copy
from repopilot.trace import Step
from repopilot.workspace import Workspace

MOST_PARTS = 12


class ProposedPart(Arguments):
    """One edit of one place."""

    title: str = Field(description="what to do, one sentence in the imperative")
    place: str = Field(description="path:Symbol of what is changed, or the path of a file, new ones included")
    depends_on: list[int] = Field(default_factory=list, description="numbers of earlier parts, counted from 1")
    done_when: list[str] = Field(default_factory=list, description="how to tell that it is done")


class ProposedPlan(Arguments):
    """The parts of the plan, in the order they should be done."""

    parts: list[ProposedPart] = Field(min_length=1, max_length=MOST_PARTS)
    assumed: list[str] = ASSUMED


async def plan_by_loop(
    task: str, known: Sequence[str], workspace: Workspace, step: Step
) -> tuple[tuple[PlanPart, ...], str]:
    """Let the model plan a task.

    Args:
        task: as the user wrote it.
        known: likely places that code found, which the model is told.
        workspace: the repository, with a model that uses tools.
        step: the parent of the loop's steps.

    Returns:
        The parts and ''; or, where the model proposed none, () and a message why the loop ended.
    """
    assert workspace.model is not None
    made: list[ProposedPlan] = []

    async def finish(arguments: ProposedPlan, context: ToolContext) -> ToolResult:
        """End the work with the plan: each part edits one place, in the order they should be done."""
        await asyncio.to_thread(_check_places, arguments, workspace.index)
        made.append(arguments)
        say_assumed(arguments.assumed, context.step)
        return ToolResult(f"{len(arguments.parts)} parts")

    can_ask = workspace.ask is not None
    looking = offered("look", can_ask=can_ask)
    tools = (*looking, Tool(FINISH.name, ProposedPlan, "talk", finish))
    budget = loop.Budget.of(workspace.settings)
    system = render("loop_plan", name=workspace.snapshot.name, questions=about_questions(can_ask))
    told = f"{with_last_turns(task, workspace.turns)}\n\nLikely places:\n" + "\n".join(known)
    async with step.child("work with tools", "agent", task) as working, working_copy(workspace) as copy:
        context = ToolContext(workspace, copy, working, workspace.ask)
        done = await loop.run(told, context, loop.LoopModel(workspace.model, budget), tools, system)
    say_assumed(answered(done.calls, by_default=True), step)
    return (_parts(made[-1], workspace.index), "") if made else ((), done.note)


def _check_places(plan: ProposedPlan, index: Index) -> None:
    """Raises UsageError for a definition that its file doesn't have, and for a path outside the repository."""
    for part in plan.parts:
        path, _, name = part.place.partition(":")
        known = [symbol.qualified for symbol in index.outline(path)] if path in index.files else []
        if name and name not in known:
            problem = i18n.message("planning.no_such_place", place=part.place)
            raise UsageError(problem, i18n.message("tools.there_are", names=", ".join(known[:20]) or path))
        safe_path(path)


def _parts(plan: ProposedPlan, index: Index) -> tuple[PlanPart, ...]:
    return ordered(
        [
            PlanPart(
                number,
                part.title.strip(),
                (path := part.place.partition(":")[0],),
                risk_of(path, index),
                tuple(part.depends_on),
                place=part.place,
                acceptance=tuple(part.done_when),
            )
            for number, part in enumerate(plan.parts, 1)
        ]
    )
