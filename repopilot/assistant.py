"""The single entry point of browser, command line and MCP: passes a question to its agent."""

from __future__ import annotations

import asyncio
import logging
from collections.abc import Awaitable, Callable, Sequence
from dataclasses import replace
from typing import TYPE_CHECKING

from repopilot import i18n, intents
from repopilot.errors import Cancelled, RepoPilotError, UsageError
from repopilot.foreign_text import without_surrogates
from repopilot.i18n import message
from repopilot.results import Answer, Generation, turn_of
from repopilot.routing.audience import for_its_reader
from repopilot.trace import Event, Published, Step, degraded, said_once
from repopilot.types import Intent, Route
from repopilot.workspace import Workspace

if TYPE_CHECKING:
    from repopilot.intents import IntentSpec
    from repopilot.llm.model import Model

Agent = Callable[[str, Workspace, Step], Awaitable[Answer]]

LONGEST_QUESTION = 20_000
"""Characters. A longer question is cut, which the trace reports."""

BY_COMMAND = Route("EXPLAIN", 1.0, message("routing.forced"), "forced")

log = logging.getLogger(__name__)


async def answer(
    question: str, workspace: Workspace, step: Step, forced: Intent | None = None, *, is_question: bool = False
) -> Answer:
    """Route a question and let its agent answer.

    Args:
        question: as the user wrote it.
        workspace: the repository with its index, models, settings and the conversation so far.
        step: the parent of the steps of the work.
        forced: the intent of a command, which skips the routing; None lets the router decide.
        is_question: the caller declares that it is a question: unless it is a typed command, it is explained, reviewed
            or its impact computed, and nothing is planned or changed.

    Returns:
        The agent's answer with its route; `degraded` lists every fallback recorded anywhere in the trace.

    Raises:
        UsageError: the question is empty, and `forced` is no intent whose command works without one; or the question
            looks like a typed command and isn't one.
        RepoPilotError: whatever the agent raises.
    """
    from repopilot.agents.coding.typed_commands import EDITS, read_command
    from repopilot.agents.lookup_command import look_up
    from repopilot.agents.several_wishes import wishes_of

    question = without_surrogates(question)
    if not question.strip() and not (forced and intents.by_id(forced).lookup):
        raise UsageError(message("assistant.empty"))
    events: list[Event] = []
    recorded = _recording(step, events)
    if len(question) > LONGEST_QUESTION:
        recorded.degrade(message("assistant.cut", length=f"{len(question):,}", longest=f"{LONGEST_QUESTION:,}"))
        question = question[:LONGEST_QUESTION]
    log.info("request %s: %d characters", step.id, len(question))
    plain = is_question and not question.lstrip().startswith("/")
    command = read_command(question) if forced is None and not plain else None
    if command is not None and command.tool not in EDITS:
        return replace(await look_up(command, workspace, recorded), route=BY_COMMAND, degraded=degraded(events))
    forced = "GENERATE" if command is not None else forced
    question, workspace = await asyncio.to_thread(for_its_reader, question, workspace)
    if forced is None and len(wishes := await wishes_of(question, _judging(workspace), recorded)) > 1:
        done = await _each(wishes, workspace, recorded, is_question)
    else:
        done = await _one(question, workspace, recorded, forced, is_question)
    return replace(done, degraded=said_once((*done.degraded, *degraded(events), *recorded.fallbacks)))


async def _each(wishes: Sequence[str], workspace: Workspace, step: Step, is_question: bool) -> Answer:
    """Carry out the wishes of a message in order. Each sees the earlier answers, and a failed one doesn't stop the
    others.

    What a part publishes while it works is shown below the earlier parts.
    """
    from repopilot.agents.several_wishes import PartAnswer, joined
    from repopilot.retrieval.query.parse import reply_language

    language = reply_language(wishes[0], workspace.settings)
    done: list[PartAnswer] = []
    for number, wish in enumerate(wishes, 1):

        def sink(event: Event, wish: str = wish) -> None:
            if isinstance(event, Published) and isinstance(event.answer, Answer):
                event = replace(event, answer=joined([*done, PartAnswer(wish, event.answer)], language))
            step.sink(event)

        async with replace(step, sink=sink).child(f"part {number}", "agent", wish) as part:
            try:
                made = await _one(wish, workspace, part, None, is_question, of_several=True)
            except Cancelled:
                raise
            except RepoPilotError as error:
                made = Answer(
                    i18n.text("assistant.not_done", language, why=i18n.translated(i18n.reason(error), language))
                )
        done.append(PartAnswer(wish, made, _is_done(made)))
        step.publish(joined(done, language))
        workspace = replace(workspace, turns=(*workspace.turns, turn_of(wish, made)))
    return joined(done, language)


def _is_done(made: Answer) -> bool:
    return made.result is not None and not (isinstance(made.result, Generation) and made.result.failure)


