"""Conditions in Python that cannot mean what they say: tested before, or alike on both sides."""

from __future__ import annotations

import ast
import builtins
from collections.abc import Iterator
from itertools import pairwise

from repopilot.review.rules.python.tree import PYTHON, PythonTree, at, dotted, on_tree
from repopilot.review.rules.rule import Match, Rule

_FLIPPED = {ast.Lt: ast.Gt, ast.Gt: ast.Lt, ast.LtE: ast.GtE, ast.GtE: ast.LtE}
_ARITHMETIC = (ast.Sub, ast.Div, ast.FloorDiv, ast.Mod, ast.BitXor)
_ORDERS = (ast.Lt, ast.LtE, ast.Gt, ast.GtE)


def _pure(node: ast.AST) -> bool:
    """Evaluating it twice gives the same: no calls but on strings and len."""
    return not any(isinstance(n, (ast.Call, ast.Await, ast.NamedExpr, ast.Yield)) for n in ast.walk(node))


def _repeated_conditions(tree: PythonTree) -> Iterator[Match]:
    """An `elif` whose condition implies an earlier one, so that it is never reached."""
    for chain in _chains(tree):
        for position, branch in enumerate(chain):
            if any(_leaves_nothing(tree, before.test, branch.test) for before in chain[:position]):
                yield at(branch)


def _same_branches(tree: PythonTree) -> Iterator[Match]:
    """An `else` that does the same as the branch before it."""
    for chain in _chains(tree):
        last = chain[-1]
        if last.orelse and _same(last.body, last.orelse):
            yield at(last)


def _chains(tree: PythonTree) -> Iterator[list[ast.If]]:
    """Each `if` with its `elif`s."""
    for node in tree.of(ast.If):
        parent = tree.parents.get(node)
        if isinstance(parent, ast.If) and parent.orelse == [node]:
            continue
        chain = [node]
        while len(chain[-1].orelse) == 1 and isinstance(chain[-1].orelse[0], ast.If):
            chain.append(chain[-1].orelse[0])
        yield chain


def _same(one: list[ast.stmt], other: list[ast.stmt]) -> bool:
    trivial = len(one) == 1 and isinstance(one[0], (ast.Pass, ast.Raise, ast.Continue, ast.Break))
    return not trivial and [ast.dump(s) for s in one] == [ast.dump(s) for s in other]


def _leaves_nothing(tree: PythonTree, before: ast.expr, after: ast.expr) -> bool:
    """Whenever `after` holds, one of the alternatives of `before` holds as well."""
    alternatives = before.values if isinstance(before, ast.BoolOp) and isinstance(before.op, ast.Or) else [before]
    required = after.values if isinstance(after, ast.BoolOp) and isinstance(after.op, ast.And) else [after]
    if not all(map(_pure, (before, after))):
        return False
    needed = {ast.dump(r) for r in required}
    if any(_parts(a) <= needed for a in alternatives):
        return True
    return any(_implies(tree, r, a) for r in required for a in alternatives)


def _parts(node: ast.expr) -> set[str]:
    conjuncts = node.values if isinstance(node, ast.BoolOp) and isinstance(node.op, ast.And) else [node]
    return {ast.dump(c) for c in conjuncts}


def _implies(tree: PythonTree, strict: ast.expr, wide: ast.expr) -> bool:
    """`x > 20` implies `x > 10`; numbers may be constants of the function or module."""
    one, other = _bound(tree, strict), _bound(tree, wide)
    if one is None or other is None or one[0] != other[0]:
        return False
    (_, op, limit), (_, wide_op, wide_limit) = one, other
    if op in (ast.Gt, ast.GtE) and wide_op in (ast.Gt, ast.GtE):
        return limit > wide_limit or (limit == wide_limit and not (op is ast.GtE and wide_op is ast.Gt))
    if op in (ast.Lt, ast.LtE) and wide_op in (ast.Lt, ast.LtE):
        return limit < wide_limit or (limit == wide_limit and not (op is ast.LtE and wide_op is ast.Lt))
    return op is ast.Eq and wide_op is not ast.Eq and _holds(limit, wide_op, wide_limit)


def _holds(value: float, op: type, limit: float) -> bool:
    outcomes: dict[type, bool] = {
        ast.Gt: value > limit,
        ast.GtE: value >= limit,
        ast.Lt: value < limit,
        ast.LtE: value <= limit,
    }
    return outcomes.get(op, False)


def _bound(tree: PythonTree, node: ast.expr) -> tuple[str, type, float] | None:
    """(what, comparison, number) of `x > 3` and `3 < x`."""
    if not isinstance(node, ast.Compare) or len(node.ops) != 1:
        return None
    op, left, right = type(node.ops[0]), node.left, node.comparators[0]
    number = _number(tree, right)
    if number is None and (number := _number(tree, left)) is not None:
        left, op = right, _FLIPPED.get(op, op)
    return (ast.dump(left), op, number) if number is not None and op in (*_FLIPPED, ast.Eq) else None


def _number(tree: PythonTree, node: ast.expr) -> float | None:
    if isinstance(node, ast.UnaryOp) and isinstance(node.op, ast.USub):
        inner = _number(tree, node.operand)
        return None if inner is None else -inner
    if isinstance(node, ast.Name) and node.id.isupper():
        values = tree.values(node, node.id) or _unpacked(tree, node.id)
        return _number(tree, values[0]) if len(values) == 1 and not isinstance(values[0], ast.Name) else None
    plain = isinstance(node, ast.Constant) and isinstance(node.value, int | float) and not isinstance(node.value, bool)
    # `plain` holds the check of the type, which the checker does not follow through a variable.
    return node.value if plain else None  # type: ignore[attr-defined]


