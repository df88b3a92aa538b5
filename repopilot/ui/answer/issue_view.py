"""An issue in the chat: its address pasted, worked on as a task, its change opened as a pull request on a click."""

from __future__ import annotations

import asyncio
from dataclasses import replace

import chainlit as cl

from repopilot import i18n
from repopilot.errors import ForgeError, RepoPilotError
from repopilot.forge.hosts import forge_of
from repopilot.forge.items import ForgeItem, checked_remote
from repopilot.forge.solve import Solution, open_pull, opened_text, task_of, without_refused
from repopilot.ui.answer.ask import ask
from repopilot.ui.changes.diffs import not_rejected
from repopilot.ui.chat import Chat
from repopilot.ui.error_text import error_line
from repopilot.ui.repository_view import open_repository, send_error
from repopilot.ui.trace.step_text import inert
from repopilot.workspace import Workspace


async def work_on_issue(chat: Chat, item: ForgeItem) -> None:
    """Read an issue, open its repository, and work on it. Nothing is pushed.

    Args:
        chat: where its address was pasted.
        item: the issue.
    """
    try:
        issue = await asyncio.to_thread(forge_of(item, chat.settings).issue)
        if issue.state not in ("open", ""):
            raise ForgeError(i18n.message("forge.closed", url=item.url, state=issue.state))
        checked_remote(issue.clone_url)
    except RepoPilotError as error:
        await send_error(error, chat.language)
        return
    if await open_repository(chat, issue.clone_url):
        said = i18n.text("ui.chat.issue", chat.language, number=item.number, title=inert(issue.title))
        await cl.Message(content=said).send()
        await ask(chat, task_of(issue), "generate", about=(item, issue))


async def open_pull_request(chat: Chat, payload: dict) -> dict:
    """Push the change for an issue and open a pull request; returns {done: its address in words}, or {error}.

    Args:
        chat: where the button was pressed.
        payload: {answer: id}.
    """
    shown = chat.answers.get(str(payload.get("answer", "")))
    about = chat.process.issues.get(shown.request) if shown else None
    opening = chat.opening
    if shown is None or about is None or opening is None or opening.snapshot is None:
        return {"error": i18n.text("ui.errors.files_gone", chat.language)}
    item, issue = about
    workspace = Workspace(opening.snapshot, shown.index, chat.settings)
    answer = replace(shown.answer, files=tuple(not_rejected(shown.files, shown.decisions)))
    solution: Solution = without_refused(answer, workspace)
    try:
        forge, runtime = forge_of(item, chat.settings), chat.process.runtime
        made = await asyncio.to_thread(open_pull, item, forge, issue, solution, runtime, chat.language)
    except RepoPilotError as error:
        return {"error": error_line(error, chat.language)}
    return {"done": opened_text(made, chat.language)}
