"""A question in a chat: the agents' trace as steps, the answer streamed, citations as links, errors with a way on."""

from __future__ import annotations

import asyncio
import logging
import time
from dataclasses import dataclass, field
from functools import partial

import chainlit as cl

from repopilot.errors import IndexFailed, ModelError, RepoPilotError
from repopilot.trace import Event, Finished, root
from repopilot.types import Answer, Intent, Turn
from repopilot.ui.changes import show_files
from repopilot.ui.chat import Chat, Shown, process, remember_turn
from repopilot.ui.citations import code_props, linked, source_rows
from repopilot.ui.elements import element, show_aside
from repopilot.ui.opening_props import dense_words
from repopilot.ui.planning import introduction, plan_of, show_plan
from repopilot.ui.reports import findings_props, has_findings, impact_props, summary_of
from repopilot.ui.step_text import closed, inert
from repopilot.ui.steps import TraceView
from repopilot.ui.wording import commit_words, count, duration
from repopilot.workspace import Workspace

COMMANDS: dict[str, Intent] = {
    "explain": "EXPLAIN",
    "generate": "GENERATE",
    "test": "TEST",
    "review": "REVIEW",
    "impact": "IMPACT",
    "plan": "DECOMPOSE",
}
LABELS = {intent: command for command, intent in COMMANDS.items()}
CLEAR_MARGIN = 0.2
"""A route this much likelier than the next is not offered again as a button."""
log = logging.getLogger(__name__)


@dataclass(slots=True)
class Asking:
    """One question while it is answered. `facts` keeps what finished steps noted, for the footer."""

    question: str
    forced: Intent | None
    message: cl.Message
    started: float = field(default_factory=time.monotonic)
    facts: list[Finished] = field(default_factory=list)

    def keep(self, event: Event) -> None:
        if isinstance(event, Finished):
            self.facts.append(event)


async def ask(chat: Chat, question: str, forced: Intent | None = None) -> Answer | None:
    """Answer a question about the open repository. None when it ended otherwise; the page then says how."""
    asking = Asking(question, forced, cl.Message(content=""))
    view = _view(asking.message)
    view.start()
    try:
        workspace, answer = await _answered(chat, asking, view)
    except asyncio.CancelledError:
        # Stop was pressed. What was streamed stays, and the task ends in peace so that nothing overwrites it.
        await view.close()
        await _cut_short(asking)
        return None
    except RepoPilotError as error:
        await view.close()
        await _failed(asking, error)
        return None
    except Exception as error:
        log.exception("answering")
        await view.close()
        said = f"Something went wrong that RepoPilot did not expect: {error or type(error).__name__}."
        await _failed(asking, RepoPilotError(said, "The server's log has the details. Your question is kept above."))
        return None
    await view.close()
    await _show(chat, asking, workspace, answer)
    remember_turn(chat, Turn(question, answer.text, answer.route.intent if answer.route else "EXPLAIN", answer.files))
    return answer


async def show_citation(chat: Chat, payload: dict) -> dict:
    """The side view with the lines of one citation; {error} when they can no longer be shown."""
    shown = chat.shown.get(str(payload.get("answer", "")))
    number = payload.get("number")
    citation = next((c for c in shown.answer.citations if c.number == number), None) if shown else None
    if shown is None or citation is None:
        return {"error": "This answer is from before the page was reloaded. Ask again to see its sources."}
    text = await asyncio.to_thread(shown.index.text, citation.path)
    if text is None:
        return {"error": f"{citation.path} is no longer in the index."}
    info = shown.index.files.get(citation.path)
    await show_aside("Code", code_props(citation, text, info.language if info else ""))
    return {}


async def _workspace(chat: Chat) -> Workspace:
    """The open repository with the models of the moment."""
    opening, models = chat.opening, process().models
    assert opening is not None and opening.index is not None and opening.snapshot is not None
    if models.model is None:
        await models.look()
    return Workspace(
        opening.snapshot,
        opening.index,
        opening.settings,
        model=models.model,
        reviewer=models.reviewer,
        embedder=await models.find_embedder(),
        turns=tuple(chat.turns),
    )


def _view(message: cl.Message) -> TraceView:
    run = cl.context.current_step

    async def attach(step_id: str, name: str, text: str) -> None:
        await cl.File(name=name, content=text, display="inline", mime="text/plain").send(for_id=step_id)

    return TraceView(
        cl.context.emitter,
        cl.context.session.thread_id,
        run.id if run else None,
        on_answer=partial(message.stream_token, is_sequence=True),
        attach=attach,
    )


