"""What the tools return to MCP clients as data, and the schema that each has; reviews and impact reports."""

from __future__ import annotations

from pathlib import Path

import jsonschema
import pytest
from cli.test_mcp import connected
from support.git_server import commit

FILES = {
    "app/__init__.py": "",
    "app/prices.py": "RATE = 2\n\n\ndef price(n):\n    return n * RATE\n",
    "app/cart.py": "import os\nfrom app.prices import price\n\n\ndef total(n):\n    return price(n)\n",
    "tests/test_prices.py": "from app.prices import price\n\n\ndef test_price():\n    assert price(2) == 4\n",
}
CALLS = [
    ("search", {"query": "price"}, lambda d: d["places"][0]["path"].endswith(".py") and d["places"][0]["text"]),
    ("grep", {"pattern": "price", "glob": "app"}, lambda d: d["total"] == 3 and d["lines"][0]["line"]),
    ("files", {"glob": "app/*"}, lambda d: d["paths"] == ["app/cart.py", "app/prices.py"]),
    ("outline", {"path": "app/cart.py"}, lambda d: d["symbols"][-1]["name"] == "total"),
    ("read", {"path": "app/prices.py", "start": 4}, lambda d: d["lines"][0] == "def price(n):" and d["total"] == 5),
    ("symbol", {"name": "price"}, lambda d: d["places"][0]["start_line"] == 4),
    ("references", {"name": "price"}, lambda d: d["sure"]),
    ("callers", {"name": "price"}, lambda d: {"app/cart.py"} <= {each["path"] for each in d["sure"]}),
    ("callees", {"name": "total"}, lambda d: d["sure"][0]["name"] == "price"),
    ("call_path", {"start": "total", "end": "price"}, lambda d: [each["name"] for each in d["steps"]][-1] == "price"),
    ("history", {}, lambda d: d["commits"][0]["subject"] == "change"),
    ("set_value", {"name": "RATE", "value": "3"}, lambda d: d["line"] == 1),
    ("undo", {}, lambda d: d == {"undone": 1}),
    ("replace_text", {"path": "app/prices.py", "old": "n * R", "new": "2 * n * R"}, lambda d: d["diff"]),
    ("rename_symbol", {"name": "price", "new_name": "cost"}, lambda d: "app/cart.py" in d["files"]),
    ("organize_imports", {"path": "app/cart.py"}, lambda d: d["files"] == ["app/cart.py"]),
    ("create_file", {"path": "app/new.py", "content": "x = 1\n"}, lambda d: d["paths"] == ["app/new.py"]),
    ("changes", {}, lambda d: len(d["files"]) == 4),
    ("check", {}, lambda d: "app/new.py" in d["checked"]),
    ("run_tests", {}, lambda d: d["failed"] == 1 and d["turned_red"]),
    ("run_command", {"command": "cat app/new.py", "commands": True}, lambda d: d["output"] == "x = 1\n"),
    ("review", {}, lambda d: d["reviewed"]),
    ("review", {"paths": ["app"], "diff": "HEAD~1..HEAD"}, lambda d: d["reviewed"] == ["app/cart.py"]),
    ("impact", {"targets": ["app/prices.py:price"]}, lambda d: d["affected"][0]["path"] == "app/cart.py"),
    ("impact", {"diff": "HEAD~1..HEAD"}, lambda d: [each["path"] for each in d["changed"]] == ["app/cart.py"]),
    ("overview", {}, lambda d: d["components"] and d["diagram"].startswith("flowchart")),
    ("ask", {"question": "what calls price?"}, lambda d: d["citations"]),
    ("context", {"query": "price"}, lambda d: d["tokens"] > 0),
    ("context", {"query": "price", "overview": True}, lambda d: d["tokens"] > 0),
]


@pytest.mark.slow
async def test_every_tool_returns_data_that_fits_its_schema(home: Path, tmp_path: Path) -> None:
    commit(tmp_path / "r", {**FILES, "app/cart.py": "total = 1\n"})
    commit(tmp_path / "r", FILES)
    async with connected(home, apply=True) as session:
        tools = {tool.name: tool for tool in (await session.list_tools()).tools}
        assert all(tool.outputSchema and tool.outputSchema["type"] == "object" for tool in tools.values())
        assert all("properties" in tool.outputSchema or "anyOf" in tool.outputSchema for tool in tools.values())
        for name, arguments, holds in CALLS:
            done = await session.call_tool(name, {"source": str(tmp_path / "r"), **arguments})
            assert not done.isError, (name, done.content)
            jsonschema.validate(done.structuredContent, tools[name].outputSchema)
            assert holds(done.structuredContent), (name, done.structuredContent)
        everywhere = await session.call_tool("search", {"all": True, "query": "price"})
        jsonschema.validate(everywhere.structuredContent, tools["search"].outputSchema)
        for name in ("review", "impact"):
            assert tools[name].annotations.readOnlyHint
        for wrong in ({}, {"targets": ["a"], "diff": "HEAD"}, {"patch": "no patch"}, {"diff": "no..such"}):
            refused = await session.call_tool("impact", {"source": str(tmp_path / "r"), **wrong})
            assert refused.isError and refused.content[0].text, wrong
