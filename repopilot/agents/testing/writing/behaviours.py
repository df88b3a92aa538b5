"""Takes a test that checks several things apart into tests that check one each. Pure."""

from __future__ import annotations

import ast
from collections.abc import Sequence

from repopilot.code.python_ast import is_text, parse_python

MOST_CHECKS = 3
_CHECKS = ("raises", "warns")


def is_check(node: ast.AST) -> bool:
    """Whether a node states an expectation."""
    if isinstance(node, ast.Assert):
        return not isinstance(node.test, ast.Constant)
    name = node.func.attr if isinstance(node, ast.Call) and isinstance(node.func, ast.Attribute) else ""
    return name in _CHECKS or name.startswith("assert")


def single_behaviours(source: str) -> list[str]:
    """One test for each group of consecutive checks, with what comes before and is used; comments are left out.

    Args:
        source: a test function, without indentation.

    Returns:
        The tests, all of the same name; none where the source checks nothing.
    """
    function = parse_python(source).body[0]
    assert isinstance(function, ast.FunctionDef)
    groups: list[list[ast.stmt]] = []
    setups: list[list[ast.stmt]] = []
    setup: list[ast.stmt] = []
    last = 0
    for statement in function.body:
        check = any(is_check(node) for node in ast.walk(statement))
        if check and (not groups or statement.lineno != last + 1):  # a blank line or a comment stands between
            groups.append([])
            setups.append(list(setup))
        if check:
            groups[-1].append(statement)
        elif not is_text(statement):
            setup.append(statement)
        last = (statement.end_lineno or 0) if check else 0
    head = source.partition("\n")[0]
    few = [checks[:MOST_CHECKS] for checks in groups]
    return [
        "\n".join([head, *_lines(source, [*_needed(before, checks), *checks])]) + "\n"
        for before, checks in zip(setups, few, strict=True)
    ]


def _needed(setup: Sequence[ast.stmt], checks: Sequence[ast.stmt]) -> list[ast.stmt]:
    """The statements whose names are used later, and those that aren't assignments of names."""
    used = {n.id for statement in checks for n in ast.walk(statement) if isinstance(n, ast.Name)}
    needed: list[ast.stmt] = []
    for statement in reversed(setup):
        targets = statement.targets if isinstance(statement, ast.Assign) else []
        names = {target.id for target in targets if isinstance(target, ast.Name)}
        if not targets or len(names) < len(targets) or names & used:
            needed.insert(0, statement)
            used |= {n.id for n in ast.walk(statement) if isinstance(n, ast.Name)}
    return needed


def _lines(source: str, statements: Sequence[ast.stmt]) -> list[str]:
    lines = source.split("\n")
    kept = [line for s in statements for line in lines[s.lineno - 1 : s.end_lineno]]
    return [line for line in kept if line.strip() and not line.lstrip().startswith("#")]
