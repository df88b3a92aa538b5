"""Assertion inversion as text: what is made wrong, that an honest test then fails, and that nothing else changes."""

from __future__ import annotations

import ast
import random
from collections import Counter

import pytest
from hypothesis import given
from hypothesis import strategies as st

from repopilot.sandbox.control_plan import plan_controls
from repopilot.sandbox.controls.expectations import another
from repopilot.sandbox.controls.inversion import draw_units, expected_tests, invert, parse_tests
from repopilot.sandbox.verdict import RunReport, TestOutcome

RNG = random.Random(1)


def fails(source: str, test: str = "test_it") -> str:
    """Run a test here: its failure's text, '' when it passed. Only for sources of this file."""
    names: dict = {}
    exec(compile(source, "mutant", "exec"), names)
    try:
        names[test]()
    except BaseException as error:  # what `raises` says is no Exception
        return f"{type(error).__name__}: {error}"
    return ""


HONEST = [
    "assert 1 + 1 == 2",
    "assert 2 == 1 + 1",
    "assert len('ab') == len('cd')",
    "assert 'a' in str('abc')",
    "assert 'z' not in str('abc')",
    "assert len('a') < 2",
    "assert 2 >= len('ab')",
    "assert None is None",
    "assert [] is not None",
    "assert 1 != len('ab')",
    "assert not list()",
    "assert list([1])",
    "assert isinstance(1, int)",
    "assert all(x == x for x in [1, 2])",
    "assert len('a') == 1 and len('ab') == 2",
    "assert 0.1 + 0.2 == pytest.approx(0.3)",
    "assert {'a': 1} == dict(a=1)",
    "assert tuple([1, 2]) == (1, 2)",
    "assert bytes([120]) == b'x'",
    "assert float('-1') == -1.0",
    "assert 'a' + 'b' == \"ab\", 'said'",
    "with pytest.raises(ValueError):\n        int('x')",
    "pytest.raises(ValueError, int, 'x')",
    "for x in [1, 2]:\n        assert x == x",
    "for _ in range(2):\n        assert len('abc') == 3",
    "with open('/dev/null') as file:\n        assert file.read() == ''",
]


@pytest.mark.parametrize("statement", HONEST)
def test_every_inversion_of_a_true_statement_fails(statement):
    source = f"import pytest\n\ndef test_it():\n    {statement}\n"
    assert fails(source) == ""
    file = parse_tests(source)
    assert list(file.units) == ["test_it"] and not file.weak
    for _ in range(8):
        inverted = invert(file, ["test_it"], RNG)
        assert fails(inverted), inverted
        assert inverted.count("\n") == source.count("\n")


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
        "assert f() != 3",
    ],
)
def test_what_equals_everything_passes_inverted(statement):
    source = f"{ANYTHING}\ndef g():\n    return 3\n\ndef test_it():\n    {statement}\n"
    assert fails(source) == ""
    assert fails(invert(parse_tests(source), ["test_it"], RNG)) == ""


@pytest.mark.slow
@given(
    st.one_of(st.integers(), st.floats(allow_nan=False, allow_infinity=False), st.text(), st.binary(), st.booleans())
)
def test_another_value_has_the_same_form(value):
    literal = repr(value)
    other = another(literal, RNG)
    if other is None:
        return
    assert ast.literal_eval(other) != value
    assert type(ast.literal_eval(other)) is type(value)
    assert isinstance(value, bool) or len(other) == len(literal)


@pytest.mark.parametrize("literal", ["3", "-0", "1.5", "1_000", "'ab'", '"Hello, world"', "b'x1'", "True", "1e9"])
def test_another_value_is_found(literal):
    drawn = {another(literal.lstrip("-"), RNG) for _ in range(40)}
    assert None not in drawn and literal not in drawn


@pytest.mark.parametrize("literal", ["''", "'\\n'", "0x1f", "None", "...", "'{}'"])
def test_what_has_no_other_value_of_its_form(literal):
    assert another(literal, RNG) is None


def test_digits_and_letters_stay_in_their_class():
    for _ in range(60):
        other = another("'Ab-9'", RNG)
        assert other[1].isupper() or other[1].islower()
        assert other[3] == "-" and other[0] == other[-1] == "'"


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
    def clock(self): return self.zone()
    def zone(self): self.skipTest("no zones here")
    def test_h(self): assert self.clock()
class Ready(unittest.TestCase):
    def setUp(self): need()
    def test_i(self): pass
def need(): pytest.importorskip("zones")
@pytest.fixture
def zones(): need()
def test_j(zones): pass
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
        "Checks::test_h": True,
        "Ready::test_i": True,
        "test_j": True,
    }


def test_only_what_is_surely_reached_is_made_wrong():
    source = """
def test_it():
    if False:
        assert 1 == 2
    for x in []:
        assert x == 3
    try:
        assert 4 == 5
    except AssertionError:
        pass
    with pytest.raises(AssertionError):
        assert int() == 6
    assert len("a") == 1
    if x:
        return
    assert 7 == 8
"""
    file = parse_tests(source)
    for _ in range(20):
        inverted = invert(file, ["test_it"], RNG)
        changed = [b for a, b in zip(source.splitlines(), inverted.splitlines(), strict=True) if a != b]
        assert len(changed) == 1
        assert "len(" in changed[0] or "raises" in changed[0]


