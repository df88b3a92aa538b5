"""Changes of JavaScript and Rust: their tests run before and after, and a fault of ours controls the pass."""

from __future__ import annotations

import json
from dataclasses import replace

import pytest
from support.shop_workspace import traced, workspace_of

from repopilot import trace
from repopilot.agents.generate import edit_tests
from repopilot.agents.generate.evidence import ChangeContext, run_tests
from repopilot.agents.generate.pipeline import generate
from repopilot.agents.testing import render
from repopilot.agents.testing.render import point_list, run_points
from repopilot.sandbox.controls.mutants import changed_lines, line_mutants, new_ranges
from repopilot.sandbox.runners.runner_table import missing_programs
from repopilot.tools import file_change
from repopilot.tools.checkout import checked_out
from repopilot.tools.test_suites import TestSelection, suite_language
from repopilot.tools.working_copy import StateBefore
from repopilot.types import TestRun

needs_node = pytest.mark.skipif("node" in missing_programs(["javascript"]), reason="node is not installed")
needs_cargo = pytest.mark.skipif("cargo" in missing_programs(["rust"]), reason="cargo is not installed")
CODE = """exports.price = (count) => {
  if (count > 10) {
    return count * 9;
  }
  return count * 10;
};
exports.LIMIT = 3;
"""
TESTS = """const test = require('node:test');
const assert = require('node:assert');
const { price, LIMIT } = require('../shop.js');
test('small', () => assert.equal(price(2), 20));
test('large', () => assert.equal(price(20), 160));
test('always red', () => assert.equal(price(1), 0));
test('limit', () => assert.equal(LIMIT, 3));
"""
FILES = {
    "package.json": json.dumps({"name": "shop", "scripts": {"test": "node --test"}}),
    "shop.js": CODE,
    "test/shop.test.js": TESTS,
    "test/other.test.js": "require('node:test')('other', () => { for (;;); });\n",
}
RUST = {
    "Cargo.toml": '[package]\nname = "shop"\nversion = "0.1.0"\nedition = "2021"\n',
    "src/lib.rs": "pub const RATE: i32 = 2;\npub fn twice(a: i32) -> i32 {\n    a * RATE\n}\n",
    "tests/whole.rs": "#[test] fn whole() { assert!(shop::twice(2) > 0) }\n"
    "#[test] fn none() { assert!(shop::twice(0) < 0) }\n",
}
PYTHON = {
    "prices.py": "def price(count):\n    return count * 9\n",
    "test_prices.py": "from prices import price\n"
    + "".join(f"\ndef test_{n}():\n    assert price({n}) == {9 * n}\n" for n in range(1, 19)),
}


async def try_change(tmp_path, old: str, new: str, files=FILES, path="shop.js", refactoring=False):
    """The report on a change of the code, and what is said of it."""
    workspace = workspace_of(tmp_path, files)
    change = file_change.change(path, files[path].replace(old, new), files[path])
    context = ChangeContext("change it", workspace, workspace.snapshot.root, refactoring=refactoring)
    done, _, events = await traced(lambda step: edit_tests.tested(context, (change,), step))
    return done, point_list(run_points(done, "en")), events


@pytest.mark.slow
@needs_node
async def test_what_a_change_turns_is_said_by_name_and_its_pass_controlled(tmp_path):
    report, said, events = await try_change(tmp_path, "count * 9", "count * 8")
    names = [event.name for event in events if isinstance(event, trace.Started)]
    assert names.count("without the change") == 1
    assert list(report.tests) == ["test/shop.test.js"]  # by the graph: the other one never ends
    assert report.repaired == ("test/shop.test.js::large",)
    assert (report.broken, report.red_before, report.still_green) == ((), ("test/shop.test.js::always red",), 2)
    assert report.genuine and report.unexercised == ()
    assert "✓ Verified: with" in said and "shop.js:3, the test test/shop.test.js::large" in said
    assert "✓ 1 test fails without the change and passes with it: `test/shop.test.js::large`." in said
    assert "✓ 2 tests of the repository pass, with and without the change." in said
    assert (
        "! 1 test fails with and without the change, in a run of the same files: `test/shop.test.js::always red`."
        in said
    )


