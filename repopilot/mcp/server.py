"""The toolbox for an MCP client (an editor, another agent), whatever the transport.

Edits go to a working copy of each repository, which `changes` shows; the tool `apply` writes it into a local folder
where the server was started with `--apply`.
"""

from __future__ import annotations

import asyncio
import time
from collections.abc import AsyncIterator, Callable
from contextlib import AsyncExitStack, asynccontextmanager
from dataclasses import dataclass, field, replace
from itertools import count
from pathlib import Path
from typing import Any
from urllib.parse import parse_qsl, urlencode, urlsplit

import anyio
from mcp.server.lowlevel import Server
from mcp.types import (
    CallToolResult,
    GetPromptResult,
    Prompt,
    PromptArgument,
    PromptMessage,
    Resource,
    ResourceTemplate,
    TextContent,
    ToolAnnotations,
)
from mcp.types import Tool as OfferedTool
from pydantic import AnyUrl, BaseModel

from repopilot import __version__, i18n, trace
from repopilot.agents.all_repositories import answer_all
from repopilot.agents.overview.compute import overview_of
from repopilot.agents.overview.for_models import pack_for
from repopilot.agents.overview.render import overview_json, overview_markdown
from repopilot.agents.search.render import evidence_of, search_markdown
from repopilot.assistant import answer
from repopilot.documents import ask_document
from repopilot.errors import RepoPilotError, UsageError
from repopilot.forge.items import parse_item
from repopilot.i18n import message
from repopilot.index.folder_stamp import folder_stamp
from repopilot.logins.ownership import check_reach, may_see, opened_for, visible
from repopilot.mcp.arguments import (
    OF_ALL,
    OWN,
    ImpactArguments,
    OverviewArguments,
    PackRequest,
    QueryOfAll,
    Question,
    QuestionOfAll,
    ReviewArguments,
    checked,
)
from repopilot.mcp.folders import Roots, check_readable, check_writable, no_roots, roots_of
from repopilot.mcp.method_check import MethodCheck, no_resource, wrong_parameters
from repopilot.mcp.reports import report_on, review_of_pull
from repopilot.openings import SharedOpenings
from repopilot.repo.clone import FRESH_S
from repopilot.repo.patches.apply import apply_changes
from repopilot.repo.source import parse_source, split_token
from repopilot.results import Answer, Explanation
from repopilot.retrieval.context_pack import pack_markdown
from repopilot.retrieval.search_all import page_of_all
from repopilot.runtime import Runtime
from repopilot.tools import registry
from repopilot.tools.registry import ToolContext, ToolResult, inlined_schema
from repopilot.tools.result_types import Answered
from repopilot.tools.toolbox import client_tools
from repopilot.tools.verifying.repository_command import RUN_COMMAND
from repopilot.tools.working_copy import WorkingCopy, working_copy
from repopilot.trace import Event, Started
from repopilot.types import OnProgress, Progress
from repopilot.workspace import Workspace, open_workspace, usable_environment, with_test_packages

PROMPTS = ("explain", "review", "change")
FILE = "repopilot://file{?source,path}"
OVERVIEW = "repopilot://overview{?source}"
GOES_ON_S = 3.0
"""Seconds between two reports that a call is still running."""
PLACES = 8
"""Places listed below an answer, unless it cites more."""
RESOURCES = 200
"""Most files listed per repository; the others can still be read by address."""
SOURCE = {"type": "string", "description": "the repository's https URL or local path"}


ENVIRONMENT = {
    "type": "boolean",
    "description": "first fetch the packages that the repository's tests need: wheels only, nothing of it is run",
}
COMMANDS = {
    "type": "boolean",
    "description": "true where your user agreed that commands of this repository run in a sandbox without network",
}
ALL = {"type": "boolean", "description": "every repository that is indexed here, instead of source"}


