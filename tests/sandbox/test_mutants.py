"""Mutants: each parses and differs from the original in exactly one place."""

from __future__ import annotations

import ast
import heapq
import inspect
import textwrap

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from repopilot.code.python_ast import parse_python
from repopilot.sandbox.controls.fault_sites import Site
from repopilot.sandbox.controls.mutants import _with_all, changed_lines, faults_in_each_function, mutants

EXPRESSIONS = [
    "a < b",
    "é is not None",
    "a not in b",
    "(a) == (b)  # same?",
    "a and b and not c",
    "not (a or\n      b)",
    "a + b * 2 - c // 3",
    "max(a, b, key=lambda x: x[0] % 7)",
    "[x for x in a if x > -1]",
    "'ü' + a.lstrip('x')",
    "f'{a:>{b}}' 'y'",
    "a if a > b else b",
    "{'k': 1.5, b'q': True}",
    "(yield a)",
    "a[1:-1]",
]
EXPRESSION = st.sampled_from(EXPRESSIONS).map(lambda text: f"({text}\n    )")
SIMPLE = st.one_of(
    EXPRESSION.map(lambda e: f"x = {e}"),
    EXPRESSION.map(lambda e: f"x += {e}"),
    EXPRESSION.map(lambda e: f"self.y = {e}; a.b({e})"),
    EXPRESSION.map(lambda e: f"return {e}"),
    EXPRESSION.map(lambda e: f"raise ValueError({e})"),
    EXPRESSION.map(lambda e: f"log.info({e})"),
    st.just("del a[0]"),
)


def block(head: str, body: str, tail: str = "") -> str:
    return f"{head}\n{textwrap.indent(body, '    ')}{tail}"


STATEMENT = st.recursive(
    SIMPLE,
    lambda inner: st.one_of(
        st.builds(lambda e, s: block(f"if {e}:", s, "\nelse:\n    pass"), EXPRESSION, inner),
        st.builds(lambda e, s: block(f"for i in {e}:", f"{s}\nbreak"), EXPRESSION, inner),
        st.builds(lambda e, s: block(f"while {e}:", f"{s}\nx += 1\ncontinue"), EXPRESSION, inner),
        st.builds(lambda s: block("try:", s, "\nexcept KeyError:\n    raise"), inner),
        st.builds(lambda s, t: f"{s}\n{t}", inner, inner),
    ),
    max_leaves=6,
)


@pytest.mark.slow
@settings(max_examples=60, deadline=None)
@given(STATEMENT, st.integers(0, 3), st.sampled_from(["\n", "\r\n"]), st.booleans())
def test_each_mutant_parses_and_differs_in_one_place(body: str, seed: int, end: str, method: bool) -> None:
    function = block("def f(self, a=1, *, b: int = 2):", f'"""Doc < 1."""\n{body}')
    source = block("class C:", function) if method else function
    source = f"# ü\n{source}\n\nafter = 1 < 2\n".replace("\n", end)
    found = mutants(source, "C.f" if method else "f", seed=seed)
    for mutant in found:
        parse_python(mutant.text)
        at = [
            i
            for i in range(len(source))
            if source[:i] + mutant.after + source[i + len(mutant.before) :] == mutant.text
            and source[i : i + len(mutant.before)] == mutant.before
        ]
        assert at and mutant.text != source
        assert any(source.count("\n", 0, i) + 1 == mutant.line for i in at)
        assert ast.dump(parse_python(mutant.text)) != ast.dump(parse_python(source))
    assert len({m.text for m in found}) == len(found)
    assert found == mutants(source, "C.f" if method else "f", seed=seed)


def changes(body: str, most: int = 99) -> set[tuple[str, str]]:
    source = block("def f(a, b):", body) + "\n"
    return {(m.before, m.after) for m in mutants(source, "f", most)}


@pytest.mark.parametrize(
    "body, expected",
    [
        ("g(a < b)", {("<", "<="), ("g(a < b)", "pass")}),
        ("return a is  not b", {("is  not", "is"), ("a is  not b", "None")}),
        ("x = a and b", {("and", "or")}),
        ("x = a // b", {("//", "*")}),
        ("x = 3", {("3", "4"), ("3", "2")}),
        ("x = True", {("True", "False")}),
        ("x = 'a'", {("'a'", "'XXa'")}),
        ("if a: x = b", {("a", "not (a)")}),
        ("if not a: x = b", {("not a", "(a)")}),
        ("raise KeyError('gone')", {("raise KeyError('gone')", "pass")}),
        ("for x in a: break", {("a", "()")}),
    ],
)
def test_operators(body: str, expected: set[tuple[str, str]]) -> None:
    assert changes(body) == expected