@pytest.mark.slow
@pytest.mark.parametrize(
    ("files", "path", "old", "new"),
    [
        (PYTHON, "prices.py", "count * 9", "9 * count"),
        pytest.param(FILES, "shop.js", "LIMIT = 3", "LIMIT = 2 + 1", marks=needs_node),
    ],
)
@pytest.mark.sampled(1)
async def test_tests_that_pass_without_the_change_do_not_verify_it(tmp_path, files, path, old, new):
    files = {name: text.replace("test('large'", "if (false) test('large'") for name, text in files.items()}
    report, said, _ = await try_change(tmp_path, old, new, files, path)
    assert not report.genuine and report.unbroken and not report.broken
    assert "! Not verified: " in said and "none of them tests what is new" in said
    # A rename only has to leave them as they are.
    report, said, _ = await try_change(tmp_path / "by_code", old, new, files, path, refactoring=True)
    assert report.genuine and "Verified" in said and "Not verified" not in said


@pytest.mark.slow
@pytest.mark.thorough
async def test_a_test_that_turns_green_verifies_a_change(tmp_path):
    files = PYTHON | {"test_prices.py": PYTHON["test_prices.py"] + "\ndef test_no():\n    assert price(0) == -1\n"}
    report, said, _ = await try_change(tmp_path, "count * 9", "count * 9 if count else -1", files, "prices.py")
    assert report.genuine and report.repaired == ("test_prices.py::test_no",)
    assert "test_prices.py::test_no" in report.run.inverted
    assert "✓ 1 test fails without the change and passes with it: `test_prices.py::test_no`." in said


@pytest.mark.slow
@pytest.mark.thorough
async def test_of_many_tests_it_is_said_how_many_were_checked(tmp_path):
    many = "".join(f"\ndef test_many_{n}():\n    assert price({n}) == {9 * n}\n" for n in range(1, 60))
    turned = "\ndef test_no():\n    assert price(0) == -1\n\ndef test_unseen():\n    1 / price(0)\n"
    files = PYTHON | {"test_prices.py": PYTHON["test_prices.py"] + many + turned}
    report, said, _ = await try_change(tmp_path, "count * 9", "count * 9 if count else -1", files, "prices.py")
    assert report.genuine and "test_prices.py::test_no" in report.run.inverted
    assert f"Verified in part: {report.run.checked} of the 79 passing tests fail" in said
    assert 0 < report.run.checked < 79 and "! No assertion of `test_prices.py::test_unseen` could be inverted." in said


@pytest.mark.slow
@pytest.mark.thorough
async def test_a_definition_that_the_tests_pass_without_is_named(tmp_path):
    files = PYTHON | {"test_prices.py": PYTHON["test_prices.py"] + "\ndef test_no():\n    assert price(0) == -1\n"}
    both = (
        "_of(count)\n\n\ndef _of(count):\n    return count * 9 if count else -1\n\n\ndef tax(count):\n    return count"
    )
    report, said, _ = await try_change(tmp_path, "count * 9", both, files, "prices.py")
    assert report.genuine and report.unexercised == ("tax",)
    assert "! No test notices the change of `tax`." in said


@pytest.mark.slow
@needs_node
async def test_what_a_change_breaks_is_no_pass(tmp_path):
    report, said, _ = await try_change(tmp_path, "LIMIT = 3", "LIMIT = 4")
    assert (report.genuine, report.broken) == (False, ("test/shop.test.js::limit",))
    assert "✗ 1 test fails that passes or doesn't exist without the change: `test/shop.test.js::limit`." in said


@pytest.mark.slow
@needs_node
async def test_tests_that_do_not_run_any_more_are_broken(tmp_path):
    green = "\n".join(line for line in TESTS.splitlines() if "large" not in line and "red" not in line)
    files = FILES | {"test/shop.test.js": green.replace("test('limit'", "if (LIMIT === 3) test('limit'")}
    report, said, _ = await try_change(tmp_path, "LIMIT = 3", "LIMIT = 4", files)
    assert (report.genuine, report.broken) == (False, ("test/shop.test.js::limit",))
    assert "! Not verified: 1 of the tests that passed before did not run." in said


@pytest.mark.slow
@needs_node
async def test_a_pass_that_no_fault_turns_red_is_not_verified(tmp_path):
    report, said, _ = await try_change(tmp_path, "};\n", "};\nexports.unused = () => 1 + 1;\n")
    assert not report.genuine and report.run.passed == 2
    assert (
        "2 tests of the repository pass, with and without the change" in said
        and "Not verified: no test fails with any of" in said
    )
    report, said, _ = await try_change(tmp_path / "b", "exports.price", "// a comment\nexports.price")
    assert not report.genuine and "no fault could be injected into the changed lines" in said