def mcp_server(runtime: Runtime, apply: bool, folders: tuple[Path, ...] = ()) -> Server:
    """The server of the protocol, for any transport; each session has working copies of its own.

    Args:
        runtime: the state of the process.
        apply: whether the tool `apply` may write into local folders.
        folders: local folders that clients may name, besides their roots.
    """

    @asynccontextmanager
    async def session(_: Server) -> AsyncIterator[OfferedTools]:
        stack = AsyncExitStack()
        try:
            yield OfferedTools(runtime, stack, apply, folders)
        finally:
            # The server's end cancels this task; folders and processes must be cleaned up all the same.
            with anyio.CancelScope(shield=True):
                await stack.aclose()

    server = MethodCheck("repopilot", __version__, instructions=i18n.text("mcp.instructions", "en"), lifespan=session)

    @server.list_tools()
    async def list_tools() -> list[OfferedTool]:
        return _offers(server).listed()

    @server.call_tool(validate_input=False)
    async def call_tool(name: str, arguments: dict[str, Any]) -> CallToolResult:
        return await _offers(server).call(name, arguments, _progress(server), roots_of(server.request_context))

    @server.list_resources()
    async def list_resources() -> list[Resource]:
        return await asyncio.to_thread(_offers(server).resources)

    @server.list_resource_templates()
    async def list_resource_templates() -> list[ResourceTemplate]:
        kinds = (("file", FILE, "text/plain"), ("overview", OVERVIEW, "text/markdown"))
        return [
            ResourceTemplate(uriTemplate=uri, name=name, description=i18n.text(f"mcp.{name}", "en"), mimeType=form)
            for name, uri, form in kinds
        ]

    @server.read_resource()
    async def read_resource(uri: AnyUrl) -> str:
        return await _offers(server).read(str(uri), roots_of(server.request_context))

    @server.list_prompts()
    async def list_prompts() -> list[Prompt]:
        return [_prompt(name) for name in PROMPTS]

    @server.get_prompt()
    async def get_prompt(name: str, arguments: dict[str, str] | None) -> GetPromptResult:
        given = arguments or {}
        if name not in PROMPTS:
            raise wrong_parameters(message("mcp.no_prompt", name=name))
        if missing := [each.name for each in _prompt(name).arguments or () if not given.get(each.name, "").strip()]:
            raise wrong_parameters(message("mcp.prompt_needs", name=name, missing=", ".join(missing)))
        text = i18n.text(f"mcp.prompts.{name}", "en", **given)
        return GetPromptResult(messages=[PromptMessage(role="user", content=TextContent(type="text", text=text))])

    return server


def _offers(server: Server) -> OfferedTools:
    """The tools of a request's session. The transport ensures that a session belongs to one login."""
    offers: OfferedTools = server.request_context.lifespan_context
    request = server.request_context.request
    offers.owner = request.user.username if request is not None else ""
    return offers


def _progress(server: Server) -> OnProgress:
    """A function that reports a call's progress if the client asked for it, with rising numbers as the protocol
    requires. Any thread may call it."""
    context = server.request_context
    loop = asyncio.get_running_loop()
    token = context.meta.progressToken if context.meta else None
    if token is None:
        return _ignore
    numbers = count(1)

    def report(progress: Progress) -> None:
        amount = f" {progress.done}/{progress.total}" if progress.total else ""
        told = context.session.send_progress_notification(
            token, float(next(numbers)), None, f"{progress.phase}{amount}", str(context.request_id)
        )
        asyncio.run_coroutine_threadsafe(told, loop)

    return report


def _prompt(name: str) -> Prompt:
    about = PromptArgument(name="about", description=i18n.text(f"mcp.prompt_about.{name}", "en"), required=True)
    source = PromptArgument(name="source", description=SOURCE["description"], required=True)
    return Prompt(name=name, description=i18n.text(f"mcp.prompt_does.{name}", "en"), arguments=[source, about])


@dataclass(slots=True, eq=False)
class _Held:
    """A working copy, what closes it, and how many calls use it."""

    copy: WorkingCopy
    stack: AsyncExitStack
    users: int = 0


