"""The toolbox on a working copy of the shop: what each tool does, and how it answers what can't be done."""

from __future__ import annotations

import asyncio
import os
import shutil
import threading
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from dataclasses import replace
from pathlib import Path
from typing import Any

import pytest
from support.shop_workspace import offline, open_workspace, shop_workspace, workspace_of

from repopilot import trace
from repopilot.errors import LanguageServerError, UsageError
from repopilot.tools import registry
from repopilot.tools.registry import ToolContext, ToolResult
from repopilot.tools.toolbox import toolbox
from repopilot.tools.working_copy import working_copy
from repopilot.workspace import Workspace


@pytest.fixture(scope="module")
def shop(tmp_path_factory: pytest.TempPathFactory) -> Workspace:
    """Tools edit a working copy, never this."""
    crlf = {"notes.txt": "one\r\ntwo\r\nthree\r\n", "web/cart.js": "class Cart {\n  add(x) {\n    return x;\n  }\n}\n"}
    return shop_workspace(tmp_path_factory.mktemp("shop"), crlf)


SIZE, JS_SIZE = "def size(self):\n    return 0", "size() {\n  return 0;\n}"


class Toolbox:
    def __init__(self, context: ToolContext) -> None:
        self.context, self.copy = context, context.working_copy

    async def __call__(self, name: str, /, **arguments: Any) -> ToolResult:
        return await registry.call(registry.find(name, toolbox()), arguments, self.context)


@asynccontextmanager
async def opened(workspace: Workspace) -> AsyncIterator[Toolbox]:
    async with trace.root(lambda event: None, "tools") as step, working_copy(workspace) as copy:
        yield Toolbox(ToolContext(workspace, copy, step))


async def refusal(tools: Toolbox, name: str, /, **arguments: Any) -> str:
    with pytest.raises(UsageError) as error:
        await tools(name, **arguments)
    return str(error.value)


def test_every_tool_has_a_schema_that_servers_take():
    for tool in toolbox():
        schema = tool.schema()
        assert schema["name"] == tool.name and schema["description"].endswith(".")
        assert schema["parameters"]["type"] == "object" and "$ref" not in str(schema)
        assert all(field["description"] for field in schema["parameters"].get("properties", {}).values())


@pytest.mark.slow
@pytest.mark.parametrize(
    "error", [LanguageServerError("The server has ended."), KeyError("x"), asyncio.CancelledError()]
)
async def test_the_edits_of_a_tool_that_fails_are_taken_back(shop: Workspace, error: BaseException):
    async def fail(arguments: registry.Arguments, context: ToolContext) -> ToolResult:
        """Edit, then fail."""
        context.working_copy.edit({"notes.txt": "half"})
        raise error

    async with opened(shop) as tools:
        tools.copy.edit({"notes.txt": "before"})
        with pytest.raises(type(error)):
            await registry.call(registry.Tool("fail", registry.Arguments, "edit", fail), {}, tools.context)
        assert tools.copy.text("notes.txt") == "before" and tools.copy.steps == 1
        await tools("replace_text", path="notes.txt", old="before", new="after")
        assert tools.copy.text("notes.txt") == "after"


@pytest.mark.slow
@pytest.mark.parametrize("late", [lambda copy: copy.edit({"notes.txt": "late"}), lambda copy: copy.undo(1)])
async def test_a_thread_that_outlives_a_cancelled_tool_changes_nothing(shop: Workspace, late):
    edited, go_on, ended = threading.Event(), threading.Event(), threading.Event()

    async def linger(arguments: registry.Arguments, context: ToolContext) -> ToolResult:
        """Edit twice in a thread."""

        def work() -> None:
            context.working_copy.edit({"notes.txt": "half"})
            edited.set()
            go_on.wait(20)
            try:
                late(context.working_copy)
            finally:
                ended.set()

        await asyncio.to_thread(work)
        return ToolResult("done")

    async with opened(shop) as tools:
        tools.copy.edit({"notes.txt": "before"})
        tool = registry.Tool("linger", registry.Arguments, "edit", linger)
        call = asyncio.create_task(registry.call(tool, {}, tools.context))
        assert await asyncio.to_thread(edited.wait, 20)
        call.cancel()
        with pytest.raises(asyncio.CancelledError):
            await call
        assert tools.copy.text("notes.txt") == "before"
        go_on.set()
        assert await asyncio.to_thread(ended.wait, 20)
        assert tools.copy.text("notes.txt") == "before" and tools.copy.steps == 1


