"""A question about every repository that is indexed on this machine: answered at once, without steps or a model."""

from __future__ import annotations

import asyncio
import time

import chainlit as cl

from repopilot import i18n, intents
from repopilot.agents.everywhere import answer_all
from repopilot.errors import RepoPilotError
from repopilot.i18n.format import duration
from repopilot.trace import Event, root
from repopilot.ui.answer.answer_view import show_answer
from repopilot.ui.answer.ask import in_language, language_to_answer_in
from repopilot.ui.answer.search_view import repositories
from repopilot.ui.chat import Chat
from repopilot.ui.chats.chat_store import Exchange
from repopilot.ui.repository_view import send_error
from repopilot.ui.stored_turns import remember
from repopilot.ui.trace.kept_steps import kept_steps


async def ask_all(chat: Chat, question: str, command: str) -> None:
    """Answer from all repositories, whether one is open in the chat or none.

    Args:
        chat: where it was asked. The exchange is stored with the open repository's, where one is open.
        question: without command and `--all`.
        command: `search` for a list of places, any other for evidence with a lead.
    """
    events: list[Event] = []
    began, language, runtime = time.monotonic(), chat.language, chat.process.runtime
    forced = intents.commands().get(command, "EXPLAIN")
    stored = await asyncio.to_thread(lambda: [runtime.indexes.open_key(key) for key in runtime.indexes.stored_keys()])
    indexes = [each for each in stored if each is not None]
    if not indexes:
        await cl.Message(content=i18n.text("ui.chat.none_indexed", language)).send()
        return
    try:
        with runtime.index_jobs.embedding_paused():
            async with root(events.append, "work", "run", question) as step:
                answer = await answer_all(question, runtime, step, forced, language_to_answer_in(chat, question))
    except RepoPilotError as error:
        await send_error(error, language)
        return
    took = duration(time.monotonic() - began, language)
    no_model = i18n.text("ui.footer.no_model_needed", language)
    footer = " · ".join([forced, no_model, took, repositories(len(indexes), language)])
    asked = f"--all {question}".strip()
    exchange = Exchange(asked, command, in_language(answer, language), footer, steps=kept_steps(events, language))
    index = chat.opening.index if chat.opening else None
    await show_answer(chat, cl.Message(content=""), exchange, index or indexes[0])
    if chat.opening is not None:
        await remember(chat, chat.thread_key, exchange)
