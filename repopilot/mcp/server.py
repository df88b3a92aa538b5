"""The repository tools for an MCP client (an editor, another agent), over standard input and output."""

from __future__ import annotations

import asyncio
import threading
from collections.abc import Awaitable, Callable, Sequence

from repopilot import i18n
from repopilot.errors import RepoPilotError
from repopilot.index.embed import Embedder
from repopilot.index.store import Index
from repopilot.runtime import Runtime
from repopilot.tools import call_graph, lookup
from repopilot.types import Progress

Tool = Callable[..., Awaitable[str]]


def run(runtime: Runtime) -> None:
    """Serve until standard input closes. Every tool takes a SOURCE, which is cloned and indexed on first use."""
    from mcp.server.fastmcp import FastMCP

    server = FastMCP("repopilot", instructions="Look things up in a git repository, at one commit, on this machine.")
    for tool in RepositoryTools(runtime).tools():
        server.add_tool(tool)
    server.run()


class RepositoryTools:
    """The tools and the repositories they have opened. The docstring of a tool is what the client's model reads."""

    def __init__(self, runtime: Runtime) -> None:
        self._runtime = runtime
        self._opened: dict[str, Index] = {}
        self._opening = threading.Lock()

    def tools(self) -> Sequence[Tool]:
        """What a client may call."""
        return (
            self.search,
            self.outline,
            self.symbol,
            self.references,
            self.read,
            self.files,
            self.callers,
            self.callees,
            self.call_path,
        )

    async def search(self, source: str, query: str, k: int = 8) -> str:
        """Ranked passages of a repository for a question, identifier or traceback.

        Args:
            source: the repository's https URL or local path.
            query: the question, identifier or traceback.
            k: the most passages, 1 to 20.
        """
        return await self._run(source, lambda index: lookup.search(index, query, k, self._embedder()))

    async def outline(self, source: str, path: str) -> str:
        """The symbols a file defines, with their lines."""
        return await self._run(source, lambda index: lookup.outline(index, path))

    async def symbol(self, source: str, name: str, path: str = "") -> str:
        """The text of a definition.

        Args:
            source: the repository's https URL or local path.
            name: plain or qualified.
            path: the file it is in, where several have the name.
        """
        return await self._run(source, lambda index: lookup.symbol(index, path, name))

    async def references(self, source: str, name: str) -> str:
        """Where a name is used."""
        return await self._run(source, lambda index: lookup.references(index, name))

    async def read(self, source: str, path: str, start: int = 1, end: int = lookup.MOST_LINES) -> str:
        """Numbered lines of a file.

        Args:
            source: the repository's https URL or local path.
            path: of the file.
            start: the first line, from 1.
            end: the last line, inclusive.
        """
        return await self._run(source, lambda index: lookup.read(index, path, start, end))

    async def files(self, source: str, glob: str = "*") -> str:
        """Paths matching a glob."""
        return await self._run(source, lambda index: lookup.files(index, glob))

    async def callers(self, source: str, name: str, depth: int = 1) -> str:
        """What depends on a file, definition or table.

        Args:
            source: the repository's https URL or local path.
            name: `path`, `path:Symbol` or `Class.method`.
            depth: how many hops to follow.
        """
        return await self._run(source, lambda index: call_graph.callers(index, name, depth))

    async def callees(self, source: str, name: str) -> str:
        """What a definition calls, uses or inherits from."""
        return await self._run(source, lambda index: call_graph.callees(index, name))

    async def call_path(self, source: str, start: str, end: str) -> str:
        """The call path from one file or definition to another: calls, uses and imports, one a line.

        Args:
            source: the repository's https URL or local path.
            start: `path`, `path:Symbol` or `Class.method`.
            end: the same.
        """
        return await self._run(source, lambda index: call_graph.call_path(index, start, end))

    async def _run(self, source: str, tool: Callable[[Index], str]) -> str:
        """Call a tool on a repository; an error of ours becomes text, which the client's model can act on."""
        try:
            return await asyncio.to_thread(lambda: tool(self._index(source)))
        except RepoPilotError as error:
            return i18n.text("mcp.error", self._runtime.settings.language, error=i18n.reason(error))

    def _index(self, source: str) -> Index:
        from repopilot.workspace import open_index, open_snapshot

        with self._opening:
            if source not in self._opened:
                snapshot = open_snapshot(source, self._runtime, None, _ignore, threading.Event())
                self._opened[source] = open_index(snapshot, self._runtime, _ignore)
            return self._opened[source]

    def _embedder(self) -> Embedder | None:
        return self._runtime.embedders.choose(self._runtime.settings)


def _ignore(progress: Progress) -> None:
    """An MCP client has no place for our progress; standard output belongs to the protocol."""
