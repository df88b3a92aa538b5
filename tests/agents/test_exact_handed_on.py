"""Flags that functions take and hand on to what they call."""

from __future__ import annotations

import pytest
from support.edited import changed_lines, edited, workspace_of

from repopilot.agents.editing.exact.recognise import exact_edit
from repopilot.workspace import Workspace

FILES = {
    "mill/core.py": """from __future__ import annotations


def grind(grain: str, fine: bool = False, *, speed: int = 3) -> str:
    return grain if fine else grain * speed


def sift(flour, fine=False, mesh=None):
    return flour


class Sack:
    def __init__(self, weight, sealed=True):
        self.weight = weight
        self.sealed = sealed
""",
    "mill/easy.py": """from .core import Sack, grind, sift


def to_flour(grain: str) -> str:
    return grind(grain)


def to_bran(
    grain: str,
    *extra: str,
) -> str:
    # twice is not better
    return grind(
        grain,
    )


def clean(flour, **options):
    return sift(flour, **options)


def clean_twice(flour):
    return sift(sift(flour))


def clean_fine(flour):
    return sift(flour, True)


def a_function_with_quite_a_long_name_of_its_own(flour, another_rather_long_parameter=0):
    return sift(flour or another_rather_long_parameter, mesh=another_rather_long_parameter)


def packed(weight):
    return Sack(weight)


class Miller:
    def work(self, grain: str) -> str:
        return grind(grain)


class Apprentice(Miller):
    def work(self, grain: str) -> str:
        return super().work(grain)
""",
}


@pytest.fixture(scope="module")
def mill(tmp_path_factory: pytest.TempPathFactory) -> Workspace:
    return workspace_of(tmp_path_factory.mktemp("handed"), FILES)


@pytest.mark.parametrize(
    ("task", "lines"),
    [
        (
            "In mill.easy, give `to_flour` and `clean` an optional `fine` flag, off by default, that is handed on to "
            "`grind` and `sift`",
            [
                "-def to_flour(grain: str) -> str:",
                "+def to_flour(grain: str, fine: bool = False) -> str:",
                "-return grind(grain)",
                "+return grind(grain, fine=fine)",
                "-def clean(flour, **options):",
                "+def clean(flour, fine=False, **options):",
                "-return sift(flour, **options)",
                "+return sift(flour, fine=fine, **options)",
            ],
        ),
        (
            "to_bran in mill/easy.py should accept an optional `speed` argument and pass it on to grind",
            ["+speed: int = 3,", "+speed=speed,"],
        ),
        (
            "Ajoute à `packed` un paramètre facultatif `sealed` transmis à Sack",
            [
                "-def packed(weight):",
                "+def packed(weight, sealed=True):",
                "-return Sack(weight)",
                "+return Sack(weight, sealed=sealed)",
            ],
        ),
        (
            "Add an optional keyword-only `mesh` argument (default None) to `clean` and forward it to the `sift` call",
            [
                "-def clean(flour, **options):",
                "+def clean(flour, *, mesh=None, **options):",
                "-return sift(flour, **options)",
                "+return sift(flour, mesh=mesh, **options)",
            ],
        ),
        (
            "Let `a_function_with_quite_a_long_name_of_its_own` take an optional `fine` flag that it passes on to sift",
            [
                "-def a_function_with_quite_a_long_name_of_its_own(flour, another_rather_long_parameter=0):",
                "+def a_function_with_quite_a_long_name_of_its_own(",
                "+flour,",
                "+another_rather_long_parameter=0,",
                "+fine=False,",
                "+):",
                "-return sift(flour or another_rather_long_parameter, mesh=another_rather_long_parameter)",
                "+return sift(",
                "+flour or another_rather_long_parameter, mesh=another_rather_long_parameter, fine=fine",
                "+)",
            ],
        ),
    ],
)
def test_the_flag_is_handed_on(mill: Workspace, task: str, lines: list[str]) -> None:
    assert sorted(changed_lines(edited(mill, task))) == sorted(lines)


@pytest.mark.parametrize(
    "task",
    [
        "Give `to_flour` an optional `fine` flag, on by default, that is handed on to grind",
        "Give `to_flour` an optional `coarse` flag, off by default, that is handed on to grind",
        "Give `to_flour` a `fine` flag that is handed on to grind",
        "Give `to_flour` an optional `fine` flag, off by default, that is handed on to grind and sift",
        "Give `to_flour` and `clean` an optional `fine` flag, off by default, that is handed on to grind",
        "Give `to_flour` an optional `fine` flag, off by default, that is handed on to grind, and log it",
        "Give `to_flour` an optional `fine` flag, off by default, that is handed on to grind when it is set",
        "Give `clean_twice` an optional `fine` flag, off by default, that is handed on to sift",
        "Give `clean_fine` an optional `fine` flag, off by default, that is handed on to sift",
        "Give `Miller.work` an optional `fine` flag, off by default, that is handed on to grind",
        "Give `to_flour` an optional `fine` flag, off by default, that is handed on to the miller",
    ],
)
def test_what_is_not_certain_is_left(mill: Workspace, task: str) -> None:
    assert exact_edit(task, mill) is None
