"""Answers a question in a chat: shows the trace as steps, streams the answer, offers a retry after an error."""

from __future__ import annotations

import asyncio
import logging
import time
from collections.abc import Sequence
from dataclasses import dataclass, field, replace
from functools import partial
from typing import Literal

import chainlit as cl

from repopilot import disk, i18n, intents
from repopilot.errors import ModelError, RepoPilotError, StorageError
from repopilot.forge.contents import HostIssue, Pull
from repopilot.forge.items import ForgeItem
from repopilot.i18n import Language
from repopilot.i18n.format import commit_words, count, duration
from repopilot.results import Answer, Explanation
from repopilot.retrieval.query.parse import parse
from repopilot.trace import Event, Finished, Published, root
from repopilot.types import Evidence, SearchReport
from repopilot.ui.answer.answer_view import show_answer, show_evidence, show_published, sources_props
from repopilot.ui.answer.questions.command_consent import consent_of
from repopilot.ui.answer.questions.environment_offer import offer_if_needed
from repopilot.ui.answer.questions.user_question import ask_in_chat
from repopilot.ui.chat import Chat, Work
from repopilot.ui.chats.chat_store import Exchange, ThreadKey, new_id
from repopilot.ui.elements import element
from repopilot.ui.error_text import error_line
from repopilot.ui.repository.props import dense_words
from repopilot.ui.repository_view import send_error
from repopilot.ui.settings.settings_form import REPOSITORY
from repopilot.ui.stored_turns import remember, store
from repopilot.ui.trace.kept_steps import kept_steps
from repopilot.ui.trace.step_text import closed, inert
from repopilot.ui.trace.steps import Receivers, TraceView
from repopilot.workspace import Workspace, usable_environment

log = logging.getLogger(__name__)


@dataclass(slots=True)
class PendingQuestion:
    """One question while it is being answered.

    Attributes:
        question: as asked, without its command.
        command: the command of the intent the user forced, '' for none.
        language: of the reader.
        message: the answer is streamed into it.
        key: of the conversation it belongs to.
        id: of the exchange.
        started: when it was asked, by the monotonic clock.
        storing: the tasks that store the unfinished answer.
        events: of the trace so far.
    """

    question: str
    command: str
    language: str
    message: cl.Message
    key: ThreadKey
    id: str = field(default_factory=new_id)
    storing: list[asyncio.Task[None]] = field(default_factory=list)
    started: float = field(default_factory=time.monotonic)
    events: list[Event] = field(default_factory=list)

    def sink(self, event: Event) -> None:
        """Take an event of the trace."""
        if not isinstance(event, Published):
            self.events.append(event)

    def exchange(self, answer: Answer, footer: str = "", commit: str = "", *, interrupted: bool = False) -> Exchange:
        """The question with an answer."""
        steps = kept_steps(self.events, self.language)
        return Exchange(self.question, self.command, answer, footer, commit, interrupted, self.id, steps=steps)


async def ask(
    chat: Chat, question: str, command: str = "", about: tuple[ForgeItem, HostIssue | Pull] | None = None
) -> None:
    """Answer a question about the open repository.

    Args:
        chat: where it was asked.
        question: without its command.
        command: the command of the intent to force, '' for the router's choice.
        about: the issue or pull request that it is about, None for none.
    """
    subject = chat.subject
    chat.subject = ""
    if subject and "@" not in question and command in ("", "explain"):
        question = f"{question} @{subject}"
    pending = PendingQuestion(question, command, chat.language, cl.Message(content=""), chat.thread_key)
    if about is not None:
        chat.process.about[pending.id] = about
    work = chat.process.working[pending.id] = Work(asyncio.current_task(), pending.events)
    try:
        await _answer(chat, pending)
    finally:
        del chat.process.working[pending.id]
        work.done.set()


async def _answer(chat: Chat, pending: PendingQuestion) -> None:
    """Answer a question, and store the outcome."""
    _store_unfinished(chat, pending, Answer(""))
    view = _view(chat, pending)
    view.start()
    try:
        workspace, answer = await _run_agent(chat, pending, view)
    except asyncio.CancelledError:
        # Stop was pressed. The task ends normally: Chainlit would overwrite the streamed text of a cancelled one.
        await view.close()
        await _keep_unfinished(chat, pending)
    except RepoPilotError as error:
        await view.close()
        await _show_failure(chat, pending, error)
    except Exception as error:
        log.exception("answering %s", pending.id)
        await view.close()
        await _show_failure(chat, pending, _unexpected(error))
    else:
        await view.close()
        # Stored messages lose their catalogue keys, so the notes are stored in the language they were shown in.
        answer = in_language(answer, pending.language)
        exchange = pending.exchange(answer, footer(pending, workspace, answer), workspace.index.commit)
        await show_answer(chat, pending.message, exchange, workspace.index)
        await _remember(chat, pending, exchange)


