"""Plan (DECOMPOSE): a large task into numbered parts, and the parts through the generator one by one.

The model names titles and files; code checks the files, orders the parts, computes the risk. Without a usable reply
the plan comes from the task's own structure and the exploration.
"""

from __future__ import annotations

import re
from collections.abc import Awaitable, Callable, Sequence
from dataclasses import replace

from repopilot.agents.exploration import Exploration, explore
from repopilot.agents.generate.generator import GenerationRequest, generate_files
from repopilot.agents.generate.places import last_files
from repopilot.agents.planning.drafts import PlanDraft, checked_parts, checked_questions, fallback_parts
from repopilot.agents.planning.plan import Plan, PlanPart, ordered, plan_from_markdown, plan_json, plan_markdown
from repopilot.errors import ModelError, RepoPilotError, UsageError
from repopilot.llm.structured import ask
from repopilot.prompts import defused, nonce, render
from repopilot.results import Answer, Turn
from repopilot.trace import Step
from repopilot.types import FileChange
from repopilot.workspace import Workspace

PLAN_TOKENS = 700
FILES_SHOWN = 40

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
    """A plan for the question, or, when it says to go on with the conversation's plan, the work on its parts.

    `details["plan"]` is the plan as JSON (`plans.plan_from_json` reads it).
    """
    current = current_plan(workspace.turns)
    if current is not None and _is_go_on(question):
        chosen, skipped = wanted_parts(question, current)
        for number in skipped:
            current = current.with_state(number, "skipped")
        return await proceed(current, workspace, step, chosen)
    found = await explore(question, workspace, step)
    async with step.child("plan", "agent", question) as planning:
        made = await _planned(question, found, workspace, planning)
        planning.note(parts=len(made.parts), questions=len(made.questions))
    return await _answered(plan_markdown(made), made, (), step)


async def proceed(
    plan: Plan,
    workspace: Workspace,
    step: Step,
    numbers: Sequence[int] | None = None,
    keep_going: KeepGoing | None = None,
) -> Answer:
    """Work on the parts `numbers` (None: all open ones), one by one; a failed part leaves the others be, those that
    depend on it wait. `keep_going` is asked before each further part: False stops with what there is.

    The answer's files are those of all finished parts together. Raises UsageError for a part that isn't there.
    """
    unknown = [n for n in numbers or () if plan.part(n) is None]
    if unknown:
        raise UsageError(f"The plan has no part {unknown[0]}.", f"It has parts 1 to {len(plan.parts)}.")
    files: dict[str, FileChange] = {f.path: f for f in last_files(workspace.turns)}
    notes: list[str] = []
    tried = 0
    while (part := _next_part(plan, numbers)) is not None:
        if tried and keep_going is not None and not await keep_going(plan):
            notes.append("Stopped; what is done is kept.")
            break
        tried += 1
        plan, changes, note = await run_part(plan, part, tuple(files.values()), workspace, step)
        files |= {c.path: c for c in changes}
        notes.append(note)
    if not tried:
        notes.append("No part is open and ready.")
    return await _answered("\n\n".join([*notes, plan_markdown(plan)]), plan, tuple(files.values()), step)


async def run_part(
    plan: Plan, part: PlanPart, files: Sequence[FileChange], workspace: Workspace, step: Step
) -> tuple[Plan, tuple[FileChange, ...], str]:
    """One part through the generator, on top of `files`: the plan with its new state, its files, a sentence."""
    turns = (*workspace.turns, Turn(plan.task, "", "DECOMPOSE", tuple(files))) if files else workspace.turns
    room = replace(workspace, turns=turns)
    task = f"{part.title}\n(Part {part.number} of: {plan.task[:600]})"
    try:
        async with step.child(f"part {part.number}", "agent", part.title) as working:
            found = await explore(part.title, room, working)
            request = GenerationRequest(
                task, found, paths=part.files[:2], reading={f.path: f.content for f in files[-2:]}
            )
            changes = await generate_files(request, room, working)
            await working.write("\n".join(c.diff for c in changes))
    except RepoPilotError as error:
        return plan.with_state(part.number, "failed"), (), f"Part {part.number} failed: {error}"
    named = ", ".join(f"`{c.path}`" for c in changes)
    return plan.with_state(part.number, "done"), changes, f"Part {part.number} is done: {named}"


def current_plan(turns: Sequence[Turn]) -> Plan | None:
    """The newest plan of the conversation, with the states its parts have by now."""
    plans = (plan_from_markdown(turn.answer) for turn in reversed(turns) if turn.intent == "DECOMPOSE")
    return next((found for found in plans if found is not None), None)


def wanted_parts(question: str, plan: Plan) -> tuple[list[int] | None, list[int]]:
    """The numbers to work on (None: all) and those to skip, as a go-on names them; without numbers the next part."""
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


def with_answers(task: str, answers: Sequence[tuple[str, str]]) -> str:
    """The task with answered questions, to be planned anew."""
    return "\n".join([task, *(f"{question} {answer}." for question, answer in answers)])


def _is_go_on(question: str) -> bool:
    return len(question.split()) <= 12 and _GO_ON.match(question) is not None


def _next_part(plan: Plan, numbers: Sequence[int] | None) -> PlanPart | None:
    """What the user asked for by number is done even before its dependencies; else the next ready part."""
    if numbers is None:
        return plan.ready()
    return next((p for n in numbers if (p := plan.part(n)) is not None and p.state == "open"), None)


async def _planned(task: str, found: Exploration, workspace: Workspace, step: Step) -> Plan:
    draft = await _drafted(task, found, workspace, step)
    parts = checked_parts(draft.parts, workspace.index) if draft else []
    if len(parts) < 2:
        step.degrade("the plan comes from the task's own words and the search: no usable plan by the model")
        parts = fallback_parts(task, found, workspace.index)
    questions = checked_questions(draft.questions, task) if draft else ()
    made = Plan(task, ordered(parts), questions)
    await step.write(plan_markdown(made))
    return made


async def _drafted(task: str, found: Exploration, workspace: Workspace, step: Step) -> PlanDraft | None:
    from llama_index.core.llms import ChatMessage

    if workspace.model is None:
        return None
    mark = nonce()
    files = "\n".join(
        dict.fromkeys([*(h.chunk.path for h in found.results.hits), *list(workspace.index.files)[:FILES_SHOWN]])
    )
    user = render("plan_user", files=files, mark=mark, context=defused(found.pack.text, mark), task=task[:4000])
    system = render("plan_system", name=workspace.snapshot.name)
    messages = [ChatMessage(role="system", content=system), ChatMessage(role="user", content=user)]
    try:
        async with step.child("draft", "llm", task) as drafting:
            return await ask(workspace.model, messages, PlanDraft, drafting, max_tokens=PLAN_TOKENS)
    except ModelError as error:
        step.degrade(f"the model made no plan: {error}")
        return None


async def _answered(text: str, plan: Plan, files: tuple[FileChange, ...], step: Step) -> Answer:
    async with step.child("answer", "answer") as answering:
        await answering.write(text)
    return Answer(text, files=files, details={"plan": plan_json(plan)})
