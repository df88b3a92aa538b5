"""Mutation operators: the places in a function's syntax tree where one small change makes a fault. Pure.

The operators are those of the field (relational, logical and arithmetic operator replacement, constant replacement,
condition negation, statement deletion, …). Places whose fault would hardly be visible are left out: messages of
exceptions and logs, annotations, docstrings, formatted strings, and comparisons whose bound does not matter.
"""

from __future__ import annotations

import ast
import re
from collections.abc import Callable, Iterator
from typing import NamedTuple

Span = Callable[[ast.AST], tuple[int, int]]
"""The (start, end) of a node in characters of the source."""


class Site(NamedTuple):
    """One possible change: the characters [start, end) of the source become `after`."""

    operator: str
    start: int
    end: int
    after: str


_RELATIONAL: dict[type[ast.cmpop], tuple[str, str]] = {
    ast.Lt: ("<", "<="),
    ast.LtE: ("<=", "<"),
    ast.Gt: (">", ">="),
    ast.GtE: (">=", ">"),
    ast.Eq: ("==", "!="),
    ast.NotEq: ("!=", "=="),
    ast.Is: ("is", "is not"),
    ast.IsNot: (r"is\s+not", "is"),
    ast.In: ("in", "not in"),
    ast.NotIn: (r"not\s+in", "in"),
}
_BOUNDS = (ast.Lt, ast.LtE, ast.Gt, ast.GtE)
_ARITHMETIC: dict[type[ast.operator], tuple[str, str]] = {
    ast.Add: (r"\+", "-"),
    ast.Sub: ("-", "+"),
    ast.Mult: (r"\*", "+"),
    ast.Div: ("/", "*"),
    ast.FloorDiv: ("//", "*"),
    ast.Mod: ("%", "+"),
    ast.Pow: (r"\*\*", "*"),
    ast.LShift: ("<<", ">>"),
    ast.RShift: (">>", "<<"),
    ast.BitAnd: ("&", "|"),
    ast.BitOr: (r"\|", "&"),
    ast.BitXor: (r"\^", "&"),
}
_PAIRS = [
    ("min", "max"),
    ("any", "all"),
    ("startswith", "endswith"),
    ("lower", "upper"),
    ("lstrip", "rstrip"),
    ("split", "rsplit"),
    ("partition", "rpartition"),
    ("find", "rfind"),
    ("removeprefix", "removesuffix"),
]
_COUNTERPART = dict(_PAIRS) | {b: a for a, b in _PAIRS}
_OTHER_EXCEPTION = {
    "ValueError": "TypeError",
    "TypeError": "ValueError",
    "KeyError": "IndexError",
    "IndexError": "KeyError",
    "AttributeError": "KeyError",
}
_SILENT = {"log", "logger", "logging", "warnings", "print", "warn", "debug", "_logger", "_log", "LOGGER"}
_SAFE_IN_WHILE = {"relational", "return", "exception", "text", "counterpart", "negation"}
"""Others may keep a loop from ending."""
_FUNCTIONS = (ast.FunctionDef, ast.AsyncFunctionDef)


def sites(function: ast.FunctionDef | ast.AsyncFunctionDef, source: str, span: Span) -> Iterator[Site]:
    """Every possible change of a function's body. Default values, decorators and annotations are left alone.

    Args:
        function: from the syntax tree of `source`.
        source: the text of the module.
        span: gives the position of a node in it.

    Yields:
        The changes, those of one node together.
    """
    for statement in _without_docstring(function.body):
        yield from _below(statement, source, span)


def _below(root: ast.AST, source: str, span: Span) -> Iterator[Site]:
    """The changes of a node and of what is below it. With a stack: trees are deeper than Python's calls may be."""
    left = [(root, False)]
    while left:
        node, in_while = left.pop()
        if _is_silent(node):
            continue
        found = _own_sites(node, source, span)
        yield from (site for site in found if not in_while or site.operator in _SAFE_IN_WHILE)
        inside = in_while or isinstance(node, ast.While)
        left += [(child, inside) for child in reversed(list(_visible_children(node)))]


def _own_sites(node: ast.AST, source: str, span: Span) -> Iterator[Site]:
    for kinds, find in _FINDERS:
        if isinstance(node, kinds):
            yield from find(node, source, span)


def _visible_children(node: ast.AST) -> Iterator[ast.AST]:
    """What is looked at below a node: no annotations, no decorators, no docstrings, no messages of exceptions."""
    if isinstance(node, ast.Raise):
        return
    if isinstance(node, ast.AnnAssign):
        yield from filter(None, (node.value,))
    elif isinstance(node, (*_FUNCTIONS, ast.ClassDef)):
        yield from _without_docstring(node.body)
    else:
        yield from ast.iter_child_nodes(node)


