"""The code graph of a large index: linked while the index is written, and by a worker process when it is missing."""

import os
import shutil
import signal
import subprocess
import sys
import threading

import pytest
from support.index_case import FILES, instant_index, many, runtime_for, settings, snapshot, write
from support.waiting import PATIENCE_S
from support.worker_calls import MODULE

from repopilot.code.graph import build
from repopilot.code.graph.graph import find
from repopilot.index.build.job import IndexRequest
from repopilot.index.graph import code_graph, graph_file
from repopilot.index.graph.code_graph import content_key, graph_of
from repopilot.index.storage import layout
from repopilot.index.store import Index
from repopilot.openings import open_index

CHANGED = {"src/shop/prices.py": "def cost(item):\n    return item\n", "src/shop/more.py": "import shop.cart\n"}


@pytest.fixture
def root(tmp_path):
    return write(tmp_path / "shop", FILES)


@pytest.fixture(autouse=True)
def _every_index_is_large(monkeypatch):
    monkeypatch.setattr(code_graph, "MANY_CHUNKS", 0)


def edges(index: Index) -> list[tuple]:
    graph = graph_of(index)
    columns = (graph.sources, graph.targets, graph.kinds, graph.confidence, graph.lines)
    return [*graph.nodes, *zip(*(column.tolist() for column in columns), strict=True)]


def fresh(root, tmp_path) -> list[tuple]:
    """The graph of a new build in a place of its own."""
    return edges(instant_index(snapshot(root), settings(tmp_path / "fresh")))


def stored(index: Index):
    return graph_file.load(index.folder.parent, content_key(index))


def left_in(index: Index) -> set[str]:
    return {path.name for path in index.folder.parent.iterdir() if "graph" in path.name}


def no_linking_here(monkeypatch):
    monkeypatch.setattr(build, "link_graph", lambda *_: pytest.fail("linked in the process of the page"))


def no_linking_later(monkeypatch):
    monkeypatch.setattr(code_graph, "_LINK", f"{MODULE}:crashing")
    no_linking_here(monkeypatch)


@pytest.mark.slow
def test_the_graph_is_linked_before_the_index_is_published(root, tmp_path, conf, jobs, monkeypatch):
    expected = fresh(root, tmp_path)
    no_linking_later(monkeypatch)
    job = jobs.start(IndexRequest(snapshot(root), conf))
    assert job.done.wait(PATIENCE_S) and job.error is None and not job.notes
    assert edges(job.index) == expected
    assert left_in(job.index) == {layout.GRAPH, "graph.lock"}


@pytest.mark.slow
def test_after_a_change_it_is_that_of_a_full_build(root, tmp_path, conf, jobs, monkeypatch):
    jobs.build(IndexRequest(snapshot(root), conf))
    write(root, CHANGED | {"README.md": None})
    expected = fresh(root, tmp_path)
    no_linking_later(monkeypatch)
    index = jobs.build(IndexRequest(snapshot(root), conf))
    assert edges(index) == expected
    assert find(graph_of(index), "cost") and not find(graph_of(index), "price")


@pytest.mark.slow
def test_no_search_waits_for_the_linking_and_stopping_ends_it(root, tmp_path, conf, jobs, monkeypatch):
    monkeypatch.setattr(code_graph, "_LINK_AHEAD", f"{MODULE}:reading")
    index = jobs.build(IndexRequest(snapshot(root), conf), until="history")
    assert index.symbols("Cart")
    job = jobs.running(snapshot(root))
    assert job is not None and not job.done.is_set()
    job.cancel()
    assert job.done.wait(PATIENCE_S), "it never ends by itself"
    assert edges(index) == fresh(root, tmp_path)


@pytest.mark.slow
@pytest.mark.parametrize("how", ["crashing", "refused"])
def test_a_failure_does_not_hold_up_the_index_and_the_graph_is_linked_behind_it(
    root, tmp_path, conf, jobs, monkeypatch, how
):
    monkeypatch.setattr(code_graph, "_LINK_AHEAD", f"{MODULE}:{how}")
    job = jobs.start(IndexRequest(snapshot(root), conf))
    assert job.done.wait(PATIENCE_S) and job.error is None
    assert stored(job.index) is not None
    assert edges(job.index) == fresh(root, tmp_path)


@pytest.mark.slow
def test_stopping_the_linking_does_not_stop_the_index(root, conf):
    interrupt = threading.Event()
    interrupt.set()
    index = instant_index(snapshot(root), conf, interrupt=interrupt)
    assert index.symbols("Cart")


