"""Worker processes: whatever an item does to its process, the others are done."""

import io
import os
import sys
import threading
from dataclasses import replace

import pytest
from support.index_case import snapshot, write
from support.waiting import until
from support.worker_calls import MODULE

from repopilot.errors import Cancelled, SourceError
from repopilot.index.build.job import IndexRequest
from repopilot.index.workers import main
from repopilot.index.workers.pool import Call, ItemFailure, WorkerPool

SQUARES = f"{MODULE}:count_up"


@pytest.fixture(scope="module")
def pool():
    made = WorkerPool()
    yield made
    made.close()


@pytest.fixture
def run(pool):
    def start(batches, *, count=2, limit_s=60.0, cancel=None):
        return pool.run(Call(SQUARES, (100,), limit_s), batches, count=count, cancel=cancel or threading.Event())

    return start


@pytest.mark.slow
def test_every_item_is_answered_once(run):
    found = list(run([range(start, start + 7) for start in range(0, 70, 7)]))
    assert sorted(found) == [n * n for n in range(70)]


@pytest.mark.slow
def test_a_crash_costs_only_its_own_item(run):
    found = list(run([[1, 2100, 2, 3], [4, 5]]))
    assert ItemFailure(2100, "crashed") in found
    assert sorted(n for n in found if isinstance(n, int)) == [1, 4, 9, 16, 25]


@pytest.mark.slow
def test_an_item_that_hangs_is_killed(run):
    found = list(run([[1, 1100, 2], [3]], limit_s=1.0))
    assert ItemFailure(1100, "timed out") in found
    assert sorted(n for n in found if isinstance(n, int)) == [1, 4, 9]


@pytest.mark.slow
@pytest.mark.skipif(sys.platform == "win32", reason="only the clock is limited there")
def test_a_process_that_gets_little_of_the_processor_has_longer(pool):
    call = Call(f"{MODULE}:waiting", (), 0.5)
    found = list(pool.run(call, [[1, 600, 0]], count=1, cancel=threading.Event()))
    assert found == [1, ItemFailure(600, "timed out"), 0]


@pytest.mark.slow
def test_each_item_of_a_batch_has_the_whole_limit(pool):
    call = Call(f"{MODULE}:computing", (), 1.0)
    assert list(pool.run(call, [[0.4] * 4], count=1, cancel=threading.Event())) == [0.4] * 4


@pytest.mark.slow
def test_a_process_that_dies_after_its_last_item_costs_none_of_the_next_batch(pool):
    call = Call(f"{MODULE}:dying_at_the_end", (), 60)
    assert list(pool.run(call, [[1, 2], [3]], count=1, cancel=threading.Event())) == [1, 2, 3]


@pytest.mark.slow
def test_a_defect_of_the_function_is_no_time_that_ran_out(pool):
    call = Call(f"{MODULE}:defective", (), 60)
    assert list(pool.run(call, [[1]], count=1, cancel=threading.Event())) == [ItemFailure(1, "crashed")]


def test_an_error_of_the_batches_arrives_as_it_is(pool):
    def batches():
        yield [1]
        raise ValueError("no more")

    with pytest.raises(ValueError, match="no more"):
        list(pool.run(Call(SQUARES, (100,), 60), batches(), count=1, cancel=threading.Event()))


def test_a_message_that_ends_early_is_none():
    whole = io.BytesIO()
    main.send(whole, ("item", {"path": "a.py", "text": "é" * 300, "rows": [b"\0" * 300, 2.5, None]}))
    for length in range(len(whole.getvalue())):
        assert main.receive(io.BytesIO(whole.getvalue()[:length])) is None


@pytest.mark.slow
def test_every_item_of_a_batch_may_crash(run):
    found = list(run([[2100, 2100, 2100]], count=1))
    assert found == [ItemFailure(2100, "crashed")] * 3