@dataclass(slots=True)
class _Opened:
    """A repository that a client works on. Edits wait for one another; reading and testing wait for none.

    `stamp` is that of a local folder, `fetched_at` says when a clone was fetched last, by the monotonic clock.
    """

    held: _Held
    editing: asyncio.Lock
    refreshing: asyncio.Lock
    stamp: int = 0
    fetched_at: float = field(default_factory=time.monotonic)

    @asynccontextmanager
    async def used(self) -> AsyncIterator[WorkingCopy]:
        """The working copy, kept until the caller is done, even if another replaces it."""
        held = self.held
        held.users += 1
        try:
            yield held.copy
        finally:
            held.users -= 1
            if held is not self.held and not held.users:
                await held.stack.aclose()


class OfferedTools:
    """The tools of a session, and the repositories it has opened.

    Args:
        runtime: the state of the process.
        stack: closes the working copies at the end.
        may_apply: whether `apply` may write.
        folders: local folders that a client may name, besides its roots.

    Attributes:
        owner: the login of the session, '' if it may open everything.
    """

    def __init__(
        self, runtime: Runtime, stack: AsyncExitStack, may_apply: bool, folders: tuple[Path, ...] = ()
    ) -> None:
        self._runtime = runtime
        self._stack = stack
        self._may_apply = may_apply
        self._folders = folders
        self.owner = ""
        self._opened: dict[str, _Opened] = {}  # by the source without its token, which isn't kept
        self._openings = SharedOpenings(runtime)
        self._copying = asyncio.Lock()
        self._tools = client_tools()

    def listed(self) -> list[OfferedTool]:
        """The tools that a client may call: all that don't talk to the user."""
        found = [
            _offered(each.name, each.description, (each.arguments, each.returns), each.kind) for each in self._tools
        ]
        own = [name for name in OWN if name != "apply" or self._may_apply]
        return [*found, *(_offered(name, i18n.text(f"mcp.{name}", "en"), OWN[name], name) for name in own)]

    async def call(
        self,
        name: str,
        arguments: dict[str, Any],
        progress: OnProgress = lambda progress: None,
        roots: Roots = no_roots,
    ) -> CallToolResult:
        """Call a tool on a repository; a RepoPilotError becomes text that the client's model can act on.

        Args:
            name: of the tool.
            arguments: the repository as `source`, and those of the tool.
            progress: receives the progress: of opening the repository, each step, and that the call is still running.
            roots: asks the client for the folders that it works on.
        """
        alive = asyncio.create_task(_tell_that_it_goes_on(name, progress))
        try:
            result = await self._called(name, dict(arguments), progress, roots)
        except RepoPilotError as error:
            text = i18n.text("mcp.error", self._runtime.settings.language, error=i18n.reason(error))
            return CallToolResult(content=[TextContent(type="text", text=text)], isError=True)
        finally:
            alive.cancel()
        structured = result.data if isinstance(result.data, dict) else None
        text = i18n.translated(result.text, self._runtime.settings.language or "en")
        return CallToolResult(content=[TextContent(type="text", text=text)], structuredContent=structured)

    def resources(self) -> list[Resource]:
        """The overviews of the repositories that are open, and the first files of each. Blocking."""
        found = []
        for source, opened in list(self._opened.items()):
            if not may_see(source, self._runtime.database, self.owner):
                continue
            about = AnyUrl(f"repopilot://overview?{urlencode({'source': source})}")
            found.append(Resource(uri=about, name=f"overview of {source}", mimeType="text/markdown"))
            for path in list(opened.held.copy.original.index.files)[:RESOURCES]:
                found.append(Resource(uri=AnyUrl(file_uri(source, path)), name=path, mimeType="text/plain"))
        return found

    async def read(self, uri: str, roots: Roots = no_roots) -> str:
        """The text of a file, or an overview, by its address. Raises McpError."""
        parts = urlsplit(uri)
        given = dict(parse_qsl(parts.query))
        source = given.get("source", "")
        path = given.get("path", "")
        is_overview = parts.netloc == "overview"
        if parts.scheme != "repopilot" or not source or not (path or is_overview):
            raise no_resource(uri)
        try:
            await self._require_readable(source, roots)
            if is_overview:
                return (await self._overview(source, _ignore)).text
            original = await self._fresh(source, _ignore)
        except RepoPilotError as error:
            raise no_resource(uri) from error
        text = await asyncio.to_thread(original.index.text, path)
        if text is None:
            raise no_resource(uri)
        return text

    async def _called(self, name: str, arguments: dict[str, Any], progress: OnProgress, roots: Roots) -> ToolResult:
        if name in OF_ALL:
            if arguments.get("all", False) is not False:
                return await self._of_all(checked(OF_ALL[name], arguments))
            arguments.pop("all", None)
        source = arguments.pop("source", None)
        if not isinstance(source, str) or not source:
            raise UsageError(message("mcp.no_source"))
        fetch = name == "run_tests" and arguments.pop("environment", False) is True
        agreed = name == RUN_COMMAND and arguments.pop("commands", False) is True
        own = checked(OWN[name][0], arguments) if name in OWN else None
        await self._require_readable(source, roots)
        if isinstance(own, PackRequest):
            return await self._pack(source, own, progress)
        if isinstance(own, Question):
            return await self._ask(source, own.question, progress)
        if isinstance(own, OverviewArguments):
            return await self._overview(source, progress)
        if isinstance(own, ReviewArguments | ImpactArguments):
            return await self._report(source, own, progress)
        tool = None if own is not None else registry.find(name, self._tools)
        if tool is not None:
            registry.checked(tool, arguments)  # before a repository is opened for it
        opened = await self._open(source, progress)
        async with AsyncExitStack() as held:
            if edits := tool is None or tool.kind == "edit":
                await held.enter_async_context(opened.editing)
            await self._refresh(source, opened, edits=edits)
            if tool is None:
                return await self._apply(opened, roots)
            copy = await held.enter_async_context(opened.used())
            step = await held.enter_async_context(trace.root(_steps_of(progress), name, "tool"))
            problems = (await with_test_packages(copy.original, progress)).fetch_problems if fetch else ()
            settings = copy.original.settings.with_commands() if agreed else copy.original.settings
            context = ToolContext(replace(copy.original, settings=settings), copy, step)
            result = await registry.call(tool, arguments, context)
            return replace(result, text=i18n.joined((*problems, result.text), "\n"))

    async def _of_all(self, asked: BaseModel) -> ToolResult:
        """The places for a query, or the answer to a question, from every repository."""
        runtime = self._runtime
        indexes = await asyncio.to_thread(
            lambda: visible(runtime.indexes, runtime.database, runtime.settings, self.owner)
        )
        if isinstance(asked, QueryOfAll):
            report = await asyncio.to_thread(page_of_all, indexes, asked.query, asked.k)
            text = search_markdown(report, runtime.settings.language or "en")
            return _replied(Answer(text, degraded=report.notes, evidence=evidence_of(report), result=report), None)
        assert isinstance(asked, QuestionOfAll)
        async with trace.root(lambda event: None, "ask", "tool", asked.question) as step:
            return _replied(await answer_all(asked.question, runtime, step, "EXPLAIN", store=indexes), None)

    async def _require_readable(self, source: str, roots: Roots) -> None:
        """Check that the client may name a source, open or not. Raises RepoPilotError."""
        is_open = split_token(source)[0] in self._opened
        folder = None if is_open else parse_source(source).path
        if folder is not None:
            check_readable(folder, self._folders, await roots())
        if is_open or parse_item(source) is not None:
            await check_reach(self.owner, source, self._runtime)

    async def _apply(self, opened: _Opened, roots: Roots) -> ToolResult:
        """Write the edits into the local folder, and continue with a working copy without edits."""
        copy = opened.held.copy
        root = copy.original.snapshot.root
        if not self._may_apply:
            raise UsageError(message("mcp.may_not_apply"), message("mcp.may_not_apply_hint"))
        if root is None:
            raise UsageError(message("cli.apply_to_clone"), message("cli.apply_to_clone_hint"))
        await asyncio.to_thread(check_writable, root, self._folders, await roots())
        changes = await asyncio.to_thread(copy.changes)
        notes = await asyncio.to_thread(apply_changes, root, changes)
        paths = [change.path for change in changes]
        await self._begin(opened, copy.original)
        said = i18n.joined((message("mcp.applied", paths=", ".join(paths) or "-"), *notes))
        return ToolResult(said, {"applied": paths})

    async def _ask(self, source: str, question: str, progress: OnProgress) -> ToolResult:
        """The whole answer to a question, by the models of this machine."""
        original = await self._fresh(source, progress)
        workspace = await open_workspace(original.index, original.snapshot, self._runtime)
        async with trace.root(_steps_of(progress), "ask", "tool", question) as step:
            done = await answer(question, workspace, step, is_question=True)
        return _replied(done, workspace.model.name if workspace.model else None)

    async def _report(self, source: str, asked: ReviewArguments | ImpactArguments, progress: OnProgress) -> ToolResult:
        """A review or an impact report."""
        name = "review" if isinstance(asked, ReviewArguments) else "impact"
        async with trace.root(_steps_of(progress), name, "tool", source) as step:
            item = parse_item(source)
            if asked == ReviewArguments() and item is not None and item.kind == "pull":
                return await review_of_pull(item, self._runtime, step, progress)
            original = await self._fresh(source, progress)
            workspace = await open_workspace(original.index, original.snapshot, self._runtime)
            return await report_on(asked, workspace, step)

    async def _overview(self, source: str, progress: OnProgress) -> ToolResult:
        """The overview of a repository as a page."""
        original = await self._fresh(source, progress)
        found = await asyncio.to_thread(overview_of, original.index)
        return ToolResult(overview_markdown(found, "en"), overview_json(found))

    async def _pack(self, source: str, request: PackRequest, progress: OnProgress) -> ToolResult:
        """A context pack as Markdown."""
        original = await self._fresh(source, progress)
        largest = self._runtime.settings.max_file_kb << 10
        made = await asyncio.to_thread(pack_for, original.index, original.snapshot, request, original.embedder, largest)
        return ToolResult(pack_markdown(made), {"tokens": made.tokens, "left_out": made.left_out})

    async def _open(self, source: str, progress: OnProgress) -> _Opened:
        key = split_token(source)[0]
        if key in self._opened:
            return self._opened[key]
        workspace = await self._workspace(source, progress)
        async with self._copying:
            if key not in self._opened:
                self._opened[key] = _Opened(await self._copy_of(workspace), asyncio.Lock(), asyncio.Lock())
            return self._opened[key]

    async def _copy_of(self, workspace: Workspace) -> _Held:
        stack = await self._stack.enter_async_context(AsyncExitStack())
        return _Held(await stack.enter_async_context(working_copy(workspace)), stack)

    async def _fresh(self, source: str, progress: OnProgress) -> Workspace:
        """The workspace of a repository, opened or brought up to date."""
        opened = await self._open(source, progress)
        await self._refresh(source, opened)
        return opened.held.copy.original

    async def _refresh(self, source: str, opened: _Opened, *, edits: bool = False) -> None:
        """Follow others' changes to a repository until the session edits it; `edits`: the caller is about to edit."""
        async with opened.refreshing:
            if not opened.held.copy.steps and (edits or not opened.editing.locked()):
                await self._follow(source, opened)

    async def _follow(self, source: str, opened: _Opened) -> None:
        original = opened.held.copy.original
        if original.snapshot.root is None:
            if time.monotonic() - opened.fetched_at < FRESH_S:
                return
            opened.fetched_at = time.monotonic()
        else:
            stamp = await asyncio.to_thread(folder_stamp, original.snapshot.root, list(original.index.files))
            if stamp == opened.stamp:
                return
            opened.stamp = stamp
        workspace = await self._workspace(source, _ignore)
        if workspace.index.folder != original.index.folder:
            await self._begin(opened, workspace)

    async def _begin(self, opened: _Opened, workspace: Workspace) -> None:
        """Replace the working copy with one without edits; the old one stays open while calls use it."""
        before = opened.held
        opened.held = await self._copy_of(workspace)
        if not before.users:
            await before.stack.aclose()

    async def _workspace(self, source: str, progress: OnProgress) -> Workspace:
        """The repository of a source with its index, up to date."""
        settings = self._runtime.settings
        snapshot, index = await opened_for(
            self.owner, source, self._runtime, lambda: self._openings.opened(source, "", progress)
        )
        environment = await asyncio.to_thread(usable_environment, snapshot, settings)
        embedder = await asyncio.to_thread(self._runtime.embedders.choose, settings)
        return Workspace(
            snapshot,
            index,
            settings,
            embedder=embedder,
            environment=environment,
            lookups=self._runtime.lookups,
            workers=self._runtime.workers,
        )


