"""Options that a class takes and keeps, with all of the task understood."""

from __future__ import annotations

import pytest
from support.edited import changed_lines, edited, texts, workspace_of

from repopilot.agents.editing.exact.recognise import exact_edit
from repopilot.workspace import Workspace

FILES = {
    "ovens/errors.py": '''class OvenError(Exception):
    """Something is wrong with the oven"""

    pass


class TooHot(OvenError): pass


class DoorOpen(OvenError):
    """The door is open."""


class NoFuel(OvenError):
    code = 3

    def __str__(self) -> str:
        return "no fuel"


class FuelMissing(ImportError):
    pass


class Burnt(OvenError):
    def __init__(self, dish: str) -> None:
        super().__init__(dish)
''',
    "ovens/oven.py": '''from __future__ import annotations

import logging
from dataclasses import dataclass
from enum import Enum
from typing import NamedTuple


class Oven:
    _heat: int

    def __init__(self, heat: int, *, name: str = "oven") -> None:
        """Make an oven."""
        self._heat = heat
        if name:
            self.title = name.upper()

    @property
    def window(self) -> bool:
        return True


class Tray(Oven):
    def __init__(self, *dishes, **options):
        super().__init__(*dishes, **options)
        self.prepare()

    def prepare(self):
        return 1


class Lamp:
    __slots__ = ("watts",)

    def __init__(self, watts):
        self.watts = watts


class Clock:
    def __init__(self, zone):
        if zone is None:
            return
        self.zone = zone
        self.start()


class Timer:
    def __init__(self, minutes):
        self.minutes = minutes

    def copy(self):
        return type(self)(self.minutes)


class Meter:
    def __init__(self, unit: str, scale):
        self.unit = unit


class Handler(logging.Handler):
    def __init__(self, stream):
        self.stream = stream


class Fan:
    pass


@dataclass
class Recipe:
    title: str
    minutes: int = 10

    def text(self) -> str:
        return self.title


class Level(Enum):
    LOW = 1


class Point(NamedTuple):
    x: int
''',
}


@pytest.fixture(scope="module")
def ovens(tmp_path_factory: pytest.TempPathFactory) -> Workspace:
    return workspace_of(tmp_path_factory.mktemp("options"), FILES)


@pytest.mark.parametrize(
    ("task", "lines"),
    [
        (
            "Oven should accept an optional `timeout` parameter (default 10) and store it as self.timeout",
            [
                '-def __init__(self, heat: int, *, name: str = "oven") -> None:',
                '+def __init__(self, heat: int, *, name: str = "oven", timeout: int = 10) -> None:',
                "+timeout: int",
                "+self.timeout = timeout",
            ],
        ),
        (
            "Give the Tray constructor a `strict` option, off by default, kept on the instance",
            [
                "-def __init__(self, *dishes, **options):",
                "+def __init__(self, *dishes, strict=False, **options):",
                "+self.strict = strict",
            ],
        ),
        (
            "Lamp doit accepter un argument facultatif `colour` et le garder comme attribut",
            [
                '-__slots__ = ("watts",)',
                '+__slots__ = ("watts", "colour")',
                "-def __init__(self, watts):",
                "+def __init__(self, watts, colour=None):",
                "+self.colour = colour",
            ],
        ),
        (
            "Add an optional keyword-only argument `colour` to Lamp (default 'red') and keep it in `self._colour`",
            [
                '-__slots__ = ("watts",)',
                '+__slots__ = ("watts", "_colour")',
                "-def __init__(self, watts):",
                '+def __init__(self, watts, *, colour="red"):',
                "+self._colour = colour",
            ],
        ),
        (
            "Let Recipe take an optional integer `servings`, 4 by default, and keep it as a field",
            ["+servings: int = 4"],
        ),
    ],
)
def test_the_option_is_taken_and_kept(ovens: Workspace, task: str, lines: list[str]) -> None:
    assert sorted(changed_lines(edited(ovens, task))) == sorted(lines)


def test_the_option_is_kept_behind_the_others(ovens: Workspace) -> None:
    text = texts(edited(ovens, "Oven should take a `lit` flag, on by default, and store it as an attribute"))
    body = text["ovens/oven.py"].partition('"""Make an oven."""')[2]
    assert body.startswith("\n        self._heat = heat\n        self.lit = lit\n        if name:")
    assert "    _heat: int\n    lit: bool\n\n" in text["ovens/oven.py"]


@pytest.mark.parametrize(
    ("name", "expected"),
    [
        ("OvenError", '"""Something is wrong with the oven"""\n\n    def __init__'),
        ("TooHot", "class TooHot(OvenError):\n    def __init__"),
        ("DoorOpen", '"""The door is open."""\n\n    def __init__'),
        ("NoFuel", "    code = 3\n\n    def __init__"),
    ],
)
def test_an_exception_passes_on_what_exceptions_take(ovens: Workspace, name: str, expected: str) -> None:
    task = f"Let {name} take an optional `dish` keyword argument and keep it as an attribute of the same name"
    text = texts(edited(ovens, f"{task} (None when it isn't given), so callers can tell what burns"))["ovens/errors.py"]
    signature = "(self, *args: object, dish: object = None) -> None:\n"
    body = "        super().__init__(*args)\n        self.dish = dish\n"
    assert expected + signature + body in text
    assert "pass" not in text.partition(f"class {name}")[2].partition("class ")[0]
    if name == "NoFuel":
        assert "self.dish = dish\n\n    def __str__" in text


@pytest.mark.parametrize(
    "task",
    [
        "Give Oven a `lit` option, off by default, kept on the instance. When it is set, the window shines.",
        "Give Oven a `lit` option, off by default, kept on the instance, so that the window shines",
        "Give Oven a `lit` option, off by default, kept on the instance, so that people can turn off the window",
        "Oven should accept an optional `lit` argument and store it as self.lit and use it for the window",
        "Oven should accept an optional `lit` argument (None when it is given) and store it as self.lit",
        "Oven should accept an optional `lit` argument and store it as self.lit, unless it is None",
        "Oven should accept an optional `lit` argument and pass it on to Tray",
        "Oven should accept an optional `lit` argument",
        "Oven should accept a `lit` argument and keep it as an attribute",
        "Oven should accept an optional `lit` argument, default [], and keep it as an attribute",
        "Oven should accept an optional `lit` argument and keep `heat` as an attribute",
        "Oven should accept optional `lit` and `dim` arguments and keep them as attributes",
        "Oven should accept an optional `heat` argument and keep it as an attribute",
        "Oven should accept an optional `window` argument and keep it as an attribute",
        "Oven should accept an optional `name` argument and store it as self.label",
        "Clock should accept an optional `lit` argument and keep it as an attribute",
        "Timer should accept an optional `lit` argument and keep it as an attribute",
        "Meter should accept an optional `lit` argument and keep it as an attribute",
        "Handler should accept an optional `lit` argument and keep it as an attribute",
        "Fan should accept an optional `lit` argument and keep it as an attribute",
        "Level should accept an optional `lit` argument and keep it as an attribute",
        "Lamp should accept an optional `watts_` argument, 3 watts by default, and keep it as an attribute",
        "Point should accept an optional `y` argument and keep it as an attribute",
        "Burnt should accept an optional `args` argument and keep it as an attribute",
        "FuelMissing should accept an optional `lit` argument and keep it as an attribute",
        "OvenError should accept an optional `args` keyword argument and keep it as an attribute",
        "Recipe should accept an optional `author` and keep it as an attribute",
    ],
)
def test_what_is_not_wholly_understood_is_left(ovens: Workspace, task: str) -> None:
    assert exact_edit(task, ovens) is None
