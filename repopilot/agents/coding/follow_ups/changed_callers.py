"""Calls that no longer fit a changed Python signature, each with its corrected text where code can write it."""

from __future__ import annotations

import ast
from collections.abc import Iterator
from typing import NamedTuple

from repopilot import i18n
from repopilot.agents.coding.follow_ups.changed_state import ChangedState, line_at
from repopilot.agents.coding.follow_ups.code_changes import CodeChanges
from repopilot.agents.coding.follow_ups.needed_edit import NeededEdit
from repopilot.agents.coding.follow_ups.python_calls import (
    Adapted,
    ChangedParameters,
    Offsets,
    adapted,
    changed_parameters,
    parameters,
    scoped_nodes,
)
from repopilot.code.graph.graph import Edge
from repopilot.code.python_ast import parse_python
from repopilot.types import Symbol

_TRANSPARENT = frozenset(
    "staticmethod classmethod contextmanager asynccontextmanager cache lru_cache abstractmethod override final "
    "deprecated wraps setupmethod".split()
)
"""Decorators after which a function is still called with the parameters it is written with."""
_CERTAIN = 0.85
"""A base class that an import or the same file tells, not a name that happens to be unique."""
_UNREADABLE = (SyntaxError, ValueError, RecursionError, MemoryError)
_Function = ast.FunctionDef | ast.AsyncFunctionDef


class _Callee(NamedTuple):
    """The function as it is called: by `name`, found in the graph as `target`; `inherited`: also as `super().name`."""

    name: str
    target: str
    owner: str
    parameters: ChangedParameters


def changed_callers(state: ChangedState) -> Iterator[NeededEdit]:
    """Find the calls that a changed signature breaks, or would give another meaning."""
    for code in state.code:
        if not code.path.endswith((".py", ".pyi")):
            continue
        for old, new in code.signatures:
            callee = _callee(code, old, new)
            if callee is not None:
                yield from _calls(state, code.path, callee)
                yield from _overrides(state, code.path, old, callee)


def _callee(code: CodeChanges, old: Symbol, new: Symbol) -> _Callee | None:
    before, after = _function(code.old_text, old), _function(code.new_text, new)
    if before is None or after is None or not (_transparent(before) and _transparent(after)):
        return None
    owner = old.qualified.rpartition(".")[0]
    in_class = bool(owner) and code.before[owner].kind == "class" if owner in code.before else False
    change = changed_parameters(
        parameters(before, in_class and not _is_static(before)), parameters(after, in_class and not _is_static(after))
    )
    if change is None:
        return None
    if old.name == "__init__":
        return _Callee(owner.rpartition(".")[2], owner, "", change)
    return _Callee(old.name, old.qualified, owner if in_class else "", change)


def _calls(state: ChangedState, path: str, callee: _Callee) -> Iterator[NeededEdit]:
    places: dict[str, set[str]] = {}
    for user in state.users(path, callee.target):
        if user.kind in (Edge.CALLS, Edge.USES):
            places.setdefault(user.path, set()).add(user.scope)
    for where, scopes in places.items():
        yield from _calls_in(where, state.text(where), scopes, callee)


def _calls_in(path: str, text: str, scopes: set[str], callee: _Callee) -> Iterator[NeededEdit]:
    try:
        tree = parse_python(text) if path.endswith(".py") else ast.Module([], [])
    except _UNREADABLE:
        return
    for scope, node in scoped_nodes(tree):
        if not (isinstance(node, ast.Call) and scope in scopes and _calls_it(node, callee)):
            continue
        fit = adapted(node, callee.parameters, text)
        if fit is not None:
            yield from _edits(path, text, node, callee, fit)


def _calls_it(call: ast.Call, callee: _Callee) -> bool:
    function = call.func
    if isinstance(function, ast.Name):
        return function.id == callee.name and not callee.owner
    if not isinstance(function, ast.Attribute) or function.attr != callee.name:
        return False
    # Called on its class, a method gets the object as its first argument.
    on_class = isinstance(function.value, ast.Name) and function.value.id == callee.owner.rpartition(".")[2]
    return not (callee.owner and on_class)


def _edits(path: str, text: str, call: ast.Call, callee: _Callee, fit: Adapted) -> Iterator[NeededEdit]:
    reason = _reason(callee, fit)
    offsets = Offsets(text)
    if not fit.replacements:
        yield NeededEdit(path, line_at(text, offsets.start(call)), reason, 0)
    for replacement in fit.replacements or ():
        yield NeededEdit(path, line_at(text, replacement.start), reason, 0, replacement)


def _reason(callee: _Callee, fit: Adapted) -> str:
    renamed = [(a, b) for a, b in callee.parameters.renamed.items()]
    if fit.missing:
        return i18n.message("follow_ups.missing_argument", name=callee.name, names=", ".join(fit.missing))
    if fit.unknown:
        return i18n.message("follow_ups.unknown_argument", name=callee.name, names=", ".join(fit.unknown))
    if renamed and {p.name for p in callee.parameters.old} != {p.name for p in callee.parameters.new}:
        old, new = renamed[0]
        return i18n.message("follow_ups.renamed_argument", name=callee.name, old=old, new=new)
    return i18n.message("follow_ups.moved_argument", name=callee.name)


def _overrides(state: ChangedState, path: str, old: Symbol, callee: _Callee) -> Iterator[NeededEdit]:
    """Methods of direct subclasses that have the old parameters still."""
    if not callee.owner or old.name.startswith("__"):
        return
    for user in state.users(path, callee.owner):
        if user.kind is not Edge.INHERITS or user.confidence < _CERTAIN or not user.path.endswith(".py"):
            continue
        text = state.text(user.path)
        found = named_function(text, f"{user.scope}.{old.name}")
        if found is not None and parameters(found, not _is_static(found)) == callee.parameters.old:
            reason = i18n.message("follow_ups.override", name=f"{user.scope}.{old.name}", base=callee.target)
            yield NeededEdit(user.path, found.lineno, reason, 0)


def _function(text: str, symbol: Symbol) -> _Function | None:
    return named_function(text, symbol.qualified)


def named_function(text: str, qualified: str) -> _Function | None:
    """The only function of a qualified name in a source; None for none, or several as of an overloaded one."""
    owner, _, name = qualified.rpartition(".")
    try:
        tree = parse_python(text)
    except _UNREADABLE:
        return None
    found = [
        node
        for scope, node in scoped_nodes(tree)
        if isinstance(node, ast.FunctionDef | ast.AsyncFunctionDef) and node.name == name and scope == owner
    ]
    return found[0] if len(found) == 1 else None


def _is_static(function: _Function) -> bool:
    return "staticmethod" in map(_decorator_name, function.decorator_list)


def _transparent(function: _Function) -> bool:
    return all(_decorator_name(d) in _TRANSPARENT for d in function.decorator_list)


def _decorator_name(node: ast.expr) -> str:
    while isinstance(node, ast.Call):
        node = node.func
    return node.attr if isinstance(node, ast.Attribute) else node.id if isinstance(node, ast.Name) else ""
