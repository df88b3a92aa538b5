"""Plan (DECOMPOSE): find the places that a task has to change, as numbered parts, and work on one after the other.

Code finds the places and says why; no model takes part in the plan. Where the evidence is too weak, it asks.
"""

from __future__ import annotations

import asyncio
import re
from collections.abc import Awaitable, Callable, Sequence
from dataclasses import replace

from repopilot import i18n
from repopilot.agents.editing.edit_request import EditRequest
from repopilot.agents.editing.editor import edit_files
from repopilot.agents.editing.places import last_files
from repopilot.agents.exploration import explore
from repopilot.agents.planning.clarify import doubt, missing
from repopilot.agents.planning.parts import joined, parts_of
from repopilot.agents.planning.render import plan_markdown
from repopilot.agents.planning.requirements import goals_of
from repopilot.agents.planning.task_evidence import evidence_of, file_row, similar_rows
from repopilot.errors import RepoPilotError, UsageError
from repopilot.results import Answer, Plan, PlanPart, PlanQuestion, Turn
from repopilot.retrieval.query.parse import reply_language
from repopilot.trace import Step
from repopilot.types import FileChange
from repopilot.workspace import Workspace

FILES_SHOWN = 12

KeepGoing = Callable[[Plan], Awaitable[bool]]

_GO_ON = re.compile(
    r"^\W*(?:(?:yes|ok|okay|oui|sure|please|now|then|and)\b\W*)*(?:$|(?:proceed|go ahead|go on|continu\w*|carry on|"
    r"next|do (?:it|parts?|all|everything)|vas-y|allez-y|skip|saute|passe|start|work on parts?)\b)",
    re.I,
)
_NUMBERS = re.compile(r"\b(?:parts?|steps?|parties?|étapes?)\s+((?:\d+(?:\s*(?:,|and|et|&)\s*)?)+)", re.I)
_SKIP = re.compile(r"\b(?:skip|saute|passe|leave out)\b", re.I)
_ALL = re.compile(r"\b(?:all|everything|the rest|tout|toutes)\b", re.I)


async def plan(question: str, workspace: Workspace, step: Step) -> Answer:
    """Plan a task, or go on with the conversation's plan when the question says so.

    Args:
        question: the task, or which parts to work on or skip.
        workspace: the repository and the conversation, whose newest plan is the current one.
        step: the step of the work.

    Returns:
        The answer, its `result` the plan. Where code can't tell which places to change, the plan has no parts and asks.

    Raises:
        UsageError: the question names a part that the plan doesn't have.
    """
    current = current_plan(workspace.turns)
    if current is not None and is_continuation(question):
        current = replace(current, questions=())
        chosen, skipped = wanted_parts(question, current)
        for number in skipped:
            current = current.with_state(number, "skipped")
        return await proceed(current, workspace, step, chosen)
    language = reply_language(question, workspace.settings)
    async with step.child("plan", "agent", question) as planning:
        made = await _planned(question, workspace, language, planning)
        planning.note(parts=len(made.parts), questions=len(made.questions))
        await planning.write(plan_markdown(made, language))
    return await _answer(made, (), language, step)


async def _planned(task: str, workspace: Workspace, language: str, step: Step) -> Plan:
    """The parts of each goal of a task, or what is missing to name them."""
    groups: list[list[PlanPart]] = []
    lacking: list[PlanQuestion] = []
    doubts: list[PlanQuestion] = []
    for wanted in goals_of(task):
        async with step.child("find places", "retrieval", wanted.goal) as finding:
            evidence = await asyncio.to_thread(evidence_of, wanted, workspace.index, workspace.embedder)
            finding.note(files=[file_row(f) for f in evidence.files[:FILES_SHOWN]], similar=similar_rows(evidence))
            if not evidence.past.commits:
                finding.degrade(i18n.message("planning.degraded.no_history"))
            if (asked := await asyncio.to_thread(missing, wanted, evidence, workspace.index, language)) is not None:
                lacking.append(asked)
                continue
            groups.append(await asyncio.to_thread(parts_of, wanted, evidence, workspace.index, language))
            if (asked := await asyncio.to_thread(doubt, wanted, evidence, workspace.index, language)) is not None:
                doubts.append(asked)
    return Plan(task, (), tuple(lacking)) if lacking else Plan(task, joined(groups), tuple(doubts))


