"""Earlier conversations about the open repository: shown again after a reload, offered, resumed, deleted."""

from __future__ import annotations

import asyncio
import time
from dataclasses import replace

import chainlit as cl

from repopilot import i18n
from repopilot.errors import StorageError
from repopilot.i18n.format import count
from repopilot.ui.answer.answer_view import ANSWERS_KEPT, show_answer
from repopilot.ui.chat import Chat
from repopilot.ui.chats.chat_store import Exchange, StoredThread, delete, load, threads
from repopilot.ui.error_text import error_line
from repopilot.ui.repository_view import send_error

OFFERED = 5
LABEL_LENGTH = 60
LATEST = 4e9
"""In seconds since 1970. A clock can be wrong, and no date can be made of every number."""
USER = "User"
"""Chainlit's author of the user's own messages."""


async def show_earlier(chat: Chat, thread: str = "") -> None:
    """Show the conversation that the page's address names, or offer those there are about the open repository.

    Args:
        chat: its repository is open.
        thread: the id in the address, '' for none.
    """
    if chat.opening is None or chat.exchanges:
        return
    try:
        if thread and await _restore(chat, thread):
            return
        key = chat.thread_key
        stored = await asyncio.to_thread(threads, chat.process.database, key.repository, key.owner)
        await _offer(chat, [each for each in stored if each.id != chat.thread])
    except StorageError as error:
        await send_error(error, chat.language)


async def resume_conversation(chat: Chat, payload: dict) -> dict:
    """Go on with an earlier conversation; the one in the chat stays stored.

    Args:
        chat: where the button was pressed.
        payload: {thread: its id}.

    Returns:
        {}, or {error} where it is no longer there.
    """
    thread = str(payload.get("thread", ""))
    if chat.opening is None or thread == chat.thread:
        return {}
    try:
        found = await _restore(chat, thread)
    except StorageError as error:
        return {"error": error_line(error, chat.language)}
    return {} if found else {"error": i18n.text("ui.errors.conversation_gone", chat.language)}


async def new_conversation(chat: Chat, payload: dict) -> dict:
    """Leave the conversation for a new one."""
    chat.begin_thread()
    await cl.Message(content=f"_{i18n.text('ui.chat.new_begun', chat.language)}_").send()
    return {}


async def delete_conversation(chat: Chat, payload: dict) -> dict:
    """Delete a conversation.

    Args:
        chat: where the button was pressed.
        payload: {thread: its id}.

    Returns:
        {}, or {error}.
    """
    thread = str(payload.get("thread", ""))
    if chat.opening is None:
        return {}
    try:
        await asyncio.to_thread(delete, chat.process.database, replace(chat.thread_key, thread=thread))
    except StorageError as error:
        return {"error": error_line(error, chat.language)}
    if thread == chat.thread:
        chat.begin_thread()
    await cl.context.emitter.send_toast(i18n.text("ui.chat.deleted", chat.language), "success")
    return {}


async def _restore(chat: Chat, thread: str) -> bool:
    """Show a conversation and go on with it. False where there is none. Raises StorageError."""
    assert chat.opening is not None and chat.opening.index is not None
    index = chat.opening.index
    found = await asyncio.to_thread(load, chat.process.database, replace(chat.thread_key, thread=thread))
    if not found.exchanges and not found.unreadable:
        return False
    chat.begin_thread(thread, found.exchanges)
    for exchange in found.exchanges[-ANSWERS_KEPT:]:
        await cl.Message(content=_asked(exchange), type="user_message", author=USER).send()
        await show_answer(chat, cl.Message(content=""), exchange, index)
    await _say_restored(chat, len(found.exchanges), found.unreadable)
    return True


def _asked(exchange: Exchange) -> str:
    return f"/{exchange.command} {exchange.question}".strip() if exchange.command else exchange.question


async def _say_restored(chat: Chat, turns: int, unreadable: int) -> None:
    language = chat.language
    notes = [i18n.text("ui.chat.restored", language)]
    if turns > ANSWERS_KEPT:
        notes.append(i18n.text("ui.chat.latest_shown", language, shown=ANSWERS_KEPT, turns=turns))
    if unreadable:
        notes.append(i18n.text("ui.chat.unreadable", language, count=unreadable))
    actions = [_button(chat, name, chat.thread) for name in ("new_conversation", "delete_conversation")]
    await cl.Message(content=_note(chat, notes), actions=actions).send()


async def _offer(chat: Chat, stored: list[StoredThread]) -> None:
    """Buttons for the earlier conversations, the latest first."""
    if not stored and not chat.process.database.set_aside():
        return
    notes = [i18n.text("ui.chat.earlier", chat.language, count=len(stored))] if stored else []
    if len(stored) > OFFERED:
        notes.append(i18n.text("ui.chat.latest_offered", chat.language, shown=OFFERED))
    actions = [
        cl.Action(
            name="resume_conversation",
            label=_label(each, chat.language),
            payload={"thread": each.id},
            tooltip=each.question,
        )
        for each in stored[:OFFERED]
    ]
    await cl.Message(content=_note(chat, notes), actions=actions).send()


def _label(thread: StoredThread, language: str) -> str:
    """`How is it counted? · 3 questions · 2026-03-14 09:26`"""
    question = " ".join(thread.question.split()) or "…"
    if len(question) > LABEL_LENGTH:
        question = question[: LABEL_LENGTH - 1].rstrip() + "…"
    moment = time.strftime("%Y-%m-%d %H:%M", time.localtime(min(max(thread.asked, 0), LATEST)))
    return " · ".join((question, count(thread.turns, "question", language), moment))


def _note(chat: Chat, notes: list[str]) -> str:
    """The notes in a paragraph, and in another what became of a damaged database."""
    paragraphs = [f"_{' '.join(notes)}_"] if notes else []
    for file in chat.process.database.set_aside()[-1:]:
        paragraphs.append(i18n.text("ui.chat.set_aside", chat.language, file=file))
    return "\n\n".join(paragraphs)


def _button(chat: Chat, name: str, thread: str) -> cl.Action:
    label, tooltip = (i18n.text(f"ui.chat.{name}{part}", chat.language) for part in ("", "_tooltip"))
    return cl.Action(name=name, label=label, payload={"thread": thread}, tooltip=tooltip)