def _offered(name: str, description: str, types: tuple[type, type], kind: str) -> OfferedTool:
    """A tool for clients: its first argument is the repository, its kind tells what it does to the user's files."""
    parameters, returns = map(inlined_schema, types)
    of_all = {"all": ALL} if name in OF_ALL else {}
    own = {"run_tests": {"environment": ENVIRONMENT}, RUN_COMMAND: {"commands": COMMANDS}}
    extra = of_all | own.get(name, {})
    properties = {"source": SOURCE, **extra, **parameters.get("properties", {})}
    required = [*([] if of_all else ["source"]), *parameters.get("required", ())]
    schema = {**parameters, "type": "object", "properties": properties, "required": required}
    looks = kind in ("look", "check", "ask", "context", "review", "impact", "overview")
    # A search in all repositories answers as `ask` does.
    output = {"type": "object", "anyOf": [returns, inlined_schema(Answered)]} if name == "search" else returns
    hints = ToolAnnotations(
        title=name.replace("_", " ").capitalize(),
        readOnlyHint=looks,
        destructiveHint=None if looks else kind == "apply",
    )
    return OfferedTool(name=name, description=description, inputSchema=schema, outputSchema=output, annotations=hints)


def _replied(done: Answer, model: str | None) -> ToolResult:
    left_out = ("steps", "evidence")  # they would fill the client's context; the places are enough
    document = {name: value for name, value in ask_document(done, (), model).items() if name not in left_out}
    return ToolResult(_short(done), document)


def _short(done: Answer) -> str:
    """An answer without the lines of its evidence: its text, and the places by their numbers."""
    if not (isinstance(done.result, Explanation) and done.evidence):
        return done.text
    shown = done.evidence[: max(PLACES, done.result.cited)]
    places = [f"[{each.number}] {each.place} {each.symbol}".rstrip() for each in shown]
    return "\n\n".join(filter(None, (done.result.lead, done.result.draft, "\n".join(places))))


def file_uri(source: str, path: str) -> str:
    """The address of a file of a repository."""
    return f"repopilot://file?{urlencode({'source': source, 'path': path})}"


def _steps_of(progress: OnProgress) -> Callable[[Event], None]:
    """A sink that reports each step of the work as it begins."""
    return lambda event: progress(Progress(event.name, 0, 0)) if isinstance(event, Started) else None


async def _tell_that_it_goes_on(name: str, progress: OnProgress) -> None:
    began = time.monotonic()
    while True:
        await asyncio.sleep(GOES_ON_S)
        progress(Progress(f"{name}, {time.monotonic() - began:.0f} s", 0, 0))


def _ignore(progress: Progress) -> None:
    """Drop progress: the client didn't ask for it, and standard output belongs to the protocol."""
