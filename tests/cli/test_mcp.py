"""The repository tools as an MCP client sees them: a real client, a real child process."""

from __future__ import annotations

import asyncio
import json
import os
import re
import socket
import subprocess
import sys
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from pathlib import Path

import pytest
from mcp import ClientSession, McpError
from mcp.shared.memory import create_connected_server_and_client_session
from support import waiting
from support.index_case import runtime_for
from support.waiting import PATIENCE_S, until

from repopilot import __version__, intents
from repopilot.index.storage import layout
from repopilot.mcp.server import mcp_server
from repopilot.settings import Settings

INITIALIZE = {"protocolVersion": "2025-06-18", "capabilities": {}, "clientInfo": {"name": "t", "version": "1"}}


@pytest.fixture
def big(tmp_path: Path) -> Path:
    """A folder whose index takes long."""
    folder = tmp_path / "big"
    folder.mkdir()
    for n in range(1200):
        (folder / f"m{n}.py").write_text(f"def f{n}():\n    return {n}\n" * 400)
    return folder


@pytest.mark.slow
async def test_an_mcp_client_finds_and_reads_code(shop: Path, home: Path) -> None:
    from mcp import ClientSession, StdioServerParameters
    from mcp.client.stdio import stdio_client

    env = {"REPOPILOT_HOME": str(home), "REPOPILOT_OLLAMA_URL": "", "PATH": os.environ["PATH"]}
    server = StdioServerParameters(command=sys.executable, args=["-m", "repopilot", "mcp"], env=env)
    async with stdio_client(server) as streams, ClientSession(*streams) as session:
        await session.initialize()
        tools = {tool.name: tool for tool in (await session.list_tools()).tools}
        assert {"search", "read", "rename_symbol", "run_tests", "changes"} <= tools.keys()
        assert not {"ask_user", "finish", "apply"} & tools.keys()
        assert tools["read"].inputSchema["required"] == ["source", "path"]

        async def call(tool: str, **arguments: object) -> str:
            return (await session.call_tool(tool, {"source": str(shop), **arguments})).content[0].text

        assert "shop/auth.py" in await call("search", query="validate token")
        of_all = await session.call_tool("search", {"all": True, "query": "validate token"})
        assert f"{shop.name} › shop/auth.py" in of_all.content[0].text
        assert "source" not in tools["ask"].inputSchema["required"]
        assert "def validate_token" in await call("symbol", name="validate_token")
        assert "shop/server.py" in await call("references", name="validate_token")
        assert "class Cart" in await call("outline", path="shop/cart.py")
        assert (await call("read", path="shop/prices.py", start=4, end=4)).endswith("lines\n4 DISCOUNT_FROM = 5000")
        assert (await call("read", path="no/such.py")).startswith("error: No file")
        assert "schema.sql" in await call("files", glob="*.sql")
        assert "shop/server.py" in await call("callers", name="validate_token")
        assert (await call("callers", name="nothing_like_it")).startswith("error: No file or definition")

        # The folder is followed until something is edited; then the copy stands.
        (shop / "shop/vat.py").write_text("def vat_of():\n    return 20\n")
        assert "def vat_of" in await call("symbol", name="vat_of")
        assert "+def tax_of" in await call("replace_text", path="shop/vat.py", old="def vat_of", new="def tax_of")
        assert "def tax_of" in await call("symbol", name="tax_of")
        assert "+def tax_of" in await call("changes")
        assert "--apply" in await call("apply")
        assert "def vat_of" in (shop / "shop/vat.py").read_text()


@pytest.fixture
def over_http(home: Path):
    """Address and token of a server over HTTP."""
    env = {"REPOPILOT_HOME": str(home), "REPOPILOT_OLLAMA_URL": "", "REPOPILOT_EMBEDDED": "false"}
    command = [sys.executable, "-m", "repopilot", "mcp", "--http", "--port", "0"]
    process = subprocess.Popen(command, env={**env, "PATH": os.environ["PATH"]}, stderr=subprocess.PIPE, text=True)
    try:
        said = process.stderr.readline()
        yield re.search(r"http://\S+", said)[0], re.search(r"Bearer (\S+)\)", said)[1]
    finally:
        process.terminate()
        process.wait(PATIENCE_S)


