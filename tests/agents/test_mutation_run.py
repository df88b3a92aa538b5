"""Tests run on mutants in one process of the sandbox."""

from __future__ import annotations

from pathlib import Path

import pytest
from support.shop_workspace import offline

from repopilot.agents.testing.mutation_run import KillMatrix, kill_matrix, mutant_run
from repopilot.code.mutation.mutants import Mutant
from repopilot.sandbox.run import run_pytest

pytestmark = pytest.mark.slow

CODE = '''"""Till."""
from contextlib import contextmanager
from functools import lru_cache


def plain(x):
    return x + 1


@lru_cache
def cached(x):
    return x * 2


@contextmanager
def opened(x):
    inner = lambda y: y + x
    yield inner(1)


class Base:
    def size(self):
        return 1


class Till(Base):
    @property
    def sum(self):
        return 5

    def size(self):
        return super().size() + 1


def countdown(n):
    while n > 0:
        n -= 1
    return n
'''
TESTS = """import unittest
import pytest
from till import Till, cached, countdown, opened, plain


@pytest.mark.parametrize("x", [1, 2])
def test_plain(x):
    assert plain(x) == x + 1


def test_cached():
    assert cached(4) == 8


def test_opened():
    with opened(2) as three:
        assert three == 3


class TestTill:
    def test_sum(self):
        assert Till().sum == 5
        assert isinstance(Till(), Till)

    def test_size(self):
        assert Till().size() == 2


class OldTest(unittest.TestCase):
    def test_countdown(self):
        self.assertEqual(countdown(3), 0)


def test_wrong():
    assert plain(1) == 3
"""
FAULTS = {
    "x + 1": "x - 1",
    "x * 2": "x * 3",
    "y + x": "y - x",
    "return 5": "return 6",
    "super().size() + 1": "1",
    "n -= 1": "pass",
    "return 1\n": "return 3\n",
}
PLAIN, CACHED, OPENED = ("", "test_plain"), ("", "test_cached"), ("", "test_opened")
SUM, SIZE, COUNTDOWN = ("TestTill", "test_sum"), ("TestTill", "test_size"), ("OldTest", "test_countdown")


@pytest.fixture(scope="module")
def matrix(tmp_path_factory: pytest.TempPathFactory) -> KillMatrix:
    mutants = [Mutant("", 1, old, new, CODE.replace(old, new, 1)) for old, new in FAULTS.items()]
    plan = mutant_run(TESTS, "test_till.py", CODE, mutants, "ab12cd34")
    settings = offline(Path(tmp_path_factory.mktemp("home")))
    run = run_pytest({"till.py": CODE, **plan.files}, list(plan.files), settings, verify=False)
    return kill_matrix(plan, run)


def test_what_passes_on_the_code_as_it_is(matrix: KillMatrix) -> None:
    assert matrix.passed == {PLAIN, CACHED, OPENED, SUM, SIZE, COUNTDOWN}


@pytest.mark.parametrize(
    "number, caught",
    [
        (0, {PLAIN}),
        (1, {CACHED}),  # the cache is emptied, before and after
        (2, {OPENED}),  # a function inside of a decorated one
        (3, {SUM}),
        (5, {COUNTDOWN}),  # the loop doesn't end
        (6, {SIZE}),
    ],
)
def test_which_mutant_each_test_catches(matrix: KillMatrix, number: int, caught: set[tuple[str, str]]) -> None:
    assert number in matrix.measured
    assert {test for test, numbers in matrix.caught.items() if number in numbers} == caught


def test_a_mutant_that_cannot_be_exchanged_is_not_counted(matrix: KillMatrix) -> None:
    assert 4 not in matrix.measured  # without `super()` the method has no cell for its class
