"""Finds the definitions that a change of Python code adds or alters, and reverts them one by one. Pure."""

from __future__ import annotations

import ast
import copy
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from functools import partial

from repopilot.code.python_ast import DEFINITIONS, FUNCTIONS, first_line, is_text, parses, read_python

_TOP = ""
"""Stands for statements of a module that define nothing."""


@dataclass(frozen=True, slots=True)
class ChangedDefinition:
    """A definition that is new or behaves differently.

    Attributes:
        name: qualified; the file's path for statements that define nothing.
        path: of its file.
        without: returns the file's text with only this definition reverted, None where that is impossible.
    """

    name: str
    path: str
    without: Callable[[], str | None]


def changed_definitions(path: str, before: str, after: str) -> tuple[ChangedDefinition, ...]:
    """The definitions that differ between two texts of a file, comments, docstrings and imports aside.

    Args:
        path: the file's path.
        before: the old text, '' for a new file.
        after: the new text.

    Returns:
        In the order of `after`; a new class is listed by its methods. Empty for a text that does not parse.
    """
    new = _parts(after)
    old = _parts(before)
    names = [n for n, node in new.items() if n not in old or ast.dump(old[n]) != ast.dump(node)]
    owners = {n.rpartition(".")[0] for n in names}
    return tuple(
        ChangedDefinition(name or path, path, partial(_taken_back, after, new[name], before, old.get(name)))
        for name in names
        if name not in owners - {_TOP}
    )


def _taken_back(after: str, node: ast.AST, before: str, was: ast.AST | None) -> str | None:
    if not isinstance(node, ast.stmt) or isinstance(node, ast.ClassDef):
        return None
    rows = after.split("\n")
    rows[_lines(node)] = before.split("\n")[_lines(was)] if isinstance(was, ast.stmt) else []
    text = "\n".join(rows)
    return text if parses(text) else None


def _lines(node: ast.stmt) -> slice:
    return slice(first_line(node) - 1, node.end_lineno)


def _parts(text: str) -> dict[str, ast.AST]:
    """The syntax tree of each qualified definition: complete functions, classes without their methods, constants; under
    _TOP the statements at the top level that define nothing."""
    tree = read_python(text)
    return _members(tree.body, "") | _top(tree.body)


def _members(body: Sequence[ast.stmt], prefix: str) -> dict[str, ast.AST]:
    found: dict[str, ast.AST] = {}
    for node in body:
        if isinstance(node, FUNCTIONS):
            found[prefix + node.name] = _without_docstrings(node)
        elif isinstance(node, ast.ClassDef):
            own = copy.copy(node)
            own.body = [n for n in node.body if not isinstance(n, DEFINITIONS) and not is_text(n)]
            found[prefix + node.name] = own
            found |= _members(node.body, f"{prefix}{node.name}.")
        elif not prefix:
            found |= dict.fromkeys(_constants(node), node)
    return found


def _top(body: Sequence[ast.stmt]) -> dict[str, ast.AST]:
    passive = (*DEFINITIONS, ast.Import, ast.ImportFrom, ast.If, ast.Try)
    rest = [n for n in body if not isinstance(n, passive) and not is_text(n) and not _constants(n)]
    return {_TOP: ast.Module(rest, [])} if rest else {}


def _constants(node: ast.stmt) -> list[str]:
    targets = node.targets if isinstance(node, ast.Assign) else [node.target] if isinstance(node, ast.AnnAssign) else []
    return [t.id for t in targets if isinstance(t, ast.Name) and t.id != "__all__"]


def _without_docstrings(node: ast.AST) -> ast.AST:
    for inner in ast.walk(node):
        if isinstance(inner, DEFINITIONS) and inner.body and is_text(inner.body[0]):
            inner.body = inner.body[1:]
    return node
