from collections.abc import Iterator
from pathlib import Path

import pytest
from support.git_server import GitServer, commit, publish, serve

from repopilot.settings import Settings


@pytest.fixture
def options(tmp_path: Path) -> Settings:
    return Settings(home=tmp_path / "home", allow_http=True, allow_private_hosts=True, git_token="", _env_file=None)


@pytest.fixture
def work(tmp_path: Path) -> Path:
    """A work tree with three commits."""
    folder = tmp_path / "work"
    commit(folder, {"src/app.py": "def run():\n    return 1\n", "README.md": "# Demo\n"}, "first")
    commit(folder, {"src/util.py": "def twice(x):\n    return 2 * x\n"}, "second: add twice")
    commit(folder, {"src/app.py": "def run():\n    return 2\n"}, "third")
    return folder


@pytest.fixture
def server(tmp_path: Path, work: Path) -> Iterator[GitServer]:
    """The work tree served as /demo.git."""
    publish(work, tmp_path / "served")
    with serve(tmp_path / "served") as running:
        yield running
