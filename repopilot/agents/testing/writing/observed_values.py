"""Characterisation: puts the value that the code gives today in the place of one that a model expected wrongly. Pure.

Such a test says nothing about what is right; it is marked, in its text and in the report.
"""

from __future__ import annotations

import ast
import re
from collections.abc import Iterator
from typing import NamedTuple

from repopilot.code.python_ast import is_literal, parse_python

MARK = "# Characterisation: the value is what the code gives today; nobody has checked that it is right."
_LONGEST = 120
_PLAIN = (bool, int, float, str, bytes, type(None), list, tuple, dict)


class _Equality(NamedTuple):
    """An assertion `got == expected`, with the spans of its parts in the (one-based) lines and columns of `ast`."""

    statement: ast.stmt
    got: ast.expr
    expected: ast.expr


def observing(source: str, token: str) -> str:
    """A test that fails with the values that its equalities compare, in order; '' where it has none.

    Args:
        source: the test.
        token: marks the message.
    """
    found = list(_equalities(source))
    if not found:
        return ""
    lines = source.split("\n")
    for equality in reversed(found):
        got = ast.get_source_segment(source, equality.got) or ""
        line = lines[equality.statement.lineno - 1]
        indent = line[: len(line) - len(line.lstrip())]
        last = equality.statement.end_lineno or equality.statement.lineno
        lines[equality.statement.lineno - 1 : last] = [f"{indent}_seen_{token}.append(({got}\n{indent}))"]
    head = next(number for number, line in enumerate(lines) if line.rstrip().endswith(":"))
    lines.insert(head + 1, f"    _seen_{token} = []")
    return "\n".join(lines).rstrip() + f"\n    raise AssertionError('observed {token} ' + repr(_seen_{token}))\n"


def observed(source: str, assertion: str, token: str) -> tuple[str, str]:
    """The test with the observed values, and what it expected before.

    Args:
        source: the test as it was written.
        assertion: the message with which the test of `observing` failed.
        token: that was given to `observing`.

    Returns:
        ('', '') where the values aren't plain ones (numbers, text, None, lists, tuples and dictionaries of such), are
        long, or are those that were expected.
    """
    message = re.search(rf"observed {token} (\[.*\])", assertion, re.S)
    try:
        values = ast.literal_eval(message[1]) if message else None
    except (SyntaxError, ValueError, MemoryError, RecursionError):
        return "", ""
    equalities = list(_equalities(source))
    if not isinstance(values, list) or len(values) != len(equalities):
        return "", ""
    changed = source
    before: list[str] = []
    for equality, value in reversed(list(zip(equalities, values, strict=True))):
        expected = ast.get_source_segment(source, equality.expected) or ""
        if _same(equality.expected, value):
            continue
        if not isinstance(value, _PLAIN) or len(repr(value)) > _LONGEST or isinstance(value, float):
            return "", ""
        changed = _with_value(changed, equality, value)
        before.insert(0, expected)
    return (_marked(changed), ", ".join(before)) if before else ("", "")


def _equalities(source: str) -> Iterator[_Equality]:
    """`assert call(…) == value` and `self.assertEqual(call(…), value)` at the top level of the test."""
    function = parse_python(source).body[0]
    for node in getattr(function, "body", ()):
        sides: list[ast.expr] = []
        if isinstance(node, ast.Assert) and isinstance(node.test, ast.Compare) and len(node.test.ops) == 1:
            if isinstance(node.test.ops[0], (ast.Eq, ast.Is)):
                sides = [node.test.left, node.test.comparators[0]]
        elif isinstance(node, ast.Expr) and isinstance(node.value, ast.Call) and _is_assert_equal(node.value):
            sides = node.value.args[:2]
        literal = [is_literal(side) for side in sides]
        if literal == [False, True]:
            yield _Equality(node, sides[0], sides[1])
        elif literal == [True, False]:
            yield _Equality(node, sides[1], sides[0])


def _is_assert_equal(call: ast.Call) -> bool:
    return ast.unparse(call.func) == "self.assertEqual" and len(call.args) >= 2


def _same(node: ast.expr, value: object) -> bool:
    expected = ast.literal_eval(node)
    return type(expected) is type(value) and bool(expected == value)


def _with_value(source: str, equality: _Equality, value: object) -> str:
    """The source with one assertion's expected value replaced; `is` for what is no longer compared by `==`."""
    lines = source.split("\n")
    node = equality.statement
    line = lines[node.lineno - 1]
    indent = line[: len(line) - len(line.lstrip())]
    got = ast.get_source_segment(source, equality.got) or ""
    sign = "is" if value is None or isinstance(value, bool) else "=="
    new = f"assert {got} {sign} {value!r}" if isinstance(node, ast.Assert) else f"self.assertEqual({got}, {value!r})"
    lines[node.lineno - 1 : node.end_lineno] = [indent + new]
    return "\n".join(lines)


def _marked(source: str) -> str:
    head, _, body = source.partition("\n")
    return f"{head}\n    {MARK}\n{body}"
