"""The server's end while it indexes: soon, and without leaving processes behind."""

import os
import signal
import threading
from contextlib import suppress
from pathlib import Path

import httpx
import pytest
from support import git_server, waiting
from support.app import running
from support.waiting import PATIENCE_S, until

from repopilot.index.storage import layout


@pytest.fixture(scope="module")
def slow(tmp_path_factory):
    folder = tmp_path_factory.mktemp("ending") / "slow"
    git_server.commit(folder, {"a.py": "A = 1\n"})
    (folder / "many").mkdir()
    for n in range(1500):
        (folder / f"many/m{n}.py").write_text(f"def f{n}():\n    return {n}\n" * 400)
    return folder


def alive(pid):
    with suppress(OSError):
        return Path(f"/proc/{pid}/stat").read_text().rpartition(")")[2].split()[0] != "Z"
    return False


@pytest.mark.slow
@pytest.mark.skipif(not Path("/proc/self/task").exists(), reason="reads /proc")
@pytest.mark.parametrize("how", [signal.SIGTERM, signal.SIGINT, signal.SIGKILL])
def test_the_server_ends_soon_while_it_indexes(tmp_path, slow, how):
    options = {"ollama_url": "", "embedded": "false", "auto_download": "false", "access": "open"}
    with running(tmp_path / "home", **options) as app:

        def ask():
            with suppress(httpx.TransportError):
                waiting.post(f"{app.url}/api/v1/search", json={"source": str(slow), "query": "x"})

        thread = threading.Thread(target=ask)
        thread.start()
        indexes = app.home / "data/index"
        until(lambda: list(indexes.glob("slow-*/*")))
        workers = until(app.children)
        os.kill(app.process.pid, how)
        app.process.wait(PATIENCE_S)
        until(lambda: not any(map(alive, workers)))
        thread.join()
        # It is the unpublished index that tells that it didn't go on to its end.
        folders = [each for each in indexes.glob("slow-*") if each.is_dir()]
        assert folders and not any(map(layout.generations, folders))
