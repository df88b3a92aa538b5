"""The toolbox for an MCP client (an editor, another agent), over standard input and output.

Edits go to a working copy of each repository, which `changes` shows; the tool `apply` writes it into a local folder
where the server was started with `--apply`.
"""

from __future__ import annotations

import asyncio
import threading
from contextlib import AsyncExitStack
from dataclasses import dataclass
from typing import Any

from mcp.server.lowlevel import Server
from mcp.server.stdio import stdio_server
from mcp.types import CallToolResult, TextContent
from mcp.types import Tool as OfferedTool

from repopilot import i18n, trace
from repopilot.errors import RepoPilotError, UsageError
from repopilot.i18n import message
from repopilot.repo.apply import write_files
from repopilot.runtime import Runtime
from repopilot.tools import registry
from repopilot.tools.registry import Desk, ToolResult
from repopilot.tools.toolbox import toolbox
from repopilot.tools.working_copy import WorkingCopy, working_copy
from repopilot.types import Progress
from repopilot.workspace import Workspace, open_index, open_snapshot, usable_environment

SOURCE = {"type": "string", "description": "the repository's https URL or local path"}


def run(runtime: Runtime, apply: bool = False) -> None:
    """Serve until standard input closes.

    Args:
        runtime: the state of the process.
        apply: whether the tool `apply` may write into local folders.
    """
    asyncio.run(_serve(runtime, apply))


async def _serve(runtime: Runtime, apply: bool) -> None:
    server: Server = Server("repopilot", instructions=i18n.text("mcp.instructions", "en"))
    async with AsyncExitStack() as stack, stdio_server() as (incoming, outgoing):
        offered = OfferedTools(runtime, stack, apply)

        @server.list_tools()
        async def list_tools() -> list[OfferedTool]:
            return offered.listed()

        @server.call_tool(validate_input=False)
        async def call_tool(name: str, arguments: dict[str, Any]) -> CallToolResult:
            return await offered.call(name, arguments)

        await server.run(incoming, outgoing, server.create_initialization_options())


@dataclass(slots=True)
class _Opened:
    """A repository that a client works on."""

    copy: WorkingCopy
    stack: AsyncExitStack
    lock: asyncio.Lock


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
        self._tools = [tool for tool in toolbox() if tool.kind != "talk"]

    def listed(self) -> list[OfferedTool]:
        """What a client may call: every tool that doesn't talk to the user, of any repository."""
        found = [_offered(tool.name, tool.description, tool.schema()["parameters"]) for tool in self._tools]
        return [*found, _offered("apply", i18n.text("mcp.apply", "en"), {})]

    async def call(self, name: str, arguments: dict[str, Any]) -> CallToolResult:
        """Call a tool on a repository; an error of ours becomes text, which the client's model can act on."""
        try:
            result = await self._called(name, dict(arguments))
        except RepoPilotError as error:
            text = i18n.text("mcp.error", self._runtime.settings.language, error=i18n.reason(error))
            return CallToolResult(content=[TextContent(type="text", text=text)], isError=True)
        structured = result.data if isinstance(result.data, dict) else None
        text = i18n.said(result.text, self._runtime.settings.language or "en")
        return CallToolResult(content=[TextContent(type="text", text=text)], structuredContent=structured)

    async def _called(self, name: str, arguments: dict[str, Any]) -> ToolResult:
        source = arguments.pop("source", None)
        if not isinstance(source, str) or not source:
            raise UsageError(message("mcp.no_source"))
        tool = None if name == "apply" else registry.find(name, self._tools)
        opened = await self._open(source)
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
        await asyncio.to_thread(write_files, root, changes)
        paths = [change.path for change in changes]
        await self._begin(opened, opened.copy.original)
        return ToolResult(message("mcp.applied", paths=", ".join(paths) or "-"), {"applied": paths})

    async def _open(self, source: str) -> _Opened:
        async with self._opening:
            if source not in self._opened:
                workspace = await asyncio.to_thread(self._workspace, source)
                stack = await self._stack.enter_async_context(AsyncExitStack())
                copy = await stack.enter_async_context(working_copy(workspace))
                self._opened[source] = _Opened(copy, stack, asyncio.Lock())
            return self._opened[source]

    async def _refresh(self, source: str, opened: _Opened) -> None:
        """Follow what others do to a local folder, until something is edited here."""
        if opened.copy.original.snapshot.root is None or opened.copy.edited:
            return
        workspace = await asyncio.to_thread(self._workspace, source)
        if workspace.index.folder != opened.copy.original.index.folder:
            await self._begin(opened, workspace)

    async def _begin(self, opened: _Opened, workspace: Workspace) -> None:
        await opened.stack.aclose()
        opened.copy = await opened.stack.enter_async_context(working_copy(workspace))

    def _workspace(self, source: str) -> Workspace:
        """The repository of a source with its index, up to date. Blocking."""
        settings = self._runtime.settings
        snapshot = open_snapshot(source, self._runtime, None, _ignore, threading.Event())
        index = open_index(snapshot, self._runtime, _ignore)
        environment = usable_environment(snapshot, settings)
        embedder = self._runtime.embedders.choose(settings)
        return Workspace(snapshot, index, settings, embedder=embedder, environment=environment)


def _offered(name: str, description: str, parameters: dict[str, Any]) -> OfferedTool:
    """A tool with the repository as its first argument."""
    properties = {"source": SOURCE, **parameters.get("properties", {})}
    required = ["source", *parameters.get("required", ())]
    schema = {**parameters, "type": "object", "properties": properties, "required": required}
    return OfferedTool(name=name, description=description, inputSchema=schema)


def _ignore(progress: Progress) -> None:
    """An MCP client has no place for our progress; standard output belongs to the protocol."""
