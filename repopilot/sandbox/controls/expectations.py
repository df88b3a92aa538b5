"""Finds the expectations of a test that are surely met when it passes, and ways to make one wrong. Pure.

An expectation is made wrong by changing a few characters, in a way that its author might have written it: another
digit, another letter, another comparison. A program that doesn't know the right value can't recognise the wrong one,
and nothing else changes that could reveal it.
"""

from __future__ import annotations

import ast
import random
import re
import string
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from typing import TypeGuard

from repopilot.code.python_ast import FUNCTIONS, Function, is_literal
from repopilot.code.source_positions import SourcePositions

LITERAL = 0
"""A wrong literal, the better way: the value reveals nothing."""
OPPOSITE = 1
"""The opposite comparison, the second choice: it may be rarer than the original."""
_OPPOSITES: dict[type[ast.cmpop], tuple[str, str]] = {
    ast.Eq: ("==", "!="),
    ast.NotEq: ("!=", "=="),
    ast.Lt: ("<", ">="),
    ast.LtE: ("<=", ">"),
    ast.Gt: (">", "<="),
    ast.GtE: (">=", "<"),
    ast.Is: ("is", "is not"),
    ast.IsNot: (r"is\s+not", "is"),
    ast.In: ("in", "not in"),
    ast.NotIn: (r"not\s+in", "in"),
}
_ORDERS = (ast.Lt, ast.LtE, ast.Gt, ast.GtE)
_PAIRS = [
    ("assertEqual", "assertNotEqual"),
    ("assertTrue", "assertFalse"),
    ("assertIs", "assertIsNot"),
    ("assertIsNone", "assertIsNotNone"),
    ("assertIn", "assertNotIn"),
    ("assertIsInstance", "assertNotIsInstance"),
    ("assertRegex", "assertNotRegex"),
    ("assertAlmostEqual", "assertNotAlmostEqual"),
    ("assert_called", "assert_not_called"),
]
_OPPOSITE_CALL = {
    **dict(_PAIRS),
    **{b: a for a, b in _PAIRS},
    "assertLess": "assertGreaterEqual",
    "assertGreaterEqual": "assertLess",
    "assertGreater": "assertLessEqual",
    "assertLessEqual": "assertGreater",
    "assert_called_once": "assert_not_called",
}
_COMPARING_CALLS = {
    "assertEqual",
    "assertListEqual",
    "assertTupleEqual",
    "assertDictEqual",
    "assertSetEqual",
    "assertSequenceEqual",
    "assertMultiLineEqual",
    "assertCountEqual",
}
RAISES = {"raises", "assertRaises", "assertRaisesRegex"}
_SWALLOWING = {*RAISES, "suppress", "subTest"}
_EXCEPTIONS = {
    "ValueError": ("TypeError", "KeyError"),
    "TypeError": ("ValueError", "KeyError"),
    "KeyError": ("ValueError", "TypeError"),
    "IndexError": ("ValueError", "TypeError"),
    "AttributeError": ("ValueError", "TypeError"),
    "RuntimeError": ("ValueError", "KeyError"),
    "NotImplementedError": ("ValueError", "TypeError"),
    "ZeroDivisionError": ("ValueError", "TypeError"),
    "OSError": ("ValueError", "TypeError"),
    "FileNotFoundError": ("ValueError", "TypeError"),
    "AssertionError": ("ValueError", "TypeError"),
    "StopIteration": ("ValueError", "TypeError"),
}
_UNRELATED = ("ZeroDivisionError", "RecursionError")
"""Exceptions from which hardly any project derives its own."""
_QUOTES = re.compile(r"^[a-zA-Z]*('''|\"\"\"|'|\")")
_NUMBER = re.compile(r"^\d[\d_]*(?:\.\d+)?(?:e[+-]?\d+)?$|^\.\d+$")
_TRIES = 24
_ANYWHERE = 0.3
_NEAR = 2


@dataclass(frozen=True, slots=True)
class Splice:
    """The characters [start, end) of a source become `text`. `quality`: LITERAL or OPPOSITE."""

    start: int
    end: int
    text: str
    quality: int = LITERAL


