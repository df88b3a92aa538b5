"""No test asserts how long something took: on a busy machine it takes longer, and nothing is wrong.

What is meant is asserted instead: what was done how often and in which order, or that something ends at all, where a
deadline is generous. What takes too long is measured in bench/.
"""

from __future__ import annotations

import ast
from collections.abc import Iterator
from pathlib import Path

import pytest

from repopilot.code.python_ast import parse_python

TESTS = Path(__file__).resolve().parents[1]
DATA = {"forgers", "hostile", "samples"}
CLOCKS = ("time", "monotonic", "perf_counter", "process_time", "thread_time")


def is_duration(node: ast.AST, durations: set[str]) -> bool:
    """Whether a part of an expression is a difference of times, or a name for one."""
    if isinstance(node, ast.Name):
        return node.id in durations
    if not (isinstance(node, ast.BinOp) and isinstance(node.op, ast.Sub)):
        return False
    called = (ast.unparse(each.func) for each in ast.walk(node) if isinstance(each, ast.Call))
    return any(name.rpartition(".")[2].removesuffix("_ns") in CLOCKS for name in called)


def timed(tree: ast.Module) -> Iterator[int]:
    """The lines of asserts about durations."""
    functions = (node for node in ast.walk(tree) if isinstance(node, ast.FunctionDef | ast.AsyncFunctionDef))
    for function in functions:
        durations: set[str] = set()
        for node in ast.walk(function):
            parts = [*ast.walk(node)] if isinstance(node, ast.Assign | ast.NamedExpr | ast.Assert) else []
            if not any(is_duration(part, durations) for part in parts):
                continue
            if isinstance(node, ast.Assert):
                yield node.lineno
            else:
                targets = node.targets if isinstance(node, ast.Assign) else [node.target]
                durations |= {each.id for target in targets for each in ast.walk(target) if isinstance(each, ast.Name)}


@pytest.mark.slow
def test_no_test_asserts_how_long_something_took() -> None:
    paths = [path for path in sorted(TESTS.rglob("*.py")) if not DATA & set(path.parts)]
    found = [
        f"{path.relative_to(TESTS)}:{line}" for path in paths for line in timed(parse_python(path.read_text("utf-8")))
    ]
    assert found == []


def test_an_assert_about_a_duration_is_found() -> None:
    code = "def test():\n    began = time.monotonic()\n    go()\n    {0}\n    assert {1}\n"
    for before, asserted, lines in (
        ("pass", "time.monotonic() - began < 2", [5]),
        ("took = perf_counter_ns() - began", "2 > took", [5]),
        ("half = (time.time() - began) / 2\n    took = half * 2", "took < 9", [6]),
        ("deadline = began + 60", "time.monotonic() < deadline", []),
        ("left = 3 - began", "left", []),
    ):
        assert list(timed(parse_python(code.format(before, asserted)))) == lines