def _is_silent(node: ast.AST) -> bool:
    """Whether a fault in it would not be seen by a test, or its position is not known: `f"…"` before Python 3.12."""
    if isinstance(node, (ast.JoinedStr, ast.Assert)) or (isinstance(node, ast.Expr) and _is_text(node.value)):
        return True
    if isinstance(node, ast.If):
        return "TYPE_CHECKING" in ast.dump(node.test)
    if isinstance(node, ast.keyword):
        return node.arg in ("stacklevel", "timeout", "encoding", "errors", "maxsize")
    return isinstance(node, ast.Call) and bool(_names(node.func) & _SILENT)


def _names(node: ast.expr) -> set[str]:
    """`a`, `b` and `c` of `a.b.c`."""
    if isinstance(node, ast.Attribute):
        return {node.attr} | _names(node.value)
    return {node.id} if isinstance(node, ast.Name) else set()


def _without_docstring(body: list[ast.stmt]) -> list[ast.stmt]:
    first = body[0] if body else None
    documented = isinstance(first, ast.Expr) and isinstance(first.value, ast.Constant)
    return body[1:] if documented else body


def _between(left: ast.expr, right: ast.expr, token: str, source: str, span: Span) -> tuple[int, int] | None:
    """Where the operator between two operands stands; comments between them are skipped."""
    start, end = span(left)[1], span(right)[0]
    gap = re.sub(r"#[^\r\n]*", lambda comment: " " * len(comment[0]), source[start:end])
    found = re.search(token, gap)
    return (start + found.start(), start + found.end()) if found else None


def _relational(node: ast.Compare, source: str, span: Span) -> Iterator[Site]:
    for left, operator, right in zip([node.left, *node.comparators], node.ops, node.comparators, strict=False):
        if isinstance(operator, _BOUNDS) and getattr(node, "bound_is_free", False):
            continue
        token, after = _RELATIONAL[type(operator)]
        if place := _between(left, right, token, source, span):
            yield Site("relational", *place, after)


def _logical(node: ast.BoolOp, source: str, span: Span) -> Iterator[Site]:
    token, after = ("and", "or") if isinstance(node.op, ast.And) else ("or", "and")
    for left, right in zip(node.values, node.values[1:], strict=False):
        if place := _between(left, right, token, source, span):
            yield Site("logical", *place, after)


def _arithmetic(node: ast.BinOp, source: str, span: Span) -> Iterator[Site]:
    if _is_text(node.left) or _is_text(node.right) or type(node.op) not in _ARITHMETIC:
        return
    token, after = _ARITHMETIC[type(node.op)]
    if place := _between(node.left, node.right, token, source, span):
        yield Site("arithmetic", *place, after)


def _augmented(node: ast.AugAssign, source: str, span: Span) -> Iterator[Site]:
    if type(node.op) not in _ARITHMETIC or _is_text(node.value):
        return
    token, after = _ARITHMETIC[type(node.op)]
    if place := _between(node.target, node.value, f"{token}=", source, span):
        yield Site("arithmetic", *place, f"{after}=")


def _is_text(node: ast.expr) -> bool:
    return isinstance(node, ast.JoinedStr) or (isinstance(node, ast.Constant) and isinstance(node.value, (str, bytes)))


def _constant(node: ast.Constant, source: str, span: Span) -> Iterator[Site]:
    value, place = node.value, span(node)
    if isinstance(value, bool):
        yield Site("constant", *place, str(not value))
    elif isinstance(value, int):
        yield Site("constant", *place, str(value + 1))
        yield Site("constant", *place, str(value - 1))
    elif isinstance(value, float) and abs(value) < 1e15:
        yield Site("constant", *place, repr(value + 1))
    elif isinstance(value, str):
        yield Site("text", *place, '""' if value else '"XX"')
    elif isinstance(value, bytes):
        yield Site("text", *place, 'b""' if value else 'b"XX"')


def _condition(node: ast.If | ast.IfExp, source: str, span: Span) -> Iterator[Site]:
    start, end = span(node.test)
    if isinstance(node.test, (ast.Compare, ast.UnaryOp, ast.Constant)) and not _is_bound(node.test):
        return  # the relational operator and the removed `not` say the same
    yield Site("negation", start, end, f"not ({source[start:end]})")


def _is_bound(test: ast.expr) -> bool:
    return isinstance(test, ast.Compare) and isinstance(test.ops[0], _BOUNDS)


