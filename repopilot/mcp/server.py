"""The toolbox for an MCP client (an editor, another agent), whatever the transport.

Edits go to a working copy of each repository, which `changes` shows; the tool `apply` writes it into a local folder
where the server was started with `--apply`.
"""

from __future__ import annotations

import asyncio
import threading
from collections.abc import AsyncIterator
from contextlib import AsyncExitStack, asynccontextmanager
from dataclasses import dataclass
from typing import Any
from urllib.parse import parse_qsl, urlencode, urlsplit

from mcp.server.lowlevel import Server
from mcp.server.stdio import stdio_server
from mcp.types import (
    CallToolResult,
    GetPromptResult,
    Prompt,
    PromptArgument,
    PromptMessage,
    Resource,
    ResourceTemplate,
    TextContent,
)
from mcp.types import Tool as OfferedTool
from pydantic import AnyUrl, ValidationError

from repopilot import i18n, trace
from repopilot.agents.everywhere import answer_all
from repopilot.assistant import answer
from repopilot.documents import ask_document
from repopilot.errors import RepoPilotError, UsageError
from repopilot.i18n import message
from repopilot.index.folder_stamp import folder_stamp
from repopilot.repo.apply import check_unchanged, write_files
from repopilot.results import Answer, Explanation
from repopilot.retrieval.context_pack import pack_markdown
from repopilot.retrieval.requested_pack import PackRequest, requested_pack
from repopilot.runtime import Runtime
from repopilot.tools import registry
from repopilot.tools.registry import Desk, ToolResult
from repopilot.tools.toolbox import client_tools
from repopilot.tools.working_copy import WorkingCopy, working_copy
from repopilot.types import OnProgress, Progress
from repopilot.workspace import Workspace, open_index, open_snapshot, open_workspace, usable_environment

PROMPTS = ("explain", "review", "change")
FILE = "repopilot://file{?source,path}"
PLACES = 8
"""Of an answer, those that are listed."""
RESOURCES = 200
"""Files of a repository that are listed; every other can be read by its address."""
SOURCE = {"type": "string", "description": "the repository's https URL or local path"}


ALL = {"type": "boolean", "description": "every repository that is indexed here, instead of source"}
OF_ALL = {"search": ("query", "SEARCH"), "ask": ("question", "EXPLAIN")}
"""What can be asked of all repositories: the argument that says it, and its intent."""


def run(runtime: Runtime, apply: bool = False) -> None:
    """Serve until standard input closes.

    Args:
        runtime: the state of the process.
        apply: whether the tool `apply` may write into local folders.
    """

    async def serve() -> None:
        server = mcp_server(runtime, apply)
        async with stdio_server() as (incoming, outgoing):
            await server.run(incoming, outgoing, server.create_initialization_options())

    asyncio.run(serve())


def mcp_server(runtime: Runtime, apply: bool) -> Server:
    """The server of the protocol, for any transport; each session has working copies of its own.

    Args:
        runtime: the state of the process.
        apply: whether the tool `apply` may write into local folders.
    """

    @asynccontextmanager
    async def session(_: Server) -> AsyncIterator[OfferedTools]:
        async with AsyncExitStack() as stack:
            yield OfferedTools(runtime, stack, apply)

    server: Server = Server("repopilot", instructions=i18n.text("mcp.instructions", "en"), lifespan=session)

    @server.list_tools()
    async def list_tools() -> list[OfferedTool]:
        return _offers(server).listed()

    @server.call_tool(validate_input=False)
    async def call_tool(name: str, arguments: dict[str, Any]) -> CallToolResult:
        return await _offers(server).call(name, arguments, _progress(server))

    @server.list_resources()
    async def list_resources() -> list[Resource]:
        return _offers(server).resources()

    @server.list_resource_templates()
    async def list_resource_templates() -> list[ResourceTemplate]:
        described = i18n.text("mcp.file", "en")
        return [ResourceTemplate(uriTemplate=FILE, name="file", description=described, mimeType="text/plain")]

    @server.read_resource()
    async def read_resource(uri: AnyUrl) -> str:
        return await _offers(server).read(str(uri))

    @server.list_prompts()
    async def list_prompts() -> list[Prompt]:
        return [_prompt(name) for name in PROMPTS]

    @server.get_prompt()
    async def get_prompt(name: str, arguments: dict[str, str] | None) -> GetPromptResult:
        given = {"source": ".", "about": "", **(arguments or {})}
        if name not in PROMPTS:
            raise UsageError(message("mcp.no_prompt", name=name))
        text = i18n.text(f"mcp.prompts.{name}", "en", **given)
        return GetPromptResult(messages=[PromptMessage(role="user", content=TextContent(type="text", text=text))])

    return server


def _offers(server: Server) -> OfferedTools:
    return server.request_context.lifespan_context


