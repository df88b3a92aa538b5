"""A small shop whose files call, test and store each other."""

SHOP = {
    "shop/prices.py": "def price(item):\n    return _round(item.amount)\n\n\ndef _round(value):\n    return value\n",
    "shop/cart.py": (
        "from shop.prices import price\n\n\nclass Cart:\n    def __init__(self):\n        self.lines = []\n\n"
        "    def total(self):\n        return sum(price(line) for line in self.lines)\n"
    ),
    "shop/web.py": "from shop.cart import Cart\n\n\ndef checkout(cart: Cart):\n    return {'total': cart.total()}\n",
    "shop/__init__.py": "",
    "shop/models.py": (
        "from django.db import models\n\n\nclass Order(models.Model):\n    total = models.IntegerField()\n"
    ),
    "shop/lonely.py": "def nobody_calls_this():\n    return 1\n",
    "tests/test_cart.py": "from shop.cart import Cart\n\n\ndef test_total():\n    assert Cart().total() == 0\n",
    "docs/cart.md": "# Cart\n\nThe cart has a price total.\n",
}
