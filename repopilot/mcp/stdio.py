"""The MCP server over standard input and output, for the client that started it."""

from __future__ import annotations

import asyncio
import os
import sys
import threading
from collections.abc import AsyncIterator
from contextlib import suppress
from pathlib import Path
from typing import cast

import anyio
from mcp.server.stdio import stdio_server

from repopilot.mcp.server import mcp_server
from repopilot.runtime import Runtime


def run(runtime: Runtime, apply: bool = False, folders: tuple[Path, ...] = ()) -> None:
    """Serve until standard input closes.

    Args:
        runtime: the state of the process.
        apply: whether the tool `apply` may write into local folders.
        folders: local folders that clients may name, besides their roots.
    """

    async def serve() -> None:
        server = mcp_server(runtime, apply, folders)
        lines = cast("anyio.AsyncFile[str]", _lines_of_input())
        async with stdio_server(lines) as (incoming, outgoing):
            await server.run(incoming, outgoing, server.create_initialization_options())

    asyncio.run(serve())


async def _lines_of_input() -> AsyncIterator[str]:
    """The lines of standard input. The library's own reader can't be cancelled while it waits for a line, which would
    keep the process from ending."""
    loop = asyncio.get_running_loop()
    lines: asyncio.Queue[str | None] = asyncio.Queue(1)

    def put(line: str | None) -> None:
        asyncio.run_coroutine_threadsafe(lines.put(line), loop).result()

    def read() -> None:
        with suppress(RuntimeError), open(os.dup(sys.stdin.fileno()), encoding="utf-8", errors="replace") as given:
            for line in given:
                put(line)
            put(None)

    threading.Thread(target=read, name="standard input", daemon=True).start()
    while (line := await lines.get()) is not None:
        yield line
