"""Tools that check the edits: what is newly wrong, and which tests they turn."""

from __future__ import annotations

import re
from dataclasses import replace
from pathlib import Path

import pytest
from support.shop_workspace import shop_workspace, traced, workspace_of
from tools.test_tools import opened, refusal

from repopilot.errors import SandboxError
from repopilot.tools import run_tests
from repopilot.tools.file_change import change, deletion
from repopilot.tools.registry import ToolContext
from repopilot.tools.run_tests import RUN_TESTS
from repopilot.tools.test_suites import tests_near as near_tests
from repopilot.tools.test_suites import tests_of_changes as chosen
from repopilot.tools.toolbox import offered
from repopilot.tools.verifying.check import unrun_tools
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
        said = "`json` now refers to something else"
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
        assert "shop/cart.py: not formatted as ruff format would do it `-LARGEST  =  3` `+LARGEST = 3`" in done.text
        assert done.data["ran"] == ["parser", "ruff", "ruff format"]
        missing = " ".join(done.data["missing"])
        assert "prettier (the repository uses it" in missing and "tsc" in missing


def test_a_configured_formatter_is_asked_for_whether_or_not_it_is_here(tmp_path):
    files: dict[str, str | bytes] = {
        "go.mod": "module m\n",
        "a.go": "package a\n",
        "web/.prettierrc": "{}",
        "b.py": "x = 1\n",
    }
    index = workspace_of(tmp_path, files).index
    go = change("a.go", "package b\n", "package a\n")
    script = change("web/a.ts", "export const a = 1;\n", None)
    assert unrun_tools((go,), index, ()) == {"gofmt": "go.mod"} and not unrun_tools((go,), index, ("parser", "gofmt"))
    assert unrun_tools((script,), index, ("parser",)) == {"prettier": "web/.prettierrc"}
    assert not unrun_tools((change("b.py", "x = 2\n", "x = 1\n"),), index, ())


@pytest.mark.slow
async def test_tools_that_the_repository_asks_for_and_that_did_not_run_are_named(tmp_path):
    """Those of a manifest for another language are not."""
    files = {
        "package.json": '{"scripts": {"lint": "eslint . && stylelint a.css"}}',
        ".pre-commit-config.yaml": "repos: [{repo: a, hooks: [{id: ruff}, {id: flake8}]}]\n",
        "web/a.js": "export const a = 1;\n",
    }
    async with opened(shop_workspace(tmp_path, files)) as tools:
        await tools("insert_code", path="shop/cart.py", code="LARGEST = 3")
        done = await tools("check")
        assert done.data["missing"] == ["flake8 (.pre-commit-config.yaml asks for it)"]
        await tools("insert_code", path="web/a.js", code="export const b = 1;")
        missing = (await tools("check")).data["missing"]
        assert sorted(each.partition(" ")[0] for each in missing) == ["eslint", "flake8", "stylelint"]


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
        assert "Calling `run_tests` again" not in done.text


@pytest.mark.slow
@pytest.mark.parametrize("language", ["python", "javascript"])
@pytest.mark.sampled(1)
async def test_a_new_test_is_told_from_one_that_shows_nothing_of_the_other_edits(tmp_path, language):
    if language == "python":
        code, wrong, right = "shop/round.py", "def half(n):\n    return n // 2\n", "n / 2"
        new = "from shop.round import half\n\n\ndef test_{0}():\n    assert half({1}) == {2}\n"
        path, config = "tests/test_{0}.py", {}
    else:
        code, wrong, right = "round.js", "exports.half = (n) => Math.floor(n / 2);\n", "n / 2;"
        new = (
            'const test = require("node:test");\nconst assert = require("node:assert");\n'
            'const {{ half }} = require("./round.js");\n\n'
            'test("{0}", () => assert.strictEqual(half({1}), {2}));\n'
        )
        path, config = "{0}.test.js", {"package.json": '{"scripts": {"test": "node --test"}}'}
        config["old.test.js"] = new.format("zero", 0, 0)
    async with opened(shop_workspace(tmp_path, {code: wrong, **config})) as tools:
        await tools("create_file", path=path.format("odd"), content=new.format("odd", 3, 1.5))
        first = await tools("run_tests", paths=[path.format("odd")])
        assert first.data["failed"] == 1 and first.data["fails_without"] == [] and "0 tests" not in first.text
        assert "New, and failing: " in first.text and "Now failing" not in first.text
        await tools("replace_text", path=code, old=wrong.split("=> ")[-1].split("return ")[-1].strip(), new=right)
        shown = await tools("run_tests", paths=[path.format("odd")])
        assert len(shown.data["fails_without"]) == 1 and "Without your other edits these fail" in shown.text
        await tools("create_file", path=path.format("even"), content=new.format("even", 4, 2))
        nothing = await tools("run_tests", paths=[path.format("even")])
        assert nothing.data["fails_without"] == [] and "Without your other edits these pass, too" in nothing.text


