"""What the handlers of buttons share: the answer that a button belongs to, and errors as replies."""

from __future__ import annotations

from collections.abc import Awaitable, Callable
from functools import wraps

from repopilot import i18n
from repopilot.errors import RepoPilotError, UsageError
from repopilot.ui.chat import Chat, ShownAnswer
from repopilot.ui.error_text import error_line

Handler = Callable[[Chat, dict], Awaitable[dict]]
"""Takes the chat where a button was pressed and the button's payload; returns the reply to the element."""


def button(handle: Handler) -> Handler:
    """Decorates the handler of a button: where it raises a RepoPilotError, the reply is {error: what went wrong}."""

    @wraps(handle)
    async def pressed(chat: Chat, payload: dict) -> dict:
        try:
            return await handle(chat, payload)
        except RepoPilotError as error:
            return {"error": error_line(error, chat.language)}

    return pressed


def answer_of(chat: Chat, payload: dict, gone: str = "ui.errors.answer_gone") -> ShownAnswer:
    """The answer that a button belongs to.

    Args:
        chat: where it was pressed.
        payload: of the button; its `answer` is the id of the answer's message.
        gone: the key of the message where the page no longer has the answer.

    Raises:
        UsageError: the page no longer has it.
    """
    shown = chat.answers.get(str(payload.get("answer", "")))
    if shown is None:
        raise UsageError(i18n.message(gone))
    return shown
