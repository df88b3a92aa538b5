"""Carts."""
import os
from typing import Any

MAX_ITEMS = 30
CODES = {"a": 1, "b": [2, 3]}


class EmptyCart(ValueError):
    """Nothing in it."""


class Cart:
    """A basket."""

    limit: int = 5

    def add(self, item: Any, count=1, *, strict=False):
        if count > MAX_ITEMS:
            raise ValueError('too many items')
        return self.total(item)

    def total(self, items):
        return sum(items)


def discount(cart, rate=0.1):
    return cart.total([1]) * rate
