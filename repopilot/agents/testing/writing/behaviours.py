"""Takes a test that checks several things apart into tests that check one each. Pure."""

from __future__ import annotations

import ast
from collections.abc import Sequence

from repopilot.code.python_ast import parse_python

MOST_CHECKS = 3
_CHECKS = ("raises", "warns")
_UNITTEST: dict[type[ast.cmpop], str] = {
    ast.Eq: "assertEqual",
    ast.NotEq: "assertNotEqual",
    ast.Is: "assertIs",
    ast.IsNot: "assertIsNot",
    ast.In: "assertIn",
    ast.NotIn: "assertNotIn",
}


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
    checking = False
    for statement in function.body:
        check = any(is_check(node) for node in ast.walk(statement))
        if check and not checking:
            groups.append([])
            setups.append(list(setup))
        if check:
            groups[-1].append(statement)
        elif not _is_text(statement):
            setup.append(statement)
        checking = check
    head = source.partition("\n")[0]
    few = [checks[:MOST_CHECKS] for checks in groups]
    return [
        "\n".join([head, *_lines(source, [*_needed(before, checks), *checks])]) + "\n"
        for before, checks in zip(setups, few, strict=True)
    ]


def in_unittest_style(source: str) -> str:
    """The test with `self.assertEqual(a, b)` for `assert a == b` and `self.assertRaises` for `pytest.raises`."""
    lines = source.split("\n")
    for node in reversed(list(ast.walk(parse_python(source)))):
        if isinstance(node, ast.Assert) and node.lineno == node.end_lineno and node.msg is None:
            line = lines[node.lineno - 1]
            indent = line[: len(line) - len(line.lstrip())]
            lines[node.lineno - 1] = indent + _unittest_call(node.test, source)
    return "\n".join(lines).replace("pytest.raises(", "self.assertRaises(")


def _unittest_call(test: ast.expr, source: str) -> str:
    if isinstance(test, ast.Compare) and len(test.ops) == 1 and type(test.ops[0]) in _UNITTEST:
        sides = [ast.get_source_segment(source, side) for side in (test.left, test.comparators[0])]
        return f"self.{_UNITTEST[type(test.ops[0])]}({sides[0]}, {sides[1]})"
    return f"self.assertTrue({ast.get_source_segment(source, test)})"


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


def _is_text(statement: ast.stmt) -> bool:
    return isinstance(statement, ast.Expr) and isinstance(statement.value, ast.Constant)
