"""MCP: how long a call takes from a client, over standard input.

    python -m bench.mcp_speed FOLDER [--calls N]

Each tool that looks is called with names of the repository; printed are the calls' median and 95th percentile in ms.
"""

from __future__ import annotations

import argparse
import asyncio
import os
import sys
import tempfile
import time
from pathlib import Path

from mcp import ClientSession, StdioServerParameters
from mcp.client.stdio import stdio_client


async def measure(folder: Path, calls: int, home: str) -> dict[str, list[float]]:
    """Milliseconds of each call by tool."""
    env = {**os.environ, "REPOPILOT_HOME": home, "REPOPILOT_OLLAMA_URL": "", "REPOPILOT_EMBEDDED": "false"}
    server = StdioServerParameters(command=sys.executable, args=["-m", "repopilot", "mcp"], env=env)
    took: dict[str, list[float]] = {}
    async with stdio_client(server) as streams, ClientSession(*streams) as session:
        await session.initialize()
        source = {"source": str(folder)}
        await session.call_tool("files", {**source, "glob": "*"})  # opens and indexes it
        paths = [p for p in sorted(folder.rglob("*.py")) if ".git" not in p.parts][:calls]
        for number in range(calls):
            path = str(paths[number % len(paths)].relative_to(folder))
            name = Path(path).stem
            for tool, arguments in (
                ("search", {"query": f"{name} error handling"}),
                ("outline", {"path": path}),
                ("read", {"path": path}),
                ("references", {"name": name}),
            ):
                began = time.perf_counter()
                await session.call_tool(tool, {**source, **arguments})
                took.setdefault(tool, []).append(1000 * (time.perf_counter() - began))
    return took


def main() -> None:
    """Measure, and print a line for each tool."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("folder", type=Path)
    parser.add_argument("--calls", type=int, default=40)
    options = parser.parse_args()
    with tempfile.TemporaryDirectory() as home:
        took = asyncio.run(measure(options.folder.resolve(), options.calls, home))
    every = sorted(value for values in took.values() for value in values)
    for tool, values in [*took.items(), ("all", every)]:
        ordered = sorted(values)
        print(f"{tool:12} p50 {ordered[len(ordered) // 2]:7.1f}  p95 {ordered[int(len(ordered) * 0.95)]:7.1f}")


if __name__ == "__main__":
    main()
