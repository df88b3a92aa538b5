"""The buttons of our elements: each by its name. They answer at once; long work is asked for by a message instead,
because only then the browser shows its Stop button."""

from __future__ import annotations

from collections.abc import Awaitable, Callable

import chainlit as cl

from repopilot.ui.answer import answer_view, file_changes, plan_view
from repopilot.ui.chat import Chat, chat, process
from repopilot.ui.repository import view

Handler = Callable[[dict], Awaitable[dict]]


async def _pull_model(payload: dict) -> dict:
    process().models.start_pull(str(payload.get("name", "")))
    return {}


def _in_chat(handle: Callable[[Chat, dict], Awaitable[dict]]) -> Handler:
    async def handled(payload: dict) -> dict:
        return await handle(chat(), payload)

    return handled


def _opening(name: str) -> Handler:
    async def handle(payload: dict) -> dict:
        return view.press(name, payload)

    return handle


HANDLERS: dict[str, Handler] = {
    "show_citation": _in_chat(answer_view.show_citation),
    "forget": _in_chat(answer_view.start_afresh),
    "decide": _in_chat(file_changes.decide),
    "edit_plan": _in_chat(plan_view.edit_plan),
    "download": _in_chat(file_changes.download),
    "pull_model": _pull_model,
    **{f"opening_{name}": _opening(f"opening_{name}") for name in ("stop", "retry", "token", "reindex", "go_on")},
}


async def press(action: cl.Action) -> dict:
    """Chainlit's callback for every button."""
    return await HANDLERS[action.name](action.payload)
