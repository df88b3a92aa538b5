"""SQL statements in Python that are put together from nothing but pieces of the code itself. Pure."""

from __future__ import annotations

import ast
from collections.abc import Iterator

from repopilot.review.rules.python.tree import PythonTree, called, dotted

_NUMBERS = frozenset({"int", "float", "len"})


def is_of_own_pieces(tree: PythonTree, line: int) -> bool:
    """Whether all that is put into the texts at a line comes from the code: constants, numbers, placeholders, and names
    that are checked against a list. False where nothing is put into one, so that another tool's finding stands."""
    nodes = tree.of(ast.JoinedStr, ast.BinOp, ast.Call)
    there = (node for node in nodes if node.lineno <= line <= (node.end_lineno or node.lineno))
    inserted = [piece for node in there for piece in _inserted(node)]
    return bool(inserted) and all(_is_own(tree, piece) for piece in inserted)


def _inserted(node: ast.expr) -> Iterator[ast.expr]:
    """What is put into a text by an f-string, `%`, `+` or `format`."""
    if isinstance(node, ast.JoinedStr):
        yield from (part.value for part in node.values if isinstance(part, ast.FormattedValue))
    elif isinstance(node, ast.BinOp) and isinstance(node.op, ast.Mod):
        yield from node.right.elts if isinstance(node.right, ast.Tuple) else [node.right]
    elif isinstance(node, ast.BinOp):
        yield from (node.left, node.right)
    elif isinstance(node, ast.Call) and isinstance(node.func, ast.Attribute) and node.func.attr == "format":
        yield from node.args
        yield from (each.value for each in node.keywords)


def _is_own(tree: PythonTree, node: ast.expr, depth: int = 0) -> bool:
    if isinstance(node, ast.Call) and called(node).rpartition(".")[2] == "join":
        return all(_is_own(tree, argument, depth) for argument in node.args)
    if isinstance(node, ast.Name) and not node.id.isupper():
        values = tree.assigned.get((tree.scope(node), node.id), [])
        known = depth < 3 and bool(values) and all(_is_own(tree, value, depth + 1) for value in values)
        return known or _is_listed(tree, node)
    if isinstance(node, ast.Call | ast.Attribute | ast.Subscript | ast.Name):
        return dotted(node) in _NUMBERS or dotted(node).rpartition(".")[2].isupper()
    if isinstance(node, ast.BinOp) and isinstance(node.op, ast.Mult):
        return _is_own(tree, node.left, depth)
    parts = (part for part in ast.iter_child_nodes(node) if isinstance(part, ast.expr))
    return isinstance(node, ast.Constant) or all(_is_own(tree, part, depth) for part in parts)


def _is_listed(tree: PythonTree, name: ast.Name) -> bool:
    """Whether the function asks if a name is among some values."""
    asked = (test for test in tree.of(ast.Compare) if isinstance(test.ops[0], ast.In | ast.NotIn))
    return any(dotted(test.left) == name.id and tree.scope(test) is tree.scope(name) for test in asked)
