"""Which definitions an edit must not lose by the way."""

from __future__ import annotations

import pytest

from repopilot.agents.coding.checks.preserve import public_names, unrequested_removals

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


@pytest.mark.parametrize(
    ("path", "text"),
    [
        ("a.py", "class S:\n    def run(self):\n        def inner():\n            pass\n        return inner\n"),
        (
            "a.py",
            "class S:\n    def run(self):\n        class inner:\n            def call(self):\n                pass\n",
        ),
        ("a.js", "class S {\n  run() {\n    function inner() {}\n    const other = () => 1;\n  }\n}\n"),
        ("a.ts", "export const S = () => {\n  function inner() {}\n};\n"),
        ("A.java", "class S {\n  void run() {\n    class inner { void call() {} }\n  }\n}\n"),
        ("a.rs", "impl S {\n    pub fn run(&self) {\n        fn inner() {}\n    }\n}\n"),
        ("a.go", "package a\nfunc (s S) Run() {\n\ttype inner struct{}\n}\n"),
        ("a.kt", "class S {\n  fun run() {\n    fun inner() {}\n  }\n}\n"),
        ("a.cs", "class S {\n  void Run() {\n    void inner() {}\n  }\n}\n"),
        ("a.php", "<?php\nclass S {\n  function run() {\n    function inner() {}\n  }\n}\n"),
    ],
)
def test_what_is_defined_inside_of_a_function_is_no_public_name(path: str, text: str) -> None:
    names = public_names(path, text)
    assert names and not any("inner" in name or "other" in name for name in names)
    assert unrequested_removals(path, text.replace("inner", "renamed"), text, "faster") == []


def test_members_that_a_function_sets_on_this_are_public() -> None:
    text = "function S() {\n  this.run = function () {\n    function inner() {}\n  };\n  function own() {}\n}\n"
    assert public_names("a.js", text) == {"S", "S.run"}
