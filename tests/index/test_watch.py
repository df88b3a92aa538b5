"""A watched folder tells of its changes, and of nothing else."""

import threading

import pytest
from support.index_case import FILES, snapshot, write
from support.waiting import PATIENCE_S

from repopilot.index.build.job import IndexRequest
from repopilot.index.store import IndexStore
from repopilot.index.watch import watch
from repopilot.types import Snapshot


@pytest.fixture
def root(tmp_path):
    return write(tmp_path / "shop", FILES)


@pytest.mark.slow
def test_a_change_leads_to_a_new_index(conf, root, jobs):
    told = threading.Event()
    jobs.build(IndexRequest(snapshot(root), conf))
    changed = []

    def index_again(paths):
        changed.append(paths)
        jobs.build(IndexRequest(snapshot(root), conf))
        if IndexStore(conf.indexes).open(snapshot(root)).symbols("fresh"):
            told.set()

    watching = watch(snapshot(root), index_again)
    try:
        write(root, {"src/shop/fresh.py": "def fresh():\n    return 1\n", "node_modules/x.js": "1"})
        assert told.wait(PATIENCE_S)
    finally:
        watching.stop()
    assert all(paths == {"src/shop/fresh.py"} or paths == {"src/shop", "src/shop/fresh.py"} for paths in changed)


@pytest.mark.slow
def test_what_a_listener_raises_does_not_end_the_watching(root):
    calls = []

    def fail(paths):
        calls.append(paths)
        raise RuntimeError("no index today")

    watching = watch(snapshot(root), fail)
    try:
        for number in range(50):
            write(root, {"src/shop/fresh.py": f"x = {number}\n"})
            if threading.Event().wait(1.0) or len(calls) >= 2:
                break
    finally:
        watching.stop()
    assert len(calls) >= 2
    assert watching.error == ""


def test_a_removed_folder_is_reported(tmp_path):
    watching = watch(snapshot(tmp_path / "nowhere"), lambda paths: None)
    watching._thread.join(PATIENCE_S)
    assert "can't be watched" in watching.error
    watching.stop()


def test_a_bare_clone_is_not_watched(tmp_path):
    assert watch(Snapshot(key="k", name="n", commit="c", git_dir=tmp_path), lambda paths: None) is None
