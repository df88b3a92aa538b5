"""Merging, old against new, and the score: pure."""

import pytest
from hypothesis import given
from hypothesis import strategies as st

from repopilot.agents.review.findings import DOMAINS, WEIGHTS, is_likely_defect, merged, new_and_old, score, scores
from repopilot.types import Finding


def finding(path="a.py", line=1, severity="low", rule="X1", source="ruff", domain="style", quote="x = 1") -> Finding:
    return Finding(path, line, severity, rule, "Something.", source, domain, quote)


FINDINGS = st.builds(
    finding,
    path=st.sampled_from(["a.py", "b.py"]),
    line=st.integers(1, 6),
    severity=st.sampled_from(list(WEIGHTS)),
    rule=st.sampled_from(["B608", "sql-concatenation", "E722", "empty-catch", "F401"]),
    source=st.sampled_from(["ruff", "bandit", "checks"]),
    domain=st.sampled_from(DOMAINS),
)


def test_the_score_is_the_formula() -> None:
    some = [finding(severity=s) for s in ("critical", "high", "medium", "low", "low")]
    assert score(some) == 100 - 25 - 10 - 4 - 1 - 1
    assert score([]) == 100
    assert score([finding(severity="critical")] * 5) == 0
    assert scores([finding(severity="high", domain="security"), finding()]) == {
        "security": 90, "performance": 100, "style": 99,
    }  # fmt: skip


@pytest.mark.parametrize(
    ("found", "likely"),
    [
        (finding(rule="PLW0108"), False),
        (finding(rule="PT015", severity="medium"), False),
        (finding(rule="SIM115", severity="medium"), False),
        (finding(rule="PERF401", domain="performance"), False),
        (finding(rule="C901", source="ruff", severity="low"), False),
        (finding(rule="broad-catch", source="checks"), False),
        (finding(rule="F401"), True),
        (finding(rule="F401", path="tests/test_a.py"), False),
        (finding(rule="B108", source="bandit", domain="security"), False),
        (finding(rule="RET503"), True),  # chosen
        (finding(rule="F821", severity="high"), True),
        (finding(rule="B006", severity="medium"), True),
        (finding(rule="ASYNC210", severity="medium", domain="performance"), True),
        (finding(rule="B602", source="bandit", severity="high", domain="security"), True),
        (finding(rule="sql-injection", source="checks", severity="high", domain="security"), True),
        (finding(rule="B018", severity="medium", path="tests/test_a.py"), False),
        (finding(rule="F821", severity="high", path="tests/test_a.py"), True),
        (finding(rule="broken-use", source="names", severity="low"), True),
    ],
)
def test_what_an_analyser_says_counts_where_it_is_chosen_or_likely_a_defect(found, likely) -> None:
    assert is_likely_defect(found, {"RET503"}) is likely


def test_tools_that_say_the_same_count_once() -> None:
    both = [
        finding(rule="B608", severity="medium", source="bandit", domain="security"),
        finding(rule="sql-concatenation", severity="high", source="checks", domain="security"),
        finding(rule="F401", severity="low"),
    ]
    kept = merged(both)
    assert [(f.rule, f.severity) for f in kept] == [("sql-concatenation", "high"), ("F401", "low")]


def test_only_the_first_syntax_error_of_a_file_counts() -> None:
    errors = [finding(rule="invalid-syntax", line=n, severity="high") for n in (9, 4, 7)]
    assert [f.line for f in merged(errors)] == [4]


@pytest.mark.slow
@given(st.lists(FINDINGS, max_size=12))
def test_merging_is_stable(some: list[Finding]) -> None:
    once = merged(some)
    assert merged(once) == once
    assert merged(list(reversed(some))) == once or len(merged(list(reversed(some)))) == len(once)
    assert {(f.path, f.line) for f in once} <= {(f.path, f.line) for f in some}
    assert bool(once) == bool(some)


def test_what_was_there_before_is_told_apart() -> None:
    changed = {"a.py": frozenset({3}), "b.py": None}
    on_change, moved, caused, whole = (
        finding(line=3), finding(line=10, quote="old"), finding(line=12, quote="lost"), finding(path="b.py", line=5)
    )  # fmt: skip
    before = [finding(line=8, quote="old"), finding(line=3)]
    new, old = new_and_old([on_change, moved, caused, whole], before, changed)
    assert new == [on_change, caused, whole]
    assert old == [moved]


def test_a_second_copy_of_an_old_fault_is_new() -> None:
    copies = [finding(line=4, quote="x"), finding(line=9, quote="x")]
    new, old = new_and_old(copies, [finding(line=2, quote="x")], {"a.py": frozenset()})
    assert (len(new), len(old)) == (1, 1)


@pytest.mark.slow
@pytest.mark.parametrize(
    ("was", "now", "new"), [(0, 12, True), (12, 12, False), (24, 22, False), (12, 14, False), (12, 24, True)]
)
def test_a_function_that_was_complex_before_is_not_the_fault_of_who_edits_its_head(
    was: int, now: int, new: bool
) -> None:
    def complexity(line: int, amount: int) -> Finding:
        message = f"`parse` is too complex ({amount} > 10)"
        return Finding("a.py", line, "low", "C901", message, "ruff", "performance", f"def parse(x{line}):")

    found = new_and_old([complexity(3, now)], [complexity(1, was)] if was else [], {"a.py": frozenset({3})})
    assert [len(part) for part in found] == ([1, 0] if new else [0, 1])
