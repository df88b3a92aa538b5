from collections.abc import Iterator
from pathlib import Path
from shutil import copytree

import pytest
from support.git_server import GitServer, commit, publish, serve

from repopilot.settings import Settings


@pytest.fixture
def options(tmp_path: Path) -> Settings:
    return Settings(home=tmp_path / "home", allow_http=True, allow_private_hosts=True, git_token="", _env_file=None)


@pytest.fixture(scope="session")
def made(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """What `work` and `server` begin with."""
    folder = tmp_path_factory.mktemp("made")
    commit(folder / "work", {"src/app.py": "def run():\n    return 1\n", "README.md": "# Demo\n"}, "first")
    commit(folder / "work", {"src/util.py": "def twice(x):\n    return 2 * x\n"}, "second: add twice")
    commit(folder / "work", {"src/app.py": "def run():\n    return 2\n"}, "third")
    publish(folder / "work", folder / "served")
    return folder


@pytest.fixture
def work(tmp_path: Path, made: Path) -> Path:
    """A work tree with three commits."""
    return Path(copytree(made / "work", tmp_path / "work"))


@pytest.fixture
def server(tmp_path: Path, work: Path, made: Path) -> Iterator[GitServer]:
    """The work tree served as /demo.git."""
    with serve(Path(copytree(made / "served", tmp_path / "served"))) as running:
        yield running