@pytest.mark.slow
async def test_where_nothing_can_run_one_sentence_says_why_and_that_a_test_of_its_own_can(tmp_path):
    files = {"tests/test_far.py": "import not_installed_here\n\n\ndef test_far():\n    assert True\n"}
    async with opened(shop_workspace(tmp_path, files)) as tools:
        done = await tools("run_tests", paths=["tests/test_far.py"])
        why, again = done.text.splitlines()
        assert "they need `not_installed_here`" in why and "in a separate file" in again


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
    workspace = replace(workspace, settings=workspace.settings.model_copy(update={"test_timeout_s": 3.0}))
    async with opened(workspace) as tools:
        await tools("replace_text", path="shop/prices.py", old='"bread": 250', new='"bread": 251')
        done = await tools("run_tests", paths=["tests/test_slow.py", "tests/test_slowest.py"])
        assert done.data["turned_red"] == ["tests/test_slow.py::test_quick"] and done.data["ended"] == "finished"
        assert "didn't finish (stopped: it took longer than 3 s; 1 of 4 tests had finished by then)" in done.text
    before = await known_before(workspace, "make `test_quick` of tests/test_slow.py right")
    assert (
        before.can_run
        and "not all of them finish: 1 did" in before.text
        and "tests had finished by then" in before.text
    )
    assert "`run_tests` compares the tests that finished" in before.text


SLOW_IN_NODE = """const test = require("node:test");
const assert = require("node:assert");
test("quick", () => assert.strictEqual(1, 1));
test("slow", () => new Promise((done) => setTimeout(done, 600000)));
"""


@pytest.mark.slow
@pytest.mark.thorough
async def test_a_red_test_is_named_where_a_limit_stopped_the_run_without_the_edits(tmp_path):
    files = {"package.json": '{"scripts": {"test": "node --test"}}', "a.test.js": SLOW_IN_NODE}
    workspace = shop_workspace(tmp_path, files)
    workspace = replace(workspace, settings=workspace.settings.model_copy(update={"test_timeout_s": 1.5}))
    wrong = 'test("wrong", () => assert.strictEqual(1, 2));\n'
    async with opened(workspace) as tools:
        await tools("replace_text", path="a.test.js", old='test("quick"', new=f'{wrong}test("quick"')
        done = await tools("run_tests", paths=["a.test.js"])
        assert any("wrong" in line for line in done.text.splitlines() if line.startswith(("Failing", "New"))), done.text
    before = await known_before(workspace, "make the test `quick` of a.test.js right")
    assert "not all of them finish: 1 did in a.test.js" in before.text
    assert "1 test had finished by then; the runner doesn't report how many there are" in before.text


NEVER_LOADED = "import time\n\ntime.sleep(600)\n\n\ndef test_a():\n    pass\n"


@pytest.mark.slow
@pytest.mark.parametrize(
    ("path", "text", "options", "limit"),
    [
        ("tests/test_slow.py", NEVER_LOADED, {}, "2"),
        ("a.test.js", SLOW_IN_NODE, {"package.json": '{"scripts": {"test": "node --test"}}'}, "6"),
    ],
    ids=["python", "javascript"],
)
@pytest.mark.sampled(1)
async def test_a_run_that_a_limit_stopped_does_not_give_the_next_one_more_time(tmp_path, path, text, options, limit):
    workspace = shop_workspace(tmp_path, {path: text, **options})
    workspace = replace(workspace, settings=workspace.settings.model_copy(update={"test_timeout_s": 2.0}))
    async with opened(workspace) as tools:
        await tools("create_file", path="shop/new.py", content="")
        done = await tools("run_tests", paths=[path])
        assert done.data["ended"] == "timeout"
        assert set(re.findall(r"took longer than (\d+) s", done.text)) == {limit}


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


@pytest.mark.slow
async def test_a_conftest_that_the_edits_break_is_no_reason_to_leave_it_out(tmp_path):
    files = {"tests/conftest.py": CONFTEST.partition("\n")[2], "tests/test_prices.py": FIXTURES}
    async with opened(shop_workspace(tmp_path, files)) as tools:
        await tools("replace_text", path="tests/conftest.py", old="import pytest", new="import nowhere\nimport pytest")
        done = await tools("run_tests", paths=["tests/test_prices.py"])
        assert len(done.data["turned_red"]) == 2 and not done.data["passed"]


