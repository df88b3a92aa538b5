"""The repository as a folder, of a clone and of a local folder."""

from __future__ import annotations

import asyncio
import os
import tempfile
from pathlib import Path
from urllib.parse import urlsplit

import pytest
from support.git_server import commit, publish, serve
from support.index_case import write
from support.shop_workspace import offline, open_workspace
from support.small_repo import FILES, lay_out, run_git
from tools.test_tools import opened

from repopilot.repo.snapshot import open_source
from repopilot.repo.source import parse_source
from repopilot.repo.submodules import fetched_submodules
from repopilot.tools import run_tests
from repopilot.tools.checkout import checked_out
from repopilot.workspace import Workspace


@pytest.mark.slow
async def test_a_clone_is_checked_out_and_removed_afterwards(tmp_path: Path) -> None:
    folder = lay_out(tmp_path / "served" / "shop")
    write(folder, {"tests/certs/server.pem": "x", "tests/picture.png": "x", "server.pem": "x", "tests/run": "x"})
    (folder / "tests/run").chmod(0o755)
    run_git(folder, "add", "-f", ".")
    run_git(folder, "commit", "-q", "-m", "What tests need")
    settings = offline(tmp_path / "home").model_copy(update={"allow_private_hosts": True, "allow_http": True})
    with serve(tmp_path / "served") as server:
        snapshot = open_source(parse_source(f"{server.url}/shop"), settings)
    async with checked_out(Workspace(snapshot, None, settings)) as folder:  # type: ignore[arg-type]
        assert (folder / "shop/cart.py").read_text() == FILES["shop/cart.py"]
        assert not (folder / ".env").exists() and not (folder / "server.pem").exists()
        assert (folder / "tests/certs/server.pem").exists() and (folder / "tests/picture.png").exists()
        assert os.access(folder / "tests/run", os.X_OK) and not os.access(folder / "tests/picture.png", os.X_OK)
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


NEEDS_DATA = """import pathlib


def test_data():
    assert pathlib.Path("tests/data/a.txt").read_text() == "a"


def test_other():
    assert True
"""


@pytest.mark.slow
@pytest.mark.parametrize("is_there", [False, True], ids=["missing", "there"])
async def test_a_submodule_is_used_where_it_is_there_and_else_named(tmp_path: Path, is_there: bool) -> None:
    folder = lay_out(tmp_path / "shop")
    write(folder, {"tests/test_data.py": NEEDS_DATA})
    run_git(folder, "update-index", "--add", "--cacheinfo", "160000," + "1" * 40 + ",tests/data")
    run_git(folder, "add", "tests/test_data.py")
    run_git(folder, "commit", "-q", "-m", "Test the data")
    (folder / "tests/data").mkdir()
    if is_there:
        run_git(folder / "tests/data", "init", "-q")
        write(folder / "tests/data", {"a.txt": "a", ".gitignore": "out/\n", "out/b.txt": "b"})
    workspace = open_workspace(folder, offline(tmp_path / "home"))
    async with opened(workspace) as tools, checked_out(workspace) as copy:
        text = (await tools("run_tests", paths=["tests/test_data.py"])).text
        assert (copy / "tests/data/a.txt").exists() == is_there and not (copy / "tests/data/out").exists()
    assert ("git submodules, which are not fetched: tests/data." in text) != is_there
    assert ("2 tests pass" in text) == is_there, text


@pytest.mark.slow
async def test_public_submodules_on_the_clones_host_are_fetched_with_it(tmp_path: Path) -> None:
    """By a relative address, too. Another host isn't asked, and no token is sent."""
    served = tmp_path / "served"
    data = commit(tmp_path / "data", {"a.txt": "a"}, "Add data")
    publish(tmp_path / "data", served, "data.git")
    with serve(served) as server, serve(served) as other:
        names = {"tests/data": "../data.git", "tests/far": f"{other.url}/data.git", "tests/gone": "../gone.git"}
        parts = [f'[submodule "{name}"]\n\tpath = {name}\n\turl = {url}\n' for name, url in names.items()]
        folder = write(lay_out(tmp_path / "shop"), {".gitmodules": "".join(parts), "tests/test_data.py": NEEDS_DATA})
        for name in names:
            run_git(folder, "update-index", "--add", "--cacheinfo", f"160000,{data},{name}")
        run_git(folder, "add", ".gitmodules", "tests/test_data.py")
        run_git(folder, "commit", "-q", "-m", "Test the data")
        publish(folder, served, "shop.git")
        reachable = {"allow_http": True, "allow_private_hosts": True}
        settings = offline(tmp_path / "home").model_copy(update=reachable)
        told: list[str] = []
        source = parse_source(f"{server.url}/shop.git")
        snapshot = open_source(source, settings, progress=lambda progress: told.append(progress.phase))
        assert not other.requests and any("tests/gone is left out" in phase for phase in told)
        asked = len(server.requests)
        open_source(source, settings)
        assert not any("/data.git" in line for line in server.requests[asked:]), "it is there"
        server.token = "secret"
        private = offline(tmp_path / "private").model_copy(
            update=reachable | {"git_token": f"{urlsplit(server.url).netloc}=secret"}
        )
        assert not fetched_submodules(open_source(source, private), private), "it isn't asked with a token"
    assert {*fetched_submodules(snapshot, settings)} == {"tests/data"}
    async with checked_out(Workspace(snapshot, None, settings)) as folder:  # type: ignore[arg-type]
        assert (folder / "tests/data/a.txt").read_text() == "a" and not (folder / "tests/far").exists()


@pytest.mark.slow
async def test_before_the_loop_a_missing_submodule_is_named_where_no_test_can_run(tmp_path: Path) -> None:
    folder = write(lay_out(tmp_path / "shop"), {"tests/test_cart.py": 'open("tests/data/a.txt")\n'})
    run_git(folder, "update-index", "--add", "--cacheinfo", "160000," + "1" * 40 + ",tests/data")
    run_git(folder, "add", "tests/test_cart.py")
    (folder / "tests/data").mkdir()
    workspace = open_workspace(folder, offline(tmp_path / "home"))
    async with opened(workspace) as tools:
        near = await run_tests.places_near("change the cart in shop/cart.py", workspace)
        before = await run_tests.tests_before(near, tools.context)
    assert not before.can_run
    assert "git submodules, which are not fetched: tests/data." in before.text
