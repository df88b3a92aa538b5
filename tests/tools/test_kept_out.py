"""No tool shows, moves, writes or deletes what the index keeps out, over any interface; and no secret gets out."""

from __future__ import annotations

import hashlib
import json
from collections.abc import Awaitable, Callable, Iterator, Sequence
from pathlib import Path
from typing import Any, get_origin

import httpx
import pytest
from mcp.shared.memory import create_connected_server_and_client_session
from support.index_case import runtime_for
from support.shop_workspace import offline, open_workspace
from support.small_repo import lay_out, run_git

from repopilot import trace
from repopilot.api.application import api
from repopilot.cli.app import main
from repopilot.errors import UsageError
from repopilot.logins.callers import Callers
from repopilot.mcp.server import mcp_server
from repopilot.tools import registry
from repopilot.tools.registry import Tool, ToolContext
from repopilot.tools.toolbox import client_tools
from repopilot.tools.working_copy import working_copy
from repopilot.workspace import Workspace

PLANTED = "hK9%dPw2qLx7Zt"
KEPT_OUT = {
    ".env": f"SHOP_SECRET={PLANTED}\n",
    "shop/.env.local": f"SHOP_SECRET={PLANTED}\n",
    "credentials.json": f'{{"anything": "{PLANTED}"}}\n',
    ".aws/config": f"anything {PLANTED}\n",
    "private/notes.md": f"# Notes\n\n{PLANTED}\n",
    "private/later.py": f"def later():\n    return '{PLANTED}'\n",
    "local.cfg": f"anything {PLANTED}\n",
}
IGNORE = "build/\n*.log\nprivate/\nlocal.cfg\n"
PATHS = (
    *KEPT_OUT,
    "./.env",
    ".env ",
    "shop/../.env",
    "shop//.env.local",
    ".\\.env",
    "link.md",
    "linked/notes.md",
    "linked/new.md",
    "private/new.md",
    ".ENV",
    ".AWS/new.md",
)
PLAIN = {"path": "README.md", "new_path": "moved.md", "to_path": "shop/moved.py", "paths": [], "glob": "*"}
TAKING_PATHS = PLAIN.keys() | {"anchor", "name", "start", "end"}
Call = Callable[[str, dict[str, Any]], Awaitable[str]]


def planted(folder: Path) -> Path:
    lay_out(folder)
    (folder / ".gitignore").write_text(IGNORE)
    run_git(folder, "rm", "-q", "--cached", ".env")
    for path, text in KEPT_OUT.items():
        (folder / path).parent.mkdir(exist_ok=True)
        (folder / path).write_text(text)
    (folder / "link.md").symlink_to(".env")
    (folder / "linked").symlink_to("private")
    (folder / "shop/settings.py").write_text(f'DB_PASSWORD = "{PLANTED}"\n\n\ndef login():\n    return DB_PASSWORD\n')
    run_git(folder, "add", "shop/settings.py", "link.md", "linked", "credentials.json", "-f")
    run_git(folder, "commit", "-qam", "Keep notes out")
    return folder


@pytest.fixture(scope="module")
def repository(tmp_path_factory: pytest.TempPathFactory) -> Path:
    return planted(tmp_path_factory.mktemp("kept") / "shop")


@pytest.fixture(scope="module")
def shop(repository: Path, tmp_path_factory: pytest.TempPathFactory) -> Workspace:
    return open_workspace(repository, offline(tmp_path_factory.mktemp("home")))


def state(folder: Path) -> dict[str, str]:
    files = (p for p in folder.rglob("*") if not p.is_relative_to(folder / ".git") and (p.is_file() or p.is_symlink()))
    return {
        str(p.relative_to(folder)): str(p.readlink()) if p.is_symlink() else hashlib.sha1(p.read_bytes()).hexdigest()
        for p in files
    }


def hostile_calls(tool: Tool, path: str) -> Iterator[dict[str, Any]]:
    """Calls of a tool with a path in each of the arguments that may be one, and in all of them."""
    fields = tool.arguments.model_fields
    plain = {name: _plain(name, field.annotation) for name, field in fields.items() if field.is_required()}
    where = [name for name in fields if name in TAKING_PATHS and fields[name].annotation is not int]
    bad = {name: [path] if name == "paths" else f"{path}:later" if name not in PLAIN else path for name in where}
    yield from ({**plain, name: value} for name, value in bad.items())
    yield {**plain, **bad}
    if "old" in fields:
        yield {**plain, "path": path, "old": PLANTED, "new": "x"}


