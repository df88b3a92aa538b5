"""Reports that the code under test wrote to hurt their reader: each is read in bounded time and is never a pass."""

from __future__ import annotations

import json
import os
import resource

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from repopilot.sandbox import run_program
from repopilot.sandbox.controls.inversion import ExpectedTest
from repopilot.sandbox.failures import failures
from repopilot.sandbox.levels import why_unavailable
from repopilot.sandbox.needs import need_of
from repopilot.sandbox.output.bounded_json import json_of
from repopilot.sandbox.output.plain_text import plain
from repopilot.sandbox.run import run_pytest
from repopilot.sandbox.runners import cargo_test, go_test, jest_json, node_test
from repopilot.sandbox.verdict import TestOutcome, read_report, why_not_passed
from repopilot.settings import Settings

MB = 1024 * 1024
NONCE = "n0"
EXPECTED = {"test_x.py": (ExpectedTest("test_a", 1, False),)}
READERS = [jest_json.read, node_test.read, cargo_test.read, go_test.read]
PASSED = {
    "nonce": NONCE,
    "event": "outcome",
    "id": "test_x.py::test_a",
    "when": "call",
    "outcome": "passed",
    "seconds": 0.1,
    "xfail": False,
    "text": "",
    "message": "",
    "frame": [],
}
END = {"nonce": NONCE, "event": "finished", "status": 0}
GO_PASSED = b'{"Action":"pass","Package":"p","Test":"T%d"}\n'
LARGE = {
    "empty lines": b"\n" * (15 * MB),
    "lines of one character": b"1\n" * (7 * MB),
    "one deep line": b"[" * (15 * MB),
    "deep lines": (b'{"a":' * 5000 + b"\n") * 600,
    "deep and closed": b"[" * MB + b"]" * MB,
    "many empty objects": b"[" + b"{}," * (5 * MB) + b"{}]",
    "many numbers": b"[" + b"0," * (7 * MB) + b"0]",
    "an endless text": b'"' + b"\\" * (15 * MB),
    "an endless number": b"1" * (15 * MB),
    "jest: tests without end": b'{"testResults":[{"assertionResults":['
    + b",".join([b'{"status":"passed","title":"t"}'] * 150_000)
    + b"]}]}",
    "node: nested texts": b'{"file":"a","outcome":"failed","message":' + b"[" * 900 + b"]" * 900 + b"}",
    "go: failing packages": b"".join(GO_PASSED % n for n in range(19_990))
    + b'{"Action":"fail","Package":"p"}\n' * 75_000,
    "cargo: a test that failed often": b"     Running unittests src/lib.rs (x)\n"
    + b"test a ... FAILED\n" * 20_000
    + b"---- a stdout ----\n"
    + b"said\n" * 79_000,
    "escapes without end": b'{"Action":"output","Package":"p","Output":"' + b"\\u001b[" * 70_000 + b'"}\n',
}


@pytest.mark.slow
@pytest.mark.parametrize("name", LARGE)
@pytest.mark.sampled(5)
def test_large_reports_are_read_within_bounds(name):
    """Without bounds they take minutes each, and memory; a test that takes five is ended."""
    for read in READERS:
        report = read(LARGE[name], "/repo")
        assert len(report.outcomes) <= 20_001
    report = read_report(LARGE[name], NONCE)
    assert report.foreign
    assert why_not_passed(report, 0, EXPECTED)


def lines(*events):
    return b"\n".join(json.dumps(event).encode() for event in events)


@pytest.mark.parametrize(
    "change",
    [
        {"seconds": float("inf")},
        {"seconds": float("nan")},
        {"seconds": "1"},
        {"seconds": 10**400},
        {"id": ["test_x.py::test_a"]},
        {"when": "later"},
        {"outcome": "verified"},
        {"outcome": {}},
        {"xfail": 0},
        {"text": None},
        {"message": [[[[[]]]]]},
        {"frame": ["a.py"]},
        {"frame": ["a.py", float("inf")]},
        {"frame": {"a.py": 1}},
        {"more": 1},
        {"event": "passed"},
    ],
    ids=str,
)
def test_outcomes_of_another_form_are_foreign(change):
    report = read_report(lines({**PASSED, **change}, END), NONCE)
    assert report.foreign == 1
    assert why_not_passed(report, 0, EXPECTED)


