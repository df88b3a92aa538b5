from itertools import product

import pytest
from hypothesis import given
from hypothesis import strategies as st

from repopilot.impact.co_change import changed_together
from repopilot.impact.risk import RiskEvidence, level, reasons
from repopilot.repo.history import Commit
from repopilot.results import RiskReason


def _evidence(dependents=0, interface=(), removed=(), used=(), schema=(), tests=("T1",), code=True) -> RiskEvidence:
    files = tuple(f"A{i}" for i in range(dependents))
    return RiskEvidence(files, interface, removed, used, schema, tests, ("M1",), code)


@pytest.mark.parametrize(
    ("evidence", "points"),
    [
        (_evidence(), 0),
        (_evidence(2), 0),
        (_evidence(3), 1),
        (_evidence(10), 2),
        (_evidence(interface=("I1",)), 1),
        (_evidence(interface=("I1",), used=("A1",)), 2),
        (_evidence(interface=None, used=("A1",)), 1),
        (_evidence(interface=None), 0),
        (_evidence(interface=("I1",), removed=("I1",), used=("A1",)), 3),
        (_evidence(schema=("S1",)), 2),
        (_evidence(tests=()), 1),
        (_evidence(tests=(), code=False), 0),
    ],
)
def test_points(evidence, points):
    found = reasons(evidence)
    assert sum(reason.points for reason in found) == points
    assert all(reason.evidence for reason in found)


@pytest.mark.parametrize(("points", "complete", "risk"), [
    (0, True, "LOW"), (1, True, "LOW"), (1, False, "UNKNOWN"), (0, False, "UNKNOWN"), (2, False, "MEDIUM"),
    (3, True, "MEDIUM"), (4, False, "HIGH"), (9, True, "HIGH")])  # fmt: skip
def test_levels(points, complete, risk):
    assert level([RiskReason("x", ("A1",), points)], complete) == risk


def test_more_evidence_never_lowers_the_risk():
    order = ("LOW", "MEDIUM", "HIGH")
    for dependents, schema, tests in product((0, 3, 10), ((), ("S1",)), (("T1",), ())):
        base = _evidence(dependents, schema=schema, tests=tests)
        more = _evidence(dependents, ("I1",), ("I1",), ("A0",), schema, tests)
        assert order.index(level(reasons(more), True)) >= order.index(level(reasons(base), True))


PATHS = st.sampled_from("abcdef")


@given(st.lists(st.lists(PATHS, max_size=5, unique=True)), st.sets(PATHS, min_size=1))
def test_together_counts_commits(commits, changed):
    history = [Commit("x", "", tuple(paths), 0) for paths in commits]
    for found in changed_together(history, changed):
        assert found.path not in changed
        assert found.together == sum(found.path in c and bool(changed & set(c)) for c in commits)
        assert found.of == sum(bool(changed & set(c)) for c in commits)


def test_sweeping_commits_say_nothing():
    assert changed_together([Commit("x", "", tuple(f"{i}" for i in range(40)), 0)], {"1"}) == []


def test_a_commit_of_most_of_the_repository_says_nothing():
    first, later = Commit("x", "", tuple("abcdefgh"), 0), Commit("y", "", ("a", "b"), 1)
    assert changed_together([first], {"a"}, files=9) == []
    assert [(t.path, t.together, t.of) for t in changed_together([first, later], {"a"}, files=9)] == [("b", 1, 1)]
