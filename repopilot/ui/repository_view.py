"""Opening a repository in a chat: the live element, the wait until questions can be answered, its buttons."""

from __future__ import annotations

import asyncio
from collections.abc import Callable

import chainlit as cl

from repopilot import i18n
from repopilot.errors import RepoPilotError
from repopilot.logins.recent import remember
from repopilot.repo.remote.credentials import HostToken
from repopilot.repo.source import parse_source, split_token
from repopilot.types import Source
from repopilot.ui import overview_card
from repopilot.ui.chat import Chat
from repopilot.ui.elements import element, poll_props
from repopilot.ui.error_text import error_paragraphs
from repopilot.ui.models.model_status import model_props
from repopilot.ui.repository.props import moved_note, opening_props
from repopilot.ui.repository.registry import POLL_S, Opening, at_ref, typed_token

REFRESH_S = 0.5
WAITS_FOR_USER = ("asking", "credentials")
ELEMENT = "IndexProgress"


async def open_repository(chat: Chat, text: str) -> bool:
    """Open the repository the user named, and wait until it can be asked about.

    Errors are shown in the element.

    Args:
        chat: where to open it.
        text: an address or a local path, as typed; it may contain a token.

    Returns:
        Whether questions can be answered. False when opening failed or was stopped, or when another repository was
        opened meanwhile.
    """
    text, token = split_token(text)
    try:
        source = parse_source(text)
    except RepoPilotError as error:
        await send_error(error, chat.language)
        return False
    ref = chat.overrides.get("ref")
    if isinstance(ref, str) and ref and source.ref is None:
        source = at_ref(source, ref)
    return await open_source(chat, source, token)


async def open_source(chat: Chat, source: Source, token: HostToken | None = None) -> bool:
    """Open a source that is already parsed, as `open_repository` does.

    Args:
        chat: the chat to open it in.
        source: the repository.
        token: for a private repository.

    Returns:
        Whether questions can be asked.
    """
    if chat.opening is None or chat.opening.source != source:
        chat.begin_thread()
    opening = chat.opening = chat.process.openings.open(source, chat.settings, token, chat.owner)
    await _send_element(chat, opening)
    answerable = await _until_answerable(chat, opening)
    if answerable and not opening.shared:
        await asyncio.to_thread(remember, chat.process.database, opening.source.name, opening.address, chat.owner)
    return answerable


async def send_error(error: RepoPilotError, language: str, request: str = "") -> cl.ErrorMessage:
    """Send an error as a message: what happened, below it what to do, and the id of the request, as in the logs."""
    message = cl.ErrorMessage(content=error_paragraphs(error, language, request))
    await message.send()
    return message


def handle_button(chat: Chat, action: str, payload: dict) -> dict:
    """Do what a button of the element stands for.

    Returns at once: the effect is seen in the element.

    Args:
        chat: where the button was pressed.
        action: the button, `opening_…`.
        payload: {key: of the opening, token or only: further input of the button}.

    Returns:
        {}, or {error} when it can't be done now.
    """
    openings = chat.process.openings
    opening = openings.get(str(payload.get("key", "")), chat.owner)
    if opening is None:
        return {"error": i18n.text("ui.errors.opening_closed", chat.language)}
    only = tuple(str(folder) for folder in payload.get("only", ()))
    actions: dict[str, Callable[[], bool]] = {
        "opening_stop": lambda: openings.stop(opening),
        "opening_retry": lambda: openings.retry(opening),
        "opening_token": lambda: openings.retry(opening, typed_token(opening, str(payload.get("token", "")))),
        "opening_forget": lambda: openings.forget_token(opening),
        "opening_reindex": lambda: openings.reindex(opening),
        "opening_confirm": lambda: openings.confirm(opening, only),
    }
    return {} if actions[action]() else {"error": i18n.text("ui.errors.opening_busy", chat.language)}


async def _send_element(chat: Chat, opening: Opening) -> None:
    """Send the live elements of an opening: its state, and the overview of the repository."""

    def props() -> dict:
        asked = chat.exchanges[-1].commit if chat.opening is opening and chat.exchanges else ""
        language = chat.language
        return {
            **opening_props(opening, language),
            "model": model_props(chat.process.models, language),
            "moved": moved_note(opening, asked, language),
            "language": chat.chosen_language,
            "thread": chat.thread if chat.opening is opening else "",
        }

    card = element(ELEMENT, props())
    overview = element(overview_card.ELEMENT, {})
    await cl.Message(content="", elements=[card, overview]).send()
    poll_props(card, props, REFRESH_S)
    poll_props(overview, lambda: overview_card.card_props(chat, opening), REFRESH_S)


async def _until_answerable(chat: Chat, opening: Opening) -> bool:
    """Wait until questions can be answered. While the user has to decide something, the message box is free."""
    waiting_for_user = False
    while chat.opening is opening and not opening.answerable and not opening.settled:
        if (opening.phase in WAITS_FOR_USER) != waiting_for_user:
            waiting_for_user = not waiting_for_user
            await (cl.context.emitter.task_end() if waiting_for_user else cl.context.emitter.task_start())
        await asyncio.sleep(POLL_S)
    return chat.opening is opening and opening.answerable
