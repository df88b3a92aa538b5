"""The course of a chat: the first screen, and what happens with each message."""

from __future__ import annotations

import asyncio

import chainlit as cl

from repopilot import i18n, intents
from repopilot.agents.all_repositories import asked_of_all
from repopilot.agents.explain.mentioned import with_chips
from repopilot.agents.testing import demonstration
from repopilot.errors import UsageError
from repopilot.foreign_text import without_surrogates
from repopilot.i18n.format import count, size
from repopilot.logins.recent import EVERYBODY, all_opened, forget, recent, remember
from repopilot.repo.source import parse_source, split_token
from repopilot.runtime import CLOSE_TIMEOUT_S
from repopilot.ui.answer.ask import ask
from repopilot.ui.answer.ask_all import ask_all
from repopilot.ui.answer.issue_view import work_on_item
from repopilot.ui.answer.subject import show_subject
from repopilot.ui.answer.thread_view import show_earlier
from repopilot.ui.buttons import button
from repopilot.ui.chat import Chat
from repopilot.ui.chats.chat_list import chat_counts
from repopilot.ui.elements import element, poll_props
from repopilot.ui.help_text import help_text
from repopilot.ui.hosted_model import hosted_props
from repopilot.ui.messages import LONGEST, ParsedMessage, from_address, parse_message
from repopilot.ui.models.model_status import model_props
from repopilot.ui.progress_text import progress_line
from repopilot.ui.repository.known import delete_data, disk_used, known_rows
from repopilot.ui.repository.registry import Opening
from repopilot.ui.repository_view import open_repository
from repopilot.ui.settings.settings_panel import choose_language, send_commands, send_settings

REFRESH_S = 1.0
EXAMPLES = (("Flask", "pallets/flask"), ("Express", "expressjs/express"), ("Gin", "gin-gonic/gin"))


QUESTIONS_AT_ONCE = 3
"""Most questions answered at a time in one chat. The page sends one; a program that sends more can't block others."""


async def greet(current: Chat) -> None:
    """Show the first screen; or, if the page's address names a repository, open that repository."""
    page = cl.context.session.environ.get("HTTP_REFERER", "")
    choose_language(current, from_address(page, "lang"))
    await send_commands(current)
    await send_settings(current)
    address = from_address(page, "repo")
    if not address:
        await _send_welcome(current, from_address(page, "offer"))
    elif await _open(current, address):
        await show_earlier(current, from_address(page, "chat"))


async def receive(current: Chat, message: cl.Message) -> None:
    """Handle one message of the user: open a repository, answer a question, or say what is missing."""
    current.leave_closed()
    parsed = await asyncio.to_thread(_parse, current, without_surrogates(message.content), message.command or "")
    if parsed.kind == "open":
        await _remove_token(message, parsed.text)
        if await _open(current, parsed.text):
            await show_earlier(current)
            await _answer_pending(current)
    elif parsed.kind == "item":
        await _remove_token(message, parsed.text)
        await work_on_item(current, parsed.text, parsed.command)
    elif parsed.kind == "empty":
        await cl.Message(content=_request_for_text(parsed.command, current.language)).send()
    elif parsed.kind in ("help", "unknown"):
        unknown = i18n.text("ui.help.unknown", current.language, command=parsed.command) if parsed.command else ""
        listed = await asyncio.to_thread(help_text, current.language)
        await cl.Message(content="\n\n".join(filter(None, (unknown, listed)))).send()
    elif parsed.kind == "demo":
        await _demonstrate(current)
    elif parsed.kind == "too_long":
        length = count(len(parsed.text), "character", current.language)
        text = i18n.text("ui.chat.too_long", current.language, length=length, limit=LONGEST)
        await cl.Message(content=text).send()
    else:
        await _show_mentions(message)
        await _answer_or_postpone(current, parsed.text, parsed.command)


async def _demonstrate(chat: Chat) -> None:
    """Show the demonstration, in the open repository, or else in one of its own."""
    opening = chat.opening
    if opening is None or (opening.settled and not opening.answerable):
        folder = await asyncio.to_thread(demonstration.folder_with_code, chat.settings.home, chat.owner)
        if not await _open(chat, str(folder)):
            return
    text = demonstration.message(chat.language)
    await cl.Message(content=text).send()
    await _answer_or_postpone(chat, text, "test")


def stop(chat: Chat) -> None:
    """Stop the repository this chat is waiting for. Its task belongs to no chat, so Chainlit doesn't stop it."""
    opening = chat.opening
    if opening is not None and not opening.answerable:
        chat.process.openings.stop(opening)


def _parse(chat: Chat, text: str, command: str) -> ParsedMessage:
    paths = chat.opening.index.files if chat.opening and chat.opening.index else ()
    return parse_message(text, command, intents.commands(), paths)


async def _answer_or_postpone(chat: Chat, text: str, command: str) -> None:
    opening = chat.opening
    of_all = asked_of_all(text)
    if chat.asking >= QUESTIONS_AT_ONCE:
        text = i18n.text("ui.chat.busy", chat.language, count=chat.asking)
        await cl.Message(content=text).send()
        return
    if of_all is not None or (opening is not None and opening.answerable):
        chat.asking += 1
        try:
            await (ask(chat, text, command) if of_all is None else ask_all(chat, of_all, command))
        finally:
            chat.asking -= 1
        return
    chat.pending = (text, command)
    if opening is None or opening.settled:
        reply = i18n.text("ui.chat.which_repository", chat.language)
    else:
        progress = how_far(opening, chat.language)
        reply = i18n.text("ui.chat.not_ready", chat.language, name=opening.source.name, progress=progress)
    await cl.Message(content=reply).send()


