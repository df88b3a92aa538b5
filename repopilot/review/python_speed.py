"""Needless work in Python that ruff has no rule for: queries in loops, quadratic patterns, repeated work."""

from __future__ import annotations

import ast
import re
from collections.abc import Iterator

from repopilot.review.python_tree import COMPREHENSIONS, PythonTree, called, dotted, names_in
from repopilot.types import Finding, Severity

_QUERY = re.compile(
    r"(^|\.)objects\.(\w+\.)*(get|filter|first|all|count|exists|create|get_or_create|update_or_create)$|"
    r"(^|[._])(session|db|database|conn|connection|cur|cursor|engine|tx|transaction)\.(\w+\.)*(execute|query|get|scalar|"
    r"scalars|fetch|fetchrow|fetchval|fetch_one|fetch_all|find_one|commit)$|"
    r"\.(find_one|get_object_or_404|fetch_one)$|^get_object_or_404$"
)
_REMOTE = re.compile(
    r"^(requests|httpx)\.(get|post|put|delete|head|patch)$|(^|\.)urlopen$|^urllib\.request\.urlretrieve$"
)
_MANY = 6


def speed(tree: PythonTree) -> Iterator[Finding]:
    """Every check of this module on one file."""
    for check in (_calls_in_loops, _growing_values, _membership, _nested_loops, _recursion):
        yield from check(tree)


def _found(tree: PythonTree, node: ast.AST, severity: Severity, rule: str, message: str) -> Finding:
    return tree.code.finding(node.lineno, severity, "performance", rule, message, "checks")  # type: ignore[attr-defined]


def _changing(loop: ast.AST) -> set[str]:
    """Names that differ from one turn of a loop to the next."""
    changing: set[str] = set()
    for node in ast.walk(loop):
        if isinstance(node, ast.Name) and isinstance(node.ctx, ast.Store):
            changing.add(node.id)
        elif (
            isinstance(node, ast.Call)
            and isinstance(node.func, ast.Attribute)
            and isinstance(node.func.value, ast.Name)
        ):
            changing.add(node.func.value.id)  # a method may change what it is called on
        elif isinstance(node, (ast.Subscript, ast.Attribute)) and isinstance(node.ctx, (ast.Store, ast.Del)):
            changing |= names_in(node)
    return changing


def _calls_in_loops(tree: PythonTree) -> Iterator[Finding]:
    for call in tree.of(ast.Call):
        loop = tree.loop(call)
        if loop is None:
            continue
        name, method = called(call), called(call).rpartition(".")[2]
        if _QUERY.search(name) and not (method == "commit" and _batched(loop)):
            yield _found(tree, call, "medium", "query-in-loop",
                         f"`{name}` asks the database in every turn of the loop (N+1); ask once before.")  # fmt: skip
        elif _REMOTE.search(name) and not isinstance(loop, ast.While):
            yield _found(
                tree, call, "low", "request-in-loop", "One request after the other; use a session, or several at once."
            )
        elif method in ("insert", "pop") and call.args and _is_zero(call.args[0]) and _is_list(tree, call, name):
            yield _found(
                tree, call, "medium", "shifted-list", f"`{name}` at 0 moves the whole list each time; use a deque."
            )
        elif name in ("re.compile", "copy.deepcopy", "sorted") and call.args and _invariant(call, loop):
            what = {"re.compile": "The same pattern is compiled", "sorted": "The same values are sorted"}.get(
                name, "The same value is copied")  # fmt: skip
            yield _found(tree, call, "medium" if name == "sorted" else "low", "repeated-work",
                         f"{what} in every turn of the loop; do it once before.")  # fmt: skip
        elif method in ("count", "index") and len(call.args) == 1 and _walks(tree, call, loop):
            yield _found(tree, call, "medium", "quadratic-search",
                         f"`{name}` goes through the whole list in every turn of the loop over it.")  # fmt: skip
        elif (
            name == "open"
            and call.args
            and isinstance(call.args[0], (ast.Constant, ast.Name))
            and _invariant(call, loop)
        ):
            yield _found(tree, call, "medium", "repeated-work", "The same file is opened in every turn of the loop.")
        elif method == "iterrows" or name in ("pd.concat", "pandas.concat"):
            yield _found(tree, call, "medium", "slow-dataframe", f"`{name}` in a loop; work on whole columns.")


def _batched(loop: ast.AST) -> bool:
    return any(isinstance(n, ast.BinOp) and isinstance(n.op, ast.Mod) for n in ast.walk(loop))


def _is_zero(node: ast.expr) -> bool:
    return isinstance(node, ast.Constant) and node.value == 0


def _is_list(tree: PythonTree, call: ast.Call, name: str) -> bool:
    """Known as a list: assigned one in this function, or a list method no other builtin type shares at index 0."""
    owner = name.rpartition(".")[0]
    values = tree.assigned.get((tree.scope(call), owner), [])
    return bool(values) and all(_lists(v) for v in values)


def _lists(value: ast.expr) -> bool:
    return isinstance(value, (ast.List, ast.ListComp)) or (
        isinstance(value, ast.Call) and called(value) in ("list", "sorted")
    )


def _invariant(call: ast.Call, loop: ast.AST) -> bool:
    used = {n for a in (*call.args, *(k.value for k in call.keywords)) for n in names_in(a)}
    calls = any(isinstance(n, ast.Call) for a in call.args for n in ast.walk(a))
    return not calls and not used & _changing(loop)


