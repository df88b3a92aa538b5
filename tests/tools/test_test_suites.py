"""Which test files are near some code, where a repository has several kinds of them."""

from __future__ import annotations

import json

import pytest
from support.shop_workspace import workspace_of

from repopilot.tools import file_change, test_suites
from repopilot.tools.file_change import change
from repopilot.tools.test_suites import TestSelection, brings, files_of, is_new


@pytest.mark.slow
def test_of_several_kinds_of_tests_those_of_the_runner_are_near(tmp_path):
    load = "const { add } = require('../../lib/add.js');\n"
    test = load + "it('adds', () => add(1, 2));\n"
    files = {
        "package.json": json.dumps({"scripts": {"test": "mocha 'test/unit/**/*.js' && karma start"}}),
        "lib/add.js": "exports.add = function add(a, b) { return a + b; };\n",
        "test/specs/add.js": test,
        "test/unit/add.js": test,
        "test/unit/helper.js": load + "exports.three = add(1, 2);\n",
    }
    workspace = workspace_of(tmp_path, files)
    assert test_suites.tests_near(["lib/add.js"], workspace) == ["test/unit/add.js"]
    named = {path.replace("add.js", "add.test.js"): text for path, text in files.items() if path.startswith("test/")}
    kept = {path: text for path, text in files.items() if not path.startswith("test/")}
    helper = {"test/unit/helper.test-kit.js": "it.each([])\n" + load}
    more = {"test/unit/more.test.js": test}
    named |= {"package.json": '{"scripts": {"test": "jest"}}'}
    workspace = workspace_of(tmp_path / "named", kept | named | helper | more)
    assert set(test_suites.tests_near(["lib/add.js"], workspace)) == {
        "test/specs/add.test.js",
        "test/unit/add.test.js",
        "test/unit/more.test.js",
    }


JUNIT = "class A { @org.junit.Test public void a() { } }\n"


@pytest.mark.slow
@pytest.mark.parametrize(
    ("tests", "changed", "made"),
    [
        ("src/test/java/a/CartTest.java", "src/main/java/a/Cart.java", "src/test/java/a/CartReviewTest.java"),
        ("src/test/java/TestCart.java", "src/main/java/Price.java", "src/test/java/TestPriceReview.java"),
        ("price_test.go", "price.go", "price_review_test.go"),
        ("src/price.spec.ts", "src/price.ts", "src/price_review.spec.ts"),
        ("tests/cart.rs", "src/price.rs", "tests/price_review.rs"),
        ("tests/test_cart.py", "shop/price.py", "tests/test_price_review.py"),
        ("", "price.py", "test_price_review.py"),
        ("", "price.go", ""),
        ("tests/test_cart.py", "README.md", ""),
    ],
)  # fmt: skip
def test_a_new_test_goes_beside_tests_and_is_named_like_them(tmp_path, tests, changed, made):
    text = JUNIT + "it('a', () => 1);\n"
    workspace = workspace_of(tmp_path, {changed: "a = 1\n"} | ({tests: text} if tests else {}))
    changes = (file_change.change(changed, "a = 2\n", "a = 1\n"),)
    place = test_suites.place_of_new_test(changes, workspace)
    assert (place.path if place else "", place.beside if place else "") == (made, tests if made else "")
    if place:
        again = test_suites.place_of_new_test(changes, workspace, [place.path])
        assert again is not None and again.path not in ("", place.path)


JS = """test('first', () => {
  assert.ok(1);
});

test('second [x]', () => {
  assert.ok(2);
});
"""
PY = """def test_first():
    assert 1


@pytest.mark.parametrize("n", [1])
def test_second(n):
    assert n
"""


@pytest.mark.parametrize(
    ("path", "old", "added", "edited", "names"),
    [
        ("a.test.js", JS, "\ntest('third', () => {});\n", ("ok(2)", "ok(3)"), ("first", "second [x]", "third")),
        (
            "test_a.py",
            PY,
            "\n\ndef test_third():\n    assert 3\n",
            ('"n", [1]', '"n", [1, 2]'),
            ("test_first", "test_second[1]", "test_third"),
        ),
    ],
)
def test_a_test_that_only_stands_in_an_edited_file_is_not_the_changes_own(path, old, added, edited, names):
    own = (change(path, old.replace(*edited) + added, old),)
    assert [brings(own, f"{path}::{name}") for name in names] == [False, True, True]
    assert all(brings((change(path, old, None),), f"{path}::{name}") for name in names[:2]), "a new file"
    assert brings(own, f"{path}::made up by a loop") and not brings(own, f"other/{path}::{names[2]}")
    assert [is_new(own, f"{path}::{name}") for name in names] == [False, False, True]


def test_the_file_of_a_test_of_go_is_found_by_its_package():
    """The ids of Go's tests name the package: a test of the change's own is not one that was red before."""
    old = "package cart\n\nfunc TestOld(t *testing.T) {\n\tt.Log(1)\n}\n"
    new = old + "\nfunc TestNew(t *testing.T) {\n\tt.Log(2)\n}\n"
    code = change("cart/cart.go", "package cart\n\nvar A = 2\n", "package cart\n\nvar A = 1\n")
    changes = (change("cart/cart_test.go", new, old), code)
    files = files_of(TestSelection(), changes, ())
    names = ["example.org/shop/cart::TestOld", "example.org/shop/cart::TestNew/small", "example.org/shop::TestNew"]
    assert [files.path_of(name) for name in names] == ["cart/cart_test.go", "cart/cart_test.go", "example.org/shop"]
    assert [files.brings(name) for name in names] == [False, True, False]
    assert [is_new(changes, name) for name in names[:2]] == [False, True]
    gone = files_of(TestSelection(), (change("cart/cart_test.go", "package cart\n", old), code), ())
    assert gone.path_of(names[0]) in gone.edited, "a test that the change removes is none that it breaks"
