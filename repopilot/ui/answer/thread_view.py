"""An earlier conversation about the open repository, shown again: after a reload, or chosen in the side bar."""

from __future__ import annotations

import asyncio
import time
from contextlib import suppress
from dataclasses import replace

import chainlit as cl

from repopilot import i18n
from repopilot.agents.explain.mentioned import with_chips
from repopilot.errors import StorageError
from repopilot.i18n.format import duration
from repopilot.trace import Started
from repopilot.ui.answer.answer_view import ANSWERS_KEPT, show_answer
from repopilot.ui.chat import Chat, Work
from repopilot.ui.chats.chat_store import Exchange, load
from repopilot.ui.repository_view import send_error
from repopilot.ui.trace.step_text import step_name

FOLLOW_S = 1.0
"""Seconds between two checks of an answer that another page asked for."""
USER = "User"
"""Chainlit's author of the user's own messages."""


async def show_earlier(chat: Chat, thread: str = "") -> None:
    """Show the conversation that the page's address names; or say so if the database was damaged and set aside.

    Args:
        chat: its repository is open.
        thread: the id in the address, '' for none.
    """
    if chat.opening is None or chat.exchanges:
        return
    try:
        if thread and await _restore(chat, thread):
            return
        if chat.process.database.set_aside():
            await cl.Message(content=_note(chat, [])).send()
    except StorageError as error:
        await send_error(error, chat.language)


async def _restore(chat: Chat, thread: str) -> bool:
    """Show a conversation and continue it. False if there is none. Raises StorageError."""
    assert chat.opening is not None and chat.opening.index is not None
    index = chat.opening.index
    found = await asyncio.to_thread(load, chat.process.database, replace(chat.thread_key, thread=thread))
    if not found.exchanges and not found.unreadable:
        return False
    chat.begin_thread(thread, found.exchanges)
    for exchange in found.exchanges[-ANSWERS_KEPT:]:
        await cl.Message(content=with_chips(_asked(exchange)), type="user_message", author=USER).send()
        work = chat.process.working.get(exchange.id)
        if work is not None:
            await _follow(chat, exchange, work)
        else:
            await show_answer(chat, cl.Message(content=""), exchange, index)
    await _say_restored(chat, len(found.exchanges), found.unreadable)
    return True


async def _follow(chat: Chat, exchange: Exchange, work: Work) -> None:
    """Wait for an answer that another page asked for, and show it; Stop cancels that work."""
    note = cl.Message(content=_how_far(chat, work))
    began = time.monotonic()
    await note.send()
    # The page shows its Stop button only after a first interaction.
    said = {"interaction": exchange.question, "thread_id": cl.context.session.thread_id}
    await cl.context.emitter.emit("first_interaction", said)
    await cl.context.emitter.task_start()
    try:
        while not work.done.is_set():
            with suppress(TimeoutError):
                await asyncio.wait_for(work.done.wait(), FOLLOW_S)
            note.content = f"{_how_far(chat, work)} · {duration(time.monotonic() - began, chat.language)}"
            await note.update()
    except asyncio.CancelledError:
        if work.task is not None:
            work.task.cancel()
        await work.done.wait()
    await cl.context.emitter.task_end()
    await note.remove()
    found = await asyncio.to_thread(load, chat.process.database, chat.thread_key)
    chat.begin_thread(chat.thread, found.exchanges)
    opening = chat.opening
    for finished in found.exchanges:
        if finished.id == exchange.id and opening is not None and opening.index is not None:
            await show_answer(chat, cl.Message(content=""), finished, opening.index)


def _how_far(chat: Chat, work: Work) -> str:
    """The current step of the work on an answer, in words."""
    begun = [event.name for event in work.events if isinstance(event, Started)]
    doing = step_name(begun[-1], chat.language) if begun else ""
    return i18n.text("ui.chat.still_working", chat.language, step=doing)


def _asked(exchange: Exchange) -> str:
    return f"/{exchange.command} {exchange.question}".strip() if exchange.command else exchange.question


async def _say_restored(chat: Chat, turns: int, unreadable: int) -> None:
    language = chat.language
    notes = [i18n.text("ui.chat.restored", language)]
    if turns > ANSWERS_KEPT:
        notes.append(i18n.text("ui.chat.latest_shown", language, shown=ANSWERS_KEPT, turns=turns))
    if unreadable:
        notes.append(i18n.text("ui.chat.unreadable", language, count=unreadable))
    await cl.Message(content=_note(chat, notes)).send()


def _note(chat: Chat, notes: list[str]) -> str:
    """The notes in one paragraph, and in another where a damaged database was moved."""
    paragraphs = [f"_{' '.join(notes)}_"] if notes else []
    for file in chat.process.database.set_aside()[-1:]:
        paragraphs.append(i18n.text("ui.chat.set_aside", chat.language, file=file))
    return "\n\n".join(paragraphs)
