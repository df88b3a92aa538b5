"""Caches in Python modules that never forget."""

from __future__ import annotations

import ast
from collections.abc import Iterator

from repopilot.review.rules.python.tree import Function, PythonTree, called, dotted, names_in, own, parameters, words_of
from repopilot.types import Finding

_CACHES = frozenset(
    "cache caches cached memo memoized rendered results result lookup seen history computed parsed".split()
)
_REGISTERS = frozenset("register add set install configure load setup init clear subscribe connect define".split())


def caches(tree: PythonTree) -> Iterator[Finding]:
    """A dict of the module that remembers what it was asked and never forgets."""
    module = tree.nodes[0] if tree.nodes else None
    for (scope, name), values in tree.assigned.items():
        if (
            scope is not module
            or not all(_empty_dict(v) for v in values)
            or not _CACHES & set(words_of(name))
            or _bounded(tree, name)
        ):
            continue
        for function in tree.functions:
            if store := _stores(function, name):
                yield tree.finding(store, "low", "performance", "unbounded-cache",
                                   f"`{name}` only ever grows; bound it, as functools.lru_cache does.")  # fmt: skip
                break


def _empty_dict(node: ast.expr) -> bool:
    return (isinstance(node, ast.Dict) and not node.keys) or (
        isinstance(node, ast.Call) and called(node) in ("dict", "OrderedDict", "defaultdict") and len(node.args) < 2
    )


def _bounded(tree: PythonTree, name: str) -> bool:
    """Something takes entries out, or looks at how many there are."""
    for call in tree.of(ast.Call):
        if called(call) in (f"{name}.pop", f"{name}.clear", f"{name}.popitem") or (
            called(call) == "len" and call.args and dotted(call.args[0]) == name
        ):
            return True
    return any(isinstance(t, ast.Subscript) and dotted(t) == name for d in tree.of(ast.Delete) for t in d.targets)


def _stores(function: Function, name: str) -> ast.AST | None:
    """Where a function keeps something under a key made of its parameters, if it looks there first."""
    given = {
        a.arg for a in parameters(function) if a.annotation is None or "type" not in ast.unparse(a.annotation).lower()
    }
    given -= {"cls", "klass", "model", "type", "module", "self"}
    nodes = list(own(function))
    if _REGISTERS & set(words_of(function.name)[:1]) or not given:
        return None
    looks = any(
        (isinstance(n, ast.Compare) and any(dotted(c) == name for c in n.comparators))
        or (isinstance(n, ast.Call) and called(n) == f"{name}.get")
        or (isinstance(n, ast.Subscript) and isinstance(n.ctx, ast.Load) and dotted(n) == name)
        for n in nodes
    )
    for node in nodes:
        target = node.targets[0] if isinstance(node, ast.Assign) else None
        if looks and isinstance(target, ast.Subscript) and dotted(target) == name:
            keys = names_in(target.slice)
            made = {
                n
                for s in nodes
                if isinstance(s, ast.Assign) and names_in(s.targets[0]) & keys
                for n in names_in(s.value)
            }
            if (keys | made) & given:
                return node
    return None
