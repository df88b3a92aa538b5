"""The course of a chat: the first screen, and what becomes of each message."""

from __future__ import annotations

import asyncio

import chainlit as cl

from repopilot import intents
from repopilot.i18n.format import count
from repopilot.settings import settings
from repopilot.ui.answer.answer_view import restore
from repopilot.ui.answer.asking import ask
from repopilot.ui.available_models import model_props
from repopilot.ui.chat import Chat, chat, process
from repopilot.ui.elements import element, poll_props
from repopilot.ui.messages import LONGEST, Wanted, from_address, wanted
from repopilot.ui.repository.recent import recent
from repopilot.ui.repository.view import open_repository
from repopilot.ui.settings_panel import show_gear

REFRESH_S = 1.0
EXAMPLES = (("Flask", "pallets/flask"), ("Express", "expressjs/express"), ("Gin", "gin-gonic/gin"))
OPEN = {"id": "open", "description": "Open a repository: address or path", "icon": "folder-git-2"}


async def greet() -> None:
    """The first screen; or, where the page's address names a repository, that repository."""
    kept = chat()
    offered = [spec for spec in intents.INTENTS if spec.command]
    await cl.context.emitter.set_commands(
        [OPEN, *({"id": s.command, "description": s.description(), "icon": s.icon} for s in offered)]
    )
    await show_gear(kept)
    page = cl.context.session.environ.get("HTTP_REFERER", "")
    address = from_address(page, "repo")
    if address:
        if await _opened(kept, address):
            await restore(kept)
    else:
        await _welcome(from_address(page, "offer"))


async def receive(message: cl.Message) -> None:
    """One message of the user: open, ask, or say what is missing."""
    kept = chat()
    want = await asyncio.to_thread(_wanted, kept, message.content, message.command or "")
    if want.kind == "open":
        await _without_token(message, want.text)
        await _open(kept, want.text)
    elif want.kind == "empty":
        await cl.Message(content=_what_is_missing(want.command)).send()
    elif want.kind == "too long":
        size = count(len(want.text), "character")
        await cl.Message(
            content=f"Your message has {size}; a question can have {LONGEST:,}. Nothing was sent to a model. Shorten "
            "it, or name the file instead of pasting it: what is in the repository is read from there."
        ).send()
    else:
        await _question(kept, want.text, want.command)


def stop() -> None:
    """The Stop button. An opening that is waited for belongs to no chat: it is stopped here."""
    opening = chat().opening
    if opening is not None and not opening.answerable:
        process().openings.stop(opening)


def _wanted(kept: Chat, text: str, command: str) -> Wanted:
    paths = kept.opening.index.files if kept.opening and kept.opening.index else ()
    return wanted(text, command, intents.commands(), paths)


async def _question(kept: Chat, text: str, command: str) -> None:
    opening = kept.opening
    if opening is not None and opening.answerable:
        await ask(kept, text, command)
        return
    kept.waiting = (text, command)
    if opening is None or opening.settled:
        await cl.Message(
            content="Which repository is this about? Paste its address or a local path into the message box. "
            "Your question is kept and will be answered as soon as it is open."
        ).send()
    else:
        await cl.Message(content=f"{opening.source.name} is not ready yet. Your question is kept.").send()


async def _opened(kept: Chat, text: str) -> bool:
    """Open a repository; by then the models are known too, which the gear offers."""
    answerable = await open_repository(kept, text)
    await show_gear(kept)
    return answerable


async def _open(kept: Chat, text: str) -> None:
    if await _opened(kept, text) and kept.waiting is not None:
        (question, command), kept.waiting = kept.waiting, None
        await ask(kept, question, command)


async def _without_token(message: cl.Message, text: str) -> None:
    """A token inside an address must not stay on the page."""
    from repopilot.repo.source import split_token

    clean, token = split_token(text)
    if token:
        message.content = clean
        await message.update()


async def _welcome(offer: str) -> None:
    shown = element("Welcome", _welcome_props(offer))
    await cl.Message(content="", elements=[shown]).send()
    poll_props(shown, lambda: _welcome_props(offer), REFRESH_S)


def _welcome_props(offer: str) -> dict:
    shared = process()
    states = {opening.source.name: opening.phase for opening in shared.openings.all()}
    entries = [{**entry, "status": states.get(entry["name"], "")} for entry in recent(settings())]
    return {
        "model": model_props(shared.models),
        "recent": entries,
        "examples": [] if entries else [list(example) for example in EXAMPLES],
        "offer": offer,
    }


def _what_is_missing(command: str) -> str:
    if command == "open":
        return "Which repository? `/open` takes an address or a local path."
    return f"What should I /{command}?" if command else "Ask something about the repository, or paste another one."
