"""Test modules read and changed as text: tests inserted, imports added, all but some tests left out."""

from __future__ import annotations

import ast

import pytest
from hypothesis import given
from hypothesis import strategies as st

from repopilot.agents.testing.writing.suite import only_tests, read_suite, with_import_line, with_test

MODULE = '''"""Tests."""
import json
from shop import prices
from .base import Base


@pytest.fixture
def till():
    return 3


@pytest.fixture(name="drawer")
def _drawer():
    return 4


@pytest.mark.parametrize("a", [1])
def test_first(a, till):
    assert prices.price_of("milk") == a


class TestCart(Base):
    limit = 3

    def test_add(self, drawer):
        assert self.cart.add(1) == 2

    def helper(self):
        return 1


class PriceTests(unittest.TestCase):
    def test_price(self):
        self.assertEqual(1, 1)


if __name__ == "__main__":
    unittest.main()
'''


def test_what_is_read() -> None:
    suite = read_suite(MODULE)
    assert [(t.owner, t.name, t.parameters) for t in suite.tests] == [
        ("", "test_first", ("a", "till")),
        ("TestCart", "test_add", ("drawer",)),
        ("PriceTests", "test_price", ()),
    ]
    assert suite.fixtures == {"till", "drawer"}
    assert {name: unittest for name, (_, unittest) in suite.classes.items()} == {"TestCart": False, "PriceTests": True}
    assert suite.bound["prices"] == ("shop", "prices") and suite.bound["Base"] == (".base", "Base")
    assert "prices.price_of" in suite.attributes
    assert read_suite("def (") is None


@pytest.mark.parametrize(
    "owner, after, before_it, behind_it",
    [
        ("", None, "self.assertEqual(1, 1)", 'if __name__ == "__main__":'),
        ("", "test_first", 'assert prices.price_of("milk") == a', "class TestCart(Base):"),
        ("TestCart", None, "return 1", "class PriceTests(unittest.TestCase):"),
        ("TestCart", "test_add", "assert self.cart.add(1) == 2", "    def helper(self):"),
    ],
)
def test_where_a_test_goes(owner: str, after: str | None, before_it: str, behind_it: str) -> None:
    suite = read_suite(MODULE)
    source = f"def test_new({'self' if owner else ''}):\n    assert 1\n"
    text = with_test(suite, source, owner, next((t for t in suite.tests if t.name == after), None))
    changed = read_suite(text)
    new = next(t for t in changed.tests if t.name == "test_new")
    lines = text.split("\n")
    gap = 1 if owner else 2
    assert new.owner == owner
    assert lines[new.first - gap - 2].strip() == before_it and not any(lines[new.first - gap - 1 : new.first - 1])
    following = [line for line in lines[new.last :] if line.strip()]
    assert following[0] == behind_it
    assert text.replace("\n\n\n", "\n").count("def ") == MODULE.count("def ") + 1


def test_into_an_empty_module_and_at_the_end() -> None:
    assert with_test(read_suite(""), "def test_a():\n    pass\n") == "def test_a():\n    pass\n"
    at_end = with_test(read_suite("x = 1"), "def test_a():\n    pass\n")
    assert at_end == "x = 1\n\n\ndef test_a():\n    pass\n"


def test_where_an_import_goes() -> None:
    assert "from shop import prices\nfrom shop.cart import Cart\n" in with_import_line(
        MODULE, "from shop.cart import Cart"
    )
    assert with_import_line(MODULE, "import json") == MODULE
    assert "import json\nimport pytest\nfrom shop" in with_import_line(MODULE, "import pytest")
    assert with_import_line('"""Doc."""\nx = 1\n', "import json").startswith('"""Doc."""\n\nimport json\nx = 1')
    assert with_import_line("", "import json") == "import json\n\n\n"
    future = "from __future__ import annotations\n\nx = 1\n"
    ast.parse(with_import_line(future, "import json"))


@pytest.mark.parametrize(
    "before, line, after",
    [
        ("from shop import a, c", "from shop import b", "from shop import a, b, c"),
        ("from shop import c, a", "from shop import b", "from shop import c, a, b"),
        ("from shop import a", "from shop import b", "from shop import a\nfrom shop import b"),
        ("from shop import c", "from shop import b", "from shop import b\nfrom shop import c"),
        (
            "from shop import (\n    a,\n    c,\n)",
            "from shop import b",
            "from shop import (\n    a,\n    c,\n)\nfrom shop import b",
        ),
        (
            "from shop.a import x\nfrom shop.c import y",
            "from shop.b import z",
            "from shop.a import x\nfrom shop.b import z\nfrom shop.c import y",
        ),
        ("from shop import a", "import pytest", "import pytest\n\nfrom shop import a"),
        ("import os\n\nfrom shop import a", "import json", "import os\nimport json\n\nfrom shop import a"),
        ("from . import base", "from shop import a", "from . import base\nfrom shop import a"),
    ],
)
def test_how_an_import_joins_the_others(before: str, line: str, after: str) -> None:
    assert with_import_line(before + "\n", line) == after + "\n"


def test_only_some_tests_stay() -> None:
    left = only_tests(MODULE, {("TestCart", "test_add")})
    assert [t.name for t in read_suite(left).tests] == ["test_add"]
    assert read_suite(left).fixtures == {"till", "drawer"} and len(left.split("\n")) == len(MODULE.split("\n"))
    assert read_suite(only_tests(MODULE, ())).tests == ()


NAME = st.sampled_from(["a", "b", "c", "d"])


@given(st.lists(st.tuples(st.sampled_from(["", "TestA", "TestB"]), NAME), unique=True, max_size=6), st.integers(0, 5))
def test_an_inserted_test_moves_nothing_else(tests: list[tuple[str, str]], at: int) -> None:
    parts = [f"def test_{n}():\n    assert '{n}'\n" for owner, n in tests if not owner]
    for owner in ("TestA", "TestB"):
        methods = [f"    def test_{n}(self):\n        assert '{n}'\n" for o, n in tests if o == owner]
        parts += [f"class {owner}:\n" + "\n".join(methods)] if methods else []
    suite = read_suite("\n\n".join(parts))
    after = suite.tests[at] if at < len(suite.tests) else None
    owner = after.owner if after else ""
    changed = read_suite(with_test(suite, f"def test_new({'self' if owner else ''}):\n    assert 0\n", owner, after))
    old = [(t.owner, t.name, t.shape) for t in suite.tests]
    new = [(t.owner, t.name, t.shape) for t in changed.tests]
    place = old.index((after.owner, after.name, after.shape)) + 1 if after else len(old)
    assert new[:place] + new[place + 1 :] == old or (after is None and sorted(new[:-1]) == sorted(old))
    assert (owner, "test_new", "assert 0") in new