def _progress(server: Server) -> OnProgress:
    """Tells the client how far a repository is, where it asked for that. Called from any thread."""
    context, loop = server.request_context, asyncio.get_running_loop()
    token = context.meta.progressToken if context.meta else None
    if token is None:
        return _ignore

    def report(progress: Progress) -> None:
        total = float(progress.total) if progress.total else None
        told = context.session.send_progress_notification(
            token, float(progress.done), total, str(progress.phase), str(context.request_id)
        )
        asyncio.run_coroutine_threadsafe(told, loop)

    return report


def _prompt(name: str) -> Prompt:
    about = PromptArgument(name="about", description=i18n.text(f"mcp.prompt_about.{name}", "en"), required=True)
    source = PromptArgument(name="source", description=SOURCE["description"], required=True)
    return Prompt(name=name, description=i18n.text(f"mcp.prompt_does.{name}", "en"), arguments=[source, about])


@dataclass(slots=True)
class _Opened:
    """A repository that a client works on."""

    copy: WorkingCopy
    stack: AsyncExitStack
    lock: asyncio.Lock
    stamp: int = 0


class OfferedTools:
    """The tools of a session, and the repositories it has opened.

    Args:
        runtime: the state of the process.
        stack: closes the working copies at the end.
        may_apply: whether `apply` may write.
    """

    def __init__(self, runtime: Runtime, stack: AsyncExitStack, may_apply: bool) -> None:
        self._runtime, self._stack, self._may_apply = runtime, stack, may_apply
        self._opened: dict[str, _Opened] = {}
        self._opening = asyncio.Lock()
        self._tools = client_tools()

    def listed(self) -> list[OfferedTool]:
        """What a client may call: every tool that doesn't talk to the user, of any repository."""
        found = [_offered(tool.name, tool.description, tool.schema()["parameters"]) for tool in self._tools]
        question = {"properties": {"question": {"type": "string"}}, "required": ["question"]}
        return [
            *found,
            _offered("ask", i18n.text("mcp.ask", "en"), question),
            _offered("context", i18n.text("mcp.context", "en"), PackRequest.model_json_schema()),
            _offered("apply", i18n.text("mcp.apply", "en"), {}),
        ]

    async def call(
        self, name: str, arguments: dict[str, Any], progress: OnProgress = lambda progress: None
    ) -> CallToolResult:
        """Call a tool on a repository; an error of ours becomes text, which the client's model can act on.

        Args:
            name: of the tool.
            arguments: the repository as `source`, and those of the tool.
            progress: is told how far opening the repository is.
        """
        try:
            result = await self._called(name, dict(arguments), progress)
        except RepoPilotError as error:
            text = i18n.text("mcp.error", self._runtime.settings.language, error=i18n.reason(error))
            return CallToolResult(content=[TextContent(type="text", text=text)], isError=True)
        structured = result.data if isinstance(result.data, dict) else None
        text = i18n.said(result.text, self._runtime.settings.language or "en")
        return CallToolResult(content=[TextContent(type="text", text=text)], structuredContent=structured)

    def resources(self) -> list[Resource]:
        """The files of the repositories that are open, the first of each."""
        found = []
        for source, opened in self._opened.items():
            for path in list(opened.copy.original.index.files)[:RESOURCES]:
                found.append(Resource(uri=AnyUrl(file_uri(source, path)), name=path, mimeType="text/plain"))
        return found

    async def read(self, uri: str) -> str:
        """The text of a file by its address. Raises UsageError."""
        parts = urlsplit(uri)
        given = dict(parse_qsl(parts.query))
        source, path = given.get("source", ""), given.get("path", "")
        if parts.scheme != "repopilot" or not source or not path:
            raise UsageError(message("mcp.no_resource", uri=uri))
        opened = await self._open(source, _ignore)
        text = await asyncio.to_thread(opened.copy.original.index.text, path)
        if text is None:
            raise UsageError(message("mcp.no_resource", uri=uri))
        return text

    async def _called(self, name: str, arguments: dict[str, Any], progress: OnProgress) -> ToolResult:
        source = arguments.pop("source", None)
        if name in OF_ALL and arguments.pop("all", False) is True:
            asked, intent = OF_ALL[name]
            async with trace.root(lambda event: None, name, "tool") as step:
                return _replied(await answer_all(str(arguments.get(asked, "")), self._runtime, step, intent), None)
        if not isinstance(source, str) or not source:
            raise UsageError(message("mcp.no_source"))
        if name == "context":
            return await self._pack(source, arguments, progress)
        if name == "ask":
            return await self._ask(source, str(arguments.get("question", "")), progress)
        tool = None if name == "apply" else registry.find(name, self._tools)
        opened = await self._open(source, progress)
        async with opened.lock:
            await self._refresh(source, opened)
            if tool is None:
                return await self._apply(opened)
            async with trace.root(lambda event: None, name, "tool") as step:
                desk = Desk(opened.copy.original, opened.copy, None, step)
                return await registry.call(tool, arguments, desk)

    async def _apply(self, opened: _Opened) -> ToolResult:
        """Write the edits into the folder, and begin again with none."""
        root = opened.copy.original.snapshot.root
        if not self._may_apply:
            raise UsageError(message("mcp.may_not_apply"), message("mcp.may_not_apply_hint"))
        if root is None:
            raise UsageError(message("cli.apply_to_clone"), message("cli.apply_to_clone_hint"))
        changes = await asyncio.to_thread(opened.copy.changes)
        hashes = {path: file.hash for path, file in opened.copy.original.index.files.items()}
        await asyncio.to_thread(check_unchanged, root, changes, hashes)
        await asyncio.to_thread(write_files, root, changes)
        paths = [change.path for change in changes]
        await self._begin(opened, opened.copy.original)
        return ToolResult(message("mcp.applied", paths=", ".join(paths) or "-"), {"applied": paths})

    async def _ask(self, source: str, question: str, progress: OnProgress) -> ToolResult:
        """The whole answer to a question, by the models of this machine."""
        if not question.strip():
            raise UsageError(message("mcp.no_question"))
        opened = await self._open(source, progress)
        async with opened.lock:
            await self._refresh(source, opened)
        original = opened.copy.original
        workspace = await open_workspace(original.index, original.snapshot, self._runtime)
        async with trace.root(lambda event: None, "ask", "tool", question) as step:
            done = await answer(question, workspace, step)
        return _replied(done, workspace.model.name if workspace.model else None)

    async def _pack(self, source: str, arguments: dict[str, Any], progress: OnProgress) -> ToolResult:
        """A context pack as Markdown."""
        try:
            request = PackRequest.model_validate(arguments)
        except ValidationError as error:
            raise UsageError(message("mcp.malformed", problem=error.errors()[0]["msg"])) from error
        opened = await self._open(source, progress)
        async with opened.lock:
            await self._refresh(source, opened)
        original, largest = opened.copy.original, self._runtime.settings.max_file_kb << 10
        embedder = self._runtime.embedders.choose(self._runtime.settings)
        made = await asyncio.to_thread(requested_pack, original.index, original.snapshot, request, embedder, largest)
        return ToolResult(pack_markdown(made), {"tokens": made.tokens, "left_out": made.left_out})

    async def _open(self, source: str, progress: OnProgress) -> _Opened:
        async with self._opening:
            if source not in self._opened:
                workspace = await asyncio.to_thread(self._workspace, source, progress)
                stack = await self._stack.enter_async_context(AsyncExitStack())
                copy = await stack.enter_async_context(working_copy(workspace))
                self._opened[source] = _Opened(copy, stack, asyncio.Lock())
            return self._opened[source]

    async def _refresh(self, source: str, opened: _Opened) -> None:
        """Follow what others do to a local folder, until something is edited here."""
        original = opened.copy.original
        if original.snapshot.root is None or opened.copy.edited:
            return
        stamp = await asyncio.to_thread(folder_stamp, original.snapshot.root, list(original.index.files))
        if stamp == opened.stamp:
            return
        opened.stamp = stamp
        workspace = await asyncio.to_thread(self._workspace, source, _ignore)
        if workspace.index.folder != opened.copy.original.index.folder:
            await self._begin(opened, workspace)

    async def _begin(self, opened: _Opened, workspace: Workspace) -> None:
        await opened.stack.aclose()
        opened.copy = await opened.stack.enter_async_context(working_copy(workspace))

    def _workspace(self, source: str, progress: OnProgress) -> Workspace:
        """The repository of a source with its index, up to date. Blocking."""
        settings = self._runtime.settings
        snapshot = open_snapshot(source, self._runtime, None, progress, threading.Event())
        index = open_index(snapshot, self._runtime, progress)
        environment = usable_environment(snapshot, settings)
        embedder = self._runtime.embedders.choose(settings)
        return Workspace(snapshot, index, settings, embedder=embedder, environment=environment)