def last_name(node: ast.AST) -> str:
    """`c` for `a.b.c(…)`; '' for a node without a name."""
    if isinstance(node, ast.Call):
        return last_name(node.func)
    return node.attr if isinstance(node, ast.Attribute) else node.id if isinstance(node, ast.Name) else ""


def certain_statements(body: Sequence[ast.stmt]) -> Iterator[ast.stmt]:
    """Statements that are executed whenever the test passes: none in branches, handlers or loops that may not run, none
    after a possible early exit."""
    for statement in body:
        yield statement
        if _surely_enters(statement):
            yield from certain_statements(statement.body)  # type: ignore[attr-defined]
        if _may_leave(statement):
            return


def _surely_enters(statement: ast.stmt) -> bool:
    if isinstance(statement, (ast.With, ast.AsyncWith)):
        return not _may_swallow(statement)
    return isinstance(statement, ast.For) and _has_a_turn(statement.iter)


def _may_swallow(statement: ast.With | ast.AsyncWith) -> bool:
    return any(last_name(item.context_expr) in _SWALLOWING for item in statement.items)


def _has_a_turn(node: ast.expr) -> bool:
    if isinstance(node, (ast.List, ast.Tuple)):
        return bool(node.elts) and not any(isinstance(each, ast.Starred) for each in node.elts)
    if not isinstance(node, ast.Call) or last_name(node) != "range" or len(node.args) != 1:
        return False
    turns = node.args[0]
    return isinstance(turns, ast.Constant) and isinstance(turns.value, int) and turns.value > 0


def _may_leave(statement: ast.stmt) -> bool:
    """Whether a statement contains a return, break, continue, raise or skip, except in nested functions and classes."""
    if isinstance(statement, (ast.Return, ast.Break, ast.Continue, ast.Raise)):
        return True
    if isinstance(statement, (*FUNCTIONS, ast.ClassDef)):
        return False
    if isinstance(statement, ast.Expr) and last_name(statement.value) in ("skip", "skipTest", "exit", "xfail", "fail"):
        return True
    inner = (node for node in ast.iter_child_nodes(statement) if isinstance(node, (ast.stmt, ast.ExceptHandler)))
    return any(_may_leave(node) if isinstance(node, ast.stmt) else any(map(_may_leave, node.body)) for node in inner)


def splices(statement: ast.stmt, spans: SourcePositions, rng: random.Random) -> Iterator[Splice]:
    """Ways to make a statement's expectation wrong; none where it has no expectation.

    Args:
        statement: one of `certain_statements`.
        spans: positions in its source.
        rng: random numbers for the wrong values.

    Yields:
        Each way, with a newly drawn value.
    """
    if isinstance(statement, ast.Assert):
        yield from _of_condition(statement.test, spans, rng)
    elif isinstance(statement, (ast.With, ast.AsyncWith)):
        for item in statement.items:
            if is_raises(item.context_expr):
                yield from _of_exception(item.context_expr, spans, rng)
    elif isinstance(statement, ast.Expr) and isinstance(_awaited(statement.value), ast.Call):
        yield from _of_call(_awaited(statement.value), spans, rng)


def _awaited(node: ast.expr) -> ast.expr:
    return node.value if isinstance(node, ast.Await) else node


def is_raises(node: ast.expr) -> TypeGuard[ast.Call]:
    """Whether an expression expects an exception."""
    return isinstance(node, ast.Call) and last_name(node.func) in RAISES and bool(node.args)


def _of_condition(test: ast.expr, spans: SourcePositions, rng: random.Random) -> Iterator[Splice]:
    if isinstance(test, ast.BoolOp) and isinstance(test.op, ast.And):
        for value in test.values:
            yield from _of_condition(value, spans, rng)
    elif isinstance(test, ast.UnaryOp) and isinstance(test.op, ast.Not):
        start, _ = spans.span(test)
        inner, _ = spans.span(test.operand)
        if spans.text[start:inner] == "not ":
            yield Splice(start, inner, "", OPPOSITE)
    elif isinstance(test, ast.Compare) and len(test.ops) == 1:
        yield from _of_comparison(test, spans, rng)
    elif isinstance(test, (ast.Name, ast.Attribute, ast.Call, ast.Subscript)):
        start, _ = spans.span(test)
        yield Splice(start, start, "not ", OPPOSITE)


