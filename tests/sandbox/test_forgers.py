"""Programs that do not do what they should and try to look as if they did: none may be called a genuine pass."""

from __future__ import annotations

from pathlib import Path

import pytest

from repopilot.sandbox.run import run_pytest
from repopilot.settings import Settings

FORGERS = {path.stem: path.read_text() for path in sorted(Path(__file__, "../forgers").resolve().glob("*.py"))}
KNOWING = {"knows_the_tests"}
"""What nothing here can find out: see docs/trust.md."""
SECONDS = {"stretches_the_first_run": 3}
"""Time limits of those that nearly reach theirs."""
HONEST = "def add(a, b):\n    return a + b\n"
WRONG = "def add(a, b):\n    return 0\n"
TESTS = """
from solution import add


def test_small():
    assert add(1, 2) == 3


def test_negative():
    result = add(-5, 2)
    assert result < 0
    assert result == -3


def test_texts():
    assert add("a", "b") == "ab"
"""


def run(name: str, attempt: int = 0, *, verify: bool = True):
    forger = FORGERS[name]
    code = {"conftest.py": forger, "solution.py": WRONG} if name.startswith("conftest") else {"solution.py": forger}
    settings = Settings(allow_weak_sandbox=True, test_timeout_s=SECONDS.get(name, 60))
    return run_pytest({**code, "test_solution.py": sources_of(attempt)}, ["test_solution.py"], settings, verify=verify)


def sources_of(attempt: int) -> str:
    """The tests, with another value in every second attempt: what the kernel happens to have counted stays the same
    from one to the next, and a program that takes it for its memory would be right in all of them or in none."""
    return TESTS.replace("(1, 2) == 3", "(1, 1) == 2") if attempt % 2 else TESTS


def test_there_are_enough_programs():
    assert len(FORGERS) >= 74
    assert len(KNOWING) <= len(FORGERS) / 10


@pytest.mark.slow
@pytest.mark.parametrize("name", sorted(set(FORGERS) - KNOWING))
@pytest.mark.sampled(16)
def test_no_forged_pass_is_genuine(name):
    """A guess may be right: a program that remembers earlier runs perfectly wins one time in twelve, see docs/trust.md.
    One that wins only some of the times is found by the score of many runs, not here, where chance must not decide."""
    for attempt in range(4):
        result = run(name, attempt=attempt)
        if not result.genuine:
            assert result.reasons
            return
    raise AssertionError(f"believed four times in a row: {result.output}")


@pytest.mark.slow
@pytest.mark.thorough
def test_the_forgers_fool_pytest_itself():
    """Many of them do reach `3 passed` and status 0; else they would prove nothing about the control."""
    fooled = [
        name
        for name in (
            "answers_for_the_reporter",
            "conftest_says_passed",
            "looks_up_and_checks_itself",
            "recognises_by_names",
            "remembers_in_files",
            "reports_say_passed",
            "swallows_exceptions",
            "tests_do_nothing",
        )
        if run(name, verify=False).passed == 3
    ]
    assert len(fooled) >= 7


@pytest.mark.slow
def test_a_program_that_knows_the_expected_values_is_believed():
    """The limit of what controls by wrong expectations can find; if this fails, docs/trust.md says too little."""
    assert all(run(name).genuine for name in KNOWING)


@pytest.mark.slow
def test_an_honest_program_passes():
    files = {"solution.py": HONEST, "test_solution.py": TESTS}
    result = run_pytest(files, ["test_solution.py"], Settings())
    assert (result.genuine, result.passed, result.reasons) == (True, 3, ())


@pytest.mark.slow
def test_attempts_differ_in_a_value():
    assert sources_of(0) != sources_of(1)
    files = {"solution.py": HONEST, "test_solution.py": sources_of(1)}
    assert run_pytest(files, ["test_solution.py"], Settings(), verify=False).passed == 3