@pytest.mark.parametrize("status", [float("inf"), float("nan"), 1e999, "0", None, False, -1, 10**30, [0], {}])
def test_a_status_of_another_form_is_no_end(status):
    report = read_report(lines(PASSED, {**END, "status": status}), NONCE)
    assert report.status is None
    assert why_not_passed(report, 0, EXPECTED)


def test_nothing_comes_after_the_end():
    assert not why_not_passed(read_report(lines(PASSED, END), NONCE), 0, EXPECTED)
    for more in (END, PASSED, {**PASSED, "outcome": "failed"}):
        assert why_not_passed(read_report(lines(PASSED, END, more), NONCE), 0, EXPECTED)


JSON = st.recursive(
    st.none() | st.booleans() | st.integers() | st.floats() | st.text(max_size=8),
    lambda inner: st.lists(inner, max_size=4) | st.dictionaries(st.text(max_size=8), inner, max_size=4),
    max_leaves=12,
)
KEYS = st.sampled_from(
    "testResults assertionResults status title ancestorTitles failureMessages duration message name stats passes "
    "failures pending fullTitle file err outcome seconds end Action Package Test Output Elapsed stack".split()
)
SHAPED = st.recursive(
    JSON | st.sampled_from(["passed", "failed", "pass", "fail", "output", "skip"]),
    lambda inner: st.lists(inner, max_size=3) | st.dictionaries(KEYS, inner, max_size=5),
    max_leaves=20,
)


@pytest.mark.slow
@settings(max_examples=60)
@given(st.dictionaries(st.sampled_from(sorted(PASSED)), JSON, max_size=6))
def test_any_value_in_an_outcome_is_read(change):
    report = read_report(lines({**PASSED, **change}, END), NONCE)
    if report.foreign == 0:
        assert all(isinstance(outcome.id, str) and outcome.seconds >= 0 for outcome in report.outcomes)


@pytest.mark.slow
@settings(max_examples=150)
@given(st.lists(SHAPED, min_size=1, max_size=4))
def test_any_json_is_read(values):
    raw = lines(*values)
    for read in READERS:
        for outcome in read(raw, "/repo").outcomes:
            assert outcome.outcome in ("passed", "failed", "skipped")
            assert 0 <= outcome.seconds < 1e6
            (outcome.id + outcome.text + outcome.message).encode()


@pytest.mark.slow
@given(st.binary(max_size=300))
def test_any_bytes_are_read(raw):
    for read in READERS:
        assert not read(raw, "/repo").ended
    json_of(raw)


PIECES = st.sampled_from(
    ["\x1b", "\x9b", "\x9d", "\x90", "[", "]", "31m", "0;t", "\x07", "\x1b\\", "\x9c", "P", "x", "\r"]
)


@pytest.mark.slow
@given(st.lists(PIECES | st.text(max_size=3), max_size=30).map("".join))
def test_no_escape_is_left_in_any_text(text):
    shown = plain(text)
    assert not any(ord(letter) < 32 and letter not in "\n\t" for letter in shown)
    assert not any(0x7F <= ord(letter) < 0xA0 for letter in shown)
    assert plain(shown) == shown