@pytest.mark.slow
async def test_over_http_a_client_asks_reads_files_and_follows_the_progress(shop: Path, over_http) -> None:
    from mcp import ClientSession
    from mcp.client.streamable_http import streamablehttp_client

    address, token = over_http
    assert waiting.post(address, json={}).status_code == 401
    told = []

    async def progress(done: float, total: float | None, message: str | None) -> None:
        told.append((done, total, message))

    headers = {"Authorization": f"Bearer {token}"}
    async with streamablehttp_client(address, headers) as (incoming, outgoing, _):
        async with ClientSession(incoming, outgoing) as session:
            await session.initialize()
            given = {"source": str(shop), "question": "what calls validate_token?"}
            asked = await session.call_tool("ask", given, progress_callback=progress)
            assert "shop/server.py" in asked.content[0].text and asked.structuredContent["citations"]
            assert "def " not in asked.content[0].text, "the client can read what it wants of the places"
            order = {"source": str(shop), "question": "rename validate_token to check_token"}
            told_so = await session.call_tool("ask", order)
            assert "check_token" not in (await session.call_tool("changes", {"source": str(shop)})).content[0].text
            assert told_so.structuredContent["route"]["intent"] in intents.answering()
            assert told and all(message for _, _, message in told)
            packed = await session.call_tool("context", {"source": str(shop), "folders": ["."]})
            assert "## Tokens" in packed.content[0].text and packed.structuredContent["tokens"] > 0
            odd = await session.call_tool("context", {"source": str(shop), "query": "price", "folders": ["."]})
            assert odd.isError and "either query or folders" in odd.content[0].text
            wrong = await session.call_tool("ask", {"source": str(shop)})
            assert wrong.isError and "question" in wrong.content[0].text

            listed = {each.name: each.uri for each in (await session.list_resources()).resources}
            text = (await session.read_resource(listed["shop/auth.py"])).contents[0].text
            assert "def validate_token" in text
            templates = (await session.list_resource_templates()).resourceTemplates
            assert [template.name for template in templates] == ["file", "overview"]
            about = (await session.read_resource(listed[f"overview of {shop}"])).contents[0].text
            assert "## Components" in about and "shop/auth.py" in about
            prompts = (await session.list_prompts()).prompts
            assert {prompt.name for prompt in prompts} == {"explain", "review", "change"}
            prompt = await session.get_prompt("explain", {"source": str(shop), "about": "the cart"})
            assert "the cart" in prompt.messages[0].content.text
            edited = await session.call_tool("rename_symbol", {"source": str(shop), "name": "Cart", "new_name": "Bag"})
            assert not edited.isError
    async with streamablehttp_client(address, headers) as (incoming, outgoing, _):
        async with ClientSession(incoming, outgoing) as session:  # another session has a working copy of its own
            await session.initialize()
            assert "Bag" not in (await session.call_tool("changes", {"source": str(shop)})).content[0].text


@asynccontextmanager
async def connected(home: Path, apply: bool = False) -> AsyncIterator[ClientSession]:
    """A client of a server in this process."""
    settings = Settings(home=home, ollama_url="", embedded=False, auto_download=False)
    with runtime_for(settings) as runtime:
        async with create_connected_server_and_client_session(mcp_server(runtime, apply)) as session:
            yield session


@pytest.mark.slow
async def test_the_tools_say_what_they_do(home: Path) -> None:
    async with connected(home) as session:
        tools = {tool.name: tool for tool in (await session.list_tools()).tools}
        assert "apply" not in tools
        for name in ("search", "ask", "context", "changes", "check"):
            assert tools[name].annotations.readOnlyHint, name
        for name in ("rename_symbol", "run_tests"):
            assert not tools[name].annotations.readOnlyHint and tools[name].annotations.destructiveHint is False
        assert tools["rename_symbol"].annotations.title == "Rename symbol"
        for name in ("rename_symbol", "create_file", "delete_file", "undo"):
            assert "Edits a copy" in tools[name].description
        initialized = await session.initialize()
        assert initialized.serverInfo.version == __version__
    async with connected(home, apply=True) as session:
        tools = {tool.name: tool for tool in (await session.list_tools()).tools}
        assert tools["apply"].annotations.destructiveHint and not tools["apply"].annotations.readOnlyHint