def _unexpected(error: Exception) -> RepoPilotError:
    if disk.is_full(error):
        return StorageError(i18n.reason(error))
    message = i18n.message("ui.errors.unexpected", error=str(error) or type(error).__name__)
    return RepoPilotError(message, i18n.message("ui.errors.unexpected_hint"))


def in_language(answer: Answer, language: str) -> Answer:
    """The answer with its notes in a language, as plain text."""
    answer = replace(answer, degraded=tuple(i18n.translated(note, language) for note in answer.degraded))
    if found := answer.brings(SearchReport):
        notes = tuple(i18n.translated(note, language) for note in found.notes)
        answer = replace(answer, result=replace(found, notes=notes))
    return answer


async def _run_agent(chat: Chat, pending: PendingQuestion, view: TraceView) -> tuple[Workspace, Answer]:
    from repopilot.assistant import answer

    def sink(event: Event) -> None:
        pending.sink(event)
        offer_if_needed(chat, event)
        if pending.command not in intents.lookups():
            view.sink(event)

    with chat.process.runtime.index_jobs.embedding_paused(), chat.process.models.answering():
        async with root(sink, "work", "run", pending.question) as step:
            workspace = await _workspace(chat, pending)
            return workspace, await answer(pending.question, workspace, step, intents.commands().get(pending.command))


async def _workspace(chat: Chat, pending: PendingQuestion) -> Workspace:
    """The open repository with the current models, and the language to answer in."""
    opening = chat.opening
    models = chat.process.models
    about = chat.process.about.get(pending.id)
    assert opening is not None and opening.index is not None and opening.snapshot is not None
    options = {name: value for name, value in chat.overrides.items() if name not in REPOSITORY}
    update = {**options, "language": language_to_answer_in(chat, pending.question)}
    settings = opening.settings.model_copy(update=update)
    if pending.command in intents.lookups():
        # A look-up waits for nothing: it does without models that aren't loaded yet.
        return Workspace(
            opening.snapshot,
            opening.index,
            settings,
            embedder=models.embedder,
            lookups=chat.process.runtime.lookups,
            workers=chat.process.runtime.workers,
        )
    if models.model is None:
        await models.look()
    model = await models.named(chat.next_model)
    chat.next_model = ""
    return Workspace(
        opening.snapshot,
        opening.index,
        settings,
        model=model,
        reviewer=models.reviewer,
        embedder=await models.find_embedder(),
        turns=chat.turns,
        environment=await asyncio.to_thread(usable_environment, opening.snapshot, settings),
        ask=partial(ask_in_chat, pending.language),
        agree=consent_of(chat, pending.language),
        reproduce=about is not None and about[0].kind == "issue",
        lookups=chat.process.runtime.lookups,
        workers=chat.process.runtime.workers,
    )


def language_to_answer_in(chat: Chat, question: str) -> Language | Literal[""]:
    """The language set or chosen; else the interface's language for a typed command, a bare path or a name, which have
    no language; else '': the question decides."""
    query = parse(question)
    in_none = question.lstrip().startswith("/") or (query.kind in ("path", "symbol") and not query.asks)
    return chat.settings.language or (chat.language if in_none else "")


def _view(chat: Chat, pending: PendingQuestion) -> TraceView:
    run = cl.context.current_step

    async def attach(step_id: str, name: str, text: str) -> None:
        await cl.File(name=name, content=text, display="inline", mime="text/plain").send(for_id=step_id)

    return TraceView(
        cl.context.emitter,
        cl.context.session.thread_id,
        run.id if run else None,
        pending.language,
        Receivers(
            on_answer=partial(pending.message.stream_token, is_sequence=True),
            on_evidence=partial(_show_evidence, chat, pending),
            on_published=partial(_show_published, chat, pending),
            attach=attach,
        ),
    )


async def _show_evidence(chat: Chat, pending: PendingQuestion, evidence: Sequence[Evidence]) -> None:
    opening = chat.opening
    if opening is not None and opening.index is not None:
        await show_evidence(chat, pending.message, evidence, opening.index)
        _store_unfinished(chat, pending, chat.answers[pending.message.id].answer, opening.index.commit)


