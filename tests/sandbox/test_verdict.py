"""The judgement on reports, as pure text."""

from __future__ import annotations

import json

from hypothesis import given
from hypothesis import strategies as st

from repopilot.sandbox.inversion import ExpectedTest, Mutation, wrong_pass
from repopilot.sandbox.verdict import read_report, why_not_passed, why_not_verified

NONCE, TOKEN = "n0", "t0"
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


MUTANTS = {"c1.py": Mutation("test_a", 1), "c2.py": Mutation("test_a", 2, 0)}
FAILED_END = line(id="c1.py::test_a", outcome="failed", message=f"AssertionError: {TOKEN}")
FAILED_SITE = line(id="c2.py::test_a", outcome="failed", message="assert 3 == 4")
END_1 = line("finished", status=1)


def test_an_honest_inverted_run_fails():
    assert why_not_verified(report(FAILED_END, FAILED_SITE, END_1), 1, MUTANTS, TOKEN) == ()
    unreached = line(id="c2.py::test_a")
    assert why_not_verified(report(FAILED_END, unreached, END_1), 1, MUTANTS, TOKEN) == ()


def test_what_casts_doubt():
    passed_wrong = line(id="c2.py::test_a", outcome="failed", message=f"AssertionError: {wrong_pass(TOKEN)}")
    passed_end = line(id="c1.py::test_a")
    for lines, status in [
        ((FAILED_END, FAILED_SITE, END_1), 0),
        ((FAILED_END, FAILED_SITE, END_1), 2),
        ((FAILED_END, FAILED_SITE), 1),
        ((FAILED_END, passed_wrong, END_1), 1),
        ((passed_end, FAILED_SITE, END_1), 1),
        ((FAILED_END, END_1), 1),
        ((FAILED_END, FAILED_SITE, END), 1),
        ((FAILED_END, FAILED_SITE, END_1, b"forged"), 1),
    ]:
        assert why_not_verified(report(*lines), status, MUTANTS, TOKEN), lines


@given(st.binary(), st.integers(0, 5))
def test_no_garbage_passes(garbage, status):
    assert why_not_passed(read_report(garbage, NONCE), status, EXPECTED)


@given(st.lists(st.sampled_from([A, B, line(outcome="failed"), line(xfail=True)]), max_size=6))
def test_a_run_without_its_end_never_passes(lines):
    assert why_not_passed(report(*lines), 0, EXPECTED)