def _of_comparison(test: ast.Compare, spans: SourcePositions, rng: random.Random) -> Iterator[Splice]:
    left = test.left
    operator = test.ops[0]
    right = test.comparators[0]
    if isinstance(operator, ast.Eq):
        literal = [side for side in (right, left) if _is_value(side)]
        if len(literal) == 1:
            yield from _other_values(literal[0], spans, rng)
    if isinstance(operator, _ORDERS) and not _is_number(left) and not _is_number(right):
        return  # an order may be partial: neither a < b nor a >= b
    pattern, opposite = _OPPOSITES[type(operator)]
    begin = spans.span(left)[1]
    end = spans.span(right)[0]
    if found := re.search(pattern, spans.text[begin:end]):
        yield Splice(begin + found.start(), begin + found.end(), opposite, OPPOSITE)


def _is_number(node: ast.expr) -> bool:
    inner = node.operand if isinstance(node, ast.UnaryOp) else node
    return (isinstance(inner, ast.Constant) and type(inner.value) in (int, float)) or last_name(inner) == "len"


def _is_value(node: ast.expr) -> bool:
    """Whether an expression is a literal, or `approx` of one."""
    if isinstance(node, ast.Call) and last_name(node) == "approx" and len(node.args) == 1 and not node.keywords:
        return is_literal(node.args[0])
    return is_literal(node)


def _other_values(node: ast.expr, spans: SourcePositions, rng: random.Random) -> Iterator[Splice]:
    """A wrong value for a literal: one of its constants is replaced."""
    constants = [inner for inner in ast.walk(node) if isinstance(inner, ast.Constant)]
    rng.shuffle(constants)
    for constant in constants:
        start, end = spans.span(constant)
        other = another(spans.text[start:end], rng)
        if other is not None:
            yield Splice(start, end, other)
            return


def another(literal: str, rng: random.Random) -> str | None:
    """The text of a constant of the same form and length with another value, None where there is none.

    Args:
        literal: the text of a number, a text, bytes or a truth value.
        rng: random numbers for the draw.
    """
    if literal in ("True", "False"):
        return "False" if literal == "True" else "True"
    try:
        value = ast.literal_eval(literal)
    except (ValueError, SyntaxError):
        return None
    for _ in range(_TRIES):
        drawn = _another_number(literal, rng) if _NUMBER.match(literal) else _another_text(literal, rng)
        if drawn is None:
            return None
        try:
            differs = _differs(value, ast.literal_eval(drawn))
        except (ValueError, SyntaxError):
            continue
        if differs:
            return drawn
    return None


def _differs(value: object, other: object) -> bool:
    if type(value) is not type(other):
        return False
    if isinstance(value, float) and isinstance(other, float):
        return abs(value - other) > 0.01 * max(abs(value), abs(other))
    return value != other


def _another_number(literal: str, rng: random.Random) -> str:
    """Change one digit by one or two, mostly the last one: a nearly right number looks right."""
    mantissa = literal.partition("e")[0]
    places = [place for place, letter in enumerate(mantissa) if letter.isdigit()]
    place = rng.choice(places if rng.random() < _ANYWHERE else places[-1:])
    digits = "123456789" if place == 0 and len(places) > 1 else string.digits
    near = [digit for digit in digits if 0 < abs(int(digit) - int(literal[place])) <= _NEAR]
    return literal[:place] + rng.choice(near) + literal[place + 1 :]


