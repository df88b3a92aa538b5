"""Stores the conversation of a chat; a failure is reported once."""

from __future__ import annotations

import asyncio
from dataclasses import replace

from repopilot.errors import StorageError
from repopilot.ui.chat import EXCHANGES_KEPT, Chat, ShownAnswer
from repopilot.ui.chats.chat_store import Exchange, ThreadKey, save
from repopilot.ui.repository_view import send_error


async def store(chat: Chat, key: ThreadKey, exchange: Exchange) -> None:
    """Store an exchange, finished or not.

    Args:
        chat: shows an error if that fails. The answer itself stays on its page.
        key: of its conversation, which may no longer be the one in the chat.
        exchange: the question with its answer.
    """
    try:
        await asyncio.to_thread(save, chat.process.database, key, exchange)
    except StorageError as error:
        if not chat.unstored:
            chat.unstored = True
            await send_error(error, chat.language)
    else:
        chat.unstored = False


async def remember(chat: Chat, key: ThreadKey, exchange: Exchange) -> None:
    """Add an exchange to its conversation, in this chat and on disk."""
    if chat.opening is not None and chat.thread_key == key:
        chat.exchanges.append(exchange)
        del chat.exchanges[:-EXCHANGES_KEPT]
    await store(chat, key, exchange)


async def change_exchange(chat: Chat, shown: ShownAnswer, **changes: object) -> None:
    """Change the exchange of an answer on the page, in this chat and on disk.

    Args:
        chat: where the answer is.
        shown: the answer.
        changes: attributes of its exchange; a new `answer` also replaces the one on the page.
    """
    before = shown.answer
    shown.answer = changes.get("answer", before)  # type: ignore[assignment]
    for number, exchange in enumerate(chat.exchanges):
        if exchange.answer is before:
            chat.exchanges[number] = replace(exchange, **changes)  # type: ignore[arg-type]
            await store(chat, chat.thread_key, chat.exchanges[number])
            return
