"""Imports that small models forget."""

from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from repopilot.agents.coding.checks.import_fixer import with_imports

PLACES = {"price_of": "shop/prices.py", "Cart": "src/shop/cart.py", "shop": "shop/__init__.py"}
CODE = "def line(article):\n    return price_of(article)\n"


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        (CODE, f"from shop.prices import price_of\n\n\n{CODE}"),
        (f'"""Lines."""\n\n{CODE}', f'"""Lines."""\n\nfrom shop.prices import price_of\n\n\n{CODE}'),
        (f"import os\n\n\n{CODE}", f"import os\nfrom shop.prices import price_of\n\n\n{CODE}"),
        ("x = Cart()\n", "from shop.cart import Cart\n\n\nx = Cart()\n"),
    ],
)
def test_a_name_of_the_repository_is_imported(text: str, expected: str) -> None:
    assert with_imports("shop/receipt.py", text, PLACES.get) == expected


@pytest.mark.parametrize(
    "text",
    [
        f"from shop.prices import price_of\n\n{CODE}",
        f"from shop.prices import *\n\n{CODE}",
        CODE.replace("article)", "article, price_of)", 1),
        "def price_of(a):\n    return a\n",
        "print(unknown)\n",
        "def f(:\n    price_of\n",
    ],
)
def test_what_is_bound_or_unknown_stays(text: str) -> None:
    assert with_imports("shop/receipt.py", text, PLACES.get) == text


@pytest.mark.parametrize(
    ("text", "added"),
    [
        ("x = time.time()\n", "import time"),
        ("x: Sequence = Counter()\n", "from collections import Counter\nfrom collections.abc import Sequence"),
        ("x = chain([])\n", "from itertools import chain"),
    ],
)
def test_the_standard_library_is_imported(text: str, added: str) -> None:
    assert with_imports("shop/receipt.py", text, PLACES.get) == f"{added}\n\n\n{text}"


def test_a_file_does_not_import_itself_and_other_languages_stay() -> None:
    assert with_imports("shop/prices.py", CODE, PLACES.get) == CODE
    assert with_imports("shop/a.js", "price_of(1)", PLACES.get) == "price_of(1)"


@pytest.mark.slow
@given(st.text("uvw =()\n:def#'\"", max_size=60))
def test_any_text_is_read(text: str) -> None:
    assert with_imports("a.py", text, lambda name: None) == text
