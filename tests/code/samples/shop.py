# ruff: noqa
"""A shop."""

import os.path
from collections.abc import Iterable as Many
from .prices import LIST, price_of
from . import stock as store

LIMIT: int = 10


class Base:
    rate = 2


# The basket of one customer.
class Basket(Base, store.Holder[str]):
    """Holds things."""

    @property
    def total(self) -> int:
        return sum(price_of(i) for i in self.items)

    async def pay(self, card: "Card") -> None:
        def check() -> bool:
            return card.valid(LIMIT)

        await card.charge(self.total)


@store.cached
def make(items: Many[str]) -> Basket:
    return Basket(os.path.join(*items))
