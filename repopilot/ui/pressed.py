"""The buttons of our elements: each by its name. They answer at once; long work is asked for by a message instead,
because only then the browser shows its Stop button."""

from __future__ import annotations

from collections.abc import Awaitable, Callable

import chainlit as cl

from repopilot.ui import indexing
from repopilot.ui.answers import show_citation
from repopilot.ui.chat import chat, process

Handler = Callable[[dict], Awaitable[dict]]


async def _show_citation(payload: dict) -> dict:
    return await show_citation(chat(), payload)


async def _pull_model(payload: dict) -> dict:
    process().models.begin_pull(str(payload.get("name", "")))
    return {}


def _opening(name: str) -> Handler:
    async def handle(payload: dict) -> dict:
        return indexing.press(name, payload)

    return handle


HANDLERS: dict[str, Handler] = {
    "show_citation": _show_citation,
    "pull_model": _pull_model,
    **{f"opening_{name}": _opening(f"opening_{name}") for name in ("stop", "retry", "token", "reindex", "go_on")},
}


async def press(action: cl.Action) -> dict:
    """Chainlit's callback for every button."""
    return await HANDLERS[action.name](action.payload)
