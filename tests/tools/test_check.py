"""Tools that check the edits: what is newly wrong, and which tests they turn."""

from __future__ import annotations

from dataclasses import replace
from pathlib import Path

import pytest
from support.shop_workspace import shop_workspace, traced, workspace_of
from tools.test_tools import opened, refusal

from repopilot.errors import SandboxError
from repopilot.tools import run_tests
from repopilot.tools.file_change import change, deletion
from repopilot.tools.registry import Desk
from repopilot.tools.run_tests import RUN_TESTS
from repopilot.tools.test_suites import tests_of_changes as chosen
from repopilot.tools.toolbox import offered
from repopilot.tools.working_copy import working_copy

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


@pytest.mark.slow
async def test_only_what_is_new_is_found(shop):
    async with opened(shop) as tools:
        assert (await tools("check")).data == {"new": [], "checked": [], "ran": [], "missing": []}
        await tools("insert_code", path="shop/old.py", code="print(undefined_now)")
        await tools("insert_code", path="shop/cart.py", code="LARGEST = 3")
        done = await tools("check")
        assert [(row["path"], "undefined_now" in row["message"]) for row in done.data["new"]] == [("shop/old.py", True)]
        assert "undefined_before" not in done.text and "undefined_now" in done.text
        done = await tools("check", paths=["shop/cart.py"])
        assert done.data == {"new": [], "checked": ["shop/cart.py"], "ran": ["parser", "ruff"], "missing": []}
        assert "Checked by: parser, ruff." in done.text


@pytest.mark.slow
async def test_what_an_edit_captures_is_a_remark(shop):
    async with opened(shop) as tools:
        done = await tools("replace_text", path="shop/kit.py", old="def read(text):", new="def read(text, json=None):")
        said = "`json` means something else than before"
        assert f"shop/kit.py:5: {said}" in done.text
        assert {"path": "shop/kit.py", "message": f"line 5: {said}"} in (await tools("check")).data["new"]
        done = await tools("replace_text", path="shop/old.py", old="print(", new="def show(x): ...\n\n\nprint(")
        assert "means something" not in done.text


@pytest.mark.slow
async def test_the_formatter_that_is_configured_is_asked_and_a_missing_one_named(tmp_path):
    files = {
        "pyproject.toml": "[tool.ruff]\nline-length = 100\n",
        "shop/untidy.py": "x  =  1\n",
        "package.json": '{"name": "a", "devDependencies": {"prettier": "3"}}',
        "web/a.ts": "export const a = 1;\n",
    }
    async with opened(shop_workspace(tmp_path, files)) as tools:
        await tools("insert_code", path="shop/untidy.py", code="y  =  2")
        await tools("insert_code", path="shop/cart.py", code="LARGEST  =  3")
        await tools("create_file", path="shop/new.py", content="z  =  1\n")
        await tools("insert_code", path="web/a.ts", code="export const b = 1")
        done = await tools("check")
        assert [row["path"] for row in done.data["new"]] == ["shop/cart.py", "shop/new.py"]
        assert "shop/cart.py: not formatted as ruff format does it `-LARGEST  =  3` `+LARGEST = 3`" in done.text
        assert done.data["ran"] == ["parser", "ruff", "ruff format"]
        missing = " ".join(done.data["missing"])
        assert "prettier (the repository uses it" in missing and "tsc" in missing


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
        assert "No test of these can be run" in done.text and "`not_installed_here`" in done.text
        assert "Another call" not in done.text


async def test_where_nothing_can_run_one_sentence_says_why_and_that_another_call_is_in_vain(tmp_path):
    files = {"tests/test_far.py": "import not_installed_here\n\n\ndef test_far():\n    assert True\n"}
    async with opened(shop_workspace(tmp_path, files)) as tools:
        done = await tools("run_tests", paths=["tests/test_far.py"])
        why, again = done.text.splitlines()
        assert "they need `not_installed_here`" in why and "Another call of `run_tests`" in again


SLOW = """import time
from shop.prices import price_of


def test_quick():
    assert price_of("bread") == 250


def test_slow():
    time.sleep(600)
"""


@pytest.mark.slow
async def test_a_run_that_was_stopped_keeps_what_ended_and_the_next_one_runs_that(tmp_path):
    workspace = shop_workspace(tmp_path, {"tests/test_slow.py": SLOW, "tests/test_slowest.py": SLOW})
    workspace = replace(workspace, settings=workspace.settings.model_copy(update={"test_timeout_s": 6.0}))
    async with opened(workspace) as tools:
        await tools("replace_text", path="shop/prices.py", old='"bread": 250', new='"bread": 251')
        done = await tools("run_tests", paths=["tests/test_slow.py", "tests/test_slowest.py"])
        assert done.data["turned_red"] == ["tests/test_slow.py::test_quick"] and done.data["ended"] == "finished"
        assert "1 of 4 tests had ended" in done.text
    before = await known_before(workspace, "make `test_quick` of tests/test_slow.py right")
    assert before.can_run and "had ended; `run_tests` runs and compares these" in before.text


CONFTEST = "import not_installed_here\nimport pytest\n\n\n@pytest.fixture\ndef price():\n    return 250\n"
FIXTURES = """from shop.prices import price_of


def test_alone():
    assert price_of("bread") == 250


def test_fixture(price):
    assert price_of("bread") == price
"""


