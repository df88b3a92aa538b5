"""The operations of the API: each takes its body, the repositories and a step, and returns a document."""

from __future__ import annotations

import asyncio
from collections.abc import Awaitable, Callable
from dataclasses import asdict, replace
from functools import partial
from typing import Any

from repopilot import i18n
from repopilot.agents.all_repositories import answer_all
from repopilot.agents.impact.impact_report import impact_json, impact_report
from repopilot.agents.overview.compute import overview_of
from repopilot.agents.overview.render import overview_json
from repopilot.agents.review.agent import report_json, review_snapshot
from repopilot.agents.search.render import search_json
from repopilot.api.jobs import repository_id
from repopilot.api.repositories import Repositories
from repopilot.api.requests import (
    AskBody,
    ContextBody,
    GenerateBody,
    ImpactBody,
    OfRepository,
    ReviewBody,
    SearchBody,
    ToolCallBody,
)
from repopilot.assistant import answer
from repopilot.documents import ask_document, generate_document, index_document, tool_document
from repopilot.errors import UsageError
from repopilot.forge.hosts import forge_of
from repopilot.forge.items import parse_item
from repopilot.forge.review import review_pull
from repopilot.logins.ownership import check_reach
from repopilot.repo.history import commit_range
from repopilot.results import Answer
from repopilot.tools import registry
from repopilot.tools.registry import ToolContext
from repopilot.tools.toolbox import client_tools
from repopilot.tools.working_copy import working_copy
from repopilot.trace import Event, Published, Step
from repopilot.workspace import Workspace, with_test_packages


class UnknownTool(UsageError):
    """The toolbox has no tool of that name."""


Operation = Callable[[Any, Repositories, Step], Awaitable[dict]]


async def index(body: OfRepository, repositories: Repositories, step: Step) -> dict:
    """Open a repository: clone or read it, and index it."""
    found = await repositories.open(body.source, body.ref)
    document = index_document(found.snapshot.name, found.index.commit, found.index.report)
    return {"id": repository_id(body.source, body.ref), **document}


async def search(body: SearchBody, repositories: Repositories, step: Step) -> dict:
    """The passages that answer a query best."""
    from repopilot.retrieval.result_page import search_page
    from repopilot.retrieval.search_all import page_of_all

    if body.all:
        indexes = await asyncio.to_thread(lambda: repositories.indexes)
        return search_json(await asyncio.to_thread(page_of_all, indexes, body.query, body.k))
    found = await repositories.open(body.source, body.ref)
    embedder = await repositories.embedder()
    return search_json(await asyncio.to_thread(search_page, found.index, body.query, body.k, embedder=embedder))


async def context(body: ContextBody, repositories: Repositories, step: Step) -> dict:
    """A context pack, for a question or of whole folders."""
    from repopilot.agents.overview.for_models import pack_for

    found = await repositories.open(body.source, body.ref)
    embedder = await repositories.embedder()
    largest = repositories.runtime.settings.max_file_kb << 10
    return asdict(await asyncio.to_thread(pack_for, found.index, found.snapshot, body, embedder, largest, "json"))


async def ask(body: AskBody, repositories: Repositories, step: Step) -> dict:
    """Answer a question, with citations that were checked."""
    if body.all:
        indexes = await asyncio.to_thread(lambda: repositories.indexes)
        work = partial(answer_all, body.question, repositories.runtime, intent="EXPLAIN", store=indexes)
        return ask_document(*await _traced("ask", body.question, step, work), None)
    workspace = await repositories.workspace(body.source, body.ref)
    work = partial(answer, body.question, workspace, is_question=True)
    done, events = await _traced("ask", body.question, step, work)
    return ask_document(done, events, workspace.model.name if workspace.model else None)


async def generate(body: GenerateBody, repositories: Repositories, step: Step) -> dict:
    """Write a change for a task, and test it. Nothing is written to the repository."""
    workspace = await repositories.workspace(body.source, body.ref)
    workspace = await _prepared(workspace, body, repositories)
    work = partial(answer, body.task, workspace, forced="GENERATE")
    done, events = await _traced("generate", body.task, step, work)
    return await asyncio.to_thread(generate_document, done, events, workspace)


async def review(body: ReviewBody, repositories: Repositories, step: Step) -> dict:
    """Review a diff, files, or a pull request whose address is the source."""
    commits = commit_range(body.diff) if body.diff else None
    item = parse_item(body.source)
    if item is not None and item.kind == "pull" and not body.diff and not body.paths:
        await check_reach(repositories.owner, body.source, repositories.runtime)
        pull = await asyncio.to_thread(forge_of(item, repositories.runtime.settings).pull)
        report, _ = await review_pull(item, pull, repositories.runtime, step, repositories.progress)
        return report_json(report)
    workspace = await repositories.workspace(body.source, body.ref)
    return report_json(await review_snapshot(workspace, step, commits, body.paths))


async def impact(body: ImpactBody, repositories: Repositories, step: Step) -> dict:
    """What a change touches: of exactly one of targets, diff and patch."""
    if sum(map(bool, (body.targets, body.diff, body.patch))) != 1:
        raise UsageError(i18n.message("cli.impact_targets"))
    workspace = await repositories.workspace(body.source, body.ref)
    return impact_json(
        await impact_report(workspace, step, body.targets, diff=body.diff or None, patch=body.patch or None)
    )


async def overview(body: OfRepository, repositories: Repositories, step: Step) -> dict:
    """What a repository is, computed from its index."""
    found = await repositories.open(body.source, body.ref)
    return overview_json(await asyncio.to_thread(overview_of, found.index))


async def call_tool(name: str, body: ToolCallBody, repositories: Repositories, step: Step) -> dict:
    """Call a tool on a working copy. Nothing is written to the repository: the document has the changes."""
    try:
        tool = registry.find(name, client_tools())
    except UsageError as error:
        raise UnknownTool(error.message, error.hint) from error
    workspace = await repositories.workspace(body.source, body.ref)
    workspace = await _prepared(workspace, body, repositories)
    async with working_copy(workspace) as copy:
        result = await registry.call(tool, body.arguments, ToolContext(workspace, copy, step))
        changes = await asyncio.to_thread(copy.changes)
    return tool_document(tool, body.arguments, result, changes, applied=False)


async def _prepared(workspace: Workspace, body: GenerateBody | ToolCallBody, repositories: Repositories) -> Workspace:
    """The workspace with the test packages and the consent to commands that a request asks for."""
    if body.environment:
        workspace = await with_test_packages(workspace, repositories.progress)
    return replace(workspace, settings=workspace.settings.with_commands()) if body.commands else workspace


OPERATIONS: dict[str, tuple[type[OfRepository], Operation]] = {
    "search": (SearchBody, search),
    "context": (ContextBody, context),
    "ask": (AskBody, ask),
    "generate": (GenerateBody, generate),
    "review": (ReviewBody, review),
    "impact": (ImpactBody, impact),
    "overview": (OfRepository, overview),
}
"""Body and operation by path."""


async def _traced(
    name: str, input: str, step: Step, work: Callable[..., Awaitable[Answer]]
) -> tuple[Answer, list[Event]]:
    """Run work in a step of its own; return its answer and the same trace events as on the command line."""
    events: list[Event] = []

    def sink(event: Event) -> None:
        if not isinstance(event, Published):
            events.append(event)
        step.sink(event)

    async with replace(step, sink=sink).child(name, input=input) as own:
        done = await work(step=own)
    return done, events