@pytest.mark.parametrize(
    "body",
    [
        '"""Adds 1 < 2."""',
        "x: 'list[1]' = a",
        "logger.info('a %s', 1 + b)",
        "x = f'{a + 1}'",
        "return None",
        "assert a < b, 'message'",
        "x = a.split()",
        "if TYPE_CHECKING: x = 1",
    ],
)
def test_what_a_test_would_not_see_is_left_alone(body: str) -> None:
    assert changes(body) == set()


def test_a_while_loop_still_ends() -> None:
    assert changes("while a < b:\n    a += 1\n    g(a)") == {("<", "<=")}


def test_operators_and_lines_are_varied() -> None:
    found = mutants(inspect.getsource(heapq), "merge", most=8)
    assert len(found) == 8 and len({m.line for m in found}) == 8 and len({m.operator for m in found}) >= 4
    assert [m.line for m in found] == sorted(m.line for m in found)


def test_a_class_stands_for_its_methods_and_a_property_for_all_its_functions() -> None:
    source = (
        "class A:\n    @property\n    def x(self):\n        return 1\n    @x.setter\n    def x(self, v):\n"
        "        self.v = v < 2\n    def y(self):\n        return 5\n"
    )
    assert {m.line for m in mutants(source, "A")} == {4, 7, 9}
    assert {m.line for m in mutants(source, "A.x")} == {4, 7}


@pytest.mark.parametrize("source", ["def f(:", "", "f = 1\n", "def f(): pass\n", "\0"])
def test_nothing_to_change(source: str) -> None:
    assert mutants(source, "f") == ()


def test_faults_in_each_function():
    source = "def f(a):\n    return 3 + a\n\n\nclass C:\n    def g(self):\n        return not self\n"
    one, all_ = (faults_in_each_function(source, 0, most) for most in (1, 20))
    for text in (one, all_):
        changed = [a for a, b in zip(source.splitlines(), text.splitlines(), strict=True) if a != b]
        assert changed == ["    return 3 + a", "        return not self"]
    assert "4 - a" in all_
    assert faults_in_each_function("def f(:") == "def f(:"


def test_only_a_change_that_keeps_a_text_from_being_parsed_is_left_out() -> None:
    data = b"a = 1\nb = 2\nc = 3\n"
    chosen = [Site("constant", at, at + 1, after) for at, after in ((16, "4"), (10, "("), (4, "5"))]
    assert _with_all(chosen, data) == b"a = 5\nb = 2\nc = 4\n"
    assert _with_all(chosen[1:2], data) == _with_all([], data) == data


@pytest.mark.parametrize("end", ["\x0b", "\x0c", "\x1c", "\x85", "\u2028"])
def test_changed_lines_are_numbered_as_parsers_number_them(end: str) -> None:
    before = f"# {end}\na = 1\nb = 2\n"
    assert changed_lines(before, before.replace("b = 2", "b = 3")) == {3}
    assert changed_lines(before, before.replace("\n", "\r\n")) == frozenset()
    assert changed_lines(before, f"# {end}\na = 1\n") == {2}
    assert changed_lines("", before) == {1, 2, 3} and changed_lines(before, "") == frozenset()


@pytest.mark.slow
def test_a_deep_tree_is_walked_without_recursion() -> None:
    text = "def f(a):\n    return " + " + ".join(["a"] * 2_000) + "\n"
    assert mutants(text, "f")


@pytest.mark.parametrize(
    "text", ["    return 9 if a >= LIMIT else a\n", "    if a >= LIMIT:\n        return 9\n    return a\n"]
)
def test_a_bound_is_turned_around_too(text):
    """A test far from the bound notices no fault at it."""
    found = mutants(f"def f(a):\n{text}\n", "f", 99)
    assert any("not (a >= LIMIT)" in each.after for each in found) and any(each.after == ">" for each in found)
    controls = [faults_in_each_function(f"def f(a):\n{text}\n", seed, 20) for seed in range(20)]
    assert all("not (a >= LIMIT)" in control or "return None" in control for control in controls)