def _not(node: ast.UnaryOp, source: str, span: Span) -> Iterator[Site]:
    if isinstance(node.op, ast.Not):
        start, end = span(node)
        yield Site("negation", start, end, f"({source[start + len('not') : end].strip()})")


def _return(node: ast.Return, source: str, span: Span) -> Iterator[Site]:
    empty = node.value is None or (isinstance(node.value, ast.Constant) and node.value.value is None)
    if node.value is not None and not empty and not _suspends(node):
        yield Site("return", *span(node.value), "None")


def _deletion(node: ast.stmt, source: str, span: Span) -> Iterator[Site]:
    """A statement that can be left out without a name being undefined: a call, a sum, a change of what exists."""
    call = isinstance(node, ast.Expr) and isinstance(node.value, ast.Call) and not _is_silent(node.value)
    stored = isinstance(node, ast.Assign) and not any(isinstance(t, (ast.Name, ast.Tuple)) for t in node.targets)
    plain = isinstance(node, (ast.AugAssign, ast.Raise, ast.Delete))
    if (call or stored or plain) and not _suspends(node):
        yield Site("deletion", *span(node), "pass")


def _suspends(node: ast.AST) -> bool:
    """Whether without it the function might no longer be a generator."""
    return any(isinstance(inner, (ast.Yield, ast.YieldFrom, ast.Await)) for inner in ast.walk(node))


def _jump(node: ast.Break | ast.Continue, source: str, span: Span) -> Iterator[Site]:
    yield Site("jump", *span(node), "continue" if isinstance(node, ast.Break) else "break")


def _loop(node: ast.For, source: str, span: Span) -> Iterator[Site]:
    if not _suspends(node.iter):
        yield Site("loop", *span(node.iter), "()")


def _counterpart(node: ast.Call, source: str, span: Span) -> Iterator[Site]:
    name = node.func.attr if isinstance(node.func, ast.Attribute) else getattr(node.func, "id", "")
    if name in ("split", "rsplit") and len(node.args) + len(node.keywords) < 2:
        return  # without a limit both split alike
    if other := _COUNTERPART.get(name):
        end = span(node.func)[1]
        yield Site("counterpart", end - len(name), end, other)


def _raised(node: ast.Raise, source: str, span: Span) -> Iterator[Site]:
    kind = node.exc.func if isinstance(node.exc, ast.Call) else node.exc
    if isinstance(kind, (ast.Name, ast.Attribute)) and _looks_like_a_class(kind):
        other = _OTHER_EXCEPTION.get(ast.unparse(kind), "Exception")
        yield Site("exception", *span(kind), other)


def _handler(node: ast.ExceptHandler, source: str, span: Span) -> Iterator[Site]:
    if isinstance(node.type, (ast.Name, ast.Attribute)) and _looks_like_a_class(node.type):
        other = _OTHER_EXCEPTION.get(ast.unparse(node.type), "ZeroDivisionError")
        yield Site("exception", *span(node.type), other)


def _looks_like_a_class(node: ast.Name | ast.Attribute) -> bool:
    name = node.attr if isinstance(node, ast.Attribute) else node.id
    return name[:1].isupper() and name not in ("Exception", "BaseException", "ZeroDivisionError")


def mark_free_bounds(tree: ast.AST) -> None:
    """Mark the comparisons in which `<` and `<=` come to the same: `if a < b: a = b`, `a if a < b else b`."""
    for node in ast.walk(tree):
        if not isinstance(node, (ast.If, ast.IfExp)) or not isinstance(node.test, ast.Compare):
            continue
        sides = {ast.dump(side) for side in (node.test.left, *node.test.comparators)}
        results = [node.body, node.orelse] if isinstance(node, ast.IfExp) else [_result(node.body)]
        if any(result is not None and ast.dump(result) in sides for result in results):
            node.test.bound_is_free = True  # type: ignore[attr-defined]


def _result(body: list[ast.stmt]) -> ast.expr | None:
    only = body[0] if len(body) == 1 else None
    return only.value if isinstance(only, (ast.Return, ast.Assign)) else None


_FINDERS: tuple[tuple[type | tuple[type, ...], Callable[..., Iterator[Site]]], ...] = (
    (ast.Compare, _relational),
    (ast.BoolOp, _logical),
    (ast.BinOp, _arithmetic),
    (ast.AugAssign, _augmented),
    (ast.Constant, _constant),
    ((ast.If, ast.IfExp), _condition),
    (ast.UnaryOp, _not),
    (ast.Return, _return),
    (ast.stmt, _deletion),
    ((ast.Break, ast.Continue), _jump),
    (ast.For, _loop),
    (ast.Call, _counterpart),
    (ast.Raise, _raised),
    (ast.ExceptHandler, _handler),
)
