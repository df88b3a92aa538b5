"""The commands for issues and pull requests of a host."""

from __future__ import annotations

import argparse
import asyncio
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import asdict
from uuid import uuid4

from repopilot import i18n, trace
from repopilot.agents.review.agent import report_json, report_markdown, report_sarif
from repopilot.agents.review.findings import has_severe
from repopilot.cli.output import emit, live_progress, say, show_answer, show_notes
from repopilot.documents import generate_document
from repopilot.errors import ForgeError, RepoPilotError, StorageError
from repopilot.forge.contents import HostIssue
from repopilot.forge.github_app import as_app
from repopilot.forge.hosts import Forge, forge_of
from repopilot.forge.items import ForgeItem, parse_item, required_item
from repopilot.forge.review import PostedBefore, PostedReview, post, posted_before, posted_text, review_pull
from repopilot.forge.solve import (
    Solution,
    already_open,
    going_on,
    issue_of_pull,
    of_members,
    open_pull,
    opened_text,
    question_text,
)
from repopilot.forge.solve import solve as work_on
from repopilot.repo.publish.branch import branch_name
from repopilot.repo.remote.credentials import host_of
from repopilot.results import Answer, Generation
from repopilot.runtime import Runtime
from repopilot.types import Progress
from repopilot.ui.changes.diffs import patch


@contextmanager
def _asking(item: ForgeItem, arguments: argparse.Namespace, runtime: Runtime) -> Iterator[None]:
    """Say, as progress, which host is asked."""
    with live_progress(arguments.language) as report:
        host = host_of(item.api(runtime.settings.forge_api))
        report(Progress(i18n.message("forge.asking", host=host), 0, 0))
        yield


def review_pull_request(item: ForgeItem, arguments: argparse.Namespace, runtime: Runtime) -> int:
    """Review a pull request, and with `--post` comment on it."""
    with _asking(item, arguments, runtime):
        runtime.settings = as_app(runtime.settings, item)
        forge = forge_of(item, runtime.settings)
        pull = forge.pull()
        before = posted_before(forge) if arguments.post else PostedBefore()

    async def run() -> tuple:
        async with trace.root(lambda event: None, "review", input=item.url) as step:
            return await review_pull(item, pull, runtime, step, report_progress, before)

    with live_progress(arguments.language) as report_progress:
        report, workspace = asyncio.run(run())
    show_notes(workspace.index.notes, arguments.language)
    posted = None
    if arguments.post:
        with _asking(item, arguments, runtime):
            fail_on = arguments.fail_on or ""
            posted = post(item, forge, pull, report, workspace.index.text, arguments.language, fail_on)
    facts = report_sarif(report) if arguments.sarif else {**report_json(report), **_pull_facts(item, pull, posted)}

    def show() -> None:
        say(report_markdown(report, language=arguments.language))
        if posted is not None:
            say(posted_text(posted, arguments.language))

    emit(facts, arguments.json or arguments.sarif, show)
    show_notes(posted.notes if posted else (), arguments.language)
    return int(has_severe(report.findings, arguments.fail_on))


def _pull_facts(item: ForgeItem, pull: object, posted: PostedReview | None) -> dict:
    names = ("title", "state", "base_sha", "base_ref", "head_sha", "head_ref")
    facts = {name: getattr(pull, name) for name in names}
    return {"pull": {"url": item.url, **facts}, "posted": asdict(posted) if posted else None}


def _asked_for(item: ForgeItem, forge: Forge, arguments: argparse.Namespace, *, everybody: bool) -> HostIssue:
    """The issue to work on, or a pull request's review as an issue; with the branch to push to."""
    if item.kind == "pull":
        return issue_of_pull(item, forge, everybody=everybody)
    issue = of_members(forge.issue(), forge, everybody=everybody)
    return going_on(item, forge, issue) if arguments.open_pull else issue


def solve_issue(arguments: argparse.Namespace, runtime: Runtime) -> int:
    """Work on an issue or on a pull request's review, and with `--open-pull` push the change. Status 1 without a
    change."""
    item = parse_item(arguments.issue) or required_item(arguments.issue, "issue")
    with _asking(item, arguments, runtime):
        runtime.settings = as_app(runtime.settings, item)
        forge = forge_of(item, runtime.settings)
        issue = _asked_for(item, forge, arguments, everybody=runtime.settings.issue_everybody)
    if arguments.open_pull and not issue.pushable:
        raise ForgeError(i18n.message("forge.fork.impossible", project=item.project))
    if issue.own_pull:
        show_notes([i18n.message("forge.going_on", url=issue.own_pull.url)], arguments.language)
    elif arguments.open_pull and not issue.may_push:
        show_notes([i18n.message("forge.fork.used", project=item.project)], arguments.language)
    events: list[trace.Event] = []

    async def run() -> Solution:
        async with trace.root(events.append, "solve", input=item.url) as step:
            return await work_on(item, issue, runtime, step, report_progress, environment=not arguments.no_environment)

    with live_progress(arguments.language) as report_progress:
        solution = asyncio.run(run())
    done = solution.answer
    show_notes(solution.workspace.fetch_problems, arguments.language)
    if not arguments.json:
        show_answer(done, arguments.language)
    opened = already_open(issue, solution)
    failed = None
    if arguments.open_pull and done.files:
        try:
            with _kept(item, done, arguments, runtime), _asking(item, arguments, runtime):
                opened = open_pull(item, forge, issue, solution, runtime.settings, arguments.language)
        except RepoPilotError as error:
            failed = error
    asked = arguments.ask_there and not done.files and not opened
    if asked:
        forge.comment(question_text(done, arguments.language))
    facts = {
        "asked_there": asked,
        "issue": {"url": item.url, "title": issue.title, "state": issue.state, "labels": list(issue.labels)},
        "refused": list(solution.refused),
        "questions": list(done.result.choices) if isinstance(done.result, Generation) else [],
        "pull": opened,
        **generate_document(done, events, solution.workspace),
    }

    def show() -> None:
        if opened and done.files:
            say(opened_text(opened, arguments.language))

    emit(facts, arguments.json, show)
    if failed:
        raise failed
    return 0 if done.files or opened else 1


@contextmanager
def _kept(item: ForgeItem, done: Answer, arguments: argparse.Namespace, runtime: Runtime) -> Iterator[None]:
    """Save a change as a patch until it is pushed, and say where. Raises StorageError if it can't be written."""
    file = runtime.settings.home / "changes" / f"{branch_name(f'{item.number} {item.project}')}-{uuid4().hex[:8]}.patch"
    try:
        file.parent.mkdir(parents=True, exist_ok=True)
        file.write_bytes(patch(done.files).encode())
    except OSError as error:
        why = i18n.message("repo.not_written", path=file, error=error.strerror)
        raise StorageError(why, i18n.message("repo.not_written_hint")) from error
    show_notes([i18n.message("forge.kept", file=file)], arguments.language)
    yield
    file.unlink(missing_ok=True)