def how_far(opening: Opening, language: str) -> str:
    """The progress of an opening, in brackets; '' while it is unknown."""
    moment = opening.current_progress
    return f" ({progress_line(moment, language)})" if moment else ""


async def _answer_pending(chat: Chat) -> None:
    """Answer the question that was asked before there was a repository."""
    if chat.pending is not None:
        (question, command) = chat.pending
        chat.pending = None
        await ask(chat, question, command)


async def _open(chat: Chat, text: str) -> bool:
    """Open a repository. Then send the settings again: by now the models that they offer are known."""
    answerable = await open_repository(chat, text)
    await send_settings(chat)
    if answerable:
        await show_subject(chat, parse_source(split_token(text)[0]))
    return answerable


async def _remove_token(message: cl.Message, text: str) -> None:
    """Remove a token inside an address from the page."""
    clean, _ = split_token(text)
    if clean != text.strip():
        message.content = clean
        await message.update()


async def _show_mentions(message: cl.Message) -> None:
    """Mark what a message mentions."""
    marked = with_chips(message.content)
    if marked != message.content:
        message.content = marked
        await message.update()


async def _send_welcome(chat: Chat, offer: str) -> None:
    def props() -> dict:
        return welcome_props(chat, offer)

    welcome = element("Welcome", await asyncio.to_thread(props))  # may wait for the database
    await cl.Message(content="", elements=[welcome]).send()
    poll_props(welcome, props, REFRESH_S, until=lambda: chat.opening is not None)


def welcome_props(chat: Chat, offer: str) -> dict:
    """Props of the element `Welcome`; `offer` is a repository that a link on another page named, '' for none."""
    shared = chat.process
    language = chat.language
    phases = {opening.address: opening.phase for opening in shared.openings.all() if opening.owner == chat.owner}
    found = recent(shared.database, chat.owner)
    settings = shared.runtime.settings
    sizes = shared.sizes
    rows = known_rows(found, settings, sizes, language, chat_counts(shared.database, chat.owner))
    used = size(disk_used(settings, sizes), language)
    limit = size(settings.disk_limit_mb << 20, language) if settings.disk_limit_mb else ""
    entries = [
        {**entry, **row, "status": _status(phases.get(row["address"], ""), language)}
        for entry, row in zip(found, rows, strict=True)
    ]
    return {
        "model": model_props(shared.models, language),
        "hosted": hosted_props(chat),
        "recent": entries,
        "examples": [] if entries else [list(example) for example in EXAMPLES],
        "offer": offer,
        "logins": bool(chat.owner),
        "disk": i18n.text("ui.known.used_of" if limit else "ui.known.used", language, used=used, limit=limit),
        "words": i18n.section("ui.welcome", language),
        "language": chat.chosen_language,
    }


@button
async def delete_repository(chat: Chat, payload: dict) -> dict:
    """Delete the data of a repository and take it off the first screen; chats about it stay in the side bar.

    Args:
        chat: where the button was pressed.
        payload: {address: as stored}.

    Returns:
        {}, or {error}.
    """
    process = chat.process
    wanted = str(payload.get("address", ""))
    known = await asyncio.to_thread(all_opened, process.database)
    owners = {owner for owner, address in known if address == wanted}
    if chat.owner not in owners:
        return {}
    # When its last owner leaves, a repository is no longer shared.
    leaving = {chat.owner} if owners - {chat.owner, EVERYBODY} else owners
    closing = [
        each
        for each in process.openings.all()
        if each.address == wanted and (each.owner == chat.owner or (each.shared and EVERYBODY in leaving))
    ]
    for opening in closing:
        if not process.openings.close(opening):
            raise UsageError(i18n.message("ui.errors.opening_busy"))

    def delete() -> None:
        for job in filter(None, (opening.job for opening in closing)):
            job.done.wait(CLOSE_TIMEOUT_S)
        others = [address for owner, address in known if address != wanted or owner not in leaving]
        delete_data(wanted, others, process.runtime.settings)
        for owner in leaving:
            forget(process.database, wanted, owner)

    await asyncio.to_thread(delete)
    return {}


@button
async def share_repository(chat: Chat, payload: dict) -> dict:
    """Share one of the user's repositories with every login, or stop sharing it.

    Args:
        chat: where the button was pressed.
        payload: {address: as stored}.

    Returns:
        {}, or {error}.
    """
    process = chat.process
    wanted = str(payload.get("address", ""))

    def change() -> None:
        entries = recent(process.database, chat.owner) if chat.owner else []
        entry = next((each for each in entries if each["own"] and each["address"] == wanted), None)
        if entry and entry["shared"]:
            forget(process.database, wanted, EVERYBODY)
        elif entry:
            remember(process.database, entry["name"], wanted, EVERYBODY)

    await asyncio.to_thread(change)
    process.openings.end_sharing(wanted)
    return {}


def _status(phase: str, language: str) -> str:
    return i18n.text(f"ui.opening_phases.{phase}", language) if phase else ""


def _request_for_text(command: str, language: str) -> str:
    if command == "open":
        return i18n.text("ui.chat.open_what", language)
    return i18n.text("ui.chat.command_what" if command else "ui.chat.empty", language, command=command)
