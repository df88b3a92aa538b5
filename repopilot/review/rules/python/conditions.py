"""Conditions in Python that can't mean what they say: always true, never true, tested before, alike on both sides."""

from __future__ import annotations

import ast
import builtins
from collections.abc import Iterator
from itertools import combinations, pairwise

from repopilot.review.rules.python.tree import PythonTree, called, dotted, names_in, text_of
from repopilot.types import Finding

_FLIPPED = {ast.Lt: ast.Gt, ast.Gt: ast.Lt, ast.LtE: ast.GtE, ast.GtE: ast.LtE}
_ARITHMETIC = (ast.Sub, ast.Div, ast.FloorDiv, ast.Mod, ast.BitXor)
_GIVES_TEXT = frozenset(
    {"str", "repr", "input", "strip", "lower", "upper", "join", "format", "title", "rstrip", "lstrip", "replace"}
)
_GIVES_NUMBER = frozenset({"len", "int", "float", "round", "ord", "count"})


def conditions(tree: PythonTree) -> Iterator[Finding]:
    """Every check of this module on one file."""
    for check in (_branches, _same_operands, _combined, _literal_types, _handlers, _ternaries, _swapped):
        yield from check(tree)


def _finding(tree: PythonTree, node: ast.AST, rule: str, message: str) -> Finding:
    return tree.finding(node, "medium", "style", rule, message)


def _pure(node: ast.AST) -> bool:
    """Evaluating it twice gives the same: no calls but on strings and len."""
    return not any(isinstance(n, (ast.Call, ast.Await, ast.NamedExpr, ast.Yield)) for n in ast.walk(node))


def _branches(tree: PythonTree) -> Iterator[Finding]:
    """An `elif` that an earlier condition leaves nothing for, and two branches that do the same."""
    for node in tree.of(ast.If):
        parent = tree.parents.get(node)
        if isinstance(parent, ast.If) and parent.orelse == [node]:
            continue
        seen: list[ast.expr] = []
        branch: ast.If | None = node
        while branch is not None:
            if any(_leaves_nothing(tree, before, branch.test) for before in seen):
                yield _finding(tree, branch, "repeated-condition", "An earlier condition covers this one already.")
            seen.append(branch.test)
            more = branch.orelse
            if more and not (len(more) == 1 and isinstance(more[0], ast.If)) and _same(branch.body, more):
                yield _finding(tree, branch, "same-branches", "Both branches do the same.")
            branch = more[0] if len(more) == 1 and isinstance(more[0], ast.If) else None


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
    return {ast.Gt: value > limit, ast.GtE: value >= limit, ast.Lt: value < limit, ast.LtE: value <= limit}.get(
        op, False
    )


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


def _same_operands(tree: PythonTree) -> Iterator[Finding]:
    """`a.x - a.x`, `ready and ready`, `x == x` of anything but a plain name, which ruff knows."""
    for node in tree.of(ast.BinOp):
        alike = isinstance(node.op, _ARITHMETIC) and ast.dump(node.left) == ast.dump(node.right)
        if alike and _pure(node) and not isinstance(node.left, ast.Constant):
            yield _finding(tree, node, "same-operands", "Both sides are the same.")
    for node in tree.of(ast.Compare):
        alike = len(node.ops) == 1 and ast.dump(node.left) == ast.dump(node.comparators[0])
        meant = isinstance(node.ops[0], ast.NotEq) or not isinstance(node.left, (ast.Attribute, ast.Subscript))
        if alike and not meant and _pure(node):
            yield _finding(tree, node, "same-operands", "Both sides are the same.")
    for node in tree.of(ast.BoolOp):
        dumps = [ast.dump(v) for v in node.values]
        twice = next((v for n, v in enumerate(node.values) if dumps[n] in dumps[:n] and _pure(v)), None)
        if twice is not None:
            yield _finding(tree, twice, "same-operands", "This is asked twice in one condition.")


def _combined(tree: PythonTree) -> Iterator[Finding]:
    """`x != 1 or x != 2` is always true, `x == 1 and x == 2` never, and so is `x > 5 and x < 3`."""
    for node in tree.of(ast.BoolOp):
        both = isinstance(node.op, ast.And)
        for one, other in combinations([v for v in node.values if isinstance(v, ast.Compare)], 2):
            if _clash(tree, one, other, both):
                what = "can never be true" if both else "is always true"
                yield _finding(tree, node, "constant-condition", f"This {what}, whatever the value is.")
                break
        for value in node.values[1:] if not both else ():
            above = tree.parents.get(node)
            tested = isinstance(above, (ast.If, ast.While, ast.IfExp)) and above.test is node
            if tested and isinstance(node.values[0], ast.Compare) and isinstance(value, ast.Constant) and value.value:
                yield _finding(
                    tree, node, "constant-condition", "The literal after `or` is always true; compare it too."
                )
                break


