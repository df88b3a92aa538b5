"""The repository tools as an MCP client sees them: a real client, a real child process."""

from __future__ import annotations

import os
import re
import subprocess
import sys
from pathlib import Path

import httpx
import pytest


@pytest.mark.slow
async def test_an_mcp_client_finds_and_reads_code(shop: Path, home: Path) -> None:
    from mcp import ClientSession, StdioServerParameters
    from mcp.client.stdio import stdio_client

    env = {"REPOPILOT_HOME": str(home), "REPOPILOT_OLLAMA_URL": "", "PATH": os.environ["PATH"]}
    server = StdioServerParameters(command=sys.executable, args=["-m", "repopilot", "mcp"], env=env)
    async with stdio_client(server) as streams, ClientSession(*streams) as session:
        await session.initialize()
        tools = {tool.name: tool for tool in (await session.list_tools()).tools}
        assert {"search", "read", "rename_symbol", "run_tests", "changes", "apply"} <= tools.keys()
        assert not {"ask_user", "finish"} & tools.keys()
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
        assert (await call("read", path="shop/prices.py", start=4, end=4)) == "4 DISCOUNT_FROM = 5000"
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
        process.wait(20)


@pytest.mark.slow
async def test_over_http_a_client_asks_reads_files_and_follows_the_progress(shop: Path, over_http) -> None:
    from mcp import ClientSession
    from mcp.client.streamable_http import streamablehttp_client

    address, token = over_http
    assert httpx.post(address, json={}).status_code == 401
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
            assert (await session.list_resource_templates()).resourceTemplates[0].name == "file"
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
