"""Tools that check the edits: what is newly wrong, and which tests they turn."""

from __future__ import annotations

from pathlib import Path

import pytest
from support.shop_workspace import shop_workspace
from tools.test_tools import opened, refusal

TESTS = """from shop.prices import price_of


def test_bread():
    assert price_of("bread") == 250


def test_wrong():
    assert price_of("milk") == 1
"""


KIT = "import json\n\n\ndef read(text):\n    return json.loads(text)\n"


@pytest.fixture
def shop(tmp_path: Path):
    return shop_workspace(
        tmp_path, {"tests/test_prices.py": TESTS, "shop/old.py": "print(undefined_before)\n", "shop/kit.py": KIT}
    )


async def test_only_what_is_new_is_found(shop):
    async with opened(shop) as tools:
        assert (await tools("check")).data == {"new": [], "checked": []}
        await tools("insert_code", path="shop/old.py", code="print(undefined_now)")
        await tools("insert_code", path="shop/cart.py", code="LARGEST = 3")
        done = await tools("check")
        assert [(row["path"], "undefined_now" in row["message"]) for row in done.data["new"]] == [("shop/old.py", True)]
        assert "undefined_before" not in done.text and "undefined_now" in done.text
        done = await tools("check", paths=["shop/cart.py"])
        assert done.data == {"new": [], "checked": ["shop/cart.py"]}


async def test_what_an_edit_captures_is_a_remark(shop):
    async with opened(shop) as tools:
        done = await tools("replace_text", path="shop/kit.py", old="def read(text):", new="def read(text, json=None):")
        said = "`json` means something else than before"
        assert f"shop/kit.py:5: {said}" in done.text
        assert {"path": "shop/kit.py", "message": f"line 5: {said}"} in (await tools("check")).data["new"]
        done = await tools("replace_text", path="shop/old.py", old="print(", new="def show(x): ...\n\n\nprint(")
        assert "means something" not in done.text


@pytest.mark.slow
async def test_tests_that_turn_are_told_from_those_that_failed_before(shop):
    async with opened(shop) as tools:
        await tools("replace_text", path="shop/prices.py", old='"bread": 250', new='"bread": 251')
        done = await tools("run_tests", paths=["tests/test_prices.py"])
        assert done.data["turned_red"] == ["tests/test_prices.py::test_bread"]
        assert done.data["red_before"] == ["tests/test_prices.py::test_wrong"]
        assert "Now failing: tests/test_prices.py::test_bread" in done.text and "251" in done.text
        await tools("undo")
        await tools("replace_text", path="shop/prices.py", old='"milk": 120', new='"milk": 1')
        done = await tools("run_tests")
        assert done.data["turned_green"] == ["tests/test_prices.py::test_wrong"]
        assert not done.data["turned_red"] and "tests/test_prices.py" in done.data["tests"]
        await tools("create_file", path="tests/test_new.py", content="import not_installed_here\n")
        done = await tools("run_tests", paths=["tests/test_new.py"])
        assert "No test could be run" in done.text and "not_installed_here" in done.text


async def test_a_change_that_nothing_covers_is_said(shop):
    async with opened(shop) as tools:
        await tools("insert_code", path="shop/old.py", code="x = 1")
        assert "No test was found" in (await tools("run_tests")).text
        assert "tests/none.py" in await refusal(tools, "run_tests", paths=["tests/none.py"])