def _clash(tree: PythonTree, one: ast.Compare, other: ast.Compare, both: bool) -> bool:
    wanted = ast.Eq if both else ast.NotEq
    if len(one.ops) != 1 or len(other.ops) != 1 or not _pure(one) or not _pure(other):
        return False
    if (
        isinstance(one.ops[0], wanted)
        and isinstance(other.ops[0], wanted)
        and ast.dump(one.left) == ast.dump(other.left)
    ):
        values = [one.comparators[0], other.comparators[0]]
        fixed = all(isinstance(v, ast.Constant) or _is_member(v) for v in values)
        return fixed and ast.dump(values[0]) != ast.dump(values[1])
    first, second = _bound(tree, one), _bound(tree, other)
    if first is None or second is None or first[0] != second[0]:
        return False
    low = [b for b in (first, second) if b[1] in (ast.Gt, ast.GtE)]
    high = [b for b in (first, second) if b[1] in (ast.Lt, ast.LtE)]
    if len(low) != 1 or len(high) != 1:
        return False
    return low[0][2] > high[0][2] if both else low[0][2] < high[0][2]


def _is_member(node: ast.expr) -> bool:
    """A constant of a class: `State.OPEN`."""
    return isinstance(node, ast.Attribute) and node.attr.isupper() and isinstance(node.value, ast.Name)


def _literal_types(tree: PythonTree) -> Iterator[Finding]:
    """Comparisons that can never hold: a number with a text, a text made lower case with capitals."""
    for node in tree.of(ast.Compare):
        if len(node.ops) != 1 or not isinstance(node.ops[0], ast.Eq | ast.NotEq) or not isinstance(node.left, ast.Call):
            continue
        method, right = called(node.left).rpartition(".")[2], node.comparators[0]
        text, number = text_of(right), _number(tree, right) if isinstance(right, ast.Constant) else None
        builtin = isinstance(node.left.func, ast.Name)
        never = (
            (method in _GIVES_NUMBER and text is not None and (builtin or method == "count"))
            or (method in _GIVES_TEXT and number is not None and (builtin == (method in ("str", "repr", "input"))))
            or (method in ("lower", "casefold") and text is not None and text != text.lower() and not node.left.args)
            or (method == "upper" and text is not None and text != text.upper() and not node.left.args)
            or (method == "type" and text is not None and builtin and len(node.left.args) == 1)
        )
        negative = method == "len" and builtin and number is not None and number < 0
        if never or negative:
            yield _finding(tree, node, "never-equal", f"What `{method}` gives can never equal this literal.")


def _handlers(tree: PythonTree) -> Iterator[Finding]:
    """An `except` that a wider one before it leaves nothing for."""
    for node in tree.of(ast.Try):
        seen: list[type] = []
        for handler in node.handlers:
            kinds = [k for k in map(_exception, _types(handler)) if k is not None]
            if kinds and len(kinds) == len(_types(handler)) and all(any(issubclass(k, s) for s in seen) for k in kinds):
                yield _finding(tree, handler, "unreachable-except", "A wider `except` above catches this already.")
            seen += kinds


def _types(handler: ast.ExceptHandler) -> list[ast.expr]:
    kind = handler.type
    return list(kind.elts) if isinstance(kind, ast.Tuple) else [kind] if kind is not None else []


def _exception(node: ast.expr) -> type | None:
    kind = getattr(builtins, node.id, None) if isinstance(node, ast.Name) else None
    return kind if isinstance(kind, type) and issubclass(kind, BaseException) else None


def _ternaries(tree: PythonTree) -> Iterator[Finding]:
    """A choice within a choice on one line, and one between the same."""
    for node in tree.of(ast.IfExp):
        inner = [n for n in (node.test, node.body, node.orelse) if isinstance(n, ast.IfExp)]
        if inner and not isinstance(tree.parents.get(node), ast.IfExp):
            yield tree.finding(node, "low", "style", "nested-ternary", "A choice within a choice; use if and elif.")
        if ast.dump(node.body) == ast.dump(node.orelse):
            yield _finding(tree, node, "same-branches", "Both branches are the same.")


def _swapped(tree: PythonTree) -> Iterator[Finding]:
    """`a.top <= b.bottom and b.top <= b.bottom`: the second compares a thing with itself, copied from the first."""
    for node in tree.of(ast.BoolOp):
        for one, other in pairwise(node.values):
            if not all(
                isinstance(c, ast.Compare)
                and len(c.ops) == 1
                and isinstance(c.ops[0], ast.Lt | ast.LtE | ast.Gt | ast.GtE)
                for c in (one, other)
            ):
                continue
            sides = [(c.left, c.comparators[0]) for c in (one, other)]  # type: ignore[attr-defined]
            if not all(isinstance(s, ast.Attribute) and isinstance(s.value, ast.Name) for pair in sides for s in pair):
                continue
            heads = [[names_in(s) for s in pair] for pair in sides]
            attributes = [{s.attr for s in pair} for pair in sides]
            if heads[0][0] != heads[0][1] and heads[1][0] == heads[1][1] and attributes[0] == attributes[1]:
                yield _finding(
                    tree, other, "same-operands", "This compares a thing with itself, unlike the one before."
                )