def test_only_the_chosen_tests_change():
    source = "".join(f"def test_{n}():  # {n}\n    assert len('a') == 1  # one\n\n" for n in range(6))
    file = parse_tests(source)
    inverted = invert(file, ["test_1", "test_4"], RNG)
    same = [a == b for a, b in zip(source.splitlines(), inverted.splitlines(), strict=True)]
    assert same.count(False) == 2 and not same[4] and not same[13]
    assert len(inverted) == len(source)
    assert [fails(inverted, f"test_{n}") != "" for n in range(6)] == [False, True, False, False, True, False]


def test_a_value_of_a_parameter_is_made_wrong_where_it_is_only_compared():
    source = """
import pytest
@pytest.mark.parametrize("given, expected", [(1, 2), (2, 4)])
def test_it(given, expected):
    assert given * 2 == expected
"""
    file = parse_tests(source)
    lines = {line for _ in range(20) for line in invert(file, ["test_it"], RNG).splitlines() if "parametrize" in line}
    assert source.splitlines()[2] not in lines and len(lines) > 4
    assert all(line.startswith('@pytest.mark.parametrize("given, expected", [(1, ') for line in lines)
    assert all("(2, " in line for line in lines)


def test_assertions_in_other_functions_are_made_wrong():
    source = """
def check(a, b):
    assert a == b

def deep(a):
    check(a, a)

def test_it():
    check(1, 1)

def test_deep():
    deep(1)

def test_own():
    assert len("a") == 1
"""
    file = parse_tests(source)
    assert set(file.units) == {"check", "test_own"}
    assert file.units["check"].fail == {"test_it"}
    assert file.units["check"].may_fail == {"test_deep"}
    assert fails(invert(file, ["check"], RNG)).startswith("AssertionError")


def test_without_any_expectation_tests_fail_at_their_end():
    source = "def test_it():\n    int('1')\n\ndef test_b(): int('2')\n\ndef test_c():\n    return\n"
    file = parse_tests(source)
    assert file.weak and set(file.units) == {"test_it", "test_b"}
    inverted = invert(file, ["test_it", "test_b"], RNG)
    assert fails(inverted) and fails(inverted, "test_b") and not fails(inverted, "test_c")


def test_unittest_assertions():
    source = """
import unittest
from unittest.mock import Mock

class Checks(unittest.TestCase):
    def test_it(self):
        {statement}
"""
    for statement in (
        "self.assertEqual(1 + 1, 2)",
        "self.assertEqual(2, 1 + 1)",
        "self.assertTrue([1])",
        "self.assertIn(1, [1])",
        "self.assertIsNone(None)",
        "self.assertAlmostEqual(0.1 + 0.2, 0.3)",
        "self.assertListEqual(list('a'), ['a'])",
        "Mock().assert_not_called()",
        "with self.assertRaises(ValueError):\n            int('x')",
    ):
        names: dict = {}
        exec(invert(parse_tests(source.format(statement=statement)), ["Checks::test_it"], RNG), names)
        result = names["unittest"].TestResult()
        names["Checks"]("test_it").run(result)
        assert len(result.failures + result.errors) == 1, statement


def report_of(*tests: str) -> RunReport:
    outcomes = {test: (TestOutcome(test, "call", "passed"),) for test in tests}
    return RunReport(tuple(group[0] for group in outcomes.values()), 0, 0, outcomes)


@pytest.mark.slow
def test_each_test_is_wrong_about_half_the_time():
    source = "".join(f"def test_{n}():\n    assert len('a') == 1\n" for n in range(5))
    report = report_of(*(f"test_a.py::test_{n}" for n in range(5)))
    seen = Counter()
    for seed in range(200):
        plan = plan_controls({"test_a.py": source}, report, (), random.Random(seed))
        assert len(plan) == 4
        for control in plan:
            seen.update(control.fail)
            assert (control.texts["test_a.py"] == source) is (not control.fail)
    assert all(320 < count < 480 for count in seen.values())


def test_few_tests_have_more_runs_and_many_have_few_failures():
    one = plan_controls(
        {"test_a.py": "def test_a():\n    assert 1 == int('1')\n"}, report_of("test_a.py::test_a"), (), RNG
    )
    assert len(one) == 8
    assert sum(bool(control.fail) for control in one) >= 2
    names = [("test_a.py", f"test_{n}") for n in range(2000)]
    assert 5 < len(draw_units(names, RNG)) < 60


def test_tests_that_did_not_pass_or_are_partly_left_out_are_no_controls():
    source = "".join(f"def test_{n}():\n    assert len('a') == 1\n" for n in range(3))
    report = report_of("test_a.py::test_0", "test_a.py::test_1")
    plan = plan_controls({"test_a.py": source}, report, ("test_a.py::test_1[3]",), RNG)
    assert {test for control in plan for test in control.fail} == {"test_a.py::test_0"}
