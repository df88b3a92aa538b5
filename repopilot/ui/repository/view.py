"""Opening a repository in a chat: the live element, the wait until questions can be answered, its buttons."""

from __future__ import annotations

import asyncio

import chainlit as cl

from repopilot.errors import RepoPilotError
from repopilot.i18n.format import commit_words
from repopilot.repo.source import parse_source, split_token
from repopilot.types import Source
from repopilot.ui.available_models import model_props
from repopilot.ui.chat import Chat, process
from repopilot.ui.elements import element, poll_props
from repopilot.ui.repository.props import address, opening_props
from repopilot.ui.repository.recent import remember
from repopilot.ui.repository.registry import POLL_S, Opening, at_ref

REFRESH_S = 0.5
WAITS_FOR_USER = ("asking", "credentials")
ELEMENT = "IndexProgress"


async def open_repository(chat: Chat, text: str) -> bool:
    """Open what the user named and stay until it can be asked. False when that did not come about here: it failed,
    was stopped, or another repository was opened meanwhile. What went wrong is said in the element."""
    text, token = split_token(text)
    try:
        source = parse_source(text)
    except RepoPilotError as error:
        await say_error(error)
        return False
    ref = chat.narrowed.get("ref")
    if isinstance(ref, str) and ref and source.ref is None:
        source = at_ref(source, ref)
    return await open_source(chat, source, token or chat.settings.git_token)


async def open_source(chat: Chat, source: Source, token: str = "") -> bool:
    if chat.opening is None or chat.opening.source != source:
        chat.exchanges.clear()
    opening = chat.opening = process().openings.open(source, chat.settings, token)
    await show(chat, opening)
    answerable = await _until_answerable(chat, opening)
    if answerable:
        await asyncio.to_thread(remember, opening.settings, opening.source.name, address(opening))
    return answerable


async def show(chat: Chat, opening: Opening) -> None:
    """The live element of an opening."""

    def props() -> dict:
        asked = chat.exchanges[-1].commit if chat.opening is opening and chat.exchanges else ""
        return {**opening_props(opening), "model": model_props(process().models), "moved": moved_on(opening, asked)}

    shown = element(ELEMENT, props())
    await cl.Message(content="", elements=[shown]).send()
    poll_props(shown, props, REFRESH_S)


def moved_on(opening: Opening, asked: str) -> str:
    """That the index is no longer at the commit `asked`, from which the last answer came; '' while it is."""
    if not asked or opening.index is None or opening.index.commit == asked:
        return ""
    return f"The last answer came from {commit_words(asked)}; the index is at {commit_words(opening.index.commit)} now."


async def _until_answerable(chat: Chat, opening: Opening) -> bool:
    """Wait; the message box is free while it is the user who is waited for."""
    waiting_for_user = False
    while chat.opening is opening and not opening.answerable and not opening.settled:
        if (opening.phase in WAITS_FOR_USER) != waiting_for_user:
            waiting_for_user = not waiting_for_user
            await (cl.context.emitter.task_end() if waiting_for_user else cl.context.emitter.task_start())
        await asyncio.sleep(POLL_S)
    return chat.opening is opening and opening.answerable


async def say_error(error: RepoPilotError) -> cl.ErrorMessage:
    """An error as a message: what happened, and below it what to do."""
    content = error.message + (f"\n\n{error.hint}" if error.hint else "")
    return await cl.ErrorMessage(content=content).send()


def press(action: str, payload: dict) -> dict:
    """A button of the element. Returns at once: what follows is seen in the element."""
    openings = process().openings
    opening = openings.get(str(payload.get("key", "")))
    if opening is None:
        return {"error": "This repository is no longer open. Open it again."}
    only = tuple(str(folder) for folder in payload.get("only", ()))
    doings = {
        "opening_stop": lambda: openings.stop(opening),
        "opening_retry": lambda: openings.retry(opening),
        "opening_token": lambda: openings.retry(opening, str(payload.get("token", ""))),
        "opening_reindex": lambda: openings.reindex(opening),
        "opening_go_on": lambda: openings.go_on(opening, only),
    }
    return (
        {}
        if doings[action]()
        else {"error": "It is still busy with the last thing it was asked. Try again in a moment."}
    )