def _plain(name: str, annotation: Any) -> Any:
    if name in PLAIN:
        return PLAIN[name]
    return {"id": "later", "name": "later", "new_name": "sooner"}.get(name, 1 if annotation is int else "SHOP_SECRET")


def test_every_argument_that_may_be_a_path_is_tried() -> None:
    texts = {
        name
        for tool in client_tools()
        for name, field in tool.arguments.model_fields.items()
        if field.annotation is str or get_origin(field.annotation) is list
    }
    # What a command sees of the repository is held by test_run_command.
    no_paths = {
        "command",
        "query",
        "old",
        "new",
        "code",
        "content",
        "value",
        "new_name",
        "add",
        "remove",
        "order",
        "pattern",
    }
    assert texts - no_paths <= TAKING_PATHS


@pytest.mark.slow
@pytest.mark.parametrize("tool", client_tools(), ids=lambda tool: tool.name)
async def test_no_tool_shows_or_changes_what_is_kept_out(shop: Workspace, tool: Tool) -> None:
    root = shop.snapshot.root
    assert root is not None
    for path in (*PATHS, str(root / ".env")):
        for arguments in hostile_calls(tool, path):
            async with trace.root(lambda event: None, "tools") as step, working_copy(shop) as copy:
                try:
                    done = await registry.call(tool, arguments, ToolContext(shop, copy, step))
                    said = json.dumps([done.text, done.data], default=str)
                except UsageError as error:
                    said = str(error)
                assert PLANTED not in said, (arguments, said)
                changed = [change.path for change in copy.changes()]
                # What names no path of its own may still change the README.
                assert set(changed) <= {"README.md", "moved.md", "shop/moved.py", "shop/settings.py"}, (arguments, said)


@pytest.mark.slow
@pytest.mark.parametrize("path", [p for p in PATHS if not p.startswith((".\\", "shop/.."))])
async def test_the_refusal_says_why(shop: Workspace, path: str) -> None:
    async with trace.root(lambda event: None, "tools") as step, working_copy(shop) as copy:
        context = ToolContext(shop, copy, step)
        for name, arguments in {
            "create_file": {"path": path, "content": "x"},
            "delete_file": {"path": path},
            "move_file": {"path": "README.md", "new_path": path},
        }.items():
            with pytest.raises(UsageError) as refused:
                await registry.call(registry.find(name, client_tools()), arguments, context)
            assert any(why in str(refused.value) for why in ("secrets", "ignored by git", "symbolic link"))


async def test_a_path_that_holds_a_secret_is_not_repeated(shop: Workspace) -> None:
    async with trace.root(lambda event: None, "tools") as step, working_copy(shop) as copy:
        with pytest.raises(UsageError) as refused:
            token = "ghp_" + "aB3dE5fG7h" * 4
            call = registry.find("create_file", client_tools())
            await registry.call(call, {"path": f"{token}.md", "content": "x"}, ToolContext(shop, copy, step))
        assert token not in str(refused.value)


@pytest.mark.slow
async def test_a_secret_stays_one_whatever_it_is_called(shop: Workspace) -> None:
    """A model that takes away the name by which a value is known to be a secret doesn't get to see it."""
    said = []
    async with trace.root(lambda event: None, "tools") as step, working_copy(shop) as copy:
        for name, arguments in (
            ("replace_text", {"path": "shop/settings.py", "old": 'DB_PASSWORD = "', "new": 'x = y = COLOUR = "a'}),
            ("changes", {}),
            ("read", {"path": "shop/settings.py"}),
            ("symbol", {"name": "COLOUR"}),
            ("search", {"query": "colour"}),
            ("check", {}),
            ("move_file", {"path": "shop/settings.py", "new_path": "shop/colours.md"}),
            ("read", {"path": "shop/colours.md"}),
            ("changes", {}),
            ("replace_text", {"path": "shop/colours.md", "old": PLANTED[:3], "new": "x"}),
            ("rename_symbol", {"name": "price_of", "new_name": "cost_of", "everywhere": True}),
        ):
            try:
                done = await registry.call(
                    registry.find(name, client_tools()), arguments, ToolContext(shop, copy, step)
                )
                said.append(json.dumps([done.text, done.data]))
            except UsageError as error:
                said.append(str(error))
        assert PLANTED in (copy.text("shop/colours.md") or ""), "what is written keeps the value"
    assert PLANTED not in "\n".join(said) and "COLOUR" in said[0]


