"""Assertion inversion as text: what is mutated, and that every mutant of an honest test fails."""

from __future__ import annotations

import ast

import pytest
from hypothesis import given
from hypothesis import strategies as st

from repopilot.sandbox.inversion import Mutation, expected_tests, mutate, mutations

TOKEN = "x0123"


def fails(source: str, test: str = "test_it") -> str:
    """Run a mutant's test here: its failure's text, '' when it passed. Only for sources of this file."""
    names: dict = {}
    exec(compile(source, "mutant", "exec"), names)
    try:
        names[test]()
    except Exception as error:
        return f"{type(error).__name__}: {error}"
    return ""


HONEST = [
    "assert 1 + 1 == 2",
    "assert 2 == 1 + 1",
    "assert len('ab') == len('cd')",
    "assert 'a' in 'abc'",
    "assert 'z' not in 'abc'",
    "assert 1 < 2",
    "assert 2 >= 2",
    "assert {1} <= {1, 2}",
    "assert None is None",
    "assert [] is not None",
    "assert 1 != 2",
    "assert not []",
    "assert [1]",
    "assert isinstance(1, int)",
    "assert all(x == x for x in [1, 2])",
    "assert 1 == 1 and 2 == 2",
    "assert 1 == 1 or 2 == 3",
    "assert 0 <= 1 <= 2",
    "assert 0.1 + 0.2 == pytest.approx(0.3)",
    "assert {'a': 1} == dict(a=1)",
    "assert (1, 2) == tuple([1, 2])",
    "assert b'x' == bytes([120])",
    "assert float('inf') == float('inf')",
    "assert -1.0 == float('-1')",
    "with pytest.raises(ValueError):\n        int('x')",
    "pytest.raises(ValueError, int, 'x')",
    "for x in [1, 2]:\n        assert x == x",
]


@pytest.mark.parametrize("statement", HONEST)
def test_every_mutation_of_a_true_statement_fails(statement):
    source = f"import pytest\n\ndef test_it():\n    {statement}\n"
    assert fails(source) == ""
    found = mutations(source)
    assert len(found) >= 2
    for mutation in found:
        failure = fails(mutate(source, mutation, TOKEN))
        assert failure and "wrong expectation passed" not in failure, mutate(source, mutation, TOKEN)


ANYTHING = """
class f:
    def __eq__(self, other):
        return True
    __lt__ = __gt__ = __le__ = __ge__ = __ne__ = __eq__
"""


@pytest.mark.parametrize(
    "statement",
    [
        "assert f() == 3",
        "assert 3 == f()",
        "assert f() == g()",
        "assert g() == f()",
        "assert f() < 3",
        "assert 3 >= f()",
        "assert f() != 3",
        "assert all(f() == x for x in [1])",
        "assert f() == 1 and f() == 2",
    ],
)
def test_what_equals_everything_is_found_out(statement):
    source = f"{ANYTHING}\ndef g():\n    return 3\n\ndef test_it():\n    {statement}\n"
    assert fails(source) == ""
    assert any("wrong expectation passed" in fails(mutate(source, mutation, TOKEN)) for mutation in mutations(source))


@given(
    st.one_of(
        st.integers(),
        st.floats(allow_nan=False),
        st.text(),
        st.binary(),
        st.booleans(),
        st.none(),
        st.lists(st.integers()),
        st.dictionaries(st.text(), st.integers()),
        st.sets(st.integers()),
    )
)
def test_no_literal_equals_its_mutation(value):
    if value in (float("inf"), float("-inf")):
        return  # has no literal
    source = f"def test_it():\n    value = {value!r}\n    assert value == {value!r}\n"
    for mutation in mutations(source):
        failure = fails(mutate(source, mutation, TOKEN))
        assert failure and "wrong expectation passed" not in failure


def test_expected_tests():
    source = """
import unittest, pytest

def test_a(): pass
async def test_b(): pass
def helper(): pass
@pytest.fixture
def test_data(): pass
@pytest.mark.skipif(True, reason="")
def test_skipped(): pass
class TestC:
    def test_d(self): pass
    def other(self): pass
    class TestInner:
        def test_e(self): pass
class Checks(unittest.TestCase):
    def test_f(self): self.skipTest("")
class Other:
    def test_g(self): pass
"""
    found = {test.id: test.may_skip for test in expected_tests(source)}
    assert found == {
        "test_a": False,
        "test_b": False,
        "test_skipped": True,
        "TestC::test_d": False,
        "TestC::TestInner::test_e": False,
        "Checks::test_f": True,
    }


def test_a_mutant_keeps_one_test_under_its_name():
    source = (
        '"""Doc."""\nfrom __future__ import annotations\nimport os\n\n'
        "def test_a():\n    assert 1\n\ndef test_b():\n    assert 2\n"
    )
    mutant = ast.parse(mutate(source, Mutation("test_b", 8, 0), TOKEN))
    functions = [node.name for node in mutant.body if isinstance(node, ast.FunctionDef)]
    assert functions == [f"_{TOKEN}", "test_b"]
    assert isinstance(mutant.body[1], ast.ImportFrom)  # `__future__` stays first


def test_a_return_can_not_skip_the_end():
    source = "def test_it():\n    if True:\n        return\n    assert 1 == 1\n"
    at_end = next(m for m in mutations(source) if m.position is None)
    assert TOKEN in fails(mutate(source, at_end, TOKEN))


def test_assertions_in_other_functions_are_mutated():
    source = "def check(a, b):\n    assert a == b\n\ndef test_it():\n    check(1, 1)\n"
    assert [fails(mutate(source, m, TOKEN)).partition(":")[0] for m in mutations(source)] == ["AssertionError"] * 2


def test_unittest_assertions():
    source = """
import unittest

class Checks(unittest.TestCase):
    def test_it(self):
        self.assertEqual(1 + 1, 2)
        self.assertEqual(2, 1 + 1)
        self.assertTrue([1])
        self.assertIn(1, [1])
        self.assertIsNone(None)
        self.assertAlmostEqual(0.1 + 0.2, 0.3)
        with self.assertRaises(ValueError):
            int("x")
"""
    for mutation in mutations(source):
        names: dict = {}
        exec(mutate(source, mutation, TOKEN), names)
        result = names["unittest"].TestResult()
        names["Checks"]("test_it").run(result)
        problems = result.failures + result.errors
        assert len(problems) == 1
        assert "wrong expectation passed" not in problems[0][1]