def _offered(name: str, description: str, parameters: dict[str, Any]) -> OfferedTool:
    """A tool with the repository as its first argument."""
    of_all = {"all": ALL} if name in OF_ALL else {}
    properties = {"source": SOURCE, **of_all, **parameters.get("properties", {})}
    required = [*([] if of_all else ["source"]), *parameters.get("required", ())]
    schema = {**parameters, "type": "object", "properties": properties, "required": required}
    return OfferedTool(name=name, description=description, inputSchema=schema)


def _replied(done: Answer, model: str | None) -> ToolResult:
    left_out = ("steps", "evidence")  # what is read costs the client's context: it has the places
    document = {name: value for name, value in ask_document(done, (), model).items() if name not in left_out}
    return ToolResult(_short(done), document)


def _short(done: Answer) -> str:
    """An answer without the lines of its evidence: what is said, and the places by their numbers."""
    if not (isinstance(done.result, Explanation) and done.evidence):
        return done.text
    places = [f"[{each.number}] {each.place} {each.symbol}".rstrip() for each in done.evidence[:PLACES]]
    return "\n\n".join(filter(None, (done.result.lead, done.result.draft, "\n".join(places))))


def file_uri(source: str, path: str) -> str:
    """The address of a file of a repository."""
    return f"repopilot://file?{urlencode({'source': source, 'path': path})}"


def _ignore(progress: Progress) -> None:
    """The client asked for no progress; standard output belongs to the protocol."""