@pytest.mark.slow
async def test_files_run_without_a_conftest_that_is_broken_before_the_edits(tmp_path):
    files = {"tests/conftest.py": CONFTEST, "tests/test_prices.py": FIXTURES}
    async with opened(shop_workspace(tmp_path, files)) as tools:
        await tools("replace_text", path="shop/prices.py", old='"bread": 250', new='"bread": 251')
        done = await tools("run_tests", paths=["tests/test_prices.py"])
        assert done.data["turned_red"] == ["tests/test_prices.py::test_alone"]
        assert done.data["red_before"] == ["tests/test_prices.py::test_fixture"]
        assert "tests/conftest.py can't be imported here" in done.text
        await tools("undo")
        await tools("replace_text", path="tests/conftest.py", old="import not_installed_here\n", new="")
        assert (await tools("run_tests", paths=["tests/test_prices.py"])).data["passed"] == 2


async def test_a_conftest_that_the_edits_break_is_no_reason_to_leave_it_out(tmp_path):
    files = {"tests/conftest.py": CONFTEST.partition("\n")[2], "tests/test_prices.py": FIXTURES}
    async with opened(shop_workspace(tmp_path, files)) as tools:
        await tools("replace_text", path="tests/conftest.py", old="import pytest", new="import nowhere\nimport pytest")
        done = await tools("run_tests", paths=["tests/test_prices.py"])
        assert len(done.data["turned_red"]) == 2 and not done.data["passed"]


async def test_a_change_that_nothing_covers_is_said(shop):
    async with opened(shop) as tools:
        await tools("insert_code", path="shop/old.py", code="x = 1")
        assert "No test was found" in (await tools("run_tests")).text
        assert "tests/none.py" in await refusal(tools, "run_tests", paths=["tests/none.py"])


def test_tests_that_use_a_changed_definition_come_first_after_those_that_are_edited(tmp_path):
    prices = "def price():\n    return 1\n\n\ndef label():\n    return 'a'\n"
    users = {f"tests/test_{n}.py": "from prices import price\n\nprice()\n" * 9 for n in range(9)}
    last = "from prices import label\n\nlabel()\n"
    workspace = workspace_of(tmp_path, {"prices.py": prices, **users, "tests/test_last.py": last})
    edits = (
        change("prices.py", prices.replace("'a'", "'b'"), prices),
        change("tests/test_8.py", "", users["tests/test_8.py"]),
        deletion("tests/test_0.py", users["tests/test_0.py"]),
    )
    found = chosen(edits, workspace)
    assert found.paths[:2] == ("tests/test_8.py", "tests/test_last.py") and "tests/test_0.py" not in found.paths
    assert str(found) == ", ".join(found.files) and not chosen((), workspace)


async def known_before(workspace, task: str):
    async def work(step):
        async with working_copy(workspace) as copy:
            return await run_tests.tests_before(task, Desk(workspace, copy, None, step))

    return (await traced(work))[0]


async def test_near_tests_that_nothing_runs_are_named(tmp_path):
    main, tests = "src/Shop/Price.cs", "tests/Shop/{}.cs"
    files = {
        main: "namespace Shop;\n\npublic class Price {\n    public int Of(int count) { return count * 9; }\n}\n",
        tests.format(
            "PriceTest"
        ): "namespace Shop;\n\npublic class PriceTest {\n    int nine = new Price().Of(1);\n}\n",
        tests.format("OtherTest"): "namespace Shop;\n\npublic class OtherTest {\n}\n",
    }
    workspace = workspace_of(tmp_path, files)
    before = await known_before(workspace, "make `Of` of `Price` return ten times the count")
    assert not before.can_run
    assert f"No runner is known here for tests such as {tests.format('PriceTest')}" in before.text
    async with opened(workspace) as tools:
        with pytest.raises(SandboxError, match="No runner is known here"):
            await tools("run_tests", paths=[tests.format("OtherTest")])


async def test_before_the_loop_it_is_known_which_tests_run_and_which_fail(shop):
    before = await known_before(shop, "change the price that `price_of` gives for bread")
    assert before.can_run
    assert "run here: 11 in tests/test_prices.py, tests/test_cart.py" in before.text
    assert "1 of them already fails: tests/test_prices.py::test_wrong" in before.text
    assert "run_tests" in {tool.name for tool in offered("change", can_ask=False)}


async def test_what_can_not_run_is_not_offered_and_the_reason_is_said(tmp_path):
    files = {f"tests/test_{name}.py": f"import not_installed_here\n{TESTS}" for name in ("prices", "cart")}
    workspace = shop_workspace(tmp_path / "one", {"tests/test_prices.py": files["tests/test_prices.py"]})
    before = await known_before(workspace, "change what `price_of` gives")
    assert before.can_run and "1 of them already fails: tests/test_prices.py" in before.text
    before = await known_before(shop_workspace(tmp_path / "all", files), "change what `price_of` gives")
    assert not before.can_run and "they need `not_installed_here`" in before.text
    left = offered("change", can_ask=False, without=(RUN_TESTS,))
    assert RUN_TESTS not in {tool.name for tool in left} and RUN_TESTS not in left[-1].description
