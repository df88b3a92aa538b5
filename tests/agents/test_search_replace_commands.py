"""Lines that stand for more than they show become a command that code carries out."""

from __future__ import annotations

import pytest

from repopilot.agents.editing.search_replace.accepted import LineReplacement
from repopilot.agents.editing.search_replace.as_command import as_command
from repopilot.types import Symbol

CLAIM = Symbol("claim", "claim", "function", "a.py", 3, 9, "claim(backend: type, token: object) -> None")
OLD = Symbol("Old", "Box.Old", "class", "a.py", 12, 20)
OUTLINES = {"a.py": [CLAIM, OLD]}


def said(first: int, old: str, new: str, task: str) -> str:
    before, after = (tuple(text.split("\n")) if text else () for text in (old, new))
    return as_command([LineReplacement("a.py", first, first + len(before), before, after)], OUTLINES, task)


@pytest.mark.parametrize(
    ("new", "command"),
    [
        ("def claim(token: object, backend: type) -> None:", "put `backend` after `token` in `claim`"),
        ("def claim(backend: type) -> None:", "remove `token` from `claim`"),
        ("def claim(backend: type, *, token: object) -> None:", "make `token` keyword-only in `claim`"),
        ("def claim(backend: type, token: object, more: int = 0) -> None:", ""),
        ("def claim(backend: type, token: object) -> int:", ""),
    ],
)
def test_a_changed_signature_stands_for_its_callers(new: str, command: str) -> None:
    assert said(3, "def claim(backend: type, token: object) -> None:", new, "claim: token first") == command


def test_a_line_far_below_is_a_call() -> None:
    assert said(8, "    claim(backend, token)", "    claim(token, backend)", "claim: token first") == ""


@pytest.mark.parametrize(
    ("first", "old", "new", "command"),
    [
        (3, "def claim(backend: type, token: object):", "def take(backend: type, token: object):", "in `a.py`"),
        (4, "    wait(token)", "    wait(take)", "rename `token` to `take` in `claim`"),
        (30, "wait(token)", "wait(take)", ""),
        (4, "    wait(token)", "    wait(take, 1)", ""),
        (4, "    wait(token)", "    wait(other)", ""),
    ],
)
def test_one_name_for_another_stands_for_all_its_uses(first: int, old: str, new: str, command: str) -> None:
    found = said(first, old, new, "the name should be take")
    assert found.endswith(command) and bool(found) == bool(command)


def test_a_name_is_only_renamed_where_the_task_speaks_of_names() -> None:
    assert said(3, "def claim(a):", "def take(a):", "callers want take here") == ""


def test_a_definition_that_is_taken_away_goes_whole() -> None:
    assert said(11, "class Old:\n    x = 1", "", "Old is dead code") == "remove `Box.Old` from `a.py`"
    assert said(11, "class Old:\n    x = 1", "", "Old is fine") == ""
    assert said(11, "class Old:\n    x = 1", "class Old:", "drop x of Old") == ""


def test_what_a_class_does_wrong_is_not_the_class() -> None:
    assert said(11, "class Old:", "", "remove Old") != ""
    assert said(11, "class Old:", "", "Old prints its name twice, remove that") == ""
