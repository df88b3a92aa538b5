"""Webhook calls about issues: setting a label, or a comment that asks for work, starts `solve`.

Anybody can write issues and comments. The host's API tells who asked, and whether they may, when the work begins.
"""

from __future__ import annotations

import asyncio
import json
import logging
from collections.abc import Mapping
from dataclasses import replace
from urllib.parse import quote, unquote, urldefrag

from repopilot import i18n, trace
from repopilot.errors import ForgeUnreachable, RepoPilotError, SourceUnreachable
from repopilot.forge.contents import HostIssue
from repopilot.forge.hosts import Forge, forge_of
from repopilot.forge.items import ForgeItem, required_item
from repopilot.forge.solve import (
    asks_for_work,
    by_member,
    going_on,
    of_members,
    open_pull,
    opened_text,
    question_text,
    solve,
)
from repopilot.runtime import Runtime

_COMMENT = "comment-"
_LABEL = "label-"
log = logging.getLogger(__name__)


def issue_call(body: bytes, label: str) -> str:
    """The address of the issue that a call asks to work on, the comment or label as its fragment; '' for none. Pure.

    Args:
        body: an event of GitHub, Gitea or GitLab.
        label: the label that asks for work; '' for none.
    """
    try:
        event = json.loads(body)
        about = event.get("object_attributes") or event
        url = about.get("url") or (event.get("issue") or {}).get("html_url") or ""
        mark = _comment_mark(event, about) or _label_mark(event, about, label)
        return f"{urldefrag(url)[0]}#{mark}" if mark and url and url.isprintable() else ""
    except (ValueError, AttributeError, TypeError, KeyError, RecursionError):
        return ""


def is_comment(url: str) -> bool:
    """Whether a comment asks for the work; it asks once, however many calls report it. Pure."""
    return urldefrag(url)[1].startswith(_COMMENT)


def _comment_mark(event: Mapping, about: Mapping) -> str:
    """The fragment for a comment, from GitHub's `issue_comment` or GitLab's `note`; '' for none."""
    comment = event.get("comment") or (about if about.get("noteable_type") == "Issue" else {})
    text = comment.get("body") or comment.get("note") or ""
    of_pull = (event.get("issue") or {}).get("pull_request")
    is_new = about.get("action", "create") in ("created", "create") and not of_pull
    return f"{_COMMENT}{int(comment['id'])}" if is_new and asks_for_work(text) else ""


def _label_mark(event: Mapping, about: Mapping, label: str) -> str:
    """The fragment for a label, from GitHub's `labeled`, which names the label set, or from GitLab's labels before and
    after; '' for none."""
    changed = (event.get("changes") or {}).get("labels") or {}
    after = changed.get("current") or (event.get("labels") or [] if about.get("action") == "open" else [])
    before = {each["title"].casefold() for each in changed.get("previous") or ()}
    set_now = {each["title"].casefold() for each in after} - before
    if event.get("action") == "labeled":
        set_now.add(event["label"]["name"].casefold())
    return _LABEL + quote(label, safe="") if label and label.casefold() in set_now else ""


def asked_by(forge: Forge, issue: HostIssue, mark: str) -> str:
    """Who asked for the work, according to the host; '' where nobody does any more. Blocking.

    Args:
        forge: the host.
        issue: the issue as the host has it.
        mark: the fragment of `issue_call`.
    """
    if mark.startswith(_COMMENT):
        id = mark.removeprefix(_COMMENT)
        return next((each.author for each in issue.comments if each.id == id and asks_for_work(each.text)), "")
    label = unquote(mark.removeprefix(_LABEL)).casefold()
    return forge.labelled_by(label) if label in map(str.casefold, issue.labels) else ""


def _worked_on(item: ForgeItem, forge: Forge, issue: HostIssue, *, everybody: bool) -> HostIssue:
    """The issue with the comments that count and the place to work on. An issue by somebody who doesn't belong to the
    repository is worked on in a fork, whose CI has no secrets. Blocking."""
    if not (everybody or by_member(issue.opened, forge)):
        issue = replace(issue, may_push=False)
    return going_on(item, forge, of_members(issue, forge, everybody=everybody))


async def solve_asked(url: str, runtime: Runtime) -> str:
    """Work on an issue, and answer there, if whoever asked may push to its repository; returns `done` or `refused`.

    Args:
        url: from `issue_call`.
        runtime: the state of the process.

    Raises:
        ForgeUnreachable, SourceUnreachable: the network failed, which may pass by itself.
        RepoPilotError: the issue can't be read, or nothing can be written there.
    """
    address, mark = urldefrag(url)
    item = required_item(address, "issue")
    forge = forge_of(item, runtime.settings)
    issue = await asyncio.to_thread(forge.issue)
    asker = await asyncio.to_thread(asked_by, forge, issue, mark)
    if not asker or not await asyncio.to_thread(forge.lets_push, asker):
        log.warning("%s was refused: %s may not push to %s", url, repr(asker) if asker else "nobody", item.project)
        return "refused"
    language = runtime.settings.language or "en"
    try:
        issue = await asyncio.to_thread(_worked_on, item, forge, issue, everybody=runtime.settings.issue_everybody)
        if not issue.pushable:
            await asyncio.to_thread(forge.comment, i18n.text("forge.fork.impossible", language, project=item.project))
            return "refused"
        async with trace.root(lambda event: None, "solve", input=address) as step:
            solution = await solve(item, issue, runtime, step, lambda progress: None, environment=True)
        if solution.answer.files:
            opened = await asyncio.to_thread(open_pull, item, forge, issue, solution, runtime.settings, language)
            said = opened_text(opened, language)
        else:
            said = question_text(solution.answer, language)
    except (ForgeUnreachable, SourceUnreachable):
        raise
    except RepoPilotError as error:  # its message may reveal details of this machine
        log.warning("%s was not worked on: %s", url, error)
        said = i18n.text("forge.webhook_failed", language)
    await asyncio.to_thread(forge.comment, said)
    return "done"