def _another_text(literal: str, rng: random.Random) -> str | None:
    """Replace one letter or digit, or swap two neighbours."""
    opening = _QUOTES.match(literal)
    if opening is None or "\\" in literal or "{" in literal:
        return None
    start = opening.end()
    end = len(literal) - len(opening[1])
    places = [place for place in range(start, end) if literal[place].isascii() and literal[place].isalnum()]
    if not places:
        return None
    place = rng.choice(places)
    if place + 1 in places and rng.random() < 0.5:
        return literal[:place] + literal[place + 1] + literal[place] + literal[place + 2 :]
    letter = literal[place]
    classes = (string.digits, string.ascii_lowercase, string.ascii_uppercase)
    own = next(letters for letters in classes if letter in letters)
    inside = [literal[other] for other in places if literal[other] in own and literal[other] != letter]
    return literal[:place] + rng.choice(inside or list(own)) + literal[place + 1 :]


def _of_exception(call: ast.Call, spans: SourcePositions, rng: random.Random) -> Iterator[Splice]:
    expected = call.args[0]
    if isinstance(expected, (ast.Name, ast.Attribute)) and last_name(expected) not in ("Exception", "BaseException"):
        others = _EXCEPTIONS.get(last_name(expected), _UNRELATED) if isinstance(expected, ast.Name) else _UNRELATED
        yield Splice(*spans.span(expected), rng.choice(others), LITERAL if others is not _UNRELATED else OPPOSITE)


def _of_call(call: ast.expr, spans: SourcePositions, rng: random.Random) -> Iterator[Splice]:
    """Ways for an assertion method of unittest or its mocks, and for `raises` called with a function."""
    assert isinstance(call, ast.Call)
    if is_raises(call):
        yield from _of_exception(call, spans, rng)
    if not isinstance(call.func, ast.Attribute):
        return
    name = call.func.attr
    if name in _COMPARING_CALLS and len(call.args) >= 2:
        literal = [argument for argument in call.args[:2] if _is_value(argument)]
        if len(literal) == 1:
            yield from _other_values(literal[0], spans, rng)
    if name in _OPPOSITE_CALL:
        _, end = spans.span(call.func)
        yield Splice(end - len(name), end, _OPPOSITE_CALL[name], OPPOSITE)


def named_values(function: Function, spans: SourcePositions, rng: random.Random) -> Iterator[Splice]:
    """Ways to make a value of `parametrize` wrong that the test uses only once, in an equality assertion."""
    names = {
        side.id
        for statement in certain_statements(function.body)
        if isinstance(statement, ast.Assert) and isinstance(statement.test, ast.Compare)
        for side in (statement.test.left, *statement.test.comparators)
        if isinstance(side, ast.Name) and len(statement.test.ops) == 1 and isinstance(statement.test.ops[0], ast.Eq)
    }
    uses = [inner.id for inner in ast.walk(function) if isinstance(inner, ast.Name)]
    compared_only = {name for name in names if uses.count(name) == 1}
    for decorator in function.decorator_list:
        if isinstance(decorator, ast.Call) and last_name(decorator) == "parametrize" and len(decorator.args) == 2:
            yield from _of_parameters(decorator.args[0], decorator.args[1], compared_only, spans, rng)


def _of_parameters(
    named: ast.expr, listed: ast.expr, names: set[str], spans: SourcePositions, rng: random.Random
) -> Iterator[Splice]:
    """For each compared parameter, one wrong value in one row."""
    if not isinstance(listed, (ast.List, ast.Tuple)):
        return
    parameters = _parameter_names(named)
    for index, name in enumerate(parameters):
        if name not in names:
            continue
        rows = [value for row in listed.elts if (value := _in_row(row, index, len(parameters)))]
        rng.shuffle(rows)
        for value in rows:
            if is_literal(value) and (found := next(_other_values(value, spans, rng), None)):
                yield found
                break


def _parameter_names(named: ast.expr) -> list[str]:
    if isinstance(named, ast.Constant) and isinstance(named.value, str):
        return [name.strip() for name in named.value.split(",")]
    if isinstance(named, (ast.List, ast.Tuple)):
        return [each.value for each in named.elts if isinstance(each, ast.Constant) and isinstance(each.value, str)]
    return []


def _in_row(row: ast.expr, index: int, count: int) -> ast.expr | None:
    """The value of one parameter in a row; None where the row isn't a plain list or tuple."""
    if count == 1:
        return row
    return row.elts[index] if isinstance(row, (ast.List, ast.Tuple)) and len(row.elts) == count else None
