"""What a change adds or alters, and which tests reach it."""

from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from repopilot.agents.testing.coverage import ChangedDefinition, changed_definitions, unexercised

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


REMOVED = (ChangedDefinition("Cart.remove", ("Cart.remove",)),)


@pytest.mark.parametrize(
    ("test", "reaches"),
    [
        ("from cart import Cart\ndef test():\n    Cart().remove('a')\n", True),
        ("def test(cart):\n    cart.remove('a')\n", True),
        ("from cart import Cart\ndef test():\n    Cart().add('a')\n", False),
        ("from cart import remove, Cart\ndef test():\n    pass\n", False),
        ("def test():\n    [1].remove(1)\n", False),
        ("def test():\n    'cart.remove'\n", False),
        ("def test(:\n", False),
        (
            "class Cart:\n    def remove(self, x):\n        pass\ndef test():\n    Cart().remove(1)\n",
            False,
        ),
        ("class TestCart:\n    def test(self, cart):\n        cart.remove(1)\n", True),
    ],
)
def test_a_test_must_use_the_name(test: str, reaches: bool) -> None:
    assert unexercised(REMOVED, [test]) == (() if reaches else ("Cart.remove",))


def test_what_is_private_is_reached_through_its_users() -> None:
    (check,) = changed_definitions("cart.py", OLD, OLD.replace("assert item", "assert item is not None"))
    assert unexercised([check], ["def test(cart):\n    cart.add(1)\n"]) == ()
    assert unexercised([check], ["def test(cart):\n    full(cart)\n"]) == ("_check",)
    (limit,) = changed_definitions("cart.py", OLD, OLD.replace("LIMIT = 3", "LIMIT = 4"))
    assert unexercised([limit], ["def test(cart):\n    full(cart)\n"]) == ()


def test_code_without_a_name_is_never_exercised() -> None:
    assert unexercised([ChangedDefinition("web/basket.js")], ["basket()"]) == ("web/basket.js",)


@given(st.text("abc =()\n:def#'\"", max_size=60))
def test_any_text_is_read(text: str) -> None:
    assert changed_definitions("a.py", text, text) == ()
    assert set(unexercised(changed_definitions("a.py", "", text), [text])) <= {
        t.name for t in changed_definitions("a.py", "", text)
    }
