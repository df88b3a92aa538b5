"""A question about every repository that is indexed on this machine: answered at once, without steps or a model."""

from __future__ import annotations

import asyncio
import time

import chainlit as cl

from repopilot import i18n, intents
from repopilot.agents.all_repositories import answer_all
from repopilot.errors import RepoPilotError
from repopilot.i18n.format import duration
from repopilot.trace import Event, root
from repopilot.ui.answer.answer_view import show_answer
from repopilot.ui.answer.ask import in_language, language_to_answer_in
from repopilot.ui.chat import Chat
from repopilot.ui.chats.chat_store import Exchange
from repopilot.ui.repository_view import send_error
from repopilot.ui.stored_turns import remember
from repopilot.ui.trace.kept_steps import kept_steps


async def ask_all(chat: Chat, question: str, command: str) -> None:
    """Answer from all repositories. The exchange joins the conversation about the open repository, if there is one.

    Args:
        chat: where it was asked.
        question: without command and `--all`.
        command: `search` for a list of places; `explain` or '' for evidence with a lead.
    """
    events: list[Event] = []
    began = time.monotonic()
    language = chat.language
    runtime = chat.process.runtime
    intent = intents.commands().get(command, "EXPLAIN")
    store = await asyncio.to_thread(lambda: chat.indexes)
    indexes = await asyncio.to_thread(lambda: [each for each in map(store.open_key, store.stored_keys()) if each])
    if not indexes:
        await cl.Message(content=i18n.text("ui.chat.none_indexed", language)).send()
        return
    try:
        async with root(events.append, "work", "run", question) as step:
            answer = await answer_all(question, runtime, step, intent, language_to_answer_in(chat, question), store)
    except RepoPilotError as error:
        await send_error(error, language)
        return
    of = i18n.text("ui.search.repository", language, count=len(indexes))
    took = duration(time.monotonic() - began, language)
    footer = " · ".join([intent, i18n.text("ui.footer.no_model_needed", language), took, of])
    asked = f"--all {question}".strip()
    steps = kept_steps(events, language)
    exchange = Exchange(asked, command, in_language(answer, language), footer, steps=steps)
    open_one = chat.opening.index if chat.opening else None
    await show_answer(chat, cl.Message(content=""), exchange, open_one or indexes[0])
    if chat.opening is not None:
        await remember(chat, chat.thread_key, exchange)