@pytest.mark.slow
def test_what_was_linked_for_other_content_is_not_taken(root, tmp_path, conf, jobs):
    old = jobs.build(IndexRequest(snapshot(root), conf))
    os.replace(old.folder.parent / layout.GRAPH, old.folder.parent / layout.GRAPH_AHEAD)  # as if killed before its use
    write(root, CHANGED)
    new = instant_index(snapshot(root), conf)
    assert stored(new) is None
    assert edges(new) == fresh(root, tmp_path)
    jobs.build(IndexRequest(snapshot(root), conf))
    assert stored(new) is not None


KILLED = f"""
import sys, time
sys.path[:] = {sys.path}
from pathlib import Path
from support.index_case import jobs_for, settings, snapshot
from repopilot.index.build.job import IndexRequest
from repopilot.index.graph import code_graph
code_graph.MANY_CHUNKS = 0
conf = settings(Path(sys.argv[2]))
if sys.argv[3] == "linking":
    code_graph._LINK_AHEAD = "{MODULE}:reading"
def tell(progress):
    if progress.phase == sys.argv[4]:
        print("there", flush=True)
        time.sleep(600)
jobs_for(conf).start(IndexRequest(snapshot(Path(sys.argv[1])), conf), tell).done.wait()
"""


@pytest.mark.slow
@pytest.mark.parametrize(("how", "phase"), [("linking", "lexical"), ("linking", "graph"), ("linked", "lexical")])
@pytest.mark.sampled(1)
def test_a_kill_in_the_middle_costs_a_second_linking_at_most(tmp_path, conf, jobs, how, phase):
    root = write(tmp_path / "killed", many(40))
    jobs.build(IndexRequest(snapshot(root), conf))
    write(root, {"pkg/late.py": "from pkg.m0001 import helper_1\n\ndef late():\n    return helper_1(2)\n"})
    command = [sys.executable, "-c", KILLED, str(root), str(conf.home), how, phase]
    with subprocess.Popen(command, stdout=subprocess.PIPE, text=True) as process:
        assert process.stdout.readline() == "there\n"
        process.send_signal(signal.SIGKILL)
    index = jobs.build(IndexRequest(snapshot(root), conf))
    assert find(graph_of(index), "late") and edges(index) == fresh(root, tmp_path)
    assert left_in(index) == {layout.GRAPH, "graph.lock"}


LINKS = f"""
import sys, time
sys.path[:] = {sys.path}
from pathlib import Path
from repopilot.index.graph import code_graph
link = code_graph._link
def slowly(index):
    print("linking", flush=True)
    time.sleep(0.5)
    return link(index)
code_graph._link = slowly
print(list(code_graph.link([Path(sys.argv[1])])), flush=True)
"""


@pytest.mark.slow
def test_a_second_process_waits_for_the_first_to_link(root, tmp_path, conf, monkeypatch):
    expected = fresh(root, tmp_path)
    index = instant_index(snapshot(root), conf)
    with subprocess.Popen([sys.executable, "-c", LINKS, str(index.folder)], stdout=subprocess.PIPE, text=True) as other:
        assert other.stdout.readline() == "linking\n"
        no_linking_later(monkeypatch)
        assert edges(index) == expected
        other.communicate()


@pytest.mark.slow
@pytest.mark.parametrize("graph", ["stored", "of an older version", "missing"])
def test_an_index_from_elsewhere_is_linked_by_a_worker_where_it_has_no_graph(
    root, tmp_path, conf, jobs, monkeypatch, graph
):
    expected = edges(jobs.build(IndexRequest(snapshot(root), conf)))
    elsewhere = settings(tmp_path / "elsewhere")
    shutil.copytree(conf.indexes, elsewhere.indexes)
    file = elsewhere.indexes / snapshot(root).key / layout.GRAPH
    data = file.read_bytes()
    if graph == "missing":
        file.unlink()
    elif graph != "stored":
        file.write_bytes(data.replace(graph_file.file_version().encode(), b"0" * len(graph_file.file_version())))
    index = runtime_for(elsewhere).indexes.open(snapshot(root))
    (no_linking_later if graph == "stored" else no_linking_here)(monkeypatch)
    assert edges(index) == expected
    assert stored(index) is not None


def test_without_a_worker_it_is_linked_here(root, tmp_path, conf, jobs, monkeypatch):
    index = jobs.build(IndexRequest(snapshot(root), conf))
    expected = edges(index)
    (index.folder.parent / layout.GRAPH).unlink()
    monkeypatch.setattr(code_graph, "_LINK", f"{MODULE}:crashing")
    assert edges(index) == expected


@pytest.mark.slow
def test_a_command_that_shows_the_graph_lets_its_linking_end(root, conf, monkeypatch):
    monkeypatch.setattr("repopilot.index.graph.code_graph.MANY_CHUNKS", 0)
    runtime = runtime_for(conf)
    index = open_index(snapshot(root), runtime, lambda _: None, wait="graph")
    no_linking_later(monkeypatch)
    assert stored(index) is not None and runtime.index_jobs.running(snapshot(root)) is None