@pytest.mark.slow
@needs_node
@pytest.mark.parametrize("forged", ["require('assert').equal = () => {};", "require('process').exit = () => {};"])
async def test_code_that_makes_every_test_pass_is_not_verified(tmp_path, forged):
    report, said, _ = await try_change(tmp_path, "LIMIT = 3", f"LIMIT = 2 + 2; {forged}")
    assert not report.genuine, said


@pytest.mark.slow
@needs_cargo
async def test_a_change_of_rust_is_controlled(tmp_path):
    report, said, _ = await try_change(tmp_path, "a * RATE", "if a < 1 { -1 } else { a * RATE }", RUST, "src/lib.rs")
    assert report.genuine and "`a < 1` changed to `!(a < 1)` in src/lib.rs:3" in said


@pytest.mark.slow
@needs_node
async def test_packages_that_are_not_installed_are_said(tmp_path):
    manifest = {"scripts": {"test": "mocha"}, "devDependencies": {"mocha": "^11"}}
    report, said, _ = await try_change(tmp_path, "= 3", "= 4", FILES | {"package.json": json.dumps(manifest)})
    assert report.run is None
    assert "The packages that the tests need are not installed" in said and "--build" in said


@pytest.mark.slow
@needs_node
async def test_a_runner_that_is_not_known_is_said(tmp_path):
    manifest = {"scripts": {"test": "jasmine"}}
    report, said, _ = await try_change(tmp_path, "= 3", "= 4", FILES | {"package.json": json.dumps(manifest)})
    assert report.run is None
    assert "The tests were not run. RepoPilot doesn't run tests with jasmine." in said


@pytest.mark.slow
@needs_node
async def test_a_generated_change_of_javascript_is_try_change(tmp_path):
    workspace = workspace_of(tmp_path, FILES | {"test/shop.test.js": TESTS.replace("LIMIT, 3", "LIMIT, 5")})
    answer, _, _ = await traced(lambda step: generate("set LIMIT to 5", workspace, step))
    assert answer.files[0].content == CODE.replace("LIMIT = 3", "LIMIT = 5")
    assert answer.result.tests.genuine and answer.result.verdict.decision == "ACCEPT_ORIGINAL", answer.text
    assert "passes with it: `test/shop.test.js::limit`" in answer.text and "inversion" not in answer.text


@pytest.mark.parametrize(
    ("path", "line", "operators"),
    [
        ("a.js", "export const f = (a) => a < 1 && !b ? 2 : 'x';", {"return", "condition", "operator", "negation"}),
        ("a.ts", "const limit: Map<string, 3> = g(3);", {"constant"}),
        ("a.js", "import x from 'y'; 'use strict'; const z = require('z');", set()),
        ("a.rs", "fn f(a: i32) -> bool { a.push(1); a < 1 }", {"constant", "operator", "statement"}),
        ("a.rs", "#[cfg(test)] mod tests { fn f() { assert!(1 < 2) } }", set()),
        ("a.go", 'func f(a int) bool { return a == 1 || b == "x" }', {"operator", "constant", "text"}),
        ("a.js", "const = (", set()),
        ("a.rb", "x = 1 < 2", set()),
    ],
)
def test_faults_are_put_where_they_are_seen(path, line, operators):
    source = f"{line}\nconst untouched = 1 < 2;\n"
    found = line_mutants(source, path, {1}, 20)
    assert operators <= {mutant.operator for mutant in found} and bool(operators) == bool(found)
    for mutant in found:
        assert mutant.line == 1 and mutant.text.endswith("\nconst untouched = 1 < 2;\n") and mutant.text != source


def test_the_lines_around_what_was_removed_count_as_changed():
    assert changed_lines("a\nb\nc\nd\n", "a\nc\nd\ne\n") == {1, 2, 4}
    assert changed_lines("", "a\nb\n") == {1, 2}


def test_new_code_is_told_from_what_stays_on_a_changed_line():
    old = "const a = 1;\nif (b < 2) {\n  go();\n}\ngone();\n"
    new = "const a = 1;\nif (b < 2 && ünew) {\n  go();\n}\nadded();\n"
    data = new.encode()
    assert [data[start:end].decode() for start, end in new_ranges(old, new)] == [" && ünew", "added"]
    assert new_ranges(old, old.replace("gone();\n", "")) == ()
    assert new_ranges("", "a\n") == ((0, 2),)


