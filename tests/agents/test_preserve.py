"""Which definitions an edit must not lose by the way."""

from __future__ import annotations

import pytest

from repopilot.agents.coding.checks.preserve import unrequested_removals

TASK = "add a method remove"
CART = """class Cart:
    def add(self):
        pass

    def total(self):
        return 0

    def _own(self):
        pass
"""


@pytest.mark.parametrize(
    ("task", "after", "lost"),
    [
        (TASK, "class Cart:\n    def add(self):\n        pass\n", ["Cart.total"]),
        (TASK, CART, []),
        (TASK, CART.replace("_own", "_other"), []),
        ("remove the total from the cart", "class Cart:\n    def add(self):\n        pass\n", []),
        ("rename Cart.total to amount", CART.replace("total", "amount"), []),
        ("rewrite shop/cart.py with functions", "def add(cart):\n    pass\n", []),
        (TASK, "def add(cart):\n    pass\n", ["Cart", "Cart.add", "Cart.total"]),
    ],
)
def test_definitions_lost_without_being_asked_for(task: str, after: str, lost: list[str]) -> None:
    assert unrequested_removals("cart.py", after, CART, task) == lost
