"""What a change adds or alters, and the file without each part of it."""

from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from repopilot.code.changed_definitions import changed_definitions
from repopilot.code.python_ast import parses

OLD = '''"""Carts."""
import os

LIMIT = 3


class Cart:
    """What one buys."""

    def __init__(self):
        self.items = {}

    def add(self, item):
        _check(item)
        self.items[item] = 1


def _check(item):
    assert item


def full(cart):
    return len(cart.items) > LIMIT
'''
REMOVE = "\n    def remove(self, item):\n        del self.items[item]\n"


@pytest.mark.parametrize(
    ("new", "expected"),
    [
        (OLD, []),
        (OLD.replace('"""What one buys."""', '"""Another."""').replace("import os", "import re  # new"), []),
        (OLD.replace("= 1\n", "= 1\n" + REMOVE), ["Cart.remove"]),
        (OLD.replace("= 1\n", "= 2\n"), ["Cart.add"]),
        (OLD.replace("assert item", "assert item is not None"), ["_check"]),
        (OLD.replace("LIMIT = 3", "LIMIT = 4"), ["LIMIT"]),
        (OLD.replace("class Cart:", "class Cart(dict):"), ["Cart"]),
        (OLD + "\n\nclass Full(Exception):\n    pass\n", ["Full"]),
        (OLD + "\n\nclass Shelf:\n    def put(self):\n        pass\n", ["Shelf.put"]),
        (OLD + "\n\nprint(LIMIT)\n", ["cart.py"]),
        ("def f(:\n", []),
    ],
)
def test_changed_definitions(new: str, expected: list[str]) -> None:
    assert [t.name for t in changed_definitions("cart.py", OLD, new)] == expected


def test_a_new_file_is_all_new() -> None:
    assert [t.name for t in changed_definitions("cart.py", "", OLD)] == [
        "LIMIT",
        "Cart.__init__",
        "Cart.add",
        "_check",
        "full",
    ]


def test_each_definition_is_taken_back_alone() -> None:
    checked = OLD.replace("assert item", "assert item is not None").replace("LIMIT = 3", "LIMIT = 4")
    new = checked.replace("= 1\n", "= 1\n" + REMOVE)
    without = {each.name: each.without() for each in changed_definitions("cart.py", OLD, new)}
    assert without == {
        "LIMIT": new.replace("LIMIT = 4", "LIMIT = 3"),
        "Cart.remove": new.replace(REMOVE[1:], ""),
        "_check": new.replace("assert item is not None", "assert item"),
    }


def test_a_definition_that_nothing_is_left_without_is_not_taken_back() -> None:
    put, full = changed_definitions(
        "cart.py", OLD, OLD + "\n\nclass Shelf:\n    def put(self): ...\n\n@a\ndef b(): ...\n"
    )
    assert put.without() is None
    assert full.without() == OLD + "\n\nclass Shelf:\n    def put(self): ...\n\n"


@pytest.mark.slow
def test_a_long_file_is_read_once() -> None:
    text = "".join(f"def f{n}(a, b):\n    for i in range(a):\n        b += i\n    return b\n\n\n" for n in range(3000))
    assert len(changed_definitions("a.py", "", text)) == 3000


@pytest.mark.slow
@given(st.text("abc =()\n:def#'\"", max_size=60))
def test_any_text_is_read(text: str) -> None:
    assert changed_definitions("a.py", text, text) == ()
    texts = [each.without() for each in changed_definitions("a.py", "", text)]
    assert all(each is None or parses(each) for each in texts)
