"""Finds the assertions of a test in its syntax tree and inverts them. Pure.

An assertion is mutated by its *expected value*, because a result that claims to equal everything passes a mere
negation as well.
"""

from __future__ import annotations

import ast
from collections.abc import Iterator
from typing import TypeGuard

Function = ast.FunctionDef | ast.AsyncFunctionDef

# A value of the same type that equals nothing the given one equals.
_WRONG = """
def {name}(value):
    kind = type(value)
    if kind is bool:
        return not value
    if kind in (int, float):
        return value + abs(value) + 1009 if abs(value) < 1e300 else 0
    if kind is str:
        return value + "\\0"
    if kind is bytes:
        return value + b"\\0"
    if kind in (list, tuple):
        return value + kind([object()])
    if kind is set:
        return value | {{object()}}
    if kind is dict:
        return {{**value, object(): object()}}
    return object()
"""
_OPPOSITE = {
    "assertTrue": "assertFalse",
    "assertIs": "assertIsNot",
    "assertIsNone": "assertIsNotNone",
    "assertIn": "assertNotIn",
    "assertIsInstance": "assertNotIsInstance",
    "assertLess": "assertGreaterEqual",
    "assertGreater": "assertLessEqual",
    "assertRegex": "assertNotRegex",
    "assertNotEqual": "assertEqual",
    "assertNotAlmostEqual": "assertAlmostEqual",
}
_OPPOSITE |= {opposite: name for name, opposite in _OPPOSITE.items() if name not in ("assertNotEqual",)}
_EQUALITIES = {
    "assertEqual",
    "assertListEqual",
    "assertTupleEqual",
    "assertDictEqual",
    "assertSetEqual",
    "assertSequenceEqual",
    "assertMultiLineEqual",
    "assertAlmostEqual",
    "assertCountEqual",
}
_RAISES = {"raises", "assertRaises", "assertRaisesRegex"}


def wrong_helper(token: str) -> list[ast.stmt]:
    """The definition of the function that mutated assertions call; every module with such an assertion needs it."""
    return ast.parse(_WRONG.format(name=_wrong_name(token))).body


def _wrong_name(token: str) -> str:
    return f"_{token}"


def last_name(node: ast.AST) -> str:
    """`c` of `a.b.c(…)`; '' of what has no name."""
    if isinstance(node, ast.Call):
        return last_name(node.func)
    return node.attr if isinstance(node, ast.Attribute) else node.id if isinstance(node, ast.Name) else ""


def sites(function: Function) -> Iterator[tuple[ast.stmt, int]]:
    """Every statement that states an expectation, with the number of its mutations, in order of appearance."""
    for node in ast.walk(function):
        if isinstance(node, ast.Assert):
            if not (isinstance(node.test, ast.Constant) and not node.test.value):
                yield node, len(_sides(node.test))
        elif isinstance(node, ast.With):
            if any(_is_raises(item.context_expr) for item in node.items):
                yield node, 1
        elif isinstance(node, ast.Expr) and isinstance(node.value, ast.Call) and _is_assertion(node.value):
            yield node, 1


def _is_assertion(call: ast.Call) -> bool:
    """Whether it is a unittest-style assertion whose opposite is known, or `raises` called with a function."""
    name = call.func.attr if isinstance(call.func, ast.Attribute) else ""
    return (name in _EQUALITIES and len(call.args) >= 2) or name in _OPPOSITE or _is_raises(call)


def _is_raises(node: ast.expr) -> TypeGuard[ast.Call]:
    return isinstance(node, ast.Call) and last_name(node.func) in _RAISES and bool(node.args)


def mutated(statement: ast.stmt, variant: int, token: str) -> ast.stmt:
    """Make the expectation of a statement from `sites` wrong, in place.

    Args:
        statement: the statement, which is also returned.
        variant: the number of the mutation.
        token: the message of a failing `assert`, and the name of the helper.
    """
    if isinstance(statement, ast.Assert):
        sides = _sides(statement.test)
        statement.test = _inverted(statement.test, sides[variant % len(sides)], token)
        statement.msg = ast.Constant(token)
    elif isinstance(statement, ast.With):
        for item in statement.items:
            if _is_raises(item.context_expr):
                _expect_another_exception(item.context_expr)
    elif isinstance(statement, ast.Expr) and isinstance(statement.value, ast.Call):
        _invert_call(statement.value, token)
    return statement


