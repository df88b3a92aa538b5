"""Every step of a trace has a name in the catalogue."""

from __future__ import annotations

import ast
from pathlib import Path

import pytest

from repopilot import i18n
from repopilot.code.python_ast import parse_python

PACKAGE = Path(__file__).resolve().parents[2] / "repopilot"


def step_names() -> set[str]:
    """The names given to steps, without the numbers or placeholders at their end; those in variables aren't found."""
    names = set()
    for path in PACKAGE.rglob("*.py"):
        for node in ast.walk(parse_python(path.read_text("utf-8"))):
            if isinstance(node, ast.Call) and isinstance(node.func, ast.Attribute) and node.func.attr == "child":
                name = node.args[0] if node.args else None
                first = name.values[0] if isinstance(name, ast.JoinedStr) else name
                if isinstance(first, ast.Constant) and isinstance(first.value, str):
                    names.add(first.value.strip())
    return names


@pytest.mark.slow
def test_every_step_has_a_name_in_the_catalogue() -> None:
    names = step_names()
    assert {"route", "retrieve", "iteration"} <= names
    known = i18n.section("steps", "en")
    assert not {name for name in names if name.replace(" ", "_") not in known}, "add them to [steps]"


@pytest.mark.slow
def test_no_name_of_a_step_is_left_in_the_catalogue_that_nothing_uses() -> None:
    code = "\n".join(path.read_text("utf-8").lower() for path in PACKAGE.rglob("*.py"))
    left = {name for name in i18n.section("steps", "en") if name.replace("_", " ").lower() not in code}
    assert not {name for name in left if name.lower() not in code}, "delete them from [steps]"
