"""Follow-up edits of a change, on small repositories."""

from __future__ import annotations

import asyncio
from collections.abc import Callable, Mapping
from pathlib import Path

import pytest
from support.shop_workspace import offline, open_workspace

from repopilot.agents.coding.follow_ups import follow_ups
from repopilot.results import FollowUpEdit
from repopilot.tools.file_change import change

Found = Callable[..., tuple[FollowUpEdit, ...]]


@pytest.fixture
def found(tmp_path: Path) -> Found:
    """The follow-ups of changing some files of a repository."""

    def find(files: Mapping[str, str], new: Mapping[str, str]) -> tuple[FollowUpEdit, ...]:
        for path, text in files.items():
            target = tmp_path / "repository" / path
            target.parent.mkdir(parents=True, exist_ok=True)
            target.write_bytes(text.encode())
        workspace = open_workspace(tmp_path / "repository", offline(tmp_path / "home"))
        changes = tuple(change(path, text, files.get(path)) for path, text in new.items())
        return asyncio.run(follow_ups(changes, workspace))

    return find


PRICES = "def price(item, tax):\n    return item * tax\n"
CART = (
    "from shop.prices import price\n\n\ndef total(items):\n    return sum(price(item, 2) for item in items)\n"
    "\n\ndef one(item):\n    return price(item, tax=3)\n"
)


SETTINGS = "# RETRY_LIMIT is 20 by default\nRETRY_LIMIT = 20\n\n\ndef load_user(name):\n    return name, RETRY_LIMIT\n"
AROUND = {
    "app/__init__.py": "",
    "app/settings.py": SETTINGS,
    "app/views.py": "from app.settings import load_user\n\n\ndef show(name):\n    return load_user(name)  # again\n",
    "tests/test_limit.py": "from app.settings import RETRY_LIMIT\n\n\ndef test_it():\n    assert RETRY_LIMIT == 20\n",
    "docs/use.md": "# Use\n\n`RETRY_LIMIT` is 20 (not 200). Call `load_user`.\n",
    "CHANGES.md": "# 2.1 (unreleased)\n\n- New `load_user`.\n\n# 2.0\n\n- `load_user` and `RETRY_LIMIT` of 20.\n",
}


def test_a_renamed_function_is_renamed_where_it_is_used_and_documented(found):
    new = SETTINGS.replace("load_user", "fetch_user")
    places = {f.path: f for f in found(AROUND, {"app/settings.py": new})}
    assert set(places) == {"app/views.py", "docs/use.md", "CHANGES.md"}
    assert places["app/views.py"].change.content == (
        "from app.settings import fetch_user\n\n\ndef show(name):\n    return fetch_user(name)  # again\n"
    )
    assert "Call `fetch_user`" in places["docs/use.md"].change.content
    assert "New `fetch_user`" in places["CHANGES.md"].change.content
    assert "- `load_user` and" in places["CHANGES.md"].change.content


@pytest.mark.slow
def test_what_has_the_old_name_but_means_something_else_keeps_it(found):
    views = AROUND["app/views.py"] + "\n\ndef other(load_user=None):\n    return load_user\n"
    new = SETTINGS.replace("load_user", "fetch_user")
    places = {f.path: f for f in found(AROUND | {"app/views.py": views}, {"app/settings.py": new})}
    renamed = AROUND["app/views.py"].replace("load_user", "fetch_user")
    assert places["app/views.py"].change.content == renamed + "\n\ndef other(load_user=None):\n    return load_user\n"
    assert "fetch_user" in places["app/views.py"].reason


@pytest.mark.slow
def test_what_is_gone_is_named_where_it_is_still_used(found):
    places = found(AROUND, {"app/settings.py": SETTINGS.split("def load_user")[0]})
    assert [(p.path, p.line, p.change) for p in places if p.path == "app/views.py"] == [
        ("app/views.py", 1, None),
        ("app/views.py", 5, None),
    ]


@pytest.mark.slow
def test_a_change_of_documents_or_tests_alone_needs_nothing(found):
    assert found(AROUND, {"docs/use.md": "# Use\n"}) == ()
    assert found(AROUND, {"tests/test_limit.py": ""}) == ()


MOVED = {
    "shop/rates.py": "def price(item, tax):\n    return item * tax\n",
    "shop/prices.py": "OTHER = 1\n",
    "shop/cart.py": CART.replace("shop.prices", "shop.rates"),
}


@pytest.mark.slow
def test_nothing_follows_from_a_definition_that_was_moved_with_its_imports(found):
    files = {
        "shop/__init__.py": "",
        "shop/prices.py": PRICES + "\n\nOTHER = 1\n",
        "shop/cart.py": CART,
        "README.md": "`price(item, 2)` has the tax, `shop.prices.OTHER` not.\n",
    }
    assert found(files, MOVED) == ()


@pytest.mark.slow
def test_what_still_looks_for_a_moved_definition_at_its_old_place_is_named(found):
    files = {
        "shop/__init__.py": "",
        "shop/prices.py": PRICES + "\n\nOTHER = 1\n",
        "shop/cart.py": CART,
        "shop/bill.py": "from shop.prices import price\n\nBILL = price(1, 2)\n",
        "README.md": "`shop.prices.price(item, 2)` has the tax.\n",
    }
    assert {(p.path, p.line) for p in found(files, MOVED)} == {
        ("shop/bill.py", 1),
        ("shop/bill.py", 3),
        ("README.md", 1),
    }
    kept = {**MOVED, "shop/prices.py": "from shop.rates import price\n\nOTHER = 1\n"}
    assert found(files, kept) == ()


@pytest.mark.slow
def test_a_renamed_class_is_renamed_once_in_a_text_with_other_line_ends(found):
    cart = "class Cart:\n    def add(self):\n        return 1\n\n    def total(self):\n        return 2\n"
    bill = "from cart import Cart\r\n\r\nTOTAL = Cart().total()\r\n"
    (only,) = found({"cart.py": cart, "bill.py": bill}, {"cart.py": cart.replace("Cart", "Basket")})
    assert (only.path, only.change.content) == ("bill.py", bill.replace("Cart", "Basket"))
