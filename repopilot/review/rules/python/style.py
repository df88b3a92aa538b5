"""Habits that make Python harder to read, beyond ruff's rules: only what is certain from the text."""

from __future__ import annotations

import ast
from collections.abc import Iterator
from itertools import pairwise

from repopilot.review.rules.python.tree import PYTHON, PythonTree, at, blocks, called, on_tree
from repopilot.review.rules.rule import Match, Rule


def _unreachable(tree: PythonTree) -> Iterator[Match]:
    """Statements after a `return`, `raise`, `continue` or `break` of the same block."""
    for block in blocks(tree):
        for before, after in pairwise(block):
            if isinstance(before, (ast.Return, ast.Raise, ast.Continue, ast.Break)) and not _marks_generator(after):
                yield at(after)
                break


def _marks_generator(node: ast.stmt) -> bool:
    """A `yield` after a return makes the function a generator on purpose."""
    return any(isinstance(n, (ast.Yield, ast.YieldFrom)) for n in ast.walk(node))


def _nested_ternaries(tree: PythonTree) -> Iterator[Match]:
    """A conditional expression within another."""
    for node in tree.of(ast.IfExp):
        nested = any(isinstance(n, ast.IfExp) for n in (node.test, node.body, node.orelse))
        if nested and not isinstance(tree.parents.get(node), ast.IfExp):
            yield at(node)


def _needless_indexes(tree: PythonTree) -> Iterator[Match]:
    """`for i in range(len(xs))` where `i` is used only to read `xs[i]`."""
    for loop in tree.of(ast.For):
        call = loop.iter
        if not (
            isinstance(call, ast.Call)
            and called(call) == "range"
            and len(call.args) == 1
            and isinstance(loop.target, ast.Name)
        ):
            continue
        length = call.args[0]
        if not (isinstance(length, ast.Call) and called(length) == "len" and length.args):
            continue
        sequence, name = ast.dump(length.args[0]), loop.target.id
        uses = [n for s in loop.body for n in ast.walk(s) if isinstance(n, ast.Name) and n.id == name]
        if uses and all(_reads(tree, use, sequence) for use in uses):
            yield at(loop)


def _reads(tree: PythonTree, use: ast.Name, sequence: str) -> bool:
    parent = tree.parents.get(use)
    return (
        isinstance(parent, ast.Subscript)
        and parent.slice is use
        and isinstance(parent.ctx, ast.Load)
        and ast.dump(parent.value) == sequence
    )


RULES = (
    Rule(
        "unreachable",
        "style",
        "medium",
        PYTHON,
        on_tree(_unreachable),
        bad="def f():\n    return 1\n    print(2)\n",
        good="def generate():\n    return\n    yield\n",
        cwe=561,
    ),
    Rule(
        "nested-ternary",
        "style",
        "low",
        PYTHON,
        on_tree(_nested_ternaries),
        bad="def f(a, b):\n    return 1 if a else 2 if b else 3\n",
        good="def f(a, b):\n    return (1 if a else 2) + (3 if b else 4)\n",
    ),
    Rule(
        "range-len",
        "style",
        "low",
        PYTHON,
        on_tree(_needless_indexes),
        bad="def f(xs):\n    for i in range(len(xs)):\n        use(xs[i])\n",
        good="def f(xs):\n    for i in range(len(xs)):\n        xs[i] = 0\n",
    ),
)