def _invert_call(call: ast.Call, token: str) -> None:
    assert isinstance(call.func, ast.Attribute)
    if _is_raises(call):
        _expect_another_exception(call)
    elif call.func.attr in _EQUALITIES:
        index = 0 if _is_literal(call.args[0]) else 1
        call.args[index] = _wrong(call.args[index], token)
    else:
        call.func.attr = _OPPOSITE[call.func.attr]


def _expect_another_exception(call: ast.Call) -> None:
    call.args[0] = ast.parse("type('Unraised', (Exception,), {})", mode="eval").body


def _sides(test: ast.expr) -> tuple[str, ...]:
    """Which side of an equality to make wrong: the literal one, else each in turn, as either may be the result."""
    compare = next((n for n in ast.walk(test) if isinstance(n, ast.Compare) and isinstance(n.ops[0], ast.Eq)), None)
    if compare is None or len(compare.ops) > 1:
        return ("right",)
    if _is_literal(compare.comparators[0]) or _matches_anything(compare.comparators[0]):
        return ("right",)
    return ("left",) if _is_literal(compare.left) else ("right", "left")


def _is_literal(node: ast.expr) -> bool:
    return not any(isinstance(n, (ast.Name, ast.Call, ast.Attribute, ast.Subscript)) for n in ast.walk(node))


def _matches_anything(node: ast.expr) -> bool:
    return any(last_name(n) in ("ANY", "approx") for n in ast.walk(node))


def _inverted(test: ast.expr, side: str, token: str) -> ast.expr:
    """An expression that is false, or raises, whenever `test` is true of ordinary values."""
    if isinstance(test, ast.BoolOp):
        return ast.BoolOp(test.op, [_inverted(value, side, token) for value in test.values])
    if isinstance(test, ast.UnaryOp) and isinstance(test.op, ast.Not):
        return test.operand
    if isinstance(test, ast.Compare) and len(test.ops) == 1:
        return _inverted_comparison(test, side, token)
    if isinstance(test, ast.Call) and last_name(test.func) == "all" and len(test.args) == 1:
        inner = test.args[0]
        if isinstance(inner, (ast.GeneratorExp, ast.ListComp)):
            inner.elt = _inverted(inner.elt, side, token)
            return test
    return ast.UnaryOp(ast.Not(), test)


def _inverted_comparison(test: ast.Compare, side: str, token: str) -> ast.expr:
    left, operator, right = test.left, test.ops[0], test.comparators[0]
    if isinstance(operator, ast.Eq):
        wrong_left = _wrong(left, token) if side == "left" else left
        wrong_right = _wrong(right, token) if side == "right" else right
        return ast.Compare(wrong_left, [operator], [wrong_right])
    swapped = {ast.Lt: ast.Lt, ast.LtE: ast.Lt, ast.Gt: ast.Gt, ast.GtE: ast.Gt}.get(type(operator))
    if swapped:  # a ≤ b excludes b < a, except for an object that claims every order
        return ast.Compare(right, [swapped()], [left])
    if isinstance(operator, ast.In):
        return ast.Compare(ast.parse("object()", mode="eval").body, [operator], [right])
    if isinstance(operator, ast.Is):
        return ast.Compare(left, [operator], [ast.parse("object()", mode="eval").body])
    opposite = {ast.NotEq: ast.Eq, ast.NotIn: ast.In, ast.IsNot: ast.Is}[type(operator)]
    return ast.Compare(left, [opposite()], [right])


def _wrong(node: ast.expr, token: str) -> ast.expr:
    return ast.Call(ast.Name(_wrong_name(token), ast.Load()), [node], [])
