"""An issue or pull request in the chat, by its address: worked on or reviewed, and pushed or posted on a click."""

from __future__ import annotations

import asyncio
import logging
from dataclasses import replace
from functools import partial

import chainlit as cl

from repopilot import i18n
from repopilot.errors import ForgeError, RepoPilotError
from repopilot.forge.contents import HostIssue, Pull
from repopilot.forge.hosts import Forge, forge_of
from repopilot.forge.items import ForgeItem, checked_remote, parse_item
from repopilot.forge.review import PostedReview, branched_off, post, posted_before, posted_text, without_dismissed
from repopilot.forge.solve import (
    Solution,
    going_on,
    issue_of_pull,
    of_members,
    open_pull,
    opened_text,
    solution_of,
    task_of,
)
from repopilot.repo.remote.credentials import HostToken, setting_with
from repopilot.repo.source import parse_source, split_token
from repopilot.results import ReviewReport
from repopilot.settings import Settings
from repopilot.ui.answer.ask import ask
from repopilot.ui.buttons import answer_of, button
from repopilot.ui.changes.diffs import not_rejected
from repopilot.ui.chat import Chat, ShownAnswer
from repopilot.ui.repository.registry import at_ref
from repopilot.ui.repository_view import open_repository, open_source, send_error
from repopilot.ui.trace.step_text import inert
from repopilot.workspace import Workspace

log = logging.getLogger(__name__)


async def work_on_item(chat: Chat, text: str, command: str = "") -> None:
    """Read an issue or a pull request, open its repository, and work on it. Nothing is pushed or posted.

    Args:
        chat: where its address was pasted.
        text: the address; it may contain a token.
        command: `generate` to work on the reviewers' comments of a pull request; otherwise it is reviewed.
    """
    address, token = split_token(text)
    item = parse_item(address)
    assert item is not None
    try:
        if item.kind == "issue" or command == "generate":
            await _solve(chat, item, token)
        elif (pull := await _read(chat, item, token)) is not None:
            await _review(chat, item, pull, token)
        elif not command:  # the repository can be asked about without the host's API
            await open_repository(chat, text)
    except RepoPilotError as error:
        await send_error(error, chat.language)


async def _solve(chat: Chat, item: ForgeItem, token: HostToken | None) -> None:
    """Work on an issue, or on what the reviewers of a pull request wrote. Raises RepoPilotError."""
    forge = forge_of(item, _settings(chat, token))
    read = _issue if item.kind == "issue" else issue_of_pull
    issue = await asyncio.to_thread(partial(read, item, forge, everybody=chat.settings.issue_everybody))
    if issue.state not in ("open", ""):
        raise ForgeError(i18n.message("forge.closed", url=item.url, state=issue.state))
    source = parse_source(checked_remote(issue.clone_url))
    source = at_ref(source, issue.default_branch) if item.kind == "pull" or issue.own_pull else source
    if await open_source(chat, source, token):
        await _say(chat, "issue" if item.kind == "issue" else "pull_comments", item, issue.title)
        if issue.own_pull:
            await cl.Message(content=i18n.text("forge.going_on", chat.language, url=issue.own_pull.url)).send()
        await ask(chat, task_of(issue), "generate", about=(item, issue))


def _issue(item: ForgeItem, forge: Forge, *, everybody: bool) -> HostIssue:
    """The issue, on the branch of an earlier run's pull request if the host knows one."""
    issue = of_members(forge.issue(), forge, everybody=everybody)
    try:
        return going_on(item, forge, issue)
    except ForgeError as error:  # for example a missing token, which a public issue doesn't need
        log.info("%s", error)
        return issue


async def _read(chat: Chat, item: ForgeItem, token: HostToken | None) -> Pull | None:
    """Read a pull request from its host; on an error, show it and return None."""
    try:
        return await asyncio.to_thread(forge_of(item, _settings(chat, token)).pull)
    except RepoPilotError as error:
        await send_error(error, chat.language)
        return None


async def _review(chat: Chat, item: ForgeItem, pull: Pull, token: HostToken | None) -> None:
    """Review a pull request. Raises RepoPilotError."""
    if not await open_source(chat, at_ref(parse_source(checked_remote(pull.clone_url)), item.ref), token):
        return
    snapshot = chat.opening.snapshot if chat.opening else None
    if snapshot is None or snapshot.commit != pull.head_sha:
        raise ForgeError(i18n.message("forge.pushed", url=item.url), i18n.message("forge.pushed_hint"))
    base = await asyncio.to_thread(branched_off, snapshot, pull, _settings(chat))
    await _say(chat, "pull", item, pull.title)
    await ask(chat, f"{base}..", "review", about=(item, pull))


async def _say(chat: Chat, key: str, item: ForgeItem, title: str) -> None:
    said = i18n.text(f"ui.chat.{key}", chat.language, number=item.number, title=inert(title))
    await cl.Message(content=said).send()


def _settings(chat: Chat, token: HostToken | None = None) -> Settings:
    """The settings of the chat, with the token that was typed. Raises UsageError."""
    typed = token or (chat.opening.typed if chat.opening else None)
    return chat.settings.model_copy(update={"git_token": setting_with(chat.settings.git_token, typed)})


def _about(chat: Chat, payload: dict) -> tuple[ShownAnswer, ForgeItem, HostIssue | Pull]:
    """The answer that a button belongs to, with the issue or pull request that it is about. Raises RepoPilotError if
    the page no longer has it."""
    shown = answer_of(chat, payload, "ui.errors.files_gone")
    about = chat.process.about.get(shown.request)
    if about is None:
        raise ForgeError(i18n.message("ui.errors.files_gone"))
    return shown, *about


@button
async def open_pull_request(chat: Chat, payload: dict) -> dict:
    """Push the change for an issue and open a pull request, or push it to the pull request that it is for.

    Args:
        chat: where the button was pressed.
        payload: {answer: id}.

    Returns:
        {done: in words}, or {error}.
    """
    shown, item, issue = _about(chat, payload)
    opening = chat.opening_of(shown.index)
    if not isinstance(issue, HostIssue) or opening is None or opening.snapshot is None:
        raise ForgeError(i18n.message("ui.errors.files_gone"))
    answer = replace(shown.answer, files=tuple(not_rejected(shown.files, shown.decisions)))
    solution: Solution = solution_of(issue, answer, Workspace(opening.snapshot, shown.index, chat.settings))
    settings = _settings(chat)
    made = await asyncio.to_thread(open_pull, item, forge_of(item, settings), issue, solution, settings, chat.language)
    return {"done": opened_text(made, chat.language)}


@button
async def post_review(chat: Chat, payload: dict) -> dict:
    """Post a review as comments on its pull request. Arguments and reply as `open_pull_request`."""
    shown, item, pull = _about(chat, payload)
    report = shown.answer.brings(ReviewReport)
    if not isinstance(pull, Pull) or report is None:
        raise ForgeError(i18n.message("ui.errors.files_gone"))
    settings = _settings(chat)
    forge = forge_of(item, settings)
    text_of = shown.index.text

    def posting() -> PostedReview:
        left = without_dismissed(report, item, settings, posted_before(forge))
        return post(item, forge, pull, left, text_of, chat.language)

    return {"done": posted_text(await asyncio.to_thread(posting), chat.language)}