def test_cancelling_kills_a_process_that_hangs(run):
    cancel = threading.Event()
    values = run([[1, 1100]], count=1, cancel=cancel)
    assert next(values) == 1
    cancel.set()
    with pytest.raises(Cancelled):
        next(values)


def test_work_begins_before_anybody_looks_and_ends_when_nobody_will(pool, tmp_path):
    files = [tmp_path / "one", tmp_path / "two"]
    values = pool.run(Call(f"{MODULE}:touching", (), 60), [files], count=1, cancel=threading.Event())
    until(files[0].exists)
    values.close()
    assert not files[1].exists()


@pytest.mark.slow
def test_our_errors_arrive_as_they_are(pool):
    with pytest.raises(SourceError, match=r"The repository is gone\. Open it again\."):
        list(pool.run(Call(f"{MODULE}:refused", (), 60), [[1]], count=1, cancel=threading.Event()))


@pytest.mark.slow
def test_new_processes_are_used_after_those_that_are_ready():
    pool = WorkerPool()
    call = Call(f"{MODULE}:process_ids", (), 60)
    first = set(pool.run(call, [[1]], count=1, cancel=threading.Event()))
    pool.prewarm(2)
    try:
        assert set(pool.run(call, [[1]], count=1, cancel=threading.Event())) == first
    finally:
        pool.close()


@pytest.mark.slow
def test_processes_can_be_renewed(pool):
    call = Call(f"{MODULE}:process_ids", (), 60)
    first = set(pool.run(replace(call, renew=True), [[1]], count=1, cancel=threading.Event()))
    assert first.isdisjoint(pool.run(call, [[1], [2]], count=1, cancel=threading.Event()))


@pytest.mark.slow
@pytest.mark.thorough
def test_work_behind_leaves_the_warm_process_alone_and_is_replaced_when_stopped():
    pool, cancel = WorkerPool(), threading.Event()
    call = Call(f"{MODULE}:process_ids", (), 60)
    warm = set(pool.run(call, [[1]], count=1, cancel=threading.Event()))
    pool.prewarm(2)
    try:
        assert warm.isdisjoint(pool.run(replace(call, behind=True), [[1]], count=1, cancel=threading.Event()))
        assert set(pool.run(call, [[1]], count=1, cancel=threading.Event())) == warm
        values = pool.run(Call(SQUARES, (100,), 60, behind=True), [[1, 1100]], count=1, cancel=cancel)
        assert next(values) == 1
        cancel.set()
        with pytest.raises(Cancelled):
            next(values)
        idle = [pool.take(), pool.take()]
        assert all(worker.process.poll() is None for worker in idle)
        for worker in idle:
            pool.give_back(worker)
    finally:
        pool.close()


def test_processes_are_reused_by_the_next_call(pool):
    call = Call(f"{MODULE}:process_ids", (), 60)
    first = set(pool.run(call, [[1], [2]], count=1, cancel=threading.Event()))
    second = set(pool.run(call, [[1]], count=1, cancel=threading.Event()))
    assert second <= first
    assert os.getpid() not in first


def text_that_takes_memory() -> str:
    """A Python file of ordinary lines that takes the parser 5 GB: recovery from errors takes the square of it."""
    body = "/*" * 4000 + "-1" + "*/" * 50
    lines = "\n".join(body[at : at + 60] for at in range(0, len(body), 60))
    return f"    def a(bdef c(d):\n\r    return [n for n in r if n not in d] if n{lines}\nX = 3\n"


@pytest.mark.slow
@pytest.mark.skipif(sys.platform != "linux", reason="the limit is Linux's")
def test_a_text_made_to_take_memory_costs_only_itself(tmp_path, conf, jobs):
    root = write(tmp_path / "shop", {"good.py": "def good():\n    return 1\n", "bad.py": text_that_takes_memory()})
    index = jobs.build(IndexRequest(snapshot(root), conf), until="instant")
    assert index.symbols("good")
    # Killed, or stopped by its time limit first: in neither case is it parsed in this process later.
    known = index.files.get("bad.py")
    assert known is None or not known.parsed
