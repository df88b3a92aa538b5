"""The judgement on reports, as pure text."""

from __future__ import annotations

import json

from hypothesis import given
from hypothesis import strategies as st

from repopilot.sandbox.controls.inversion import ExpectedTest
from repopilot.sandbox.verdict import (
    Control,
    passing,
    read_report,
    variants_together,
    why_not_passed,
    why_not_verified,
)

NONCE = "n0"
EXPECTED = {"test_x.py": (ExpectedTest("test_a", 1, False), ExpectedTest("test_b", 2, True))}


def line(event="outcome", nonce=NONCE, **facts):
    outcome = (
        {
            "id": "test_x.py::test_a",
            "when": "call",
            "outcome": "passed",
            "seconds": 0.1,
            "xfail": False,
            "text": "",
            "message": "",
            "frame": [],
        }
        if event == "outcome"
        else {}
    )
    return json.dumps({"nonce": nonce, "event": event, **outcome, **facts}).encode()


def report(*lines):
    return read_report(b"\n".join(lines), NONCE)


A, B, END = line(), line(id="test_x.py::test_b"), line("finished", status=0)


def test_a_clean_report_passes():
    assert why_not_passed(report(A, B, END), 0, EXPECTED) == ()
    parameters = [line(id=f"test_x.py::test_a[{values}]") for values in ("1-2", "3-4")]
    assert why_not_passed(report(*parameters, B, END), 0, EXPECTED) == ()


def test_what_is_no_pass():
    skipped_a = line(when="setup", outcome="skipped")
    for lines, status in [
        ((A, B, END), 1),
        ((A, B), 0),
        ((A, END), 0),
        ((B, END), 0),
        ((A, B, line("finished", status=1)), 0),
        ((line(outcome="failed"), B, END), 0),
        ((skipped_a, B, END), 0),
        ((line(xfail=True), B, END), 0),
        ((A, A, B, END), 0),
        ((A, B, END, line(nonce="other")), 0),
        ((A, B, END, b"{"), 0),
        ((), 0),
        ((A, B, line(id="test_y.py", when="collect", outcome="failed"), END), 0),
        ((A, line(when="teardown", outcome="failed"), B, END), 0),
    ]:
        assert why_not_passed(report(*lines), status, EXPECTED), lines


def test_a_test_may_be_skipped_where_its_file_says_so():
    skipped_b = line(id="test_x.py::test_b", when="setup", outcome="skipped")
    assert why_not_passed(report(A, skipped_b, END), 0, EXPECTED) == ()
    only_b = {"test_x.py": EXPECTED["test_x.py"][1:]}
    assert why_not_passed(report(skipped_b, END), 0, only_b) == ("no test passed, all were skipped",)


def test_without_tests_there_is_no_pass():
    assert why_not_passed(report(END), 0, {"test_x.py": ()}) == ("there is no test to run",)


FAILED_A = line(outcome="failed")
END_1 = line("finished", status=1)
FIRST = report(A, B, END)
WRONG_A = Control({}, frozenset(["test_x.py::test_a"]))


def test_a_control_in_which_the_wrong_tests_fail():
    assert passing(FIRST) == {"test_x.py::test_a", "test_x.py::test_b"}
    assert why_not_verified(report(FAILED_A, B, END_1), 1, FIRST, WRONG_A) == ()
    assert why_not_verified(report(A, B, END), 0, FIRST, Control({})) == ()
    failed_b = line(id="test_x.py::test_b", outcome="failed")
    perhaps = Control({}, WRONG_A.fail, frozenset(["test_x.py::test_b"]))
    for other in (B, failed_b):
        assert why_not_verified(report(FAILED_A, other, END_1), 1, FIRST, perhaps) == ()


def test_what_casts_doubt():
    failed_b = line(id="test_x.py::test_b", outcome="failed")
    for lines, status in [
        ((FAILED_A, B, END_1), 0),
        ((FAILED_A, B, END_1), 2),
        ((FAILED_A, B), 1),
        ((A, B, END), 0),
        ((A, failed_b, END_1), 1),
        ((FAILED_A, failed_b, END_1), 1),
        ((FAILED_A, END_1), 1),
        ((FAILED_A, B, END), 1),
        ((FAILED_A, B, END_1, b"forged"), 1),
    ]:
        assert why_not_verified(report(*lines), status, FIRST, WRONG_A), lines


def many(failing: int, of: int) -> list[bytes]:
    return [line(id=f"test_x.py::test_{n}", outcome="failed" if n < failing else "passed") for n in range(of)]


def test_a_few_among_many_may_stumble_over_a_failure():
    first = report(*many(0, 100), END)
    wrong = Control({}, frozenset(f"test_x.py::test_{n}" for n in range(40)))
    for failing, doubted in ((38, False), (37, True), (40, False), (46, False), (47, True), (0, True), (100, True)):
        run = report(*many(failing, 100), END_1)
        assert bool(why_not_verified(run, 1, first, wrong)) is doubted, failing


@given(st.binary(), st.integers(0, 5))
def test_no_garbage_passes(garbage, status):
    assert why_not_passed(read_report(garbage, NONCE), status, EXPECTED)


@given(st.lists(st.sampled_from([A, B, line(outcome="failed"), line(xfail=True)]), max_size=6))
def test_a_run_without_its_end_never_passes(lines):
    assert why_not_passed(report(*lines), 0, EXPECTED)


def test_variants_of_a_parametrised_test_are_shown_as_one():
    variants = [f"tests/test_a.py::Of::test_{name}[{n}-[x]]" for name in "ab" for n in range(3)]
    others = ["tests/test_a.py::test_c[alone]", "a.test.ts::reads [1]", "a.test.ts::reads [2]"]
    shown = ["tests/test_a.py::Of::test_a[…] ×3", "tests/test_a.py::Of::test_b[…] ×3", *others]
    assert variants_together([*variants, *others]) == shown
