"""The job in the background: shared, stopped, killed, published under the eyes of readers."""

import os
import random
import subprocess
import sys
import threading
import time
from dataclasses import replace

import numpy as np
import pytest
from support.git_server import commit, git, serve
from support.index_case import FILES, WordEmbedder, build_index, many, runtime_for, settings, snapshot, write
from support.lexical_content import lexical_content
from support.waiting import PATIENCE_S, until

from repopilot import i18n
from repopilot.errors import Cancelled, IndexFailed
from repopilot.index.build import job as job_module
from repopilot.index.build.instant import build_instant
from repopilot.index.build.job import IndexRequest
from repopilot.index.graph.code_graph import graph_of
from repopilot.index.storage import layout
from repopilot.repo.remote.credentials import HostToken
from repopilot.repo.snapshot import open_source
from repopilot.repo.source import parse_source

pytestmark = pytest.mark.slow

TOKEN = HostToken("forge.example", "secret")

PRELUDE = f"""
import sys, threading, time
sys.path[:] = {sys.path}
from pathlib import Path
from support.index_case import WordEmbedder, jobs_for, settings, snapshot
from repopilot.index.build.job import IndexRequest
from repopilot.index.store import IndexStore
conf = settings(Path(sys.argv[2]))
jobs = jobs_for(conf)
"""


@pytest.fixture
def root(tmp_path):
    return write(tmp_path / "shop", FILES)


def child(code, *args):
    command = [sys.executable, "-c", PRELUDE + code, *map(str, args)]
    return subprocess.Popen(command, stdout=subprocess.PIPE, stderr=subprocess.STDOUT, text=True)


def test_phases_are_shown_in_order(root, conf, jobs):
    seen = []
    index = jobs.build(IndexRequest(snapshot(root), conf, WordEmbedder()), progress=seen.append)
    phases = list(dict.fromkeys(progress.phase for progress in seen))
    assert phases == ["listing", "parsing", "lexical", "graph", "vectors"]
    assert all(0 <= progress.done <= progress.total for progress in seen if progress.total)
    assert seen[-1].done == seen[-1].total == len(index.chunks)
    assert index.dense == 1.0


def test_two_callers_share_one_job(root, conf, jobs):
    seen = [], []
    embedder = WordEmbedder(delay_s=0.05)
    first, second = (jobs.start(IndexRequest(snapshot(root), conf, embedder), progress=into.append) for into in seen)
    assert first is second is jobs.running(snapshot(root))
    assert first.done.wait(PATIENCE_S)
    assert first.error is None
    assert all(into[-1].phase == "vectors" for into in seen)
    assert jobs.running(snapshot(root)) is None


@pytest.mark.parametrize("leaves", [True, False])
def test_whoever_goes_stops_the_job_only_when_nobody_else_has_started_it(root, conf, jobs, leaves):
    gate, cancel = threading.Event(), threading.Event()
    request = IndexRequest(snapshot(root), conf, WordEmbedder(gate=gate))
    cancel.set()
    job = jobs.start(request)
    with pytest.raises(Cancelled):
        jobs.build(request, cancel=cancel)
    assert not leaves or jobs.leave(job)
    gate.set()
    assert job.done.wait(PATIENCE_S)
    assert isinstance(job.error, Cancelled) if leaves else job.error is None


def test_a_second_call_makes_the_job_look_again(root, conf, jobs):
    gate = threading.Event()
    job = jobs.start(IndexRequest(snapshot(root, "one"), conf, WordEmbedder(gate=gate)))
    assert job.lexical_ready.wait(PATIENCE_S)
    write(root, {"late.py": "def late():\n    pass\n"})
    assert jobs.start(IndexRequest(snapshot(root, "two"), conf, WordEmbedder())) is job
    gate.set()
    assert not job.lexical_ready.is_set() or job.index.commit == "two"
    assert job.done.wait(PATIENCE_S)
    assert job.error is None
    assert job.index.commit == "two"
    assert "late.py" in job.index.files
    assert job.index.dense == 1.0