@pytest.mark.slow
async def test_arguments_of_every_tool_are_checked(shop: Path, home: Path) -> None:
    refused = [
        ("search", {"all": True, "query": "x", "k": 0}, "k: "),
        ("search", {"all": True, "query": "x", "k": "2"}, "k: "),
        ("search", {"all": True, "query": "x", "source": str(shop)}, "source: "),
        ("search", {"all": "yes", "query": "x"}, "all: "),
        ("search", {"all": True}, "query: "),
        ("search", {"source": str(shop), "query": "x", "more": 1}, "more"),
        ("ask", {"source": str(shop), "question": "x", "more": 1}, "more: "),
        ("ask", {"all": True, "question": " "}, "question: "),
        ("ask", {"source": str(shop), "question": 5}, "question: "),
        ("context", {"source": str(shop), "query": "x", "max_tokens": "9"}, "max_tokens: "),
        ("context", {"source": str(shop)}, "malformed: give either query or folders"),
        ("apply", {"source": str(shop), "more": 1}, "more: "),
        ("apply", {"source": str(shop)}, "--apply"),
    ]
    async with connected(home) as session:
        for name, arguments, said in refused:
            result = await session.call_tool(name, arguments)
            assert result.isError and said in result.content[0].text, (name, arguments, result)
        await session.call_tool("outline", {"source": str(shop), "path": "shop/cart.py"})
        found = await session.call_tool("search", {"all": True, "query": "price total cart", "k": 1})
        assert len(found.structuredContent["citations"] or [1]) == 1 and "1." in found.content[0].text
        assert "2." not in found.content[0].text.split("\n\n")[-1]
        with pytest.raises(McpError, match="source, about"):
            await session.get_prompt("explain", {})


@pytest.mark.slow
async def test_one_index_blocks_nobody_else_and_is_stopped_with_its_request(shop: Path, home: Path, big: Path) -> None:
    async with connected(home) as session, asyncio.timeout(PATIENCE_S):
        parsing = asyncio.Event()

        async def progress(done: float, total: float | None, message: str | None) -> None:
            if message.startswith("parsing"):
                parsing.set()

        given = {"source": str(big), "query": "x"}
        slow = asyncio.create_task(session.call_tool("search", given, progress_callback=progress))
        await parsing.wait()
        await session.call_tool("search", {"source": str(shop), "query": "x"})
        assert not slow.done()
        slow.cancel()


@pytest.mark.slow
@pytest.mark.thorough
def test_the_server_ends_soon_after_its_client_amid_an_index(home: Path, big: Path) -> None:
    env = {"REPOPILOT_HOME": str(home), "REPOPILOT_OLLAMA_URL": "", "PATH": os.environ["PATH"]}
    command = [sys.executable, "-m", "repopilot", "mcp"]
    said = [
        {"id": 1, "method": "initialize", "params": INITIALIZE},
        {"method": "notifications/initialized"},
        {
            "id": 2,
            "method": "tools/call",
            "params": {"name": "search", "arguments": {"source": str(big), "query": "x"}},
        },
    ]
    with subprocess.Popen(command, env=env, stdin=subprocess.PIPE, stdout=subprocess.PIPE) as process:
        for each in said:
            process.stdin.write(json.dumps({"jsonrpc": "2.0", **each}).encode() + b"\n")
            process.stdin.flush()
            if each.get("id") == 1:
                process.stdout.readline()
        until(lambda: list((home / "index").glob(f"big-*/{layout.BUILDING}")))
        process.stdin.close()
        process.wait(PATIENCE_S)
    folders = [each for each in (home / "index").glob("big-*") if (each / layout.BUILDING).exists()]
    assert folders and not any(map(layout.generations, folders))


@pytest.mark.slow
@pytest.mark.parametrize("port", ["99999", "taken"])
@pytest.mark.sampled(1)
def test_a_port_that_cannot_be_used_is_said(home: Path, port: str) -> None:
    with socket.create_server(("127.0.0.1", 0)) as other:
        given = str(other.getsockname()[1]) if port == "taken" else port
        command = [sys.executable, "-m", "repopilot", "mcp", "--http", "--port", given]
        env = {"REPOPILOT_HOME": str(home), "PATH": os.environ["PATH"]}
        done = subprocess.run(command, env=env, capture_output=True, text=True, timeout=PATIENCE_S)
    assert done.returncode == 2 and f"can’t listen on 127.0.0.1 port {given}".replace("’", "'") in done.stderr
    assert "Traceback" not in done.stderr and "--port" in done.stderr