def _walks(tree: PythonTree, call: ast.Call, loop: ast.AST) -> bool:
    """`xs.count(x)` or `xs.index(x)` in a loop over that same list."""
    owner = dotted(call.func).rpartition(".")[0]
    over = (
        [loop.iter] if isinstance(loop, (ast.For, ast.AsyncFor)) else [g.iter for g in getattr(loop, "generators", ())]
    )
    return any(dotted(o) == owner or (isinstance(o, ast.Call) and owner in {dotted(a) for a in o.args}) for o in over)


def _growing_values(tree: PythonTree) -> Iterator[Finding]:
    """Strings and lists built by copying the whole of them in every turn."""
    for node in tree.of(ast.AugAssign, ast.Assign):
        loop = tree.loop(node)
        target = node.target if isinstance(node, ast.AugAssign) else node.targets[0]
        if loop is None or not isinstance(target, ast.Name) or isinstance(loop, COMPREHENSIONS):
            continue
        start = [v for v in tree.assigned.get((tree.scope(node), target.id), []) if v is not node.value]
        text = bool(start) and all(isinstance(v, (ast.Constant, ast.JoinedStr)) and _is_text(v) for v in start)
        added = node.value if isinstance(node, ast.AugAssign) else _added(node.value, target.id)
        if added is None or (isinstance(node, ast.AugAssign) and not isinstance(node.op, ast.Add)):
            continue
        if text and _unbounded(loop):
            yield _found(tree, node, "medium", "growing-string",
                         f"`{target.id}` is copied in every turn of the loop; collect parts, then join.")  # fmt: skip
        elif isinstance(node, ast.Assign) and isinstance(added, (ast.List, ast.ListComp)):
            yield _found(
                tree, node, "medium", "growing-list", f"`{target.id}` is copied in every turn; use append or extend."
            )


def _added(value: ast.expr, name: str) -> ast.expr | None:
    """`x` of `name = name + x`."""
    if isinstance(value, ast.BinOp) and isinstance(value.op, ast.Add) and dotted(value.left) == name:
        return value.right
    return None


def _is_text(node: ast.expr) -> bool:
    return isinstance(node, ast.JoinedStr) or (isinstance(node, ast.Constant) and isinstance(node.value, str))


def _unbounded(loop: ast.AST) -> bool:
    """Not a loop over a few literals."""
    return not (
        isinstance(loop, ast.For) and isinstance(loop.iter, (ast.Tuple, ast.List)) and len(loop.iter.elts) < _MANY
    )


def _membership(tree: PythonTree) -> Iterator[Finding]:
    """`x in xs` in a loop, where `xs` is a list that may be long."""
    for node in tree.of(ast.Compare):
        loop = tree.loop(node)
        if (
            loop is None
            or not isinstance(node.ops[-1], (ast.In, ast.NotIn))
            or not isinstance(node.comparators[-1], ast.Name)
        ):
            continue
        name = node.comparators[-1].id
        values = tree.assigned.get((tree.scope(node), name), [])
        if (
            values
            and all(_lists(v) for v in values)
            and not any(_short(v) for v in values)
            and not isinstance(loop, ast.While)
        ):
            yield _found(tree, node, "medium", "list-membership",
                         f"`{name}` is a list: every `in` of the loop goes through all of it; use a set.")  # fmt: skip


def _short(value: ast.expr) -> bool:
    return isinstance(value, ast.List) and 0 < len(value.elts) < _MANY


def _nested_loops(tree: PythonTree) -> Iterator[Finding]:
    """Two collections joined by comparing every pair."""
    for inner in tree.of(ast.For):
        outer = tree.loop(inner)
        body = [s for s in inner.body if not isinstance(s, ast.Expr)]
        if not isinstance(outer, ast.For) or len(body) != 1 or not isinstance(body[0], ast.If):
            continue
        if names_in(inner.iter) & names_in(outer.target) or _is_small(inner.iter) or _is_small(outer.iter):
            continue
        inner_names, outer_names = names_in(inner.target), names_in(outer.target)
        for test in ast.walk(body[0].test):
            if isinstance(test, ast.Compare) and len(test.ops) == 1 and isinstance(test.ops[0], ast.Eq):
                left, right = names_in(test.left), names_in(test.comparators[0])
                if (left & inner_names and right & outer_names) or (left & outer_names and right & inner_names):
                    yield _found(tree, inner, "medium", "quadratic-join",
                                 "Every pair is compared; index one side by its key in a dict first.")  # fmt: skip
                    break


def _is_small(node: ast.expr) -> bool:
    return isinstance(node, (ast.Tuple, ast.List, ast.Constant)) or "range" in ast.unparse(node)[:5]


def _recursion(tree: PythonTree) -> Iterator[Finding]:
    """Functions that call themselves twice on smaller numbers, without a cache."""
    for function in tree.functions:
        if any("cache" in dotted(d) for d in function.decorator_list):
            continue
        for node in ast.walk(function):
            if not isinstance(node, ast.BinOp):
                continue
            calls = [
                n
                for n in ast.walk(node)
                if isinstance(n, ast.Call) and called(n) in (function.name, f"self.{function.name}")
            ]
            shrinking = [
                c for c in calls if c.args and isinstance(c.args[0], ast.BinOp) and isinstance(c.args[0].op, ast.Sub)
            ]
            if len(shrinking) >= 2:
                yield _found(tree, node, "medium", "exponential-recursion",
                             f"{function.name} calls itself twice and remembers nothing: exponential.")  # fmt: skip
                break
