"""Works on the parts of a plan, one after the other. Each sees the parts before it; finished parts are kept."""

from __future__ import annotations

import asyncio
from collections.abc import Sequence
from dataclasses import replace

from repopilot import i18n
from repopilot.agents.coding.typed_commands import is_command
from repopilot.agents.generate.pipeline import examined
from repopilot.agents.planning.finished_parts import drafts_of, finished, with_part
from repopilot.agents.planning.render import plan_markdown
from repopilot.errors import RepoPilotError, UsageError
from repopilot.redaction.shown_diff import shown_diffs
from repopilot.results import Answer, Generation, Plan, PlanPart
from repopilot.retrieval.query.parse import reply_language
from repopilot.tools.working_copy import WorkingCopy, working_copy
from repopilot.trace import Step
from repopilot.types import FileChange
from repopilot.workspace import Workspace

_LONGEST_GOAL = 600


async def proceed(
    plan: Plan,
    workspace: Workspace,
    step: Step,
    numbers: Sequence[int] | None = None,
) -> Answer:
    """Work on parts of a plan, one by one. When one fails, those that depend on it wait and the others go on.

    Each finished part is published, so that a stop keeps it.

    Args:
        plan: the plan as it is, with the drafts of its finished parts.
        workspace: the repository.
        step: the step of the work.
        numbers: the parts to work on, None for all open ones.

    Returns:
        The answer, with the files of all finished parts as one change; its `result` is the plan with its new states.

    Raises:
        UsageError: the plan has no part with one of the numbers.
        StorageError: there is no room for a working copy.
    """
    check_numbers(plan, numbers or ())
    notes: list[str] = []
    async with working_copy(workspace) as copy:
        await asyncio.to_thread(copy.write, drafts_of(plan))
        while (part := _next_part(plan, numbers)) is not None:
            stopped = await _shown(plan, copy, [*notes, i18n.message("planning.stopped")])
            step.publish(await _shown(plan.with_state(part.number, "running"), copy, notes))
            try:
                plan = await run_part(plan, part, copy, step)
            except asyncio.CancelledError:
                step.publish(stopped)
                raise
            notes.append(_note_of(plan, part.number))
            step.publish(await _shown(plan, copy, notes))
        shown = await _shown(plan, copy, notes or [i18n.message("planning.none_ready")])
    await step.answer(shown.text)
    return shown


def check_numbers(plan: Plan, numbers: Sequence[int]) -> None:
    """Raise UsageError where the plan has no part with one of the numbers."""
    unknown = [number for number in numbers if plan.part(number) is None]
    if unknown:
        hint = i18n.message("planning.no_such_part_hint", count=len(plan.parts))
        raise UsageError(i18n.message("planning.no_such_part", number=unknown[0]), hint)


async def run_part(plan: Plan, part: PlanPart, copy: WorkingCopy, step: Step) -> Plan:
    """Edit, check and test one part, and put its files into the working copy.

    Args:
        plan: the plan.
        part: the part to work on.
        copy: the repository with the parts before it.
        step: the step of the work.

    Returns:
        The plan, with the part done, or failed and why.
    """
    try:
        async with step.child(f"part {part.number}", "agent", part.title) as working:
            made = await examined(instruction(plan, part), copy.workspace, working.contained())
            assert isinstance(made.result, Generation)
            problem = _problem(made.result)
            if problem:
                working.note(failure=problem)
                return with_part(plan, replace(part, state="failed", note=problem))
            await asyncio.to_thread(copy.write, made.files)
            await working.write(shown_diffs(made.files))
    except RepoPilotError as error:
        return with_part(plan, replace(part, state="failed", note=i18n.reason(error)))
    return finished(plan, part, made.files, _came_to(made))


def instruction(plan: Plan, part: PlanPart) -> str:
    """A part as a task of its own: its place with an @, what must hold, and what it is a part of. A command, or a part
    without a place, which the user wrote, is used as it is."""
    if is_command(part.title) or not part.place:
        return part.title
    lines = [part.title, f"@{part.place}", *(f"- {point}" for point in part.acceptance)]
    goal = " ".join(plan.task.split())[:_LONGEST_GOAL]
    return "\n".join([*lines, f"(Part {part.number} of: {goal})"])


def _problem(made: Generation) -> str:
    """Why a part has failed, a message; '' when its files can be used."""
    if made.failure:
        return i18n.message("planning.failed.no_files", why=made.failure)
    if made.verdict is not None and made.verdict.decision == "REQUEST_REVISION":
        why = i18n.joined(made.reasons or made.verdict.reasons, "; ")
        return i18n.message("planning.failed.verdict", score=made.verdict.score, why=why)
    return ""


def _came_to(made: Answer) -> str:
    """The result of a finished part, a message: its files, and the outcome of its tests."""
    files = ", ".join(f"`{c.path}`" for c in made.files)
    tests = made.result.tests if isinstance(made.result, Generation) else None
    if tests is None or tests.run is None:
        return i18n.message("planning.done.untested", files=files)
    run = tests.run
    key = "verified" if run.genuine else "ran"
    return i18n.message(f"planning.done.{key}", files=files, passed=run.passed, failed=run.failed + run.errors)


def _note_of(plan: Plan, number: int) -> str:
    part = plan.part(number)
    assert part is not None
    key = "planning.part_done" if part.state == "done" else "planning.part_failed"
    return i18n.message(key, number=number, note=part.note)


def _next_part(plan: Plan, numbers: Sequence[int] | None) -> PlanPart | None:
    """The next part to work on. One the user asked for by number is worked on even before those it depends on."""
    if numbers is None:
        return plan.ready()
    return next((p for n in numbers if (p := plan.part(n)) is not None and p.state == "open"), None)


async def _shown(plan: Plan, copy: WorkingCopy, notes: Sequence[str]) -> Answer:
    """The plan as it stands, with the files of its finished parts as one change."""
    language = reply_language(plan.task, copy.workspace.settings)
    files: tuple[FileChange, ...] = await asyncio.to_thread(copy.changes)
    plan = replace(plan, note="\n\n".join(i18n.translated(each, language) for each in notes))
    return Answer(plan_markdown(plan, language), files=files, result=plan)
