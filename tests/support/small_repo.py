"""A small shop in Python and JavaScript, with tests, a schema, a manifest and a README: enough to ask about."""

from __future__ import annotations

import os
import subprocess
from pathlib import Path

FILES = {
    "README.md": """# Corner shop

A small shop server. It keeps carts in memory and orders in SQLite.

## Running

Install with `pip install -e .` and start `python -m shop.server --port 8080`.
""",
    "pyproject.toml": """[project]
name = "corner-shop"
version = "1.2.0"
dependencies = ["httpx"]

[project.scripts]
shop = "shop.server:main"
""",
    "shop/__init__.py": "",
    "shop/cart.py": '''"""Carts, kept in memory until checkout."""

from shop.prices import price_of, with_discount


class EmptyCart(Exception):
    """Checkout of a cart without items."""


class Cart:
    """What one customer is about to buy."""

    def __init__(self) -> None:
        self.items: dict[str, int] = {}

    def add(self, article: str, count: int = 1) -> None:
        """Put `count` pieces of an article into the cart."""
        if count < 1:
            raise ValueError("count must be positive")
        self.items[article] = self.items.get(article, 0) + count

    def total(self) -> int:
        """Price of everything in cents, with the discount for large orders."""
        if not self.items:
            raise EmptyCart("nothing to pay for")
        plain = sum(price_of(article) * count for article, count in self.items.items())
        return with_discount(plain)
''',
    "shop/prices.py": '''"""Prices in cents."""

PRICES = {"apple": 30, "bread": 250, "milk": 120}
DISCOUNT_FROM = 5000


def price_of(article: str) -> int:
    """Price of one piece. Raises KeyError for an unknown article."""
    return PRICES[article]


def with_discount(cents: int) -> int:
    """Five percent off from DISCOUNT_FROM cents."""
    return cents * 95 // 100 if cents >= DISCOUNT_FROM else cents
''',
    "shop/auth.py": '''"""Session tokens."""

import hashlib
import hmac


def sign_token(user: str, secret: bytes) -> str:
    """A token that proves who the user is."""
    digest = hmac.new(secret, user.encode(), hashlib.sha256).hexdigest()
    return f"{user}:{digest}"


def validate_token(token: str, secret: bytes) -> str | None:
    """The user of a valid token, None for a forged one."""
    user, _, digest = token.partition(":")
    expected = sign_token(user, secret).partition(":")[2]
    return user if hmac.compare_digest(digest, expected) else None
''',
    "shop/server.py": '''"""The HTTP server."""

import argparse

from shop.auth import validate_token
from shop.cart import Cart


def checkout(cart: Cart, token: str, secret: bytes) -> dict:
    """Turn a cart into an order for the user of the token."""
    user = validate_token(token, secret)
    if user is None:
        raise PermissionError("invalid token")
    return {"user": user, "total": cart.total()}


def main() -> None:
    parser = argparse.ArgumentParser()
    parser.add_argument("--port", type=int, default=8080)
    parser.parse_args()


if __name__ == "__main__":
    main()
''',
    "tests/test_cart.py": """from shop.cart import Cart


def test_total():
    cart = Cart()
    cart.add("apple", 2)
    assert cart.total() == 60
""",
    "web/basket.js": """// Shows the basket in the page.
export function renderBasket(items) {
  return items.map((item) => `<li>${item.name}</li>`).join('');
}
""",
    "schema.sql": """CREATE TABLE orders (
  id INTEGER PRIMARY KEY,
  user_name TEXT NOT NULL,
  total_cents INTEGER NOT NULL
);
""",
    ".gitignore": "build/\n*.log\n",
    "build/out.py": "ignored = True\n",
    ".env": "SHOP_SECRET=hunter2hunter2\n",
}


def lay_out(folder: Path, *, git: bool = True) -> Path:
    """Write the shop below `folder`; with `git`, as a repository with one commit. Returns the folder."""
    for path, text in FILES.items():
        target = folder / path
        target.parent.mkdir(parents=True, exist_ok=True)
        target.write_text(text, "utf-8")
    if git:
        for command in (["init", "-q", "-b", "main"], ["add", "-A"], ["commit", "-q", "-m", "Open the shop"]):
            run_git(folder, *command)
    return folder


def run_git(folder: Path, *arguments: str) -> str:
    """git in `folder` with a fixed identity and date, away from the user's configuration. Returns its output."""
    env = {
        "PATH": os.environ["PATH"],
        "HOME": str(folder),
        "GIT_CONFIG_GLOBAL": os.devnull,
        "GIT_CONFIG_NOSYSTEM": "1",
        **{
            f"GIT_{who}_{what}": value
            for who in ("AUTHOR", "COMMITTER")
            for what, value in (("NAME", "Ann"), ("EMAIL", "ann@example.org"), ("DATE", "2026-01-02T03:04:05Z"))
        },
    }
    done = subprocess.run(["git", *arguments], cwd=folder, env=env, check=True, capture_output=True, text=True)
    return done.stdout
