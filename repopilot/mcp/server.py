"""The repository tools for an MCP client (an editor, another agent), over standard input and output."""

from __future__ import annotations

import asyncio
import threading
from collections.abc import Callable

from repopilot.errors import RepoPilotError
from repopilot.index.store import Index
from repopilot.runtime import Runtime
from repopilot.tools import call_graph, lookup
from repopilot.types import Progress, Snapshot


def run(runtime: Runtime) -> None:
    """Serve until standard input closes. Every tool takes a SOURCE, which is cloned and indexed on first use."""
    from mcp.server.fastmcp import FastMCP

    server = FastMCP("repopilot", instructions="Look things up in a git repository, at one commit, on this machine.")
    for tool in _tools(runtime):
        server.add_tool(tool)
    server.run()


def _tools(runtime: Runtime) -> list[Callable]:
    opened: dict[str, tuple[Snapshot, Index]] = {}
    opening = threading.Lock()

    def index_of(source: str) -> Index:
        from repopilot.workspace import open_index, open_snapshot

        with opening:
            if source not in opened:
                snapshot = open_snapshot(source, runtime, None, _silent, threading.Event())
                opened[source] = (snapshot, open_index(snapshot, runtime, _silent))
        return opened[source][1]

    async def looked_up(look: Callable[[Index], str], source: str) -> str:
        try:
            return await asyncio.to_thread(lambda: look(index_of(source)))
        except RepoPilotError as error:
            return f"error: {error}"

    async def search(source: str, query: str, k: int = 8) -> str:
        """Ranked passages of a repository (https URL or local path) for a question, identifier or traceback."""
        return await looked_up(
            lambda index: lookup.search(index, query, k, runtime.embedders.choose(runtime.settings)), source
        )

    async def outline(source: str, path: str) -> str:
        """The symbols a file defines, with their lines."""
        return await looked_up(lambda index: lookup.outline(index, path), source)

    async def symbol(source: str, name: str, path: str = "") -> str:
        """The text of a definition, by name or qualified name."""
        return await looked_up(lambda index: lookup.symbol(index, path, name), source)

    async def references(source: str, name: str) -> str:
        """Where a name is used."""
        return await looked_up(lambda index: lookup.references(index, name), source)

    async def read(source: str, path: str, start: int = 1, end: int = lookup.MOST_LINES) -> str:
        """Numbered lines of a file."""
        return await looked_up(lambda index: lookup.read(index, path, start, end), source)

    async def files(source: str, glob: str = "*") -> str:
        """Paths matching a glob."""
        return await looked_up(lambda index: lookup.files(index, glob), source)

    async def callers(source: str, name: str, depth: int = 1) -> str:
        """What depends on a file, definition or table (path, path:Symbol, Class.method) within so many hops."""
        return await looked_up(lambda index: call_graph.callers(index, name, depth), source)

    async def callees(source: str, name: str) -> str:
        """What a definition calls, uses or inherits from."""
        return await looked_up(lambda index: call_graph.callees(index, name), source)

    async def call_path(source: str, start: str, end: str) -> str:
        """The call path from one file or definition to another: calls, uses and imports, one a line."""
        return await looked_up(lambda index: call_graph.call_path(index, start, end), source)

    return [search, outline, symbol, references, read, files, callers, callees, call_path]


def _silent(progress: Progress) -> None:
    """An MCP client has no place for our progress; standard output belongs to the protocol."""
