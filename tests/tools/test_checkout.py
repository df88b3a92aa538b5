"""The repository as a folder, of a clone and of a local folder."""

from __future__ import annotations

from pathlib import Path

from support.git_server import serve
from support.shop_workspace import offline
from support.small_repo import FILES, lay_out

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


async def test_a_local_folder_is_itself(tmp_path: Path) -> None:
    folder = lay_out(tmp_path / "shop")
    settings = offline(tmp_path / "home")
    snapshot = open_source(parse_source(str(folder)), settings)
    async with checked_out(Workspace(snapshot, None, settings)) as found:  # type: ignore[arg-type]
        assert found == folder
    assert folder.exists()