@pytest.mark.slow
@needs_node
async def test_a_fault_in_what_the_change_left_as_it_was_is_said_to_be_one(tmp_path):
    files = FILES | {"test/shop.test.js": TESTS.replace("price(20), 160", "price(20), 200")}
    kept = "  if (count > 10) {\n    return count * 9;\n  }\n"
    report, said, _ = await try_change(tmp_path, kept, "", files)
    assert report.genuine and report.repaired == ("test/shop.test.js::large",)
    assert "which the change left as it was, changed to" in said and "not that they test what is new" in said


def test_the_language_is_that_of_most_changed_code():
    def changed(*paths: str):
        return tuple(file_change.change(path, "a\nb\n", None) for path in paths)

    assert suite_language(changed("a.ts", "b.md")) == "javascript"
    assert suite_language(changed("a.rs", "test_x.py")) == "rust"
    assert suite_language(changed("a.js", "b.py")) is None
    assert suite_language(changed("README.md")) is None


@pytest.mark.slow
@pytest.mark.thorough
async def test_a_new_test_of_a_new_module_is_said_to_be_one(tmp_path):
    workspace = workspace_of(tmp_path, PYTHON)
    code = "def tax(count):\n    return count * 2\n"
    test = "from tax import tax\n\n\ndef test_tax():\n    assert tax(2) == 4\n"
    changes = (file_change.change("tax.py", code, None), file_change.change("test_tax.py", test, None))
    context = ChangeContext("add a tax", workspace, workspace.snapshot.root)
    done, _, _ = await traced(lambda step: edit_tests.tested(context, changes, step))
    said = point_list(run_points(done, "en"))
    assert done.added == ("test_tax.py::test_tax",) and done.still_green == 0
    assert "1 new test passes; without the change it doesn't exist or can't run: `test_tax.py::test_tax`" in said
    assert "with and without the change" not in said and "✓ Verified: with `count * 2` changed to" in said


@pytest.mark.slow
@pytest.mark.parametrize(("wanted", "proved"), [("6", True), ("4", False)])
@pytest.mark.sampled(1)
async def test_a_change_is_proved_by_a_test_of_its_own_that_fails_without_it(tmp_path, wanted, proved):
    """Also in a file of tests that is there already; one that passes without the change proves nothing."""
    old = "from tax import tax\n\n\ndef test_none():\n    assert tax(0) == 0\n"
    files = PYTHON | {"tax.py": "def tax(count):\n    return count * 2\n", "test_tax.py": old}
    workspace = workspace_of(tmp_path, files)
    code = files["tax.py"].replace("* 2", f"* {int(wanted) // 2}")
    test = old + f"\n\ndef test_two():\n    assert tax(2) == {wanted}\n"
    changes = (file_change.change("tax.py", code, files["tax.py"]), file_change.change("test_tax.py", test, old))
    if not proved:
        changes = (file_change.change("tax.py", code + "\n", files["tax.py"]), changes[1])
    context = ChangeContext("raise the tax", workspace, workspace.snapshot.root)
    done, _, _ = await traced(lambda step: edit_tests.tested(context, changes, step))
    assert done.genuine == proved and done.unbroken == (not proved)
    assert done.repaired == (("test_tax.py::test_two",) if proved else ())
    said = point_list(run_points(done, "en"))
    assert ("1 new test, added by the change, fails without the rest of the change" in said) == proved, said
    told = render.tests_json(done)
    assert told["new"] == list(done.repaired) and told["turned_green"] == [], "it was not there to be red"


@pytest.mark.slow
async def test_that_no_runner_is_known_is_not_called_untested(tmp_path):
    files = {
        "sum.c": "int twice(int a) { return 2 * a; }\n",
        "tests/test_sum.c": "int main() { return twice(1) - 2; }\n",
    }
    _, said, _ = await try_change(tmp_path, "2 * a", "a + a", files, "sum.c")
    assert "no runner is known" in said and "reaches the change" not in said


def test_faults_in_java_compile():
    code = "class A {\n  int f(int a) {\n    store(a);\n    if (a > 3) { return a; }\n    return 7;\n  }\n}\n"
    mutants = line_mutants(code, "A.java", range(1, 8), 9)
    assert [(each.line, each.after) for each in mutants] == [(4, "(!(a > 3))"), (5, "8"), (3, ";"), (4, "<="), (4, "4")]