async def _show_published(chat: Chat, pending: PendingQuestion, answer: Answer) -> None:
    opening = chat.opening
    if opening is not None and opening.index is not None:
        answer = in_language(answer, pending.language)
        await show_published(chat, pending.message, answer, opening.index)
        _store_unfinished(chat, pending, answer, opening.index.commit)


def _store_unfinished(chat: Chat, pending: PendingQuestion, answer: Answer, commit: str = "") -> None:
    """Store an unfinished answer in the background, in case the process ends before it is finished."""
    if pending.command in intents.lookups():
        return
    note = i18n.text("ui.chat.interrupted", pending.language)
    exchange = Exchange(pending.question, pending.command, answer, note, commit, True, pending.id)
    before = list(pending.storing)

    async def in_order() -> None:
        await asyncio.gather(*before)
        await store(chat, pending.key, exchange)

    pending.storing.append(asyncio.create_task(in_order()))


async def _remember(chat: Chat, pending: PendingQuestion, exchange: Exchange) -> None:
    await asyncio.gather(*pending.storing)
    await remember(chat, pending.key, exchange)


def footer(pending: PendingQuestion, workspace: Workspace, answer: Answer) -> str:
    """The line below an answer.

    Args:
        pending: the question, with the steps that answered it.
        workspace: the repository and the model.
        answer: the answer.

    Returns:
        `EXPLAIN · qwen2.5-coder:1.5b · 212 tokens · 3.2 s · 43 % of the dense vectors built · commit abc1234`
    """
    language = pending.language
    dense = workspace.index.dense
    embeds = workspace.embedder is not None
    filling = len(workspace.index.chunks) <= workspace.settings.most_embedded
    data = [event.data for event in pending.events if isinstance(event, Finished)]
    models = dict.fromkeys(str(noted["model"]) for noted in data if noted.get("model"))
    tokens = sum(amount for noted in data if isinstance(amount := noted.get("completion_tokens"), int))
    no_model = "ui.footer.no_model" if workspace.model is None else "ui.footer.no_model_needed"
    parts = [
        ", ".join(answer.intents),
        ", ".join(models) or i18n.text(no_model, language),
        count(tokens, "token", language) if tokens else "",
        duration(time.monotonic() - pending.started, language),
        "" if dense >= 1 else dense_words(dense, language, embeds=embeds, filling=filling),
        commit_words(workspace.index.commit, language),
    ]
    return " · ".join(part for part in parts if part)


async def _show_failure(chat: Chat, pending: PendingQuestion, error: RepoPilotError) -> None:
    """Keep the streamed text, say what happened, offer a retry."""
    streamed = error.partial if isinstance(error, ModelError) else ""
    if pending.message.streaming or streamed:
        await _end_early(pending, f"_{i18n.text('ui.chat.cut_off', pending.language)}_", streamed)
    log.warning("request %s failed: %s", pending.id, error)
    message = await send_error(error, pending.language, pending.id)
    failed = pending.exchange(Answer(""), interrupted=True)
    await element("Sources", sources_props(pending.message.id, failed, pending.language)).send(for_id=message.id)
    await _remember_early_end(chat, pending, error_line(error, pending.language))


async def _remember_early_end(chat: Chat, pending: PendingQuestion, note: str) -> None:
    """Keep the shown part of an answer that ended early, with the reason."""
    shown = chat.answers.get(pending.message.id)
    answer = shown.answer if shown else Answer("")
    if pending.message.content and not answer.text:
        answer = replace(answer, text=pending.message.content)
    commit = shown.index.commit if shown else ""
    await _remember(chat, pending, pending.exchange(answer, note, commit, interrupted=True))


async def _keep_unfinished(chat: Chat, pending: PendingQuestion) -> None:
    """After Stop: keep the finished part of the answer, on the page and in the conversation."""
    shown = chat.answers.get(pending.message.id)
    message = pending.message
    note = i18n.text("ui.chat.stopped", pending.language)
    if shown is None:
        await _end_early(pending)
        await _remember_early_end(chat, pending, note)
        return
    answer = shown.answer
    if isinstance(answer.result, Explanation) and not answer.result.lead:
        answer = replace(answer, result=replace(answer.result, lead=closed(message.content), draft=""))
    exchange = pending.exchange(answer, note, shown.index.commit, interrupted=True)
    await show_answer(chat, message, exchange, shown.index)
    await _remember(chat, pending, exchange)


async def _end_early(pending: PendingQuestion, note: str = "", streamed: str = "") -> None:
    """End the message with the text there is so far."""
    message = pending.message
    shown = message.streaming
    if shown or streamed:
        message.content = "\n\n".join(part for part in (closed(message.content or inert(streamed)), note) if part)
        await (message.update() if shown else message.send())