async def _answered(chat: Chat, asking: Asking, view: TraceView) -> tuple[Workspace, Answer]:
    from repopilot.assistant import answer

    def sink(event: Event) -> None:
        asking.keep(event)
        view.sink(event)

    async with root(sink, "work", "run", asking.question) as step:
        workspace = await _workspace(chat)
        return workspace, await answer(asking.question, workspace, step, asking.forced)


async def _show(chat: Chat, asking: Asking, workspace: Workspace, answer: Answer) -> None:
    message = asking.message
    chat.shown[message.id] = Shown(answer, workspace.index, workspace.snapshot.root)
    plan = plan_of(answer)
    message.content = linked(_text(answer), answer.citations, message.id)
    message.elements = _elements(asking, workspace, answer)
    await (message.update() if message.streaming else message.send())
    if plan is not None:
        await show_plan(chat, message.id, plan)
    if answer.files:
        await show_files(chat, message.id)


def _text(answer: Answer) -> str:
    """What is said in words; lists that have an element of their own are left to it."""
    if has_findings(answer):
        return summary_of(answer)
    return introduction(answer) if "plan" in answer.details else answer.text


def _elements(asking: Asking, workspace: Workspace, answer: Answer) -> list[cl.CustomElement]:
    """What stands below the text: the report, then sources and footer."""
    elements = []
    if has_findings(answer):
        elements.append(element("Findings", findings_props(asking.message.id, answer)))
    if impact := impact_props(answer):
        elements.append(element("Impact", impact))
    return [*elements, element("Sources", _sources_props(asking, workspace, answer))]


def _sources_props(asking: Asking, workspace: Workspace, answer: Answer) -> dict:
    return {
        "answer": asking.message.id,
        "question": asking.question,
        "command": LABELS.get(asking.forced, "") if asking.forced else "",
        # A review's findings carry their places themselves.
        "sources": [] if has_findings(answer) else source_rows(answer.citations),
        "notes": [inert(note) for note in answer.degraded],
        "alternatives": alternatives(answer),
        "retry": bool(answer.details.get("retry")),
        "footer": footer(asking, workspace, answer),
    }


def alternatives(answer: Answer) -> list[tuple[str, str]]:
    """Buttons for the routes that were nearly taken: (label, command)."""
    route = answer.route
    if route is None or route.tier == "forced":
        return []
    close = [
        intent
        for intent, confidence in route.alternatives
        if intent != route.intent and intent in LABELS and route.confidence - confidence < CLEAR_MARGIN
    ]
    return [(f"Rather /{LABELS[intent]}", LABELS[intent]) for intent in close[:2]]


def footer(asking: Asking, workspace: Workspace, answer: Answer) -> str:
    """`EXPLAIN · qwen2.5-coder:1.5b · 212 tokens · 3.2 s · dense vectors 43 % built · commit abc1234`."""
    noted = [finished.data for finished in asking.facts]
    models = dict.fromkeys(str(data["model"]) for data in noted if data.get("model"))
    tokens = sum(data["completion_tokens"] for data in noted if isinstance(data.get("completion_tokens"), int))
    dense = workspace.index.dense
    parts = [
        answer.route.intent if answer.route else "",
        ", ".join(models) or "no language model",
        count(tokens, "token") if tokens else "",
        duration(time.monotonic() - asking.started),
        "" if dense >= 1 else dense_words(dense, building=workspace.embedder is not None),
        commit_words(workspace.index.commit),
    ]
    return " · ".join(part for part in parts if part)


async def _failed(asking: Asking, error: RepoPilotError) -> None:
    """Keep what was streamed, say what happened, offer another try."""
    streamed = error.partial if isinstance(error, ModelError) else ""
    if asking.message.streaming or streamed:
        await _cut_short(asking, "_The answer was cut off here._", streamed)
    content = error.message + (f"\n\n{error.hint}" if error.hint else "")
    said = await cl.ErrorMessage(content=content).send()
    if not isinstance(error, IndexFailed):
        await element("Sources", _retry_props(asking)).send(for_id=said.id)


async def _cut_short(asking: Asking, note: str = "", streamed: str = "") -> None:
    """End the message with what there is of it."""
    message = asking.message
    shown = message.streaming
    if shown or streamed:
        message.content = "\n\n".join(part for part in (closed(message.content or inert(streamed)), note) if part)
        await (message.update() if shown else message.send())


def _retry_props(asking: Asking) -> dict:
    command = LABELS.get(asking.forced, "") if asking.forced else ""
    empty = {"sources": [], "notes": [], "alternatives": [], "footer": ""}
    return {"answer": asking.message.id, "question": asking.question, "command": command, "retry": True, **empty}
