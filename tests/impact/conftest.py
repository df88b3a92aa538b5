from collections.abc import Callable, Mapping
from functools import partial
from pathlib import Path

import pytest
from support.git_server import commit
from support.impact_case import SHOP
from support.shop_workspace import offline, open_workspace

from repopilot.workspace import Workspace

Repository = Callable[..., Workspace]


def opened(home: Path, *commits: Mapping[str, str | bytes | None], plain: Mapping[str, str] | None = None) -> Workspace:
    """Commit files (each mapping one commit) and open the folder; an empty list of commits for a plain folder."""
    folder = home / "shop"
    for path, text in (plain or {}).items():
        (folder / path).parent.mkdir(parents=True, exist_ok=True)
        (folder / path).write_text(text)
    for number, files in enumerate(commits):
        commit(folder, files, f"change {number}")
    return open_workspace(folder, offline(home / "home"))


@pytest.fixture
def repository(tmp_path: Path) -> Repository:
    return partial(opened, tmp_path)


@pytest.fixture(scope="session")
def shop(tmp_path_factory: pytest.TempPathFactory) -> Workspace:
    """Only read."""
    return opened(tmp_path_factory.mktemp("impact"), SHOP, {"shop/prices.py": SHOP["shop/prices.py"] + "\n# more\n",
        "shop/lonely.py": "x = 1\n"}, {
        "shop/prices.py": SHOP["shop/prices.py"], "shop/web.py": SHOP["shop/web.py"] + "\n",
        "shop/lonely.py": SHOP["shop/lonely.py"]})  # fmt: skip
