"""Caches in Python modules that grow without bound."""

from __future__ import annotations

import ast
from collections.abc import Iterator

from repopilot.review.rules.python.tree import (
    PYTHON,
    Function,
    PythonTree,
    at,
    called,
    dotted,
    names_in,
    on_tree,
    own,
    parameters,
    words_of,
)
from repopilot.review.rules.rule import Match, Rule

_CACHES = frozenset(
    "cache caches cached memo memoized rendered results result lookup seen history computed parsed".split()
)
_REGISTERS = frozenset("register add set install configure load setup init clear subscribe connect define".split())


def _unbounded_caches(tree: PythonTree) -> Iterator[Match]:
    """A dict of the module that keeps every result and never drops one."""
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
                yield at(store, name=name)
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
    """Where a function stores a value under a key derived from its parameters, if it looks the key up first."""
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
            sources = {
                n
                for s in nodes
                if isinstance(s, ast.Assign) and names_in(s.targets[0]) & keys
                for n in names_in(s.value)
            }
            if (keys | sources) & given:
                return node
    return None


RULES = (
    Rule(
        id="unbounded-cache",
        domain="performance",
        severity="low",
        languages=PYTHON,
        find=on_tree(_unbounded_caches),
        bad="_cache = {}\ndef f(key):\n    if key in _cache:\n        return _cache[key]\n    _cache[key] = g(key)\n"
        "    return _cache[key]\n",
        good="_cache = {}\ndef f(key):\n    if len(_cache) > 99:\n        _cache.clear()\n    if key not in _cache:\n"
        "        _cache[key] = g(key)\n    return _cache[key]\n",
        cwe=770,
    ),
)
