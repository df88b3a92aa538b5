"""The server's end while it indexes: soon, and without leaving processes behind."""

import os
import signal
import threading
import time
from contextlib import suppress
from pathlib import Path

import httpx
import pytest
from support import git_server
from support.app import running

from repopilot.index.storage import layout

END_S = 90
"""Generous: it is the unpublished index that tells that it didn't go on to its end."""


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
                httpx.post(f"{app.url}/api/v1/search", json={"source": str(slow), "query": "x"}, timeout=60)

        thread = threading.Thread(target=ask)
        thread.start()
        indexes, deadline = app.home / "data/index", time.monotonic() + END_S
        while not (list(indexes.glob("slow-*/*")) and app.children()) and time.monotonic() < deadline:
            time.sleep(0.1)
        workers = app.children()
        os.kill(app.process.pid, how)
        app.process.wait(END_S)
        deadline = time.monotonic() + END_S
        while any(map(alive, workers)) and time.monotonic() < deadline:
            time.sleep(0.1)
        assert workers and not any(map(alive, workers))
        thread.join()
        folders = [each for each in indexes.glob("slow-*") if each.is_dir()]
        assert folders and not any(map(layout.generations, folders))
