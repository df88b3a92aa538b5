"""A new exception that some functions raise instead of its base."""

from __future__ import annotations

from pathlib import Path

import pytest
from support.edited import changed_lines, edited, texts, workspace_of

from repopilot.agents.editing.exact.recognise import exact_edit
from repopilot.workspace import Workspace

FILES = {
    "bakery/__init__.py": "from .errors import BakeryError, Closed\n\n"
    '__all__ = [\n    "BakeryError",\n    "Closed",\n]\n',
    "bakery/errors.py": '''class BakeryError(Exception):
    """Something is wrong in the bakery."""


class Closed(BakeryError):
    """The bakery is closed."""

    hour = 18
''',
    "bakery/bread.py": '''import math
from typing import Mapping

from .errors import Closed

PRICES: Mapping[str, int] = {}


def price_of(name):
    """The price.

    :param name: of the bread.
    :raises ValueError: there is no such bread.
    """
    if name not in PRICES:
        raise ValueError(f"No bread {name!r}.")
    return PRICES[name]


def price_by_weight(weight):
    if not weight:
        raise TypeError("Not a weight.")
    if weight < 0:
        raise ValueError("No such weight.")
    return math.ceil(weight)


def open_door(hour):
    if hour < 6:
        raise Closed("too early")
    if hour > 18:
        raise Closed("too late")


def close_door(hour):
    raise Closed("again")


class Shelf:
    def __init__(self, size):
        if not size:
            raise ValueError("No size.")

    def take(self, name):
        raise ValueError

    def put(self, name):
        raise ValueError(name)
''',
}


@pytest.fixture(scope="module")
def bakery(tmp_path_factory: pytest.TempPathFactory) -> Workspace:
    return workspace_of(tmp_path_factory.mktemp("raises"), FILES)


@pytest.mark.parametrize(
    "task",
    [
        "Introduce an `UnknownBreadError` in bread.py, a subclass of ValueError, and raise it instead of the bare "
        "ValueError in both price functions. Keep the messages.",
        "Add a new exception `UnknownBreadError` (a ValueError subclass) to bakery/bread.py and let `price_of` and "
        "`price_by_weight` raise it instead of ValueError; the messages stay the same",
        "In bread.py, `price_of` and `price_by_weight` should raise a new `UnknownBreadError`, derived from "
        "ValueError, instead of a plain ValueError, so callers can catch it",
        "Ajoute une exception `UnknownBreadError`, sous-classe de ValueError, dans bread.py et lève-la au lieu de "
        "ValueError dans `price_of` et `price_by_weight`. Garde les messages.",
    ],
)
def test_the_new_exception_is_raised_in_both_functions(bakery: Workspace, task: str) -> None:
    outcome = edited(bakery, task)
    text = texts(outcome)["bakery/bread.py"]
    assert "from .errors import Closed\n\n\nclass UnknownBreadError(ValueError):\n    pass\n\n\nPRICES" in text
    assert 'raise UnknownBreadError(f"No bread {name!r}.")' in text
    assert ":raises UnknownBreadError: there" in text
    assert 'raise UnknownBreadError("No such weight.")' in text
    assert text.count("ValueError") == 4
    assert list(texts(outcome)) == ["bakery/bread.py"]


def test_it_stands_with_the_others_and_is_exported_like_them(bakery: Workspace) -> None:
    task = "Create a `ClosedAgain` exception in errors.py that extends Closed, raised instead of Closed in close_door"
    assert sorted(changed_lines(edited(bakery, task))) == sorted([
        '+"ClosedAgain",',
        '+"""Closed again."""',
        "+",
        "+",
        '+class ClosedAgain(Closed):',
        "+from .errors import BakeryError, Closed, ClosedAgain",
        "+from .errors import Closed, ClosedAgain",
        '+raise ClosedAgain("again")',
        "-from .errors import BakeryError, Closed",
        "-from .errors import Closed",
        '-raise Closed("again")',
    ])  # fmt: skip


def test_an_import_that_is_no_longer_used_goes(tmp_path: Path) -> None:
    files = {
        "errors.py": FILES["bakery/errors.py"],
        "door.py": 'from errors import Closed\n\n\ndef shut():\n    raise Closed("no")\n',
    }
    task = "Add `Locked` to errors.py, a subclass of Closed, and raise it instead of Closed in `shut`"
    assert texts(edited(workspace_of(tmp_path, files), task))["door.py"].startswith(
        "from errors import Locked\n\n\ndef"
    )


def test_all_of_several_are_exchanged_where_the_task_says_so(bakery: Workspace) -> None:
    task = "Introduce `OutOfHours` in errors.py, a subclass of Closed, raised instead of every Closed in `open_door`"
    assert texts(edited(bakery, task))["bakery/bread.py"].count("raise OutOfHours(") == 2


def test_a_constructor_may_raise_it(bakery: Workspace) -> None:
    task = "Raise a new `NoSize` error (a subclass of ValueError) instead of ValueError in `Shelf.__init__` in bread.py"
    assert exact_edit(task, bakery) is None  # the repository has a file for its exceptions
    assert (
        '            raise NoSize("No size.")' in texts(edited(bakery, f"In bread.py, {task[:-12]}"))["bakery/bread.py"]
    )


@pytest.mark.parametrize(
    "task",
    [
        "Introduce `TooLate` in errors.py, a subclass of Closed, and raise it instead of Closed in `open_door`",
        "Introduce `TooLate` in errors.py, a subclass of BakeryError, and raise it instead of Closed in `close_door`",
        "Introduce `TooLate` in errors.py and raise it instead of Closed in `close_door`",
        "Introduce `TooLate` in errors.py, a subclass of Closed, and raise it in `close_door` when the hour is late",
        "Introduce `TooLate` in errors.py, a Closed subclass, and raise it instead of Closed in `close_door` if late",
        "Introduce `TooLate` with an `hour` in errors.py, a subclass of Closed, and raise it instead of Closed in "
        "`close_door`",
        "Introduce `TooLate` in errors.py, a subclass of Closed, and raise it instead of Closed in `close_door`. The "
        "message should name the hour.",
        "Introduce `Closed` in errors.py, a subclass of ValueError, and raise it instead of ValueError in `price_of`",
        "Introduce `Gone` in bread.py, a subclass of ValueError, and raise it instead of ValueError in `Shelf.take`",
        "Introduce `Gone` in errors.py, a subclass of ValueError, and raise it instead of ValueError in both functions",
        "Introduce `Gone` in bread.py, a ValueError subclass, raised instead of ValueError in both door functions",
        "Introduce `Gone` in bread.py, a subclass of TypeError, and raise it instead of TypeError in `price_of`",
        "Introduce `Gone` in bread.py, a subclass of Missing, and raise it instead of Missing in `price_of`",
        "Introduce `Gone`, a subclass of ValueError, and raise it instead of ValueError in `price_of`",
    ],
)
def test_what_is_not_certain_is_left(bakery: Workspace, task: str) -> None:
    assert exact_edit(task, bakery) is None
