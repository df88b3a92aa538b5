"""Calls adapted to changed parameters: what they mean stays the same."""

from __future__ import annotations

import ast
import inspect

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from repopilot.agents.coding.follow_ups.python_calls import adapted, changed_parameters, parameters


def _parameters(signature: str):
    return parameters(ast.parse(f"def f{signature}: ...").body[0], False)


def _adapted(old: str, new: str, call: str):
    change = changed_parameters(_parameters(old), _parameters(new))
    return None if change is None else adapted(ast.parse(call).body[0].value, change, call)


def _written(old: str, new: str, call: str) -> str | None:
    found = _adapted(old, new, call)
    if found is None or found.replacements is None:
        return None
    for each in reversed(found.replacements):
        call = call[: each.start] + each.text + call[each.end :]
    return call


@pytest.mark.parametrize(
    ("old", "new", "call", "written"),
    [
        ("(a, b)", "(b, a)", "f(1, 2)", "f(2, 1)"),
        ("(a, b)", "(b, a)", "f(a=1, b=2)", None),
        ("(a, size=0)", "(a, length=0)", "f(1, size=x)", "f(1, length=x)"),
        ("(a, size=0)", "(a, length=0)", "f(1, 2)", None),
        ("(a, b)", "(a)", "f(1, g(2, 3))", "f(1)"),
        ("(a, b=0)", "(a)", "f(1, b=2)", "f(1)"),
        ("(a, b=0)", "(a)", "f(1)", None),
        ("(a, b=0)", "(a, c=None, b=0)", "f(1, 2)", "f(1, b=2)"),
        ("(a, b)", "(a, *, b)", "f(é, 2)", "f(é, b=2)"),
        ("(a, b)", "(b, a)", "f(\n    1,\n    2,\n)", "f(\n    2,\n    1,\n)"),
        ("(a)", "()", "f(1,)", "f()"),
        ("(a, b)", "(b, a)", "f((1), 2)", None),
        ("(a, b)", "(b, a)", "f(*x)", None),
    ],
)
def test_a_call_is_written_anew_where_it_must_be(old, new, call, written):
    assert _written(old, new, call) == written


def test_what_a_call_lacks_or_gives_in_vain():
    assert _adapted("(a)", "(a, b)", "f(1)").missing == ("b",)
    assert _adapted("(a, b=1)", "(a)", "f(1, b=2)").unknown == ("b",)
    assert _adapted("(a, b=1)", "(a, **rest)", "f(1, b=2)") is None


NAMES = st.lists(st.sampled_from("abcd"), unique=True, max_size=4)


@settings(max_examples=150, deadline=None)
@given(NAMES, NAMES, st.integers(0, 4))
def test_every_kept_argument_reaches_its_parameter(old, new, positional):
    change = changed_parameters(_parameters(f"({', '.join(old)})"), _parameters(f"({', '.join(new)})"))
    if change is None or change.renamed:
        return
    arguments = [f"'{n}'" if at < positional else f"{n}='{n}'" for at, n in enumerate(old)]
    text = f"f({', '.join(arguments)})"
    found = adapted(ast.parse(text).body[0].value, change, text)
    if found is not None and found.replacements is None:
        assert found.missing
        return
    for each in reversed(found.replacements if found else ()):
        text = text[: each.start] + each.text + text[each.end :]
    call = ast.parse(text).body[0].value
    signature = inspect.Signature([inspect.Parameter(n, inspect.Parameter.POSITIONAL_OR_KEYWORD) for n in new])
    keywords = {k.arg: k.value.value for k in call.keywords}
    bound = signature.bind(*[a.value for a in call.args], **keywords).arguments
    assert bound == {name: name for name in new}
