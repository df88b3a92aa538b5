"""Many repositories on a Ray cluster: a real one of two processes, whose data directory isn't that of who asks."""

from __future__ import annotations

import os
import signal
import sys
import threading
import time
from pathlib import Path
from tempfile import TemporaryDirectory

import pytest
from support import git_server

from repopilot.cli import ray_cluster

pytestmark = pytest.mark.slow


@pytest.fixture(scope="module")
def cluster(tmp_path_factory):
    from ray.cluster_utils import Cluster

    # Not below pytest's folders: the paths of Ray's sockets would be too long.
    with pytest.MonkeyPatch.context() as place, TemporaryDirectory(dir=os.environ["PYTEST_DEBUG_TEMPROOT"]) as folder:
        place.setenv("RAY_TMPDIR", folder)
        with pytest.MonkeyPatch.context() as environment:
            environment.setenv("RAY_USAGE_STATS_ENABLED", "0")
            environment.setenv("REPOPILOT_HOME", str(tmp_path_factory.mktemp("worker")))
            started = Cluster(initialize_head=True, head_node_args={"num_cpus": 2, "include_dashboard": False})
            started.home = Path(os.environ["REPOPILOT_HOME"])
        yield started
        started.shutdown()


@pytest.fixture
def run(run_afresh, monkeypatch):
    monkeypatch.setenv("REPOPILOT_ALLOW_HTTP", "true")  # holds on the workers, which don't have it in theirs
    monkeypatch.setenv("REPOPILOT_ALLOW_PRIVATE_HOSTS", "true")

    return run_afresh


@pytest.fixture
def served(tmp_path):
    (tmp_path / "served").mkdir()
    with git_server.serve(tmp_path / "served") as server:
        yield server


def shop(folder: Path, name: str, text: str = "") -> Path:
    body = f"def price_of_{name}(count):\n    return count\n{text}"
    git_server.commit(folder / name, {f"{name}/prices.py": body})
    return folder / name


def publish(folder: Path, server: git_server.GitServer, name: str, text: str = "") -> str:
    git_server.publish(shop(folder, name, text), server.folder, f"{name}.git")
    return f"{server.url}/{name}.git"


def listed(folder: Path, *sources: object) -> Path:
    file = folder / "list.txt"
    file.write_text("".join(f"{source}\n" for source in sources))
    return file


def in_the_middle(server: git_server.GitServer, act) -> threading.Thread:
    """Stall the server, and `act` once a task waits for it; what asks the server then gets an answer."""
    server.stall.set()

    def wait() -> None:
        while not any("git-upload-pack-request" in headers for headers in server.headers):
            time.sleep(0.05)
        act()
        server.stall.clear()

    thread = threading.Thread(target=wait, daemon=True)
    thread.start()
    return thread


@pytest.mark.thorough
def test_all_but_one_that_fails_are_published_and_taken_over_and_a_second_run_does_what_changed(
    run, cluster, served, tmp_path
):
    away, here = publish(tmp_path, served, "tools"), shop(tmp_path, "fruit")
    many = ("index", "--many", listed(tmp_path, here, tmp_path / "gone", away), "--json")
    many = (*many, "--ray", cluster.address, "--to", tmp_path / "shared")
    status, found, err = run(*many)
    rows = found["repositories"]
    assert status == 1 and [row["ok"] for row in rows] == [True, False, True], err
    assert rows[1]["error"].startswith("The path") and rows[0]["files"] == rows[2]["files"] == 1
    assert "(2 done, 1 failed, 0 left)" in err
    files = sorted((tmp_path / "shared").iterdir())
    assert files == sorted(Path(row["file"]) for row in rows if row["ok"])
    assert not (tmp_path / "home" / "repos").exists() and list((cluster.home / "repos").glob("*tools*.git"))
    status, hits, _ = run("search", "--all", "price", "--json")
    assert {hit["repository"] for hit in hits["hits"]} == {"fruit", rows[2]["repo"]}

    before = Path(rows[0]["file"]).stat().st_mtime_ns
    publish(tmp_path, served, "tools", "\n\ndef rent_of_tools(days):\n    return days\n")
    _, found, err = run(*many)
    assert [row.get("unchanged") for row in found["repositories"]] == [True, None, False] and "✓ unchanged" in err
    assert Path(rows[0]["file"]).stat().st_mtime_ns == before
    assert found["repositories"][2]["commit"] != rows[2]["commit"]
    assert "rent_of_tools" in str(run("search", "--all", "rent_of_tools", "--json")[1]["hits"])


@pytest.mark.thorough
def test_a_killed_worker_loses_nothing(run, cluster, served, tmp_path):
    (raylet,) = cluster.head_node.all_processes["raylet"]
    killed = []

    def kill() -> None:
        while not list((tmp_path / "shared").glob("*wine*.index")):  # what is half written stays hidden
            time.sleep(0.05)
        for folder in Path("/proc").glob("[0-9]*"):
            title = (folder / "cmdline").read_bytes() if (folder / "cmdline").exists() else b""
            if title.startswith(b"ray::publish") and parent(folder) == raylet.process.pid:
                os.kill(int(folder.name), signal.SIGKILL)
                killed.append(folder.name)

    away = publish(tmp_path, served, "garden")
    killer = in_the_middle(served, kill)
    many = ("index", "--many", listed(tmp_path, shop(tmp_path, "wine"), away), "--json")
    status, found, err = run(*many, "--ray", cluster.address, "--to", tmp_path / "shared")
    killer.join(60)
    assert killed and status == 0 and [row["ok"] for row in found["repositories"]] == [True, True], err
    assert len(list((tmp_path / "shared").iterdir())) == 2
    assert run("search", "--all", "price_of_garden", "--json")[1]["hits"]


def parent(process: Path) -> int:
    return int((process / "stat").read_text().rpartition(")")[2].split()[1])


def test_what_is_missing_is_said(run, tmp_path, monkeypatch):
    many = ("index", "--many", listed(tmp_path, tmp_path))
    assert run(*many, "--ray", "local")[0] == run("index", tmp_path, "--to", "x")[0] == 2
    status, _, err = run(*many, "--ray", "127.0.0.1:1", "--to", tmp_path / "shared")
    assert status == 1 and "no Ray cluster at 127.0.0.1:1" in err and "ray start --head" in err
    monkeypatch.setitem(sys.modules, "ray", None)
    status, _, err = run(*many, "--ray", "local", "--to", tmp_path / "shared")
    assert status == 2 and "pip install 'repopilot[ray]'" in err


@pytest.mark.thorough
def test_a_head_that_disappears_is_said(run, cluster, served, tmp_path, monkeypatch):
    """The last one: the cluster is gone after it."""
    monkeypatch.setattr(ray_cluster, "LOST_AFTER_S", 1.0)

    def kill() -> None:
        for processes in cluster.head_node.all_processes.values():
            for each in processes:
                each.process.kill()

    away = publish(tmp_path, served, "cheese")
    killer = in_the_middle(served, kill)
    many = ("index", "--many", listed(tmp_path, away))
    status, _, err = run(*many, "--ray", cluster.address, "--to", tmp_path / "shared")
    killer.join(60)
    assert status == 1 and "no longer answers; 1 repositories are left" in err and "not indexed again" in err
