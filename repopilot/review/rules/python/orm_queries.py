"""Needless work for databases in Python: queries in loops, relations loaded one by one, rows loaded only to count."""

from __future__ import annotations

import ast
import re
from collections.abc import Iterator

from repopilot.review.rules.python.loops import in_steps, over, targets
from repopilot.review.rules.python.tree import COMPREHENSIONS, PYTHON, PythonTree, at, called, dotted, keyword, on_tree
from repopilot.review.rules.rule import Match, Rule

_ASKS = re.compile(
    r"(^|\.)objects\.(\w+\.)*(get|filter|first|all|count|exists|create|get_or_create|update_or_create)$|"
    r"(^|[._])(session|db|database|conn|connection|cur|cursor|engine|tx|transaction)\.(\w+\.)*(execute|query|get|scalar|"
    r"scalars|fetch|fetchrow|fetchval|fetch_one|fetch_all|find_one|commit|insert_one)$|"
    r"\.query\.(get|filter|filter_by|get_or_404|first)\b[\w.]*$|"
    r"\.(find_one|get_object_or_404|fetch_one|find_by_id|get_by_id|refresh_from_db)$|^get_object_or_404$"
)
# A chain that reads objects from a database, and what makes it bring along their relations or no objects at all.
_OBJECTS = re.compile(
    r"^[A-Z]\w*\.objects\.(\w+\.)*(all|filter|exclude|order_by)\b|\.objects\.(all|filter|exclude|order_by)\b|"
    r"(^|\.)session\.query\b|^[A-Z]\w*\.query\.(filter|filter_by|all|order_by|join|limit)\b|(^|\.)session\.scalars$|"
    r"^[A-Z]\w*\.select$"
)
_COMPLETE = re.compile(
    r"select_related|prefetch_related|joinedload|selectinload|subqueryload|contains_eager|\bvalues\b|values_list|"
    r"options\(|with_entities|in_bulk|annotate|eager|\.dicts\(|\.tuples\("
)
_PLAIN = re.compile(
    r"(^|_)(created|updated|modified|deleted|started|ended|date|time|at|on|day|status|state|type|kind|price|total|"
    r"amount|file|image|photo|avatar|meta|data|id|pk|name|title|text|content|body|objects|config|settings|json|"
    r"options|metadata|extra|cost|currency|balance|attributes)$|^_"
)
_SCALAR = frozenset(
    "year month day hour minute second value url path amount currency real imag days seconds name_ size".split()
)
_RELATED = frozenset(
    "all count first last filter exists exclude values get latest aggregate order_by set iterator".split()
)


def _queries_in_loops(tree: PythonTree) -> Iterator[Match]:
    """Calls that ask a database, on every iteration of a loop that is no batching or paging."""
    for call in tree.of(ast.Call):
        name = called(call)
        loop = tree.loop(call) if _ASKS.search(name) else None
        if loop is None or any(in_steps(tree, outer) for outer in (loop, *tree.loops(loop))):
            continue
        above = tree.parents.get(call)
        chained = isinstance(above, ast.Attribute) and bool(_ASKS.search(dotted(above)))  # the last call is reported
        if not chained and not _is_request(call) and not (name.endswith("commit") and _batched(loop)):
            yield at(call, "asked", name=name)
    yield from _single_saves(tree)


def _single_saves(tree: PythonTree) -> Iterator[Match]:
    """Objects written back one by one."""
    for call in tree.of(ast.Call):
        owner, _, method = called(call).rpartition(".")
        loop = tree.loop(call) if method == "save" and not call.args else None
        if isinstance(loop, ast.For) and owner in targets(loop) and not in_steps(tree, loop):
            yield at(call, "saved", severity="low", name=owner)


def _is_request(call: ast.Call) -> bool:
    """`session.get(url, timeout=…)` is HTTP, `session.get(Model, id)` is not."""
    name = called(call)
    if "query." in name or not re.search(r"session(\.\w+)?\.(get|delete)$|get_session\.get$", name):
        return False
    first = call.args[0] if call.args else None
    model = first is not None and dotted(first).rpartition(".")[2][:1].isupper() and len(call.args) > 1
    return not model or any(keyword(call, k) for k in ("timeout", "headers", "params", "json"))


def _batched(loop: ast.AST) -> bool:
    return any(isinstance(n, ast.BinOp) and isinstance(n.op, ast.Mod) for n in ast.walk(loop))