async def _one(
    question: str,
    workspace: Workspace,
    step: Step,
    forced: Intent | None,
    is_question: bool,
    of_several: bool = False,
) -> Answer:
    """Route one wish and let its agent answer. If it must be a question but asks for an action, one of several wishes
    is left undone, and its answer says so; a single wish is answered as a question."""
    from repopilot.agents.explain.forms.dispatch import form_of
    from repopilot.routing.router import route

    events: list[Event] = []
    recorded = _recording(step, events)
    computed = forced is None and await asyncio.to_thread(form_of, question, workspace.index) is not None
    async with recorded.child("route", "tool", question) as routing:
        chosen = await route(
            question,
            model=None if computed else _judging(workspace),
            turns=workspace.turns,
            allowed=(forced,) if forced else intents.answering() if is_question and not of_several else (),
            step=routing,
        )
        if computed and chosen.intent in ("EXPLAIN", "IMPACT"):
            chosen = replace(chosen, intent="EXPLAIN", tier="rules", reason=message("routing.computed"))
        pasted = forced in (None, "REVIEW") and await asyncio.to_thread(_is_about_pasted, question, chosen, workspace)
        if pasted and forced is None:
            chosen = _for_pasted(chosen, workspace, is_question)
        routing.note(intent=chosen.intent, confidence=chosen.confidence, tier=chosen.tier, reason=chosen.reason)
        spec = intents.by_id(chosen.intent)
        understood = _understood(question, spec, workspace)
        if understood != question:
            routing.note(understood=understood)
    log.info("request %s: %s by %s", step.id, chosen.intent, chosen.tier)
    left = of_several and is_question and spec.acts
    undone = _saying("assistant.only_asked", command=spec.command)
    agent = undone if left else _agent(spec, chosen.reason, bool(pasted))
    done = await agent(understood, workspace, recorded)
    fallbacks = (*done.degraded, *workspace.index.notes, *degraded(events), *recorded.fallbacks)
    meant = understood if understood != question else ""
    return replace(done, route=chosen, degraded=said_once(fallbacks), understood=meant)


def _is_about_pasted(question: str, chosen: Route, workspace: Workspace) -> bool:
    """Whether a message is about pasted code from outside the repository: it asks for an action on that code, or says
    nothing else that could be answered without a model."""
    from repopilot.agents.testing.pasted import pasted_code, stands_alone

    pasted = pasted_code(question) if chosen.intent in ("GENERATE", "REVIEW", "TEST", "EXPLAIN") else None
    if pasted is None or (chosen.intent == "EXPLAIN" and (workspace.uses_tools or not pasted.is_all)):
        return False
    return stands_alone(pasted, workspace.index)


def _for_pasted(chosen: Route, workspace: Workspace, is_question: bool) -> Route:
    """The route of pasted code: it is tested or, for a question, explained by an agent model, else checked."""
    answering: Intent = "EXPLAIN" if workspace.uses_tools else "REVIEW"
    intent: Intent = answering if is_question else "TEST"
    return replace(chosen, intent=intent, tier="rules", reason=message("routing.pasted"))


def _judging(workspace: Workspace) -> Model | None:
    """The model that chooses intents: the answering model, if it uses tools."""
    return workspace.model if workspace.uses_tools else None


def _understood(question: str, spec: IntentSpec, workspace: Workspace) -> str:
    """The question that a follow-up stands for.

    A model that uses tools gets the conversation, and its question with the names of numbered places. What is computed
    for a name, such as an impact, needs that name in the question.
    """
    from repopilot.agents.follow_up import resolve, with_places

    if not workspace.turns or spec.acts or spec.lookup or not spec.agent:
        return question
    if workspace.uses_tools and spec.id == "EXPLAIN":
        return with_places(question, workspace.turns)
    return resolve(question, workspace.turns)


def _recording(step: Step, events: list[Event]) -> Step:
    """The same step, with its descendants' events appended to `events` as well."""

    def sink(event: Event) -> None:
        events.append(event)
        step.sink(event)

    return replace(step, sink=sink)


def _agent(spec: IntentSpec, reason: str, pasted: bool) -> Agent:
    """The agent of the chosen intent. Pasted code has a review agent of its own; an intent without an agent is refused
    for `reason`."""
    if pasted and spec.id == "REVIEW":
        from repopilot.agents.testing.pasted import check_pasted

        return check_pasted
    return spec.load_agent() if spec.agent else _saying("assistant.refused", why=reason)


def _saying(key: str, **values: object) -> Agent:
    async def say(question: str, workspace: Workspace, step: Step) -> Answer:
        from repopilot.retrieval.query.parse import reply_language

        text = i18n.text(key, reply_language(question, workspace.settings), **values)
        await step.answer(text)
        return Answer(text)

    return say
