"""The repository as a folder, of a clone and of a local folder."""

from __future__ import annotations

import asyncio
import os
import tempfile
from pathlib import Path

import pytest
from support.git_server import serve
from support.index_case import write
from support.shop_workspace import offline, open_workspace
from support.small_repo import FILES, lay_out, run_git
from tools.test_tools import opened

from repopilot.repo.snapshot import open_source
from repopilot.repo.source import parse_source
from repopilot.tools.checkout import checked_out
from repopilot.workspace import Workspace


async def test_a_clone_is_checked_out_and_removed_afterwards(tmp_path: Path) -> None:
    lay_out(tmp_path / "served" / "shop")
    settings = offline(tmp_path / "home").model_copy(update={"allow_private_hosts": True, "allow_http": True})
    with serve(tmp_path / "served") as server:
        snapshot = open_source(parse_source(f"{server.url}/shop"), settings)
    async with checked_out(Workspace(snapshot, None, settings)) as folder:  # type: ignore[arg-type]
        assert (folder / "shop/cart.py").read_text() == FILES["shop/cart.py"]
        assert not (folder / ".env").exists()
    assert not folder.exists()


TOLD = """import pathlib


def test_it():
    there = sorted(str(path) for path in pathlib.Path().rglob("*") if path.is_file())
    assert not there, there
"""
PLANTED = {
    ".env": "PASSWORD=hK9%dPw2qLx7Zt",
    "shop/.npmrc": "x",
    "private/notes.py": "x = 1",
    "tests/server.pem": "x",
    "tests/untracked.pem": "x",
    "left_out/data.txt": "x",
    "new.txt": "x",
    "run.sh": "x",
}


@pytest.mark.slow
async def test_code_under_test_reads_nothing_that_is_kept_out(tmp_path: Path) -> None:
    """With the edits and without them it sees the same files: tracked ones, and untracked ones that aren't kept out."""
    folder = lay_out(tmp_path / "shop")
    run_git(folder, "rm", "-q", "--cached", ".env")
    write(folder, PLANTED | {"tests/test_told.py": TOLD, ".gitignore": "private/\n"})
    (folder / "run.sh").chmod(0o755)
    run_git(folder, "add", "-f", "tests/server.pem")
    settings = offline(tmp_path / "home").model_copy(update={"exclude": ["left_out/"]})
    workspace = open_workspace(folder, settings)
    async with opened(workspace) as tools, checked_out(workspace) as copy:
        assert os.access(copy / "run.sh", os.X_OK) and not os.access(copy / "new.txt", os.X_OK)
        said = [(await tools("run_tests", paths=["tests/test_told.py"])).text]
        await tools("replace_text", path="shop/cart.py", old="class EmptyCart", new="class NoItems")
        said.append((await tools("run_tests", paths=["tests/test_told.py"])).text)
        there = {str(path.relative_to(copy)) for path in copy.rglob("*") if path.is_file()}
    assert there & PLANTED.keys() == {"tests/server.pem", "new.txt", "run.sh"}
    assert said[0] == said[1] and "hK9" not in said[0]


async def test_a_folder_without_git_keeps_its_secrets_too(tmp_path: Path) -> None:
    folder = write(tmp_path / "plain", PLANTED | {".gitignore": "private/\n"})
    workspace = open_workspace(folder, offline(tmp_path / "home"))
    async with checked_out(workspace) as copy:
        assert {path.name for path in copy.rglob("*") if path.is_file()} == {
            ".gitignore",
            "data.txt",
            "new.txt",
            "run.sh",
        }


@pytest.mark.slow
async def test_a_cancelled_checkout_leaves_nothing(tmp_path: Path) -> None:
    """Cancelled while the files are being written, the thread that writes them doesn't make the folder again."""
    folder = write(tmp_path / "many", {f"shop/part_{number}/module.py": "x = 1\n" for number in range(800)})
    workspace = open_workspace(folder, offline(tmp_path / "home"))

    async def hold() -> None:
        async with checked_out(workspace):
            await asyncio.sleep(60)

    temporary = Path(tempfile.gettempdir())
    task = asyncio.create_task(hold())
    while not list(temporary.glob("repopilot-checkout-*/shop/*")):
        await asyncio.sleep(0)
    task.cancel()
    with pytest.raises(asyncio.CancelledError):
        await task
    await asyncio.get_running_loop().shutdown_default_executor()
    assert not list(temporary.glob("repopilot-checkout-*"))
