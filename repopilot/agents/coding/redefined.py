"""Definitions that replace another one of their name in the same block, or are inside it. Pure."""

from __future__ import annotations

import ast
from collections import Counter
from collections.abc import Iterator, Sequence

from repopilot.code.python_ast import parse_python

_BESIDE = frozenset("overload setter getter deleter register dispatch".split())
_Definition = ast.FunctionDef | ast.AsyncFunctionDef | ast.ClassDef


def adds_redefined(before: str, after: str) -> bool:
    """Whether more definitions of a Python file replace one of their name after a change.

    Args:
        before: the file as it was.
        after: the file as it is to be.
    """
    return _redefined(after) > _redefined(before)


def _redefined(text: str) -> int:
    """How often a name is defined once more in a block, or inside the function that it names; 0 for a text that doesn't
    parse. Overloads, setters and what is registered for a type stand beside each other."""
    try:
        tree = parse_python(text)
    except SyntaxError:
        return 0
    blocks = (node.body for node in ast.walk(tree) if isinstance(node, ast.Module | ast.ClassDef))
    return sum(map(_twice, blocks)) + sum(1 for node in ast.walk(tree) for _ in _inside_itself(node))


def _twice(block: Sequence[ast.stmt]) -> int:
    names = Counter(s.name for s in block if isinstance(s, _Definition) and not _stands_beside(s))
    return sum(count - 1 for count in names.values())


def _stands_beside(definition: _Definition) -> bool:
    named = (d.func if isinstance(d, ast.Call) else d for d in definition.decorator_list)
    names = (d.attr if isinstance(d, ast.Attribute) else d.id if isinstance(d, ast.Name) else "" for d in named)
    return any(name in _BESIDE for name in names)


def _inside_itself(node: ast.AST) -> Iterator[ast.stmt]:
    if isinstance(node, ast.FunctionDef | ast.AsyncFunctionDef):
        yield from (s for s in node.body if isinstance(s, ast.FunctionDef) and s.name == node.name)
