"""Python collections that cost more the larger they grow: copied, searched or shifted in every turn of a loop, or never
emptied."""

from __future__ import annotations

import ast
from collections.abc import Iterator

from repopilot.review.rules.python.loops import FEW, over, small, targets
from repopilot.review.rules.python.tree import COMPREHENSIONS, PythonTree, called, dotted, names_in, parameters, text_of
from repopilot.types import Finding

_TEXTUAL = frozenset(
    "str join format strip replace lower upper dumps hexdigest ljust rjust center zfill escape repr".split()
)
_LISTS = frozenset("list sorted".split())
_LOADED = frozenset("readlines splitlines fetchall".split())


def growth(tree: PythonTree) -> Iterator[Finding]:
    """Every check of this module on one file."""
    for check in (_growing_values, _membership, _list_calls, _copies):
        yield from check(tree)


def _growing_values(tree: PythonTree) -> Iterator[Finding]:
    """Strings and lists built by copying the whole of them in every turn."""
    for node in tree.of(ast.AugAssign, ast.Assign):
        loop = tree.loop(node)
        target = node.target if isinstance(node, ast.AugAssign) else node.targets[0]
        name = dotted(target)
        if loop is None or not name or isinstance(target, ast.Subscript) or isinstance(loop, COMPREHENSIONS):
            continue
        added = _added_to(node, name)
        if added is None or not _unbounded(loop) or _starts_inside(tree, node, name, loop):
            continue
        if _is_text_here(tree, node, name, added):
            yield tree.finding(node, "medium", "performance", "growing-string",
                               f"`{name}` is copied in every turn of the loop; collect parts, then join.")  # fmt: skip
        elif isinstance(node, ast.Assign) and isinstance(added, (ast.List, ast.ListComp)):
            yield tree.finding(node, "medium", "performance", "growing-list",
                               f"`{name}` is copied in every turn; use append or extend.")  # fmt: skip
        elif isinstance(node, ast.Assign) and isinstance(node.value, (ast.Dict, ast.List)):
            yield tree.finding(node, "medium", "performance", "growing-list",
                               f"`{name}` is copied in every turn; add to it in place.")  # fmt: skip


def _added_to(node: ast.AugAssign | ast.Assign, name: str) -> ast.expr | None:
    """`x` of `name += x`, `name = name + x` and `name = [*name, x]`."""
    if isinstance(node, ast.AugAssign):
        return node.value if isinstance(node.op, ast.Add) else None
    value = node.value
    if isinstance(value, ast.Dict) and any(
        k is None and dotted(v) == name for k, v in zip(value.keys, value.values, strict=True)
    ):
        return value
    if isinstance(value, ast.List) and any(isinstance(e, ast.Starred) and dotted(e.value) == name for e in value.elts):
        return ast.Constant(None)
    if isinstance(value, ast.JoinedStr) and value.values and isinstance(value.values[0], ast.FormattedValue):
        return value if isinstance(value.values[0].value, ast.Name) and value.values[0].value.id == name else None
    while isinstance(value, ast.BinOp) and isinstance(value.op, ast.Add):
        if isinstance(value.left, (ast.Name, ast.Attribute)) and dotted(value.left) == name:
            return value.right
        value = value.left
    return None


def _starts_inside(tree: PythonTree, node: ast.stmt, name: str, loop: ast.AST) -> bool:
    """It begins anew in every turn of this loop, or in the branch it is in: it stays short."""
    stores = [n for n in ast.walk(loop) if isinstance(n, ast.Assign) and n is not node
              and any(dotted(t) == name for t in n.targets)]  # fmt: skip
    return bool(stores)


def _is_text_here(tree: PythonTree, node: ast.AugAssign | ast.Assign, name: str, added: ast.expr) -> bool:
    start = [v for v in tree.assigned.get((tree.scope(node), name), []) if v is not node.value and _added_in(v) != name]
    if "." in name:
        return _text(added) and not isinstance(added, ast.Constant)
    return bool(start) and all(_text(v) for v in start)


def _added_in(value: ast.expr) -> str:
    while isinstance(value, ast.BinOp):
        value = value.left
    return dotted(value)


def _text(node: ast.expr) -> bool:
    """Certainly a string (or bytes)."""
    if isinstance(node, ast.Constant):
        return isinstance(node.value, str | bytes)
    if isinstance(node, ast.BinOp):
        return isinstance(node.op, ast.Add | ast.Mod) and (_text(node.left) or _text(node.right))
    method = called(node).rpartition(".")[2] if isinstance(node, ast.Call) else ""
    if isinstance(node, ast.Call) and isinstance(node.func, ast.Attribute) and text_of(node.func.value) is not None:
        return method in ("join", "format")
    return isinstance(node, ast.JoinedStr) or method in _TEXTUAL


def _unbounded(loop: ast.AST) -> bool:
    """Not a loop over a few literals."""
    return not (
        isinstance(loop, ast.For) and isinstance(loop.iter, (ast.Tuple, ast.List)) and len(loop.iter.elts) < FEW
    )


def _lists(value: ast.expr) -> bool:
    """A list that may be long."""
    if isinstance(value, ast.Call):
        return called(value) in _LISTS or called(value).rpartition(".")[2] in _LOADED
    return isinstance(value, (ast.List, ast.ListComp))