async def proceed(
    plan: Plan,
    workspace: Workspace,
    step: Step,
    numbers: Sequence[int] | None = None,
    keep_going: KeepGoing | None = None,
) -> Answer:
    """Work on parts of a plan, one by one. When one fails, those that depend on it wait and the others go on.

    Args:
        plan: the plan as it is.
        workspace: the repository and the conversation, whose last files the parts build on.
        step: the step of the work.
        numbers: the parts to work on, None for all open ones.
        keep_going: asked before each further part; False stops there.

    Returns:
        The answer, with the files of all finished parts together; its `result` is the plan with its new states.

    Raises:
        UsageError: there is no part of a number.
    """
    unknown = [n for n in numbers or () if plan.part(n) is None]
    if unknown:
        hint = i18n.message("planning.no_such_part_hint", count=len(plan.parts))
        raise UsageError(i18n.message("planning.no_such_part", number=unknown[0]), hint)
    language = reply_language(plan.task, workspace.settings)
    files: dict[str, FileChange] = {f.path: f for f in last_files(workspace.turns)}
    notes: list[str] = []
    while (part := _next_part(plan, numbers)) is not None:
        if notes and keep_going is not None and not await keep_going(plan):
            notes.append(i18n.message("planning.stopped"))
            break
        plan, changes, note = await run_part(plan, part, tuple(files.values()), workspace, step)
        files |= {c.path: c for c in changes}
        notes.append(note)
    notes = notes or [i18n.message("planning.none_ready")]
    note = "\n\n".join(i18n.said(each, language) for each in notes)
    return await _answer(replace(plan, note=note), tuple(files.values()), language, step)


async def run_part(
    plan: Plan, part: PlanPart, files: Sequence[FileChange], workspace: Workspace, step: Step
) -> tuple[Plan, tuple[FileChange, ...], str]:
    """Write the files of one part.

    Args:
        plan: the plan.
        part: the part to work on.
        files: what the parts before have changed.
        workspace: the repository.
        step: the step of the work.

    Returns:
        The plan with the part's new state, its files, and a sentence on it.
    """
    turns = (*workspace.turns, Turn(plan.task, "", "DECOMPOSE", tuple(files))) if files else workspace.turns
    continued = replace(workspace, turns=turns)
    task = f"{part.title}\n(Part {part.number} of: {plan.task[:600]})"
    try:
        async with step.child(f"part {part.number}", "agent", part.title) as working:
            found = await explore(part.title, continued, working)
            reading = {f.path: f.content for f in files[-2:]}
            language = reply_language(plan.task, workspace.settings)
            request = EditRequest(task, found, part.files[:2], reading, language=language)
            changes = (await edit_files(request, continued, working)).changes
            await working.write("\n".join(c.diff for c in changes))
    except RepoPilotError as error:
        failed = i18n.message("planning.part_failed", number=part.number, error=i18n.reason(error))
        return plan.with_state(part.number, "failed"), (), failed
    paths = ", ".join(f"`{c.path}`" for c in changes)
    done = i18n.message("planning.part_done", number=part.number, files=paths)
    return plan.with_state(part.number, "done"), changes, done


def current_plan(turns: Sequence[Turn]) -> Plan | None:
    """The newest plan of the conversation, None without one."""
    return next((turn.result for turn in reversed(turns) if isinstance(turn.result, Plan)), None)


def wanted_parts(question: str, plan: Plan) -> tuple[list[int] | None, list[int]]:
    """Read which parts to work on and which to skip from a request to go on.

    Args:
        question: the request, for example "skip part 1 and continue".
        plan: the plan; without a number the next ready part is meant.

    Returns:
        The numbers to work on (None: all), and the numbers to skip.
    """
    numbers = [int(n) for group in _NUMBERS.findall(question) for n in re.findall(r"\d+", group)]
    if _SKIP.search(question):
        follow = plan.ready() if not numbers else None
        skipped = numbers or ([follow.number] if follow else [])
        more = re.search(r"\b(?:and|then|et)\b.*\b(?:go on|continue|proceed|next)", question, re.I)
        rest = plan
        for number in skipped:
            rest = rest.with_state(number, "skipped")
        following = rest.ready()
        return ([following.number] if more and following else []), skipped
    if numbers:
        return numbers, []
    if _ALL.search(question):
        return None, []
    ready = plan.ready()
    return ([ready.number] if ready else []), []


def is_continuation(question: str) -> bool:
    """Whether a question asks to go on with the current plan, rather than for a new one."""
    return len(question.split()) <= 12 and _GO_ON.match(question) is not None


def _next_part(plan: Plan, numbers: Sequence[int] | None) -> PlanPart | None:
    """The next part to work on. One the user asked for by number is worked on even before those it depends on."""
    if numbers is None:
        return plan.ready()
    return next((p for n in numbers if (p := plan.part(n)) is not None and p.state == "open"), None)


async def _answer(plan: Plan, files: tuple[FileChange, ...], language: str, step: Step) -> Answer:
    text = plan_markdown(plan, language)
    async with step.child("answer", "answer") as answering:
        await answering.write(text)
    return Answer(text, files=files, result=plan)
