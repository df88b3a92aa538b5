from dataclasses import replace
from itertools import product

import pytest
from hypothesis import given
from hypothesis import strategies as st

from repopilot.agents.impact.fix_history import LOOKED_AT, recent_fixes
from repopilot.agents.impact.risk import RiskEvidence, level, reasons
from repopilot.code.graph.centrality import page_rank
from repopilot.code.graph.graph import Edge, graph_of
from repopilot.code.graph.nodes import FILE, NodeColumns
from repopilot.repo.co_change import changed_together
from repopilot.repo.history import Commit
from repopilot.results import RiskReason

NOTHING = RiskEvidence((), (), (), (), (), (), (), (), (), ("T1",), 50, 0, ("M1",), True)


def _places(count: int) -> tuple[str, ...]:
    return tuple(f"A{n}" for n in range(count))


@pytest.mark.parametrize(
    ("evidence", "points"),
    [
        ({}, 0),
        ({"direct": _places(2)}, 0),
        ({"direct": _places(3)}, 1),
        ({"direct": _places(2), "second": _places(2)}, 1),
        ({"direct": _places(1), "second": _places(2), "third": _places(4)}, 1),
        ({"direct": _places(10)}, 2),
        ({"direct": _places(30)}, 3),
        ({"central": ("M1",)}, 1),
        ({"interface": ("I1",)}, 1),
        ({"interface": ("I1",), "used": ("A1",)}, 1),
        ({"interface": ("I1",), "exported": ("M1",)}, 2),
        ({"interface": None, "used": ("A1",)}, 1),
        ({"interface": None, "exported": ("M1",)}, 2),
        ({"interface": None}, 0),
        ({"interface": ("I1",), "removed": ("I1",), "used": ("A1",)}, 3),
        ({"schema": ("S1",)}, 2),
        ({"tests": (), "reaching": 0}, 1),
        ({"tests": (), "reaching": 0, "direct": _places(1)}, 2),
        ({"reaching": 1, "direct": _places(2)}, 1),
        ({"tests": (), "code": False}, 0),
        ({"fixes": 1}, 0),
        ({"fixes": 2}, 1),
        ({"fixes": 4}, 2),
    ],
)
def test_points(evidence, points):
    found = reasons(replace(NOTHING, **evidence))
    assert sum(reason.points for reason in found) == points
    assert all(reason.evidence for reason in found)


@pytest.mark.parametrize(("points", "complete", "risk"), [
    (0, True, "LOW"), (1, True, "LOW"), (1, False, "UNKNOWN"), (0, False, "UNKNOWN"), (2, False, "MEDIUM"),
    (3, True, "MEDIUM"), (4, False, "HIGH"), (9, True, "HIGH")])  # fmt: skip
def test_levels(points, complete, risk):
    assert level([RiskReason("x", ("A1",), points)], complete) == risk


def test_more_evidence_never_lowers_the_risk():
    order = ("LOW", "MEDIUM", "HIGH")
    for direct, schema, tests in product((0, 3, 10), ((), ("S1",)), (("T1",), ())):
        base = replace(NOTHING, direct=_places(direct), schema=schema, tests=tests)
        more = replace(base, second=_places(4), interface=("I1",), removed=("I1",), used=("A0",), central=("M1",))
        assert order.index(level(reasons(more), True)) >= order.index(level(reasons(base), True))


@pytest.mark.slow
@given(st.lists(st.tuples(st.integers(0, 5), st.integers(0, 5)), max_size=12))
def test_rank_is_kept_and_flows_to_what_is_depended_on(pairs):
    nodes = NodeColumns()
    for number in range(6):
        nodes.add(FILE, f"{number}.py", number, 1, 1)
    columns = list(zip(*[(a, b, int(Edge.CALLS), 0.9, 1) for a, b in pairs], strict=True)) or [()] * 5
    ranks = page_rank(graph_of(*nodes.finish(), columns, {}))
    assert abs(ranks.mean() - 1) < 1e-6
    alone = [n for n in range(6) if all(n != b for _, b in pairs)]
    assert all(ranks[n] <= ranks.max() + 1e-9 and ranks[n] == min(ranks) for n in alone)


PATHS = st.sampled_from("abcdef")


@pytest.mark.slow
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


def test_fixes_among_the_last_changes_are_counted():
    subjects = (
        "Fix the sum",
        "Add a cart",
        'Revert "Add a cart"',
        "fixed #12: totals",
        "Run ./fix.sh",
        "Add revert-cart",
    )
    history = [Commit("x", subject, ("a",), 0) for subject in subjects]
    assert recent_fixes(history, {"a"}) == 3
    assert recent_fixes([*([Commit("x", "Add", ("a",), 0)] * LOOKED_AT), *history], {"a"}) == 0
    assert recent_fixes(history, {"b"}) == 0