@pytest.mark.parametrize(
    ("later", "done"),
    [
        ([{"full": True}, {}], [(True, None)]),
        ([{}, {"full": True}, {}], [(True, None)]),
        ([{"full": True}, {"token": TOKEN}], [(True, TOKEN)]),
        ([{"token": TOKEN}, {}], [(False, TOKEN)]),
        ([{"embedder": WordEmbedder()}, {"full": True}, {"token": TOKEN}], [(True, TOKEN)]),
        ([{}, {}], [(False, None)]),
    ],
)
@pytest.mark.parametrize("same", [False, True])
@pytest.mark.sampled(4)
def test_what_waiting_requests_ask_for_is_all_done_in_one_round(root, conf, jobs, monkeypatch, later, done, same):
    begun, gate, rounds, tokens = threading.Event(), threading.Event(), [], []

    def instant(run):
        rounds.append(run.full)
        begun.set()
        assert gate.wait(PATIENCE_S)
        return build_instant(run)

    monkeypatch.setattr(job_module, "build_instant", instant)
    monkeypatch.setattr(job_module, "update_history", lambda *given: tokens.append(given[-1]))
    first = jobs.start(IndexRequest(snapshot(root), conf))
    assert begun.wait(PATIENCE_S)
    for number, more in enumerate(later):
        commit = "unversioned" if same else f"commit {number}"
        assert jobs.start(IndexRequest(snapshot(root, commit), conf, **more)) is first
    gate.set()
    assert first.done.wait(PATIENCE_S) and first.error is None
    assert rounds == [False, *(full for full, _ in done)] and tokens[-1] == done[-1][1]


def test_a_token_that_comes_later_is_taken_on(root, conf, jobs, monkeypatch):
    tokens, begun, gate = [], threading.Event(), threading.Event()

    def history(*given):
        tokens.append(given[-1])
        begun.set()
        assert gate.wait(PATIENCE_S)

    monkeypatch.setattr(job_module, "build_instant", lambda run: build_instant(replace(run, snapshot=snapshot(root))))
    monkeypatch.setattr(job_module, "update_history", history)
    clone = replace(snapshot(root), root=None)
    job = jobs.start(IndexRequest(clone, conf))
    assert begun.wait(PATIENCE_S)
    for token in (TOKEN, TOKEN, None):
        assert jobs.start(IndexRequest(clone, conf, token=token)) is job
    gate.set()
    assert job.done.wait(PATIENCE_S) and tokens == [None, TOKEN]


def test_only_vectors_are_left_once_it_is_settled_and_none_where_they_are_too_many(root, conf, jobs):
    gate = threading.Event()
    job = jobs.start(IndexRequest(snapshot(root), conf, WordEmbedder(gate=gate)))
    assert job.settled.wait(PATIENCE_S) and not job.done.is_set() and job.history_ready.is_set()
    gate.set()
    assert job.done.wait(PATIENCE_S) and job.index.dense == 1.0
    few = WordEmbedder()
    few.name = "few"
    job = jobs.start(IndexRequest(snapshot(root), conf, few, most_embedded=len(job.index.chunks) - 1))
    assert job.done.wait(PATIENCE_S) and not few.texts


def test_an_embedder_that_comes_later_is_taken_on(root, conf, jobs):
    job = jobs.start(IndexRequest(snapshot(root), conf))
    later = jobs.start(IndexRequest(snapshot(root), conf, WordEmbedder()))
    assert later.done.wait(PATIENCE_S)
    assert later.index.dense == 1.0
    assert job.done.wait(PATIENCE_S)


def test_the_instant_index_does_not_wait_for_vectors(root, conf, jobs):
    gate = threading.Event()
    index = jobs.build(IndexRequest(snapshot(root), conf, WordEmbedder(gate=gate)), until="instant")
    job = jobs.running(snapshot(root))
    assert index.symbols("Cart")
    assert index.dense < 1.0
    job.cancel()
    gate.set()
    assert job.done.wait(PATIENCE_S)
    assert isinstance(job.error, Cancelled)
    assert job.index is not None


def test_vectors_go_on_where_they_were_stopped(tmp_path, conf, jobs):
    root = write(tmp_path / "many", many(40))
    first = WordEmbedder(delay_s=0.05)

    def stop(progress):
        if progress.phase == "vectors" and progress.done >= 12:
            jobs.running(snapshot(root)).cancel()

    with pytest.raises(Cancelled):
        jobs.build(IndexRequest(snapshot(root), conf, first), progress=stop)
    second = WordEmbedder()
    index = jobs.build(IndexRequest(snapshot(root), conf, second))
    assert index.dense == 1.0
    assert first.texts >= 12
    assert first.texts + second.texts == len(set(index.digests.tolist()))


