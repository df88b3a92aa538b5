"""The code graph beside the index: made behind it, kept, loaded, brought up to date, and never missed."""

import os
import random
import subprocess
import sys
import time

import numpy as np
import pytest
from support.index_case import FILES, WordEmbedder, many, snapshot, write
from support.waiting import PATIENCE_S
from support.worker_calls import MODULE

from repopilot.agents.impact.codebase import codebase_of
from repopilot.code.graph import build
from repopilot.code.graph.build import link_graph
from repopilot.code.graph.graph import Graph, callers, find
from repopilot.errors import Cancelled
from repopilot.index.build.job import IndexRequest
from repopilot.index.graph import code_graph, graph_file
from repopilot.index.graph.code_graph import graph_of
from repopilot.index.manifests import every_manifest
from repopilot.index.storage import layout
from repopilot.index.store import Index


@pytest.fixture
def root(tmp_path):
    return write(tmp_path / "shop", FILES)


def same(one: Graph, other: Graph) -> bool:
    names = ("sources", "targets", "kinds", "confidence", "lines")
    orders = ("forward", "backward", "defined")
    return (
        list(one.nodes) == list(other.nodes)
        and np.array_equal(one.by_name.sums, other.by_name.sums)
        and np.array_equal(one.by_name.numbers, other.by_name.numbers)
        and one.by_path == other.by_path
        and one.unresolved == other.unresolved
        and all(np.array_equal(getattr(one, name), getattr(other, name)) for name in names)
        and all(np.array_equal(a, b) for name in orders for a, b in zip(getattr(one, name), getattr(other, name)))  # noqa: B905
    )


def whole(index: Index) -> Graph:
    analyses = list(index.analyses())
    return link_graph(analyses, every_manifest(index))


def kept(index: Index):
    return index.folder.parent / layout.GRAPH


@pytest.mark.slow
def test_the_job_makes_it_behind_the_index_and_who_asks_loads_it(root, conf, monkeypatch, jobs):
    index = jobs.build(IndexRequest(snapshot(root), conf))
    assert kept(index).exists()
    expected = whole(index)
    monkeypatch.setattr(build, "link_graph", lambda *_: pytest.fail("is there already"))
    assert same(graph_of(index), expected)
    assert codebase_of(index).paths == list(index.files)
    (price,) = find(graph_of(index), "price")
    assert [graph_of(index).nodes[link.node].name for link in callers(graph_of(index), price)] == ["Cart.total"]


@pytest.mark.slow
def test_it_is_not_made_twice_for_the_same_content(root, conf, jobs):
    jobs.build(IndexRequest(snapshot(root), conf))
    seen = []
    jobs.build(IndexRequest(snapshot(root, "other"), conf), progress=seen.append)
    assert "graph" not in {progress.phase for progress in seen}


@pytest.mark.slow
def test_after_a_change_it_is_that_of_a_full_build(root, conf, monkeypatch, jobs):
    jobs.build(IndexRequest(snapshot(root), conf))
    write(root, {"src/shop/prices.py": "def cost(item):\n    return item\n", "src/shop/more.py": "import shop.cart\n"})
    index = jobs.build(IndexRequest(snapshot(root), conf))
    assert graph_file.load(index.folder.parent, code_graph.content_key(index)) is not None
    assert same(graph_of(index), whole(index))
    assert find(graph_of(index), "cost") and not find(graph_of(index), "price")


def _broken(data: bytes, how: str) -> bytes:
    chance = random.Random(3)
    at = len(data) // 2
    return {
        "empty": b"",
        "cut": data[:at],
        "text": b"not a graph at all",
        "bytes": data[:at] + bytes(chance.randrange(256) for _ in range(200)) + data[at + 200 :],
        "version": data.replace(graph_file.file_version().encode(), b"0" * len(graph_file.file_version())),
    }[how]


@pytest.mark.slow
@pytest.mark.parametrize("how", ["missing", "empty", "cut", "text", "bytes", "version"])
def test_a_missing_broken_or_old_one_is_made_when_asked_for(root, conf, how, jobs):
    index = jobs.build(IndexRequest(snapshot(root), conf))
    expected, data = whole(index), kept(index).read_bytes()
    if how == "missing":
        kept(index).unlink()
    else:
        kept(index).write_bytes(_broken(data, how))
    assert same(graph_of(index), expected)
    assert same(graph_file.load(index.folder.parent, code_graph.content_key(index)), expected), "kept for the next"