@pytest.mark.slow
async def test_a_generation_of_the_index_that_goes_while_it_is_copied_costs_time_only(shop: Workspace, monkeypatch):
    link = os.link

    def link_too_late(source: Path, target: Path) -> None:
        shutil.rmtree(shop.index.folder, ignore_errors=True)
        link(source, target)

    async with opened(shop) as tools:
        tools.copy.edit({"new.py": "def brand_new():\n    pass\n"})
        monkeypatch.setattr(os, "link", link_too_late)
        edited = await asyncio.to_thread(lambda: tools.copy.workspace)
    assert edited.index.symbols("brand_new") and "shop/prices.py" in edited.index.files


@pytest.mark.slow
async def test_what_was_edited_is_found_by_the_next_look_and_nothing_is_written(shop: Workspace):
    stored = (shop.snapshot.root / "shop/prices.py").read_bytes()
    async with opened(shop) as tools:
        await tools("replace_text", path="shop/prices.py", old="def price_of", new="def cost_of")
        assert "def cost_of" in (await tools("symbol", name="cost_of")).text
        assert "cost_of" in (await tools("outline", path="shop/prices.py")).text
        assert "cost_of" in (await tools("search", query="cost_of")).text
        (change,) = (await tools("changes")).data["files"]
        assert "+def cost_of" in change["diff"]
        assert (await tools("undo")).data == {"undone": 1}
        assert "price_of" in (await tools("outline", path="shop/prices.py")).text
        assert not tools.copy.changes()
    assert (shop.snapshot.root / "shop/prices.py").read_bytes() == stored


@pytest.mark.slow
async def test_an_outline_tells_a_file_without_symbols_from_a_language_without_them(tmp_path):
    made = workspace_of(tmp_path, {"empty.py": "print(1)\n", "run.tcl": "proc go {} {}\n"})
    async with opened(made) as tools:
        assert (await tools("outline", path="empty.py")).text == "empty.py defines no symbols"
        assert "no symbols are read from files of this language (tcl)" in (await tools("outline", path="run.tcl")).text


@pytest.mark.slow
async def test_undo_restores_what_the_copy_on_disk_has(shop: Workspace):
    async with opened(shop) as tools:
        await tools("create_file", path="shop/vat.py", content="def vat():\n    return 20\n")
        await tools("delete_file", path="shop/auth.py")
        tree = tools.copy.root()
        assert (tree / "shop/vat.py").exists() and not (tree / "shop/auth.py").exists()
        await tools("undo", steps=2)
        tree = tools.copy.root()
        assert not (tree / "shop/vat.py").exists() and (tree / "shop/auth.py").exists()


@pytest.mark.slow
async def test_a_text_that_is_not_there_is_answered_with_the_nearest_lines(shop: Workspace):
    async with opened(shop) as tools:
        said = await refusal(tools, "replace_text", path="shop/prices.py", old="DISCOUNT_FROM = 50", new="x", count=2)
        assert "Found 1 match in shop/prices.py, expected 2." in said
        said = await refusal(tools, "replace_text", path="shop/prices.py", old="DISCOUNT_START = 5000", new="x")
        assert "4 DISCOUNT_FROM = 5000" in said
        assert not tools.copy.changes()


@pytest.mark.slow
async def test_line_numbers_that_were_copied_are_left_out_and_line_ends_kept(shop: Workspace):
    async with opened(shop) as tools:
        await tools("replace_text", path="notes.txt", old="1 one\n2 two", new="1 one\n2 deux")
        assert tools.copy.text("notes.txt") == "one\r\ndeux\r\nthree\r\n"


@pytest.mark.slow
async def test_definitions_are_replaced_and_code_inserted_at_their_indentation(shop: Workspace):
    async with opened(shop) as tools:
        await tools("replace_symbol", path="shop/cart.py", name="Cart.add", code="def add(self, article):\n    pass")
        assert "    def add(self, article):\n        pass\n" in (tools.copy.text("shop/cart.py") or "")
        await tools(
            "insert_code", path="shop/cart.py", anchor="Cart", position="inside", code="def size(self):\n    return 0"
        )
        assert "\n\n    def size(self):\n        return 0\n" in (tools.copy.text("shop/cart.py") or "")
        await tools(
            "insert_code", path="web/cart.js", anchor="Cart", position="inside", code="size() {\n  return 0;\n}"
        )
        assert (tools.copy.text("web/cart.js") or "").endswith("  size() {\n    return 0;\n  }\n}\n")
        await tools("insert_code", path="shop/prices.py", code="FREE = 0")
        assert (tools.copy.text("shop/prices.py") or "").endswith("else cents\n\n\nFREE = 0\n")