def test_a_failed_job_says_why_and_can_be_started_again(tmp_path, conf, jobs):
    empty = tmp_path / "empty"
    empty.mkdir()
    job = jobs.start(IndexRequest(snapshot(empty), conf))
    assert job.done.wait(PATIENCE_S)
    assert job.lexical_ready.is_set()
    assert isinstance(job.error, IndexFailed)
    with pytest.raises(IndexFailed):
        jobs.build(IndexRequest(snapshot(empty), conf))
    write(empty, {"a.py": "x = 1\n"})
    assert len(jobs.build(IndexRequest(snapshot(empty), conf)).files) == 1


def test_two_processes_build_one_after_the_other(tmp_path, conf):
    root = write(tmp_path / "shop", many(60))
    code = """
seen = []
index = jobs.build(IndexRequest(snapshot(Path(sys.argv[1])), conf), progress=seen.append)
print(index.generation, len(index.files), index.report.reused)
"""
    children = [child(code, root, conf.home) for _ in range(2)]
    outputs = sorted(process.communicate(timeout=PATIENCE_S)[0] for process in children)
    assert outputs == ["1 60 0\n", "1 60 60\n"], "the second found the work done"


def test_a_process_killed_at_any_moment_is_resumed(tmp_path, conf, jobs):
    root = write(tmp_path / "killed", many(300))
    code = """
print("go", flush=True)
job = jobs.start(IndexRequest(snapshot(Path(sys.argv[1])), conf, WordEmbedder(delay_s=0.002)))
job.done.wait()
print("error:", job.error, flush=True)
"""
    chance = random.Random(7)
    for _ in range(7):
        process = child(code, root, conf.home)
        process.stdout.readline()
        time.sleep(chance.uniform(0.0, 1.5))
        process.kill()
        assert "error: I" not in process.communicate()[0]
        write(root, {f"pkg/m{chance.randrange(300):04d}.py": f"def again_{chance.random()}():\n    pass\n"})
    index = jobs.build(IndexRequest(snapshot(root), conf, WordEmbedder()))
    fresh = build_index(snapshot(root), settings(tmp_path / "other"), WordEmbedder())
    assert list(index.chunks) == list(fresh.chunks)
    assert index.digests.tolist() == fresh.digests.tolist()
    assert lexical_content(index.lexical) == lexical_content(fresh.lexical)
    assert index.dense == 1.0
    left = {path.name for path in (conf.indexes / snapshot(root).key).iterdir()} - {layout.STAMPS, layout.DENSE}
    assert not [name for name in left if name.endswith(".new")], "drafts of killed processes"
    assert left == {f"g{index.generation:08d}", "build.lock", layout.GRAPH, "graph.lock"}
    assert list(graph_of(index).nodes) == list(graph_of(fresh).nodes)
    assert np.array_equal(graph_of(index).targets, graph_of(fresh).targets)


def test_a_reader_in_another_process_always_sees_a_complete_generation(tmp_path, conf, jobs):
    root = write(tmp_path / "shop", many(20))
    jobs.build(IndexRequest(snapshot(root), conf))
    code = """
place, indexes = snapshot(Path(sys.argv[1])), IndexStore(conf.indexes)
old = indexes.open(place)
print("open", flush=True)
seen, until = set(), time.monotonic() + 200
while len(seen) < 6 and time.monotonic() < until:
    index = indexes.open(place)
    values = {line for path in index.files for line in index.text(path).splitlines() if line.startswith("ROUND")}
    assert len(values) == 1, values
    assert len(index.chunks) == len(index.lexical)
    assert [c.path for c in index.chunks if c.path not in index.files] == []
    seen |= values
print(len(seen), len(list(old.chunks)))
"""
    for path in list(many(20)):
        (root / path).write_text("ROUND = 0\n")
    jobs.build(IndexRequest(snapshot(root), conf))
    reader = child(code, root, conf.home)
    assert reader.stdout.readline() == "open\n"
    number = 0
    while reader.poll() is None:
        number += 1
        write(root, dict.fromkeys(many(20), f"ROUND = {number}\n"))
        jobs.build(IndexRequest(snapshot(root), conf))
    assert reader.communicate()[0] == "6 20\n"