def _unpacked(tree: PythonTree, name: str) -> list[ast.expr]:
    """The value of `NAME` in `A, NAME = 1, 2`."""
    found = []
    for node in tree.of(ast.Assign):
        target = node.targets[0]
        if (
            isinstance(target, ast.Tuple)
            and isinstance(node.value, ast.Tuple)
            and len(target.elts) == len(node.value.elts)
        ):
            found += [v for t, v in zip(target.elts, node.value.elts, strict=True) if dotted(t) == name]
    return found


def _same_operands(tree: PythonTree) -> Iterator[Match]:
    """`a.x - a.x`, `ready and ready`, `f[0] == f[0]`; ruff knows comparisons of a plain name with itself."""
    for node in tree.of(ast.BinOp):
        alike = isinstance(node.op, _ARITHMETIC) and ast.dump(node.left) == ast.dump(node.right)
        if alike and _pure(node) and not isinstance(node.left, ast.Constant):
            yield at(node, "sides")
    for node in tree.of(ast.Compare):
        alike = len(node.ops) == 1 and ast.dump(node.left) == ast.dump(node.comparators[0])
        meant = isinstance(node.ops[0], ast.NotEq) or not isinstance(node.left, (ast.Attribute, ast.Subscript))
        if alike and not meant and _pure(node):
            yield at(node, "sides")
    for node in tree.of(ast.BoolOp):
        dumps = [ast.dump(v) for v in node.values]
        twice = next((v for n, v in enumerate(node.values) if dumps[n] in dumps[:n] and _pure(v)), None)
        if twice is not None:
            yield at(twice, "twice")
        yield from (at(other, "copied") for one, other in pairwise(node.values) if _compares_with_itself(one, other))


def _compares_with_itself(one: ast.expr, other: ast.expr) -> bool:
    """`b.top <= b.bottom` after `a.top <= b.bottom`: copied from there, and one name forgotten."""
    sides = [_attributes(one), _attributes(other)]
    if sides[0] is None or sides[1] is None:
        return False
    (first, second), (left, right) = sides[0], sides[1]
    differ = dotted(first.value) != dotted(second.value)
    return differ and dotted(left.value) == dotted(right.value) and {first.attr, second.attr} == {left.attr, right.attr}


def _attributes(node: ast.expr) -> tuple[ast.Attribute, ast.Attribute] | None:
    """Both sides of `a.x < b.y`, None for anything else."""
    if not isinstance(node, ast.Compare) or len(node.ops) != 1 or not isinstance(node.ops[0], _ORDERS):
        return None
    left, right = node.left, node.comparators[0]
    if not isinstance(left, ast.Attribute) or not isinstance(right, ast.Attribute):
        return None
    plain = isinstance(left.value, ast.Name) and isinstance(right.value, ast.Name)
    return (left, right) if plain else None


def _unreachable_handlers(tree: PythonTree) -> Iterator[Match]:
    """An `except` that a wider one before it leaves nothing for."""
    for node in tree.of(ast.Try):
        seen: list[type] = []
        for handler in node.handlers:
            kinds = [k for k in map(_exception, _types(handler)) if k is not None]
            if kinds and len(kinds) == len(_types(handler)) and all(any(issubclass(k, s) for s in seen) for k in kinds):
                yield at(handler)
            seen += kinds


def _types(handler: ast.ExceptHandler) -> list[ast.expr]:
    kind = handler.type
    return list(kind.elts) if isinstance(kind, ast.Tuple) else [kind] if kind is not None else []


def _exception(node: ast.expr) -> type | None:
    kind = getattr(builtins, node.id, None) if isinstance(node, ast.Name) else None
    return kind if isinstance(kind, type) and issubclass(kind, BaseException) else None


RULES = (
    Rule(
        "repeated-condition",
        "style",
        "medium",
        PYTHON,
        on_tree(_repeated_conditions),
        bad="def f(n):\n    if n > 10:\n        return 1\n    elif n > 100:\n        return 2\n",
        good="def f(n):\n    if n > 100:\n        return 2\n    elif n > 10:\n        return 1\n",
    ),
    Rule(
        "same-branches",
        "style",
        "medium",
        PYTHON,
        on_tree(_same_branches),
        bad="def f(a):\n    if a:\n        b = 1\n    else:\n        b = 1\n    return b\n",
        good="def f(a):\n    if a:\n        b = 1\n    else:\n        b = 2\n    return b\n",
    ),
    Rule(
        "same-operands",
        "style",
        "medium",
        PYTHON,
        on_tree(_same_operands),
        bad="def f(p, q):\n    return (p.x - p.x) ** 2 + (p.y - q.y) ** 2\n",
        good="def f(p, q):\n    return (p.x - q.x) ** 2 if p.ready and q.ready else p.x != p.x\n",
        cwe=1025,
    ),
    Rule(
        "unreachable-except",
        "style",
        "medium",
        PYTHON,
        on_tree(_unreachable_handlers),
        bad="try:\n    f = 1\nexcept Exception:\n    f = 2\nexcept ValueError:\n    f = 3\n",
        good="try:\n    f = 1\nexcept ValueError:\n    f = 2\nexcept Exception:\n    f = 3\n",
        cwe=561,
    ),
)
