"""Worker processes: whatever an item does to its process, the others are done."""

import os
import threading

import pytest
from support.index_case import MODULE

from repopilot.errors import Cancelled, SourceError
from repopilot.index.workers import pool
from repopilot.index.workers.pool import Failed

SQUARES = f"{MODULE}:count_up"


def run(batches, *, count=2, limit_s=60.0, cancel=None, function=SQUARES):
    cancel = cancel or threading.Event()
    return pool.run(function, (100,), batches, count=count, limit_s=limit_s, cancel=cancel)


def test_every_item_is_answered_once():
    found = list(run([range(start, start + 7) for start in range(0, 70, 7)]))
    assert sorted(found) == [n * n for n in range(70)]


def test_a_crash_costs_only_its_own_item():
    found = list(run([[1, 2100, 2, 3], [4, 5]]))
    assert Failed(2100, "crashed") in found
    assert sorted(n for n in found if isinstance(n, int)) == [1, 4, 9, 16, 25]


def test_an_item_that_hangs_is_killed():
    found = list(run([[1, 1100, 2], [3]], limit_s=1.0))
    assert Failed(1100, "timed out") in found
    assert sorted(n for n in found if isinstance(n, int)) == [1, 4, 9]


def test_every_item_of_a_batch_may_crash():
    found = list(run([[2100, 2100, 2100]], count=1))
    assert found == [Failed(2100, "crashed")] * 3


def test_cancelling_kills_a_process_that_hangs():
    cancel = threading.Event()
    values = run([[1, 1100]], count=1, cancel=cancel)
    assert next(values) == 1
    cancel.set()
    with pytest.raises(Cancelled):
        next(values)


def test_our_errors_arrive_as_they_are():
    with pytest.raises(SourceError, match=r"The repository is gone\. Open it again\."):
        list(pool.run(f"{MODULE}:refused", (), [[1]], count=1, limit_s=60, cancel=threading.Event()))


def test_processes_are_kept_for_the_next_call():
    function = f"{MODULE}:process_ids"
    first = set(pool.run(function, (), [[1], [2]], count=1, limit_s=60, cancel=threading.Event()))
    second = set(pool.run(function, (), [[1]], count=1, limit_s=60, cancel=threading.Event()))
    assert second <= first
    assert os.getpid() not in first