@pytest.mark.slow
@pytest.mark.parametrize(
    ("name", "arguments", "said"),
    [
        ("replace_symbol", {"path": "shop/prices.py", "name": "price_of", "code": "def price_of(:"}, "no longer parse"),
        ("replace_symbol", {"path": "shop/prices.py", "name": "prise_of", "code": "x = 1"}, "price_of"),
        ("create_file", {"path": "shop/cart.py", "content": ""}, "already"),
        ("create_file", {"path": "../out.py", "content": ""}, "out.py"),
        ("create_file", {"path": "/etc/out.py", "content": ""}, "out.py"),
        ("create_file", {"path": ".git/hooks/post-commit", "content": "x"}, ".git"),
        ("move_file", {"path": "shop/cart.py", "new_path": "shop/auth.py"}, "already"),
        ("delete_file", {"path": "shop/carts.py"}, "shop/cart.py"),
        ("read", {"path": "shop/cart.py", "start": 90, "end": 99}, "lines 1 to"),
        ("read", {"path": "shop/carts.py"}, "carts.py"),
        ("read", {}, "path, start=1, end=200"),
        ("read", {"path": "a", "encoding": "b"}, "encoding"),
        ("callers", {"name": "price_of", "depth": 9}, "1 to 5"),
        ("symbol", {"name": "nothing_here"}, "nothing_here"),
    ],
)
async def test_wrong_arguments_are_answered_with_what_would_be_right(shop: Workspace, name, arguments, said):
    async with opened(shop) as tools:
        assert said in await refusal(tools, name, **arguments)
        assert not tools.copy.changes()


@pytest.mark.slow
async def test_links_and_binary_files_are_no_texts(tmp_path: Path):
    shop = shop_workspace(tmp_path)
    root = shop.snapshot.root
    (root / "picture.bin").write_bytes(bytes(range(256)))
    (root / "outside.py").symlink_to(tmp_path / "elsewhere.py")
    (tmp_path / "elsewhere.py").write_text("secret = 1\n")
    async with opened(shop) as tools:
        for path in ("picture.bin", "outside.py"):
            assert path in await refusal(tools, "replace_text", path=path, old="secret", new="x")


def test_an_unknown_tool_is_answered_with_those_there_are():
    with pytest.raises(UsageError, match="replace_text"):
        registry.find("replace_txt", toolbox())


@pytest.mark.slow
async def test_the_past_of_a_file_and_of_a_definition(shop: Workspace):
    async with opened(shop) as tools:
        (commit,) = (await tools("history", path="shop/cart.py")).data["commits"]
        assert commit["subject"] == "Open the shop" and commit["author"] and len(commit["date"]) == 10
        assert (await tools("history", name="Cart.total")).data["commits"] == [commit]
        assert "nope.py" in await refusal(tools, "history", path="nope.py")


@pytest.mark.slow
async def test_asking_needs_somebody_to_ask(shop: Workspace):
    async with opened(shop) as tools:
        assert "Nobody can be asked" in await refusal(tools, "ask_user", question="Which one?")

        async def ask(question: str, choices: tuple[str, ...]) -> str:
            return choices[1]

        asking = Toolbox(replace(tools.context, ask=ask))
        done = await asking("ask_user", question="Which?", choices=["a", "b"])
        assert done.data == {"answer": "b", "told": ["Which? b"], "by_default": False}
        other = await asking("ask_user", question="Which?", choices=["a", "b"], default="b")
        assert other.data["answer"] == "a" and not other.data["by_default"]


@pytest.mark.slow
async def test_where_no_answer_comes_the_default_is_taken_and_said(shop: Workspace):
    async with opened(shop) as tools:

        async def nobody(question: str, choices: tuple[str, ...]) -> str:
            return ""

        asking = Toolbox(replace(tools.context, ask=nobody))
        done = await asking("ask_user", question="Which?", choices=["a", "b"], default="b")
        assert done.data == {"answer": "b", "told": ["Which? b"], "by_default": True}
        assert "Go on with the default" in done.text


@pytest.mark.slow
async def test_check_says_what_the_repositorys_type_checker_finds_new(tmp_path: Path) -> None:
    price = 'def price(count: int) -> int:\n    return count * 9\n\n\ndef label() -> int:\n    return "old fault"\n'
    for path, text in {"pyproject.toml": '[tool.mypy]\nfiles = ["shop.py"]\n', "shop.py": price}.items():
        (tmp_path / "shop").mkdir(exist_ok=True)
        (tmp_path / "shop" / path).write_text(text)
    async with opened(open_workspace(tmp_path / "shop", offline(tmp_path / "home"))) as tools:
        await tools("replace_text", path="shop.py", old="count * 9", new="str(count)")
        done = await tools("check")
        assert [row["path"] for row in done.data["new"]] == ["shop.py"] and "str" in done.text
        assert "old fault" not in done.text
