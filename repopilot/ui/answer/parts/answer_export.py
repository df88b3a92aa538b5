"""Exports an answer as Markdown with links to the lines it cites, and keeps the user's rating of it."""

from __future__ import annotations

from repopilot import i18n
from repopilot.errors import UsageError
from repopilot.ui.answer.parts.citations import answer_markdown
from repopilot.ui.buttons import answer_of, button
from repopilot.ui.chat import Chat
from repopilot.ui.stored_turns import change_exchange

LONGEST_REMARK = 2000


@button
async def copy_answer(chat: Chat, payload: dict) -> dict:
    """The Markdown of an answer; returns {text}, or {error}.

    Args:
        chat: where the button was pressed.
        payload: {answer: id}.
    """
    shown = answer_of(chat, payload)
    opening = chat.opening_of(shown.index)
    url = opening.source.url if opening else None
    return {"text": answer_markdown(shown.answer, url or "")}


@button
async def rate(chat: Chat, payload: dict) -> dict:
    """Store the user's rating of an answer on this machine; the JSON export of a chat contains it.

    Args:
        chat: where the button was pressed.
        payload: {answer: id, rating: 1, -1, or 0 for none, remark: why}.
    """
    shown = answer_of(chat, payload)
    rating = payload.get("rating")
    if rating not in (-1, 0, 1):
        raise UsageError(i18n.message("ui.errors.answer_gone"))
    await change_exchange(chat, shown, rating=rating, remark=str(payload.get("remark", ""))[:LONGEST_REMARK])
    return {"rating": rating}
