"""Finds code that changes how pytest runs tests or reports them, so that a pass would prove little. Pure.

Only names in the source are found; indirect access is left to the controls of a pass.
"""

from __future__ import annotations

import ast
from collections.abc import Mapping
from pathlib import PurePosixPath

from repopilot.code.languages import is_test_path
from repopilot.code.python_ast import read_python

_HOOKS = {
    "pytest_cmdline_main",
    "pytest_fixture_setup",
    "pytest_make_collect_report",
    "pytest_pycollect_makeitem",
    "pytest_pycollect_makemodule",
    "pytest_pyfunc_call",
    "pytest_report_to_serializable",
    "pytest_runtest_call",
    "pytest_runtest_logreport",
    "pytest_runtest_makereport",
    "pytest_runtest_protocol",
    "pytest_runtestloop",
}
_INTERNALS = {"pluggy"} | {
    f"_pytest.{name}"
    for name in (
        "assertion",
        "config",
        "main",
        "nodes",
        "outcomes",
        "python",
        "reports",
        "runner",
        "skipping",
        "unittest",
    )
}


def touched_internals(files: Mapping[str, str]) -> tuple[str, int, str] | None:
    """The first place that interferes with the test runner: a hook, or an import of pytest's internal modules.

    Args:
        files: texts by path, of conftest.py files and of the code under test; other tests are not looked at.

    Returns:
        Path, line and name; None where there is none.
    """
    for path, text in files.items():
        pure = PurePosixPath(path)
        if pure.suffix != ".py" or (is_test_path(path) and pure.name != "conftest.py"):
            continue
        for node in ast.walk(read_python(text)):
            if name := _internal(node):
                return path, getattr(node, "lineno", 1), name
    return None


def _internal(node: ast.AST) -> str:
    if isinstance(node, (ast.FunctionDef, ast.AsyncFunctionDef)):
        return node.name if node.name in _HOOKS else ""
    if isinstance(node, ast.Import):
        return next((alias.name for alias in node.names if alias.name in _INTERNALS | {"_pytest"}), "")
    if isinstance(node, ast.ImportFrom) and node.module:
        names = [node.module, *(f"{node.module}.{alias.name}" for alias in node.names)]
        return next((name for name in names if name in _INTERNALS), "")
    return ""