def _reads_objects(tree: PythonTree, node: ast.expr, depth: int = 0) -> bool:
    """An expression that gives objects of a database whose relations are not loaded with them."""
    if isinstance(node, ast.Name) and depth < 3:
        values = tree.assigned.get((tree.scope(node), node.id), [])
        return bool(values) and all(_reads_objects(tree, v, depth + 1) for v in values)
    if isinstance(node, ast.Call) and called(node) in ("list", "enumerate", "reversed", "iter") and node.args:
        return _reads_objects(tree, node.args[0], depth)
    if isinstance(node, (ast.Await, ast.Subscript)):
        return _reads_objects(tree, node.value, depth)
    if not isinstance(node, ast.Call):
        return False
    text = ast.unparse(node)
    head: ast.expr = node
    while isinstance(head, ast.Call | ast.Attribute):  # a chain goes on from a name that may be a query as well
        head = head.func if isinstance(head, ast.Call) else head.value
    if isinstance(head, ast.Name) and head.id[:1].islower() and depth < 3 and not _OBJECTS.search(dotted(node)):
        values = tree.assigned.get((tree.scope(node), head.id), [])
        chained = called(node).rpartition(".")[2] in ("filter", "all", "order_by", "exclude", "limit", "iterator")
        return (
            chained
            and not _COMPLETE.search(text)
            and bool(values)
            and all(_reads_objects(tree, v, depth + 1) for v in values)
        )
    return (
        bool(_OBJECTS.search(dotted(node)))
        and not _COMPLETE.search(text)
        and not re.search(r"\.(count|exists|scalar|first|get|one|aggregate|delete|update|one_or_none)\(", text)
    )


def _relations_in_loops(tree: PythonTree) -> Iterator[Match]:
    """`order.customer.name` in a loop over a query: every iteration asks for a customer."""
    for loop in tree.of(ast.For, ast.AsyncFor, *COMPREHENSIONS):
        if not any(_reads_objects(tree, i) for i in over(loop)):
            continue
        names = targets(loop)
        first = next((n for n in ast.walk(loop) if isinstance(n, ast.Attribute) and _is_relation(tree, n, names)), None)
        if first is not None:
            yield at(first, name=dotted(first))


def _is_relation(tree: PythonTree, node: ast.Attribute, names: set[str]) -> bool:
    """`x.a.b`, where `a` is an object of its own and no value with methods."""
    inner = node.value
    if not (isinstance(inner, ast.Attribute) and isinstance(inner.value, ast.Name) and inner.value.id in names):
        return False
    if _PLAIN.search(inner.attr) or node.attr in _SCALAR or node.attr.startswith("__"):
        return False
    above = tree.parents.get(node)
    called_on = isinstance(above, ast.Call) and above.func is node
    return node.attr in _RELATED if called_on else isinstance(node.ctx, ast.Load)


def _counts_by_loading(tree: PythonTree) -> Iterator[Match]:
    """`len(query.all())`: every row is loaded for one number."""
    for call in tree.of(ast.Call):
        if called(call) != "len" or len(call.args) != 1 or not isinstance(call.args[0], ast.Call):
            continue
        inner, text = call.args[0], ast.unparse(call.args[0])
        name = called(inner)
        if name == "list" and inner.args:
            text = ast.unparse(inner.args[0])
        rows = name.rpartition(".")[2] == "fetchall"
        all_rows = re.search(r"\.all\(\)$", text) and (
            re.search(r"\.(query|objects|session|scalars|filter)\b", text) or _reads_objects(tree, _base(inner))
        )
        if rows or all_rows or _reads_objects(tree, inner):
            yield at(call)


def _base(node: ast.expr) -> ast.expr:
    while isinstance(node, ast.Call):
        node = node.func.value if isinstance(node.func, ast.Attribute) else node.func
    return node


RULES = (
    Rule(
        "query-in-loop",
        "performance",
        "medium",
        PYTHON,
        on_tree(_queries_in_loops),
        bad="def f(session, xs):\n    for x in xs:\n        session.query(x)\n",
        good="def f(db, ids):\n    for batch in batches(ids, 500):\n        db.execute('x', batch)\n",
    ),
    Rule(
        "relation-in-loop",
        "performance",
        "medium",
        PYTHON,
        on_tree(_relations_in_loops),
        bad="def f():\n    books = Book.objects.all()\n    return [b.author.surname for b in books]\n",
        good="def f():\n    return [b.author.surname for b in Book.objects.select_related('author')]\n",
    ),
    Rule(
        "count-by-loading",
        "performance",
        "medium",
        PYTHON,
        on_tree(_counts_by_loading),
        bad="def f():\n    return len(User.objects.filter(active=True))\n",
        good="def f():\n    return User.objects.filter(active=True).count()\n",
    ),
)