@pytest.mark.slow
def test_any_damage_gives_the_same_graph(root, conf, jobs):
    index = jobs.build(IndexRequest(snapshot(root), conf))
    expected, data, chance = whole(index), kept(index).read_bytes(), random.Random(5)
    for _ in range(60):
        at, size = chance.randrange(len(data)), chance.randrange(1, 40)
        kept(index).write_bytes(data[:at] + chance.randbytes(size) + data[at + size :])
        assert same(graph_of(index), expected)


def test_a_graph_that_cannot_be_stored_is_built_each_time_with_a_note(root, conf, jobs):
    (conf.indexes / snapshot(root).key / layout.GRAPH).mkdir(parents=True)
    job = jobs.start(IndexRequest(snapshot(root), conf))
    assert job.done.wait(PATIENCE_S)
    assert job.error is None
    assert any("could not be written" in note for note in job.notes)
    assert same(graph_of(job.index), whole(job.index))


@pytest.mark.slow
def test_what_a_killed_process_left_is_swept(root, conf, jobs):
    index = jobs.build(IndexRequest(snapshot(root), conf))
    ended = subprocess.Popen([sys.executable, "-c", ""])
    ended.wait()
    ours, token = os.getpid(), "0123abcd"  # the number of a dead process may be that of the next, as in a container
    left = [f"{layout.GRAPH}.{ended.pid}-{token}-1.new", f"{layout.STAMPS}.{ended.pid}-{token}-1.new"]
    left += [f"{layout.DENSE}.{ours}-{token}-1.new", f"{layout.DENSE}.{ended.pid}-1.new"]
    alive = [layout.draft_of(kept(index)).name, f"{layout.STAMPS}.{os.getppid()}-{token}-1.new"]
    for name in (*left, *alive):
        kept(index).with_name(name).write_bytes(b"half")
    jobs.build(IndexRequest(snapshot(root), conf))
    assert [name for name in (*left, *alive) if kept(index).with_name(name).exists()] == alive


@pytest.mark.slow
def test_nobody_waits_for_it_who_needs_only_search_and_history(root, conf, monkeypatch, jobs):
    monkeypatch.setattr(code_graph, "_LINK", f"{MODULE}:sleeping")
    index = jobs.build(IndexRequest(snapshot(root), conf), until="history")
    job = jobs.running(snapshot(root))
    assert job is not None and job.history_ready.is_set() and not job.done.is_set()
    assert index.symbols("Cart")
    while job.progress.phase != "graph":
        time.sleep(0.01)
    time.sleep(0.2)
    job.cancel()
    assert job.done.wait(PATIENCE_S), "what it waits for takes ten minutes"
    assert isinstance(job.error, Cancelled)
    assert same(graph_of(index), whole(index)), "and an impact question makes it for itself"


@pytest.mark.slow
def test_a_second_look_does_not_wait_for_the_first_graph(root, conf, monkeypatch, jobs):
    with monkeypatch.context() as patch:
        patch.setattr(code_graph, "_LINK", f"{MODULE}:sleeping")
        job = jobs.start(IndexRequest(snapshot(root), conf))
        while job.progress.phase != "graph":
            time.sleep(0.01)
    write(root, {"late.py": "def late():\n    pass\n"})
    assert jobs.start(IndexRequest(snapshot(root), conf)) is job
    assert job.done.wait(PATIENCE_S)
    assert find(graph_file.load(job.index.folder.parent, code_graph.content_key(job.index)), "late")


@pytest.mark.slow
def test_a_crash_is_a_note_and_vectors_are_computed(root, conf, monkeypatch, jobs):
    monkeypatch.setattr(code_graph, "_LINK", f"{MODULE}:crashing")
    job = jobs.start(IndexRequest(snapshot(root), conf, WordEmbedder()))
    assert job.done.wait(PATIENCE_S)
    assert job.error is None
    assert any("crashed" in note for note in job.notes)
    assert job.index.dense == 1.0
    assert same(graph_of(job.index), whole(job.index))


@pytest.mark.slow
def test_a_deleted_generation_needs_no_graph(tmp_path, conf, jobs):
    root = write(tmp_path / "many", many(3))
    index = jobs.build(IndexRequest(snapshot(root), conf))
    kept(index).unlink()
    assert list(code_graph.link([index.folder.with_name("g00000099")])) == [index.folder.with_name("g00000099")]
    assert not kept(index).exists()


@pytest.mark.slow
def test_an_old_index_does_not_replace_the_graph_of_a_newer_one(root, conf, jobs):
    old = jobs.build(IndexRequest(snapshot(root), conf))
    write(root, {"src/shop/more.py": "import shop.cart\n"})
    new = jobs.build(IndexRequest(snapshot(root), conf))
    assert same(graph_of(old), whole(old))
    assert graph_file.load(new.folder.parent, code_graph.content_key(new)) is not None