async def test_whether_a_text_stands_there_does_not_tell_a_secret(shop: Workspace) -> None:
    async with trace.root(lambda event: None, "tools") as step, working_copy(shop) as copy:
        for guess in (PLANTED, PLANTED[:4], f'PASSWORD = "{PLANTED[:1]}'):
            arguments = {"path": "shop/settings.py", "old": guess, "new": "x"}
            with pytest.raises(UsageError) as refused:
                call = registry.find("replace_text", client_tools())
                await registry.call(call, arguments, ToolContext(shop, copy, step))
            assert "Found 0 " in str(refused.value)
        edit = {"path": "shop/settings.py", "old": "    return DB_PASSWORD", "new": "    return None"}
        await registry.call(registry.find("replace_text", client_tools()), edit, ToolContext(shop, copy, step))
        assert copy.text("shop/settings.py") == f'DB_PASSWORD = "{PLANTED}"\n\n\ndef login():\n    return None\n'


async def _everywhere(repository: Path, call: Call, paths: Sequence[str]) -> None:
    """Every tool with some of the paths, over one interface; nothing is shown, and the folder stays as it is."""
    before = state(repository)
    for tool in client_tools():
        for path in paths:
            for arguments in hostile_calls(tool, path):
                said = await call(tool.name, arguments)
                assert PLANTED not in said, (tool.name, arguments)
    said = await call("replace_text", {"path": "shop/settings.py", "old": "def login", "new": "def log_in"})
    assert "+def log_in" in said and PLANTED not in said
    assert state(repository) == before


@pytest.mark.slow
async def test_over_mcp(repository: Path, tmp_path: Path) -> None:
    with runtime_for(offline(tmp_path)) as runtime:
        async with create_connected_server_and_client_session(mcp_server(runtime, apply=False)) as session:

            async def call(name: str, arguments: dict[str, Any]) -> str:
                done = await session.call_tool(name, {"source": str(repository), **arguments})
                await session.call_tool("undo", {"source": str(repository), "steps": 9})
                return done.model_dump_json()

            await _everywhere(repository, call, (".env", "private/later.py", "credentials.json"))


@pytest.mark.slow
async def test_over_http(repository: Path, tmp_path: Path) -> None:
    with runtime_for(offline(tmp_path)) as runtime:
        transport = httpx.ASGITransport(api(runtime, Callers(runtime.settings, "")))
        async with httpx.AsyncClient(transport=transport, base_url="http://localhost", timeout=240) as client:

            async def call(name: str, arguments: dict[str, Any]) -> str:
                body = {"source": str(repository), "arguments": arguments}
                return (await client.post(f"/tools/{name}", json=body)).text

            await _everywhere(repository, call, (".env",))


@pytest.mark.slow
@pytest.mark.usefixtures("shared_workers")
def test_on_the_command_line(repository: Path, tmp_path: Path, monkeypatch, capfd) -> None:
    monkeypatch.setenv("REPOPILOT_HOME", str(tmp_path))
    monkeypatch.setenv("REPOPILOT_DENSE", "false")
    main(["index", str(repository)])  # whole, or each command begins what is missing and ends it with itself
    before = state(repository)
    for tool in client_tools():
        for arguments in hostile_calls(tool, ".env"):
            given = {key: value if isinstance(value, str) else json.dumps(value) for key, value in arguments.items()}
            options = [f"--{key}={value}" for key, value in given.items()]
            for form in ([], ["--json"]):
                main(["tool", str(repository), tool.name, *options, *form])
            said = "".join(capfd.readouterr())
            assert PLANTED not in said and "Traceback" not in said, (tool.name, arguments)
    main(["tool", str(repository), "delete_file", "--path", ".env", "--apply"])
    main(["tool", str(repository), "move_file", "--path", "private/notes.md", "--new_path", "x.md", "--apply"])
    main(["tool", str(repository), "create_file", "--path", "linked/new.md", "--content", "x", "--apply"])
    assert state(repository) == before
