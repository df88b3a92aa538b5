"""What a rewritten file must not lose by the way."""

from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from repopilot.agents.coding.checks.preserve import restore_header_and_footer, unrequested_removals

TASK = "add a method remove"
CODE = "import os\n\n\ndef f():\n    return 1\n"
NEW = CODE.replace("1", "2")


@pytest.mark.parametrize(
    ("path", "head"),
    [
        ("a.py", '"""A module."""\n\n'),
        ("a.py", '#!/usr/bin/env python\n# Copyright Ann\n\n"""Two\nlines."""\n\n'),
        ("a.py", "# SPDX-License-Identifier: MIT\n\n"),
        ("a.js", "/*\n * Licence\n */\n\n"),
        ("a.go", "// Copyright Ann\n// All of it\n\n"),
        ("a.sql", "-- Tables\n\n"),
        ("a.sh", "#!/bin/sh\n# Runs it\n\n"),
        ("a.html", "<!-- Ann -->\n\n"),
        ("a.yml", "# Settings\n\n"),
    ],
)
def test_a_lost_head_comes_back(path: str, head: str) -> None:
    assert restore_header_and_footer(path, NEW, head + CODE, TASK) == head + NEW
    assert restore_header_and_footer(path, head + NEW, head + CODE, TASK) == head + NEW


def test_parts_come_back_by_themselves() -> None:
    old = f'#!/usr/bin/env python\n# Licence\n\n"""A module."""\n\n{CODE}'
    assert restore_header_and_footer("a.py", f'"""A module."""\n\n{NEW}', old, TASK) == old.replace("1", "2")
    assert restore_header_and_footer("a.py", f"#!/usr/bin/env python\n{NEW}", old, TASK) == old.replace("1", "2")


def test_a_new_head_stays() -> None:
    assert restore_header_and_footer("a.py", '"""New."""\n' + NEW, '"""Old."""\n' + CODE, TASK) == '"""New."""\n' + NEW


def test_a_task_about_comments_is_let_be() -> None:
    assert restore_header_and_footer("a.py", CODE, '"""Old."""\n' + CODE, "remove the docstring") == CODE


def test_a_comment_on_code_goes_with_the_code() -> None:
    old = "// Shows it.\nexport function show(a) {}\n"
    assert restore_header_and_footer("a.js", "export function show(a, b) {}\n", old, TASK) == (
        "// Shows it.\nexport function show(a, b) {}\n"
    )
    assert (
        restore_header_and_footer("a.js", "export function hide(a) {}\n", old, TASK) == "export function hide(a) {}\n"
    )


@pytest.mark.parametrize("end", ["", "\n", "\n\n"])
def test_it_ends_as_it_ended(end: str) -> None:
    old = CODE.rstrip("\n") + end
    assert restore_header_and_footer("a.py", NEW, old, TASK) == NEW.rstrip("\n") + end


def test_nothing_is_added_to_a_new_or_an_emptied_file() -> None:
    assert restore_header_and_footer("a.py", NEW, "", TASK) == NEW
    assert restore_header_and_footer("a.py", "", CODE, TASK) == ""


@given(st.sampled_from(["a.py", "a.js", "a.sql", "a.html", "a.unknown"]), st.text("#/*-<!>\"' \nab", max_size=40))
def test_what_did_not_change_stays(path: str, text: str) -> None:
    assert restore_header_and_footer(path, text, text, TASK) == text


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
