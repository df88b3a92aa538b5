"""The repository tools as an MCP client sees them: a real client, a real child process."""

from __future__ import annotations

import os
import sys
from pathlib import Path

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
