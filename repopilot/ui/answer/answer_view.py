"""An answer on the page: its text with links, the elements below it, and its conversation kept for the next time."""

from __future__ import annotations

import asyncio
from typing import TYPE_CHECKING

import chainlit as cl

from repopilot import intents
from repopilot.results import Answer
from repopilot.ui.answer.citations import code_props, linked, source_rows
from repopilot.ui.answer.file_changes import files_element
from repopilot.ui.answer.plan_view import introduction, plan_element, plan_of
from repopilot.ui.answer.report_props import findings_props, has_findings, impact_props, summary_of
from repopilot.ui.answer.step_text import inert
from repopilot.ui.chat import Chat, Shown
from repopilot.ui.chat_store import Exchange, forget, load, save
from repopilot.ui.elements import element, show_aside

if TYPE_CHECKING:
    from repopilot.index.store import Index

CLEAR_MARGIN = 0.2
"""A route this much likelier than the next is not offered again as a button."""
RESTORED = 6


async def show_answer(chat: Chat, message: cl.Message, exchange: Exchange, index: Index) -> None:
    """Put an answer, which came from `index`, into `message`, which may have been streamed already."""
    opening, answer = chat.opening, exchange.answer
    assert opening is not None and opening.snapshot is not None
    chat.shown[message.id] = Shown(answer, index, opening.snapshot.root)
    message.content = linked(_text(answer), answer.citations, message.id)
    message.elements = await _elements(chat, message.id, exchange)
    await (message.update() if message.streaming else message.send())


async def keep(chat: Chat, exchange: Exchange) -> None:
    """Remember an exchange, in this chat and on disk."""
    assert chat.opening is not None
    chat.exchanges.append(exchange)
    await asyncio.to_thread(save, chat.settings, chat.opening.key, list(chat.exchanges))


async def restore(chat: Chat) -> None:
    """Show the conversation that was had about this repository before the page was reloaded."""
    if chat.opening is None or chat.opening.index is None or chat.exchanges:
        return
    chat.exchanges.extend(await asyncio.to_thread(load, chat.settings, chat.opening.key))
    for exchange in chat.exchanges[-RESTORED:]:
        asked = f"/{exchange.command} {exchange.question}" if exchange.command else exchange.question
        await cl.Message(content=asked, type="user_message", author="User").send()
        await show_answer(chat, cl.Message(content=""), exchange, chat.opening.index)
    if chat.exchanges:
        again = cl.Action(name="forget", label="Start afresh", payload={}, tooltip="Forgets this conversation")
        await cl.Message(content="_The conversation from before._", actions=[again]).send()


async def start_afresh(chat: Chat, payload: dict) -> dict:
    """Forget the conversation about the open repository."""
    chat.exchanges.clear()
    if chat.opening is not None:
        await asyncio.to_thread(forget, chat.settings, chat.opening.key)
    await cl.context.emitter.send_toast("The conversation is forgotten.", "success")
    return {}


async def show_citation(chat: Chat, payload: dict) -> dict:
    """The side view with the lines of one citation; {error} when they can no longer be shown."""
    shown = chat.shown.get(str(payload.get("answer", "")))
    number = payload.get("number")
    citation = next((c for c in shown.answer.citations if c.number == number), None) if shown else None
    if shown is None or citation is None:
        return {"error": "This answer is from before the page was reloaded. Ask again to see its sources."}
    if citation.commit != shown.index.commit:
        return {"error": "The repository has moved on since this answer. Ask again to see its sources."}
    text = await asyncio.to_thread(shown.index.text, citation.path)
    if text is None:
        return {"error": f"{citation.path} is no longer in the index."}
    info = shown.index.files.get(citation.path)
    await show_aside("Code", code_props(citation, text, info.language if info else ""))
    return {}


def _text(answer: Answer) -> str:
    """What is said in words; lists that have an element of their own are left to it."""
    if has_findings(answer):
        return summary_of(answer)
    return introduction(answer) if "plan" in answer.details else answer.text


async def _elements(chat: Chat, id: str, exchange: Exchange) -> list[cl.CustomElement]:
    """What stands below the text: the reports, the plan, the files, then sources and footer."""
    answer, elements = exchange.answer, []
    if has_findings(answer):
        elements.append(element("Findings", findings_props(id, answer)))
    if impact := impact_props(answer):
        elements.append(element("Impact", impact))
    if plan := plan_of(answer):
        elements.append(await plan_element(chat, id, plan))
    if answer.files:
        elements.append(files_element(chat, id))
    return [*elements, element("Sources", sources_props(id, exchange))]


def sources_props(id: str, exchange: Exchange) -> dict:
    """Props of the element `Sources`: citations, steps down, other routes, another try, the footer."""
    answer = exchange.answer
    return {
        "answer": id,
        "question": exchange.question,
        "command": exchange.command,
        # A review's findings carry their places themselves.
        "sources": [] if has_findings(answer) else source_rows(answer.citations),
        "notes": [inert(note) for note in answer.degraded],
        "alternatives": alternatives(answer),
        "retry": bool(answer.details.get("retry")),
        "footer": exchange.footer,
    }


def alternatives(answer: Answer) -> list[tuple[str, str]]:
    """Buttons for the routes that were nearly taken: (label, command)."""
    route = answer.route
    if route is None or route.tier == "forced":
        return []
    near = [other for other, confidence in route.alternatives if route.confidence - confidence < CLEAR_MARGIN]
    found = [intents.by_id(other).command for other in near if other != route.intent]
    return [(f"Rather /{command}", command) for command in found if command][:2]