def test_stopping_ends_the_worker_processes(tmp_path, conf, jobs):
    root = write(tmp_path / "shop", many(400))
    job = jobs.start(IndexRequest(snapshot(root), conf))
    while job.progress.phase != "parsing" and not job.done.is_set():
        time.sleep(0.01)
    job.cancel()
    assert job.done.wait(PATIENCE_S)
    runtime_for(conf).workers.close()
    children = subprocess.run(["ps", "-o", "args=", "--ppid", str(os.getpid())], capture_output=True, text=True)
    assert "repopilot.index.workers.main" not in children.stdout
    assert threading.active_count() < 50


def test_history_is_stored_beside_the_index(tmp_path, jobs):
    conf = settings(tmp_path / "home").model_copy(update={"history_commits": 10})
    root = tmp_path / "shop"
    first = commit(root, FILES, "Open the shop")
    second = commit(root, {"src/shop/prices.py": "def price(item):\n    return 3\n"}, "Raise the prices")
    index = jobs.build(IndexRequest(snapshot(root, second), conf))
    assert [(c.sha, c.subject, c.paths) for c in index.commits] == [
        (second, "Raise the prices", ("src/shop/prices.py",)),
        (first, "Open the shop", tuple(sorted(FILES))),
    ]
    third = commit(root, {"README.md": "# Closed\n"}, "Close the shop")
    assert jobs.build(IndexRequest(snapshot(root, third), conf)).commits[0].subject == "Close the shop"


def test_a_remote_that_does_not_answer_leaves_what_the_clone_holds(tmp_path, jobs):
    conf = settings(tmp_path / "home", allow_http=True, allow_private_hosts=True)
    conf = conf.model_copy(update={"history_commits": 10})
    commit(tmp_path / "work", FILES, "Open the shop")
    commit(tmp_path / "work", {"README.md": "# Closed\n"}, "Close the shop")
    git(tmp_path, "clone", "-q", "--bare", "work", "served.git")
    with serve(tmp_path) as server:
        clone = open_source(parse_source(f"{server.url}/served.git"), conf)
        server.status = 500
        job = jobs.start(IndexRequest(clone, conf))
        assert job.done.wait(PATIENCE_S)
        assert job.error is None
        assert any("history could not be fetched" in note for note in job.notes)
        server.status = 0
        index = jobs.build(IndexRequest(clone, conf))
    assert [c.subject for c in index.commits] == ["Close the shop", "Open the shop"]


def test_no_vectors_are_computed_while_a_question_is_answered(tmp_path, conf, jobs):
    root = write(tmp_path / "repo", many(20))
    with jobs.embedding_paused(), jobs.embedding_paused():
        job = jobs.start(IndexRequest(snapshot(root), conf, WordEmbedder()))
        until(lambda: job.progress.detail == "paused while a question is answered")
        assert not job.done.is_set() and job.lexical_ready.is_set()
        assert job.index.dense == 0.0, "the lexical index answers, the vectors wait"
        assert job.embedding_paused and job.progress.phase == "vectors"
        assert job.progress.remaining_s is None
    assert job.done.wait(PATIENCE_S)
    assert job.error is None and job.index.dense == 1.0
    assert not job.embedding_paused


def test_a_paused_job_can_be_stopped(tmp_path, conf, jobs):
    root = write(tmp_path / "repo", many(20))
    with jobs.embedding_paused():
        job = jobs.start(IndexRequest(snapshot(root), conf, WordEmbedder()))
        assert job.lexical_ready.wait(PATIENCE_S)
        job.cancel()
        assert job.done.wait(PATIENCE_S)


def test_embedding_goes_on_when_the_last_of_several_questions_is_answered(tmp_path, conf, jobs):
    seen = []
    with jobs.embedding_paused():
        job = jobs.start(
            IndexRequest(snapshot(write(tmp_path / "repo", many(20))), conf, WordEmbedder()), progress=seen.append
        )
        with jobs.embedding_paused():
            assert job.lexical_ready.wait(PATIENCE_S)
        while job.progress.detail != "paused while a question is answered":
            assert not job.done.wait(0.05), "one question is still being answered"
    assert job.done.wait(PATIENCE_S)
    said = [progress.detail for progress in seen if progress.phase == "vectors"]
    paused = said.index("paused while a question is answered")
    assert any(detail.startswith("pkg/") or not detail for detail in said[paused + 1 :])
    assert i18n.translated(said[paused], "fr") == "en pause pendant la réponse à une question"