@pytest.mark.slow
@pytest.mark.parametrize(
    "unit", ["@", "/@", "a.js", "redis.", "socket", "gitclone", "x.py", "\x1b[", "\x1b]", "(", "a.js:"]
)
def test_texts_of_failures_are_searched_in_linear_time(unit):
    text = unit * (400_000 // len(unit))  # quadratic, this takes longer than a test may
    list(run_program._PLACE.finditer(text))
    need_of(text)
    plain(text, len(text))


def test_paths_of_scoped_packages_are_still_found():
    found = run_program._PLACE.search("    at add (packages/@shop/core/add.js:3:9)")
    assert (found["path"], found["line"]) == ("packages/@shop/core/add.js", "3")
    assert run_program._PLACE.search("add@src/add.js:3:9")["path"] == "src/add.js"


def test_a_place_with_an_endless_line_number_is_none():
    text = f"test_x.py:{'9' * 6000}: AssertionError"
    (failure,) = failures([TestOutcome("test_x.py::test_a", "call", "failed", text=text)], {"test_x.py": "x = 1"})
    assert failure.line == 0


@pytest.mark.slow
def test_of_many_failures_a_bounded_number_is_described():
    source = "x = 1\n" * 200_000
    many = [TestOutcome(f"a.py::test_{n}", "call", "failed", path="a.py", line=7) for n in range(100_000)]
    assert len(failures(many, {"a.py": source})) == 500


WRITES = """
import os, json
def add(a, b):
    for descriptor in range(3, 40):
        try:
            os.write(descriptor, {block})
        except OSError:
            pass
    return a + b
"""
TESTS = "from solution import add\n\ndef test_a():\n"
TESTS += "    print('\\x1b[31mred\\x1b]0;title\\x07\\x9b2J')\n    assert add(1, 2) == {value}\n"


@pytest.mark.slow
@pytest.mark.parametrize(
    "block", [r'b"[" * 40000 + b"\n"', r"""b'{"nonce": 1, "event": "finished", "status": 1e999}\n'"""]
)
def test_a_run_that_writes_into_its_report_is_not_verified(block):
    files = {"solution.py": WRITES.format(block=block), "test_a.py": TESTS.format(value=3)}
    run = run_pytest(files, ["test_a.py"], Settings())
    assert not run.genuine
    assert "something other than pytest wrote to the test report" in run.reasons


@pytest.mark.slow
@pytest.mark.parametrize("level", ["bwrap", "landlock", "limits"])
@pytest.mark.sampled(1)
def test_a_caller_with_many_open_files_changes_nothing(level):
    """A server has more descriptors open than a run may have, and than `select` can wait for."""
    if reason := why_unavailable(level):
        pytest.skip(f"{level}: {reason}")
    soft, hard = resource.getrlimit(resource.RLIMIT_NOFILE)
    if 0 <= hard < 2000:
        pytest.skip("not enough descriptors on this machine")
    files = {"solution.py": "def add(a, b):\n    return a + b\n", "test_a.py": TESTS.format(value=3)}
    resource.setrlimit(resource.RLIMIT_NOFILE, (2000, hard))
    opened = [os.open(os.devnull, os.O_RDONLY) for _ in range(1100)]
    try:
        options = Settings(sandbox=level, allow_weak_sandbox=True)
        honest = run_pytest(files, ["test_a.py"], options, verify=level == "limits")
        files["solution.py"] = WRITES.format(block=r'b"[" * 40000 + b"\n"')
        hostile = run_pytest(files, ["test_a.py"], options, verify=False)
    finally:
        for descriptor in opened:
            os.close(descriptor)
        resource.setrlimit(resource.RLIMIT_NOFILE, (soft, hard))
    assert (honest.passed, honest.genuine, honest.reasons) == (1, level == "limits", ())
    assert "something other than pytest wrote to the test report" in hostile.reasons


@pytest.mark.slow
def test_output_of_a_run_has_no_escapes():
    files = {"solution.py": "def add(a, b):\n    return 0\n", "test_a.py": TESTS.format(value=3)}
    run = run_pytest(files, ["test_a.py"], Settings())
    assert "red" in run.output
    texts = run.output + "".join(f.assertion + f.lines for f in run.failures)
    assert not any(letter in texts for letter in "\x1b\x9b\x07")