def _known_list(tree: PythonTree, node: ast.AST, name: str) -> bool:
    values = tree.assigned.get((tree.scope(node), name), [])
    return bool(values) and all(_lists(v) for v in values) and not any(
        isinstance(v, ast.List) and 0 < len(v.elts) < FEW and not _grows(tree, node, name) for v in values)  # fmt: skip


def _grows(tree: PythonTree, node: ast.AST, name: str) -> bool:
    return any(called(c) in (f"{name}.append", f"{name}.extend") and tree.loop(c) is not None
               for c in tree.of(ast.Call) if tree.scope(c) is tree.scope(node))  # fmt: skip


def _membership(tree: PythonTree) -> Iterator[Finding]:
    """`x in xs` in a loop, where `xs` is a list that may be long."""
    for node in tree.of(ast.Compare):
        loop = tree.loop(node)
        if loop is None or not isinstance(node.ops[-1], (ast.In, ast.NotIn)) or (over(loop) and small(over(loop)[0])):
            continue
        right = node.comparators[-1]
        if (
            isinstance(right, ast.Call)
            and called(right) in _LISTS
            and right.args
            and not (names_in(right) & targets(loop))
        ):
            name = ast.unparse(right)
        elif (
            isinstance(right, ast.Name)
            and _known_list(tree, node, right.id)
            and not _made_in(tree, right.id, loop, node)
        ):
            name = right.id
        else:
            continue
        yield tree.finding(
            node,
            "medium",
            "performance",
            "list-membership",
            f"`{name}` is a list: every `in` of the loop goes through all of it; use a set.",
        )


def _made_in(tree: PythonTree, name: str, loop: ast.AST, node: ast.AST) -> bool:
    """Made anew in every turn."""
    return any(v in set(ast.walk(loop)) for v in tree.assigned.get((tree.scope(node), name), []))


def _list_calls(tree: PythonTree) -> Iterator[Finding]:
    """Methods that go through or move the whole list."""
    for call in tree.of(ast.Call):
        owner, _, method = called(call).rpartition(".")
        loop = tree.loop(call) if method in ("insert", "pop", "remove", "index", "count") else None
        if loop is None:
            continue
        zero = bool(call.args) and isinstance(call.args[0], ast.Constant) and call.args[0].value == 0
        if method in ("insert", "pop") and zero and (_known_list(tree, call, owner) or _begun(tree, call, owner)):
            yield tree.finding(call, "medium", "performance", "shifted-list",
                               f"`{called(call)}` at 0 moves the whole list each time; use a deque.")  # fmt: skip
        elif method in ("count", "index") and len(call.args) == 1 and _over_itself(call, loop, owner):
            yield tree.finding(
                call,
                "medium",
                "performance",
                "quadratic-search",
                f"`{called(call)}` goes through the whole list in every turn of the loop over it.",
            )
        elif method in ("index", "remove") and _searches(tree, call, owner, loop):
            yield tree.finding(
                call,
                "medium",
                "performance",
                "quadratic-search",
                f"`{called(call)}` goes through the list in every turn; use a dict or a set.",
            )


def _searches(tree: PythonTree, call: ast.Call, owner: str, loop: ast.AST) -> bool:
    """A search in a list that is older than the loop, again and again."""
    again = len(call.args) == 1 and isinstance(loop, (ast.For, *COMPREHENSIONS)) and not _leaves(tree, call)
    return again and _known_list(tree, call, owner) and not _made_in(tree, owner, loop, call)


def _begun(tree: PythonTree, call: ast.Call, owner: str) -> bool:
    """A queue that begins with its first items: `frontier = [start]`."""
    values = tree.assigned.get((tree.scope(call), owner), [])
    return bool(values) and all(_lists(v) for v in values)


def _leaves(tree: PythonTree, call: ast.Call) -> bool:
    """Once only: the loop ends right after."""
    for above in tree.ancestors(call):
        if isinstance(above, (ast.For, ast.While)):
            return False
        if any(isinstance(s, (ast.Break, ast.Return)) for s in getattr(above, "body", []) if isinstance(s, ast.stmt)):
            return True
    return False


def _over_itself(call: ast.Call, loop: ast.AST, owner: str) -> bool:
    """`xs.count(x)` or `xs.index(x)` in a loop over that same list."""
    return bool(owner) and any(dotted(o) == owner or (isinstance(o, ast.Call) and owner in {dotted(a) for a in o.args})
                               for o in over(loop))  # fmt: skip


def _copies(tree: PythonTree) -> Iterator[Finding]:
    """`for x in list(xs)` where nothing in the loop could change `xs`."""
    for loop in tree.of(ast.For):
        call = loop.iter
        if not (isinstance(call, ast.Call) and called(call) in _LISTS - {"sorted"} and len(call.args) == 1):
            continue
        name = call.args[0].id if isinstance(call.args[0], ast.Name) else ""
        function = tree.function(loop)
        given = {a.arg for a in parameters(function)} if function else set()
        body = [n for s in loop.body for n in ast.walk(s)]
        plain = all(isinstance(n.func, ast.Name) or called(n).rpartition(".")[0] in targets(loop)
                    for n in body if isinstance(n, ast.Call))  # fmt: skip
        if name in given and plain and not any(isinstance(n, (ast.Name, ast.Await, ast.Delete)) and (
            not isinstance(n, ast.Name) or n.id == name) for n in body):  # fmt: skip
            yield tree.finding(loop, "low", "performance", "needless-copy",
                               f"`{name}` can be gone through as it is; list() copies it first.")  # fmt: skip