@pytest.mark.slow
async def test_a_change_that_nothing_covers_is_said(shop):
    async with opened(shop) as tools:
        await tools("insert_code", path="shop/old.py", code="x = 1")
        assert "No test was found" in (await tools("run_tests")).text
        assert "tests/none.py" in await refusal(tools, "run_tests", paths=["tests/none.py"])


@pytest.mark.slow
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


@pytest.mark.slow
def test_tests_that_call_a_changed_command_by_its_name_come_first(tmp_path):
    cli = "import click\n\n\n@click.command()\ndef insert_files():\n    return 1\n\n\ndef shared():\n    return 1\n"
    users = {f"tests/test_{n}.py": "from cli import shared\n\nshared()\n" * 9 for n in range(9)}
    about = {
        "tests/test_files.py": "from cli import cli\n\n\ndef test_it(run):\n    run(cli, ['insert-files'])\n",
        "tests/test_insert_files.py": "def test_it(run):\n    run()\n",
    }
    workspace = workspace_of(tmp_path, {"cli.py": cli, **users, **about})
    found = chosen((change("cli.py", cli.replace("return 1", "return 2", 1), cli),), workspace)
    assert set(found.paths[:2]) == {*about}
    assert set(near_tests(["cli.py"], workspace, ["insert_files"])[:2]) == {*about}


async def known_before(workspace, task: str):
    async def work(step):
        async with working_copy(workspace) as copy:
            near = await run_tests.places_near(task, workspace)
            return await run_tests.tests_before(near, ToolContext(workspace, copy, step))

    return (await traced(work))[0]


NEEDING = {
    "shop/price.py": "def price_of(count):\n    return count * 9\n",
    "tests/test_price.py": "import nowhere\nfrom shop.price import price_of\n\n\n"
    "def test_it():\n    assert price_of(1) == 9\n",
}


@pytest.mark.slow
async def test_where_near_tests_lack_a_module_a_test_in_a_file_of_its_own_can_run(tmp_path):
    workspace = workspace_of(tmp_path, NEEDING)
    before = await known_before(workspace, "make price_of of shop/price.py return ten times the count")
    assert before.can_run and "`nowhere`" in before.text and "a separate file" in before.text
    async with opened(workspace) as tools:
        told = (await tools("run_tests", paths=["tests/test_price.py"])).text
        assert "`nowhere`" in told and "a separate file" in told and "won't help" not in told
        own = NEEDING["tests/test_price.py"].replace("import nowhere\n", "").replace("== 9", "== 10")
        await tools("create_file", path="tests/test_ten.py", content=own)
        assert (await tools("run_tests", paths=["tests/test_ten.py"])).data["turned_red"]


@pytest.mark.slow
async def test_where_near_tests_do_not_end_in_time_others_can_run(tmp_path):
    slow = "import time\n\nfrom shop.price import price_of\n\ntime.sleep(60)\n"
    workspace = workspace_of(tmp_path, {**NEEDING, "tests/test_price.py": slow})
    workspace = replace(workspace, settings=workspace.settings.model_copy(update={"test_timeout_s": 1.0}))
    before = await known_before(workspace, "make price_of of shop/price.py return ten times the count")
    assert before.can_run and "don't finish here in time: tests/test_price.py" in before.text


@pytest.mark.slow
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


@pytest.mark.slow
async def test_before_the_loop_it_is_known_which_tests_run_and_which_fail(shop):
    before = await known_before(shop, "change the price that `price_of` gives for bread")
    assert before.can_run
    assert "run here: 20 in tests/test_prices.py, tests/test_cart.py" in before.text
    assert "1 of them already fails in a run of these files alone: tests/test_prices.py::test_wrong" in before.text
    assert "run_tests" in {tool.name for tool in offered("change", can_ask=False)}


@pytest.mark.slow
async def test_near_tests_that_can_not_run_leave_a_test_of_its_own_and_the_reason_is_said(tmp_path):
    files = {f"tests/test_{name}.py": f"import not_installed_here\n{TESTS}" for name in ("prices", "cart")}
    workspace = shop_workspace(tmp_path / "one", {"tests/test_prices.py": files["tests/test_prices.py"]})
    before = await known_before(workspace, "change what `price_of` gives")
    assert (
        before.can_run and "1 of them already fails in a run of these files alone: tests/test_prices.py" in before.text
    )
    before = await known_before(shop_workspace(tmp_path / "all", files), "change what `price_of` gives")
    assert before.can_run and "they need `not_installed_here`" in before.text and "a separate file" in before.text
    left = offered("change", can_ask=False, without=(RUN_TESTS,))
    assert RUN_TESTS not in {tool.name for tool in left} and RUN_TESTS not in left[-1].description
