"""Docstrings in Python that contradict the function they are in; only what the text itself proves."""

from __future__ import annotations

import ast
import re
from collections.abc import Iterator

from repopilot.review.rules.python.tree import PYTHON, Function, PythonTree, on_tree, own, parameters
from repopilot.review.rules.rule import Match, Rule

_GIVEN = re.compile(r"(?m)^[^\S\n]*:param\s+(?:[\w.\[\], |]+\s+)?\*{0,2}([A-Za-z_]\w*)\s*:")


def _stale_docstrings(tree: PythonTree) -> Iterator[Match]:
    """Docstrings that describe a parameter or a result that there isn't."""
    for function in tree.functions:
        if text := ast.get_docstring(function):
            yield from _parameters(tree, function, text)
            yield from _results(function, text)


def _parameters(tree: PythonTree, function: Function, text: str) -> Iterator[Match]:
    """`:param name:` of a parameter there isn't (ruff reads the other styles)."""
    names = {a.arg for a in [*parameters(function), *filter(None, (function.args.vararg, function.args.kwarg))]}
    if function.args.kwarg or (not names and not _GIVEN.search(text)):
        return
    names |= {"self", "cls"}
    for name in _GIVEN.findall(text):
        if name not in names:
            yield Match(_line_of(function, f"param.*{name}", tree), {"name": name}, "parameter")


def _line_of(function: Function, pattern: str, tree: PythonTree) -> int:
    """The line of the docstring that matches, else that of its beginning."""
    doc = function.body[0]
    lines = tree.code.safe.split("\n")
    return next(
        (n for n in range(doc.lineno, (doc.end_lineno or doc.lineno) + 1) if re.search(pattern, lines[n - 1])),
        doc.lineno,
    )


def _results(function: Function, text: str) -> Iterator[Match]:
    """Docstrings that describe a result where the function never returns one."""
    nodes = list(own(function))
    gives = any(isinstance(n, ast.Return) and n.value is not None for n in nodes)
    other = any(isinstance(n, (ast.Yield, ast.YieldFrom, ast.Raise)) for n in nodes)
    body = function.body[1:]
    stub = not body or all(
        isinstance(s, (ast.Pass, ast.Expr)) and (isinstance(s, ast.Pass) or isinstance(s.value, ast.Constant))
        for s in body
    )
    claim = re.match(r"(Returns? (True|False|whether|the \w+|an? \w+)\b)", text)
    if claim and not gives and not other and not stub and not function.decorator_list and function.name != "__init__":
        yield Match(function.body[0].lineno, {"claim": claim[1]}, "result")


RULES = (
    Rule(
        "stale-comment",
        "style",
        "low",
        PYTHON,
        on_tree(_stale_docstrings),
        bad="def f(a, b):\n    '''Add.\n\n    :param a: one\n    :param c: other\n    '''\n    return a + b\n",
        good="class A:\n    def f(self):\n        '''Returns True when done.'''\n        raise NotImplementedError\n",
    ),
)
