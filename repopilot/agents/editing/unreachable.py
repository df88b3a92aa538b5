"""Statements that never run because what stands before them leaves the block. Pure."""

from __future__ import annotations

import ast

from repopilot.code.python_ast import parse_python

_LEAVES = (ast.Return, ast.Raise, ast.Continue, ast.Break)
_BLOCKS = ("body", "orelse", "finalbody")


def adds_unreachable(before: str, after: str) -> bool:
    """Whether more of a Python file never runs after a change.

    Args:
        before: the file as it was.
        after: the file as it is to be.
    """
    return _cut_off(after) > _cut_off(before)


def _cut_off(text: str) -> int:
    """How many blocks go on behind a `return`, `raise`, `continue` or `break`; 0 for a text that doesn't parse."""
    try:
        tree = parse_python(text)
    except SyntaxError:
        return 0
    blocks = (getattr(node, name, None) for node in ast.walk(tree) for name in _BLOCKS)
    return sum(any(isinstance(s, _LEAVES) for s in block[:-1]) for block in blocks if isinstance(block, list))
