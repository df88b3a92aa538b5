"""The benchmark's tasks are solvable as written: their reference programs pass their tests, their stubs don't."""

from __future__ import annotations

import sys
from pathlib import Path
from types import ModuleType

import pytest

from repopilot.agents.testing import candidates

TASKS = sorted(path.parent for path in Path(__file__, "../../../bench/tasks").resolve().glob("*/solution.py"))


def failures(program: str, tests: str, monkeypatch) -> list[str]:
    """The tests that fail with a program of ours, run here."""
    solution = ModuleType("solution")
    exec(program, vars(solution))
    monkeypatch.setitem(sys.modules, "solution", solution)
    names: dict = {}
    exec(tests, names)
    failed = []
    for name in candidates.function_names(tests, "test"):
        try:
            names[name]()
        except Exception:
            failed.append(name)
    return failed


def test_there_are_enough():
    assert len(TASKS) >= 30


@pytest.mark.parametrize("task", TASKS, ids=lambda task: task.name)
def test_task(task, monkeypatch):
    stub, reference = (task / "solution.py").read_text(), (task / "reference.py").read_text()
    assert set(candidates.public_names(stub)) <= set(candidates.public_names(reference))
    for kind in ("visible", "hidden"):
        tests = (task / f"{kind}.py").read_text()
        count = len(candidates.function_names(tests, "test"))
        assert count
        assert failures(reference, tests, monkeypatch) == []
        assert len(failures(stub, tests, monkeypatch)) == count
