"""What changes from one iteration of a Python loop to the next, and what kind of loop it is. Local to one function."""

from __future__ import annotations

import ast
import re
from collections.abc import Iterator

from repopilot.review.rules.python.tree import COMPREHENSIONS, PythonTree, called, dotted, names_in, words_of

_STEPS = frozenset(
    "attempt attempts retry retries tries try page pages batch batches chunk chunks batched chunked offset offsets "
    "paginator paginate poll".split()
)
_PURE = re.compile(
    r"(^|\.)(str|len|int|float|repr|sorted|tuple|set|list|frozenset|min|max|sum|re\.escape|escape|join|format|lower|upper|"
    r"strip|lstrip|rstrip|encode|keys|values|items|split|replace|casefold)$"
)
FEW = 6


def varying(tree: PythonTree, loop: ast.AST) -> set[str]:
    """Names whose value may differ from one iteration of a loop to the next. An inner loop over something that stays
    the same goes through the same values on every iteration."""
    changing = set()
    for target in _targets(loop):
        changing |= names_in(target)
    inner = [n for n in ast.walk(loop) if n is not loop]
    modules = {(n.asname or n.name).partition(".")[0] for node in tree.of(ast.Import) for n in node.names}
    changing |= set(_mutated(inner)) - modules
    while True:
        more = {
            name
            for name, values in _stored(inner)
            if name not in changing and any(not _stays(v, changing) for v in values)
        }
        if not more:
            return changing
        changing |= more


def _targets(loop: ast.AST) -> list[ast.expr]:
    if isinstance(loop, (ast.For, ast.AsyncFor)):
        return [loop.target]
    return [g.target for g in getattr(loop, "generators", ())]


def _mutated(nodes: list[ast.AST]) -> Iterator[str]:
    """Names of what is added to or deleted, or has a method called that may change it."""
    for node in nodes:
        if isinstance(node, ast.AugAssign):
            yield dotted(node.target).partition(".")[0]
        elif isinstance(node, (ast.Subscript, ast.Attribute)) and isinstance(node.ctx, (ast.Store, ast.Del)):
            yield dotted(node).partition(".")[0]
        elif isinstance(node, ast.Call) and isinstance(node.func, ast.Attribute) and not _PURE.search(called(node)):
            yield dotted(node.func).partition(".")[0]
        elif isinstance(node, ast.ExceptHandler) and node.name:
            yield node.name


def _stored(nodes: list[ast.AST]) -> Iterator[tuple[str, list[ast.expr]]]:
    """Every name that is assigned, with the expressions its value comes from."""
    for node in nodes:
        if isinstance(node, (ast.Assign, ast.AnnAssign, ast.NamedExpr)) and node.value is not None:
            targets = node.targets if isinstance(node, ast.Assign) else [node.target]
            yield from ((n, [node.value]) for t in targets for n in names_in(t))
        elif isinstance(node, (ast.For, ast.AsyncFor, ast.comprehension)):
            yield from ((n, [node.iter]) for n in names_in(node.target))
        elif isinstance(node, ast.withitem) and node.optional_vars is not None:
            yield from ((n, [node.context_expr]) for n in names_in(node.optional_vars))


def _stays(value: ast.expr, changing: set[str]) -> bool:
    return (
        not names_in(value) & changing
        and all(_PURE.search(called(n)) for n in ast.walk(value) if isinstance(n, ast.Call))
        and not any(isinstance(n, (ast.Await, ast.Yield)) for n in ast.walk(value))
    )


def same_on_every_iteration(tree: PythonTree, values: list[ast.expr], loop: ast.AST) -> bool:
    """Whether expressions have the same value on every iteration of a loop.

    Args:
        tree: the file.
        values: the expressions.
        loop: a statement or comprehension around them.

    Returns:
        True if all are free of side effects, as far as is known, and of names that the loop changes.
    """
    changing = varying(tree, loop)
    return all(_stays(v, changing) for v in values)


def small(node: ast.expr) -> bool:
    """Whether an expression is a few literals, or a range."""
    if isinstance(node, (ast.Tuple, ast.List, ast.Set)):
        return len(node.elts) < FEW
    return isinstance(node, (ast.Constant, ast.Dict)) or (isinstance(node, ast.Call) and called(node) == "range")


def in_steps(tree: PythonTree, loop: ast.AST) -> bool:
    """Whether a loop reads pages, works in batches, polls or retries, rather than visiting items one by one."""
    if isinstance(loop, ast.While):
        return True
    # Without generators it is a `for`, which shares no type with comprehensions in typeshed.
    iters = [g.iter for g in getattr(loop, "generators", ())] or [loop.iter]  # type: ignore[attr-defined]
    names = {n for t in _targets(loop) for n in names_in(t)} | {n for i in iters for n in names_in(i)}
    callees = {called(c) for i in iters for c in ast.walk(i) if isinstance(c, ast.Call)}
    if any(_STEPS & set(words_of(n)) for n in names | callees):
        return True
    stepped = any(isinstance(i, ast.Call) and called(i) == "range" and len(i.args) == 3 for i in iters)
    waits = any(isinstance(n, ast.Call) and called(n).endswith("sleep") for n in ast.walk(loop))
    unnamed = isinstance(loop, ast.For) and dotted(loop.target) == "_"
    return stepped or waits or unnamed or all(small(i) and not _is_range(i) for i in iters)


def _is_range(node: ast.expr) -> bool:
    return isinstance(node, ast.Call) and called(node) == "range"


def over(loop: ast.AST) -> list[ast.expr]:
    """The iterables of a loop."""
    if isinstance(loop, COMPREHENSIONS):
        return [g.iter for g in loop.generators]
    return [loop.iter] if isinstance(loop, (ast.For, ast.AsyncFor)) else []


def targets(loop: ast.AST) -> set[str]:
    """The names that a loop assigns its items to."""
    return {n for t in _targets(loop) for n in names_in(t)}