ESM = {
    "package.json": json.dumps({"name": "shop", "type": "module", "scripts": {"test": "node --test"}}),
    "src/shop.js": "export const price = (count) => count * 9;\n",
    "test/shop.test.js": "import test from 'node:test';\nimport assert from 'node:assert';\n"
    "import { price } from '../src/shop.js';\ntest('price', () => assert.equal(price(2), 18));\n",
}
JAVASCRIPT_API = (
    ESM,
    ("src/shop.js", "export const tax = (cents) => cents * 2;\n"),
    ("test/tax.test.js", "import test from 'node:test';\nimport assert from 'node:assert';\n"
     "import { tax } from '../src/shop.js';\ntest('tax', () => { const t = tax(2); assert.equal(t, 4); });\n"),
)  # fmt: skip
PYTHON_API = (
    PYTHON,
    ("prices.py", "\n\ndef tax(cents):\n    return cents * 2\n"),
    ("test_tax.py", "from prices import tax\n\n\ndef test_tax():\n    t = tax(2)\n    assert t == 4\n"),
)
RUST_API = (
    RUST | {"tests/whole.rs": "#[test] fn whole() { assert_eq!(shop::twice(2), 4) }\n"},
    ("src/lib.rs", "pub fn tax(a: i32) -> i32 {\n    a * 3\n}\n"),
    ("tests/tax.rs", "#[test] fn tax() { let t = shop::tax(2); assert_eq!(t, 6); }\n"),
)


@pytest.mark.slow
@pytest.mark.parametrize("asks", [True, False])
@pytest.mark.parametrize(
    ("files", "code", "test"),
    [
        PYTHON_API,
        pytest.param(*JAVASCRIPT_API, marks=needs_node),
        pytest.param(*RUST_API, marks=needs_cargo),
    ],
)
@pytest.mark.sampled(2)
async def test_a_test_of_new_api_verifies_it_where_a_fault_in_that_turns_it_red(tmp_path, files, code, test, asks):
    """It can't be imported, or compiled, without the change."""
    workspace = workspace_of(tmp_path, files)
    text = test[1] if asks else test[1].replace("t == 4", "t != -1").replace("equal(t, 4)", "equal(1, t ** 0)")
    text = text if asks else text.replace("assert_eq!(t, 6)", "assert_ne!(t, -1)")
    changes = (
        file_change.change(code[0], files[code[0]] + code[1], files[code[0]]),
        file_change.change(test[0], text, None),
    )
    context = ChangeContext("add a tax", workspace, workspace.snapshot.root)
    report, _, _ = await traced(lambda step: edit_tests.tested(context, changes, step))
    said = point_list(run_points(report, "en"))
    assert len(report.added) == 1 and not report.repaired and not report.broken, said
    assert "1 new test passes; without the change it doesn't exist or can't run" in said
    assert report.genuine == asks, said
    assert ("✓ Verified: with" in said) == asks and ("! Not verified" in said) != asks


@pytest.mark.slow
@needs_node
async def test_of_a_change_of_nothing_but_tests_it_is_said_that_they_verify_no_code(tmp_path):
    new = "test('limit again', () => assert.equal(LIMIT, 3));\ntest('limit'"
    report, said, _ = await try_change(tmp_path, "test('limit'", new, path="test/shop.test.js")
    assert not report.genuine and report.added == ("test/shop.test.js::limit again",), said
    assert "! Not verified: the change contains only tests" in said


@pytest.mark.slow
@pytest.mark.parametrize("ended", ["finished", "timeout"])
async def test_the_verification_gives_slow_tests_the_time_that_a_whole_run_of_them_took(tmp_path, ended):
    workspace = workspace_of(tmp_path, {"test_slow.py": "import time\n\n\ndef test_slow():\n    time.sleep(4)\n"})
    workspace = replace(workspace, settings=workspace.settings.model_copy(update={"test_timeout_s": 2.0}))
    seen = TestRun(1, 0, 0, 40.0, "limits", "", genuine=False, ended=ended)
    async with checked_out(workspace) as folder:
        context = ChangeContext("", workspace, folder, before={("test_slow.py",): StateBefore(seen)})
        tests = TestSelection(("test_slow.py",))
        run, *_ = await traced(lambda step: run_tests(context, {}, tests, "with the change", step, verify=False))
    assert run.ended == ended
