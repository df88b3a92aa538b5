"""A question in a chat: the agents' trace as steps, the answer streamed, errors with a way on."""

from __future__ import annotations

import asyncio
import logging
import time
from dataclasses import dataclass, field
from functools import partial

import chainlit as cl

from repopilot import intents
from repopilot.errors import ModelError, RepoPilotError
from repopilot.i18n.format import commit_words, count, duration
from repopilot.results import Answer
from repopilot.trace import Event, Finished, root
from repopilot.ui.answer.answer_view import keep, show_answer, sources_props
from repopilot.ui.answer.step_text import closed, inert
from repopilot.ui.answer.steps import TraceView
from repopilot.ui.chat import Chat, process
from repopilot.ui.chat_store import Exchange
from repopilot.ui.elements import element
from repopilot.ui.repository.props import dense_words
from repopilot.workspace import Workspace

log = logging.getLogger(__name__)


@dataclass(slots=True)
class Asking:
    """One question while it is answered. `facts` keeps what finished steps noted, for the footer."""

    question: str
    command: str
    message: cl.Message
    started: float = field(default_factory=time.monotonic)
    facts: list[Finished] = field(default_factory=list)

    def keep(self, event: Event) -> None:
        if isinstance(event, Finished):
            self.facts.append(event)


async def ask(chat: Chat, question: str, command: str = "") -> None:
    """Answer a question about the open repository, by the route `command` or, with '', by the router's choice."""
    asking = Asking(question, command, cl.Message(content=""))
    view = _view(asking.message)
    view.start()
    try:
        workspace, answer = await _answered(chat, asking, view)
    except asyncio.CancelledError:
        # Stop was pressed. What was streamed stays, and the task ends in peace so that nothing overwrites it.
        await view.close()
        await _cut_short(asking)
    except RepoPilotError as error:
        await view.close()
        await _failed(asking, error)
    except Exception as error:
        log.exception("answering")
        await view.close()
        said = f"Something went wrong that RepoPilot did not expect: {error or type(error).__name__}."
        await _failed(asking, RepoPilotError(said, "The server's log has the details. Your question is kept above."))
    else:
        await view.close()
        commit = workspace.index.commit
        exchange = Exchange(question, command, answer, footer(asking, workspace, answer), commit)
        await show_answer(chat, asking.message, exchange, workspace.index)
        await keep(chat, exchange)


async def _answered(chat: Chat, asking: Asking, view: TraceView) -> tuple[Workspace, Answer]:
    from repopilot.assistant import answer
    from repopilot.index.build.job import held

    def sink(event: Event) -> None:
        asking.keep(event)
        view.sink(event)

    with held():
        async with root(sink, "work", "run", asking.question) as step:
            workspace = await _workspace(chat)
            return workspace, await answer(asking.question, workspace, step, intents.commands().get(asking.command))


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
        turns=chat.turns,
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


def footer(asking: Asking, workspace: Workspace, answer: Answer) -> str:
    """`EXPLAIN · qwen2.5-coder:1.5b · 212 tokens · 3.2 s · dense vectors 43 % built · commit abc1234`."""
    noted = [finished.data for finished in asking.facts]
    models = dict.fromkeys(str(data["model"]) for data in noted if data.get("model"))
    tokens = sum(data["completion_tokens"] for data in noted if isinstance(data.get("completion_tokens"), int))
    dense = workspace.index.dense
    parts = [
        answer.route.intent if answer.route else "",
        ", ".join(models) or ("no language model" if workspace.model is None else "no model needed"),
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
    again = Exchange(asking.question, asking.command, Answer("", details={"retry": True}))
    await element("Sources", sources_props(asking.message.id, again)).send(for_id=said.id)


async def _cut_short(asking: Asking, note: str = "", streamed: str = "") -> None:
    """End the message with what there is of it."""
    message = asking.message
    shown = message.streaming
    if shown or streamed:
        message.content = "\n\n".join(part for part in (closed(message.content or inert(streamed)), note) if part)
        await (message.update() if shown else message.send())
