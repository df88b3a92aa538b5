"""Attempts of test and repair: which is best, when to stop."""

from __future__ import annotations

from repopilot.agents.testing.attempts import best, why_stop
from repopilot.results import Iteration
from repopilot.types import Failure, TestRun


def attempt(number, passed=0, failed=1, genuine=False, assertion="assert 1 == 2", tests=("t.py::test_a",), **more):
    failures = tuple(Failure(test, assertion) for test in tests) if failed else ()
    run = None if "problem" in more else TestRun(passed, failed, 0, 0.1, "bwrap", "", genuine, failures=failures)
    return Iteration(number, str(number), run, failures, **more)


def test_the_best_is_genuine_then_passes_most_then_is_first():
    assert best([attempt(1, 2), attempt(2, 1, 0, genuine=True)]).number == 2
    assert best([attempt(1, 1), attempt(2, 2)]).number == 2
    assert best([attempt(1, 1, 2), attempt(2, 1, 1)]).number == 2
    assert best([attempt(1, 1), attempt(2, 1)]).number == 1
    assert best([attempt(1, problem="bad"), attempt(2)]).number == 2


def test_when_to_stop():
    verified = "the tests passed, verified by assertion inversion"
    assert why_stop([attempt(1, genuine=True)], 4, has_model=True) == verified
    assert why_stop([attempt(1)], 4, has_model=False) == "there is no model to repair with"
    assert why_stop([attempt(1)], 4, has_model=True) == ""
    assert (
        why_stop([attempt(n, assertion=str(n)) for n in (1, 2, 3, 4)], 4, has_model=True)
        == "the limit of 4 iterations was reached"
    )
    again = {"problem": "seen before", "repeated": True}
    assert why_stop([attempt(1), attempt(2, **again)], 8, has_model=True) == ""
    assert why_stop([attempt(1), attempt(2, **again), attempt(3, **again)], 8, has_model=True)
    assert why_stop([attempt(n) for n in (1, 2, 3)], 8, has_model=True) == "every attempt fails in the same way"
