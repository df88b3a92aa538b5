"""Real runs of Node's and cargo's tests in the sandbox, on repositories without dependencies."""

from __future__ import annotations

import shutil
import threading

import pytest

from repopilot.errors import Cancelled, SandboxError
from repopilot.project.node_project import NodeProject
from repopilot.sandbox.levels import why_unavailable
from repopilot.sandbox.run_program import RunnerSuite, run_suite
from repopilot.sandbox.runners.runner_table import missing_programs
from repopilot.settings import Settings
from repopilot.types import InstalledPackages

TEST = "test/add.test.js"
JS = {
    "add.js": "exports.add = (a, b) => a + b;\n",
    TEST: """const test = require('node:test');
const assert = require('node:assert');
const { add } = require('../add.js');
test('adds', async (t) => {
  await t.test('small', () => assert.strictEqual(add(1, 2), 3));
  await t.test('wrong', () => assert.strictEqual(add(1, 2), 4));
});
test.skip('later', () => {});
""",
    "test/broken.test.js": "require('./nowhere');\n",
}
RUST = {
    "Cargo.toml": '[package]\nname = "shop"\nversion = "0.1.0"\nedition = "2021"\n',
    "src/lib.rs": """pub fn add(a: i32, b: i32) -> i32 { a + b }
#[cfg(test)]
mod tests {
    #[test] fn adds() { assert_eq!(super::add(1, 2), 3) }
    #[test] fn fails() { assert_eq!(super::add(1, 2), 4) }
}
""",
    "tests/whole.rs": "#[test] fn whole() { assert_eq!(shop::add(2, 2), 4) }\n",
}
SETTINGS = Settings()
needs_node = pytest.mark.skipif("node" in missing_programs(["javascript"]), reason="node is not installed")
needs_cargo = pytest.mark.skipif("cargo" in missing_programs(["rust"]), reason="cargo is not installed")
needs_ruby = pytest.mark.skipif("ruby" in missing_programs(["ruby"]), reason="ruby is not installed")
needs_go = pytest.mark.skipif("go" in missing_programs(["go"]), reason="go is not installed")


def script(body: str) -> dict[str, str]:
    return {"a.test.js": f"require('node:test')('t', async () => {{ {body} }});\n"}


def run_node(files, settings=SETTINGS, tests=("a.test.js",), **more):
    return run_suite(files, RunnerSuite("javascript", tests, **more), settings)


@pytest.mark.slow
@needs_node
@pytest.mark.parametrize("level", ["bwrap", "landlock", "limits"])
def test_node_reports_each_test_by_name(level):
    if reason := why_unavailable(level):
        pytest.skip(reason)
    settings = Settings(sandbox=level, allow_weak_sandbox=True)
    run = run_node(JS, settings, (TEST, "test/broken.test.js"))
    assert run.outcomes == {
        f"{TEST}::adds > small": "passed",
        f"{TEST}::adds > wrong": "failed",
        f"{TEST}::later": "skipped",
        "test/broken.test.js": "error",
    }
    assert (run.passed, run.failed, run.errors, run.genuine) == (1, 1, 1, False)
    wrong = next(failure for failure in run.failures if failure.test_id.endswith("wrong"))
    assert (wrong.path, wrong.line) == (TEST, 6)
    assert "Cannot find module './nowhere'" in run.failures[1].assertion


AVA_CLI = """const file = process.argv.at(-1);
const reports = {
  './test/a.js': `ok 1 - later # SKIP
not ok 2 - someday # TODO
ok 3 - adds › small # 1
not ok 4 - fails
  ---
    name: AssertionError
    details:
      'Difference (- actual, + expected):': |-
        - 1
        + 2
    at: 'file://${process.cwd()}/test/a.js:2:5'
  ...`,
  './test/broken.js': `not ok 1 - Error: cannot load
  ---
    message: cannot load
  ...
not ok 2 - test/broken.js exited with a non-zero exit code: 1`,
  './test/helper.js': 'not ok 1 - No tests found in test/helper.js, make sure to import "ava"',
};
if (process.argv.includes('--tap')) console.log('TAP version 13\\n' + (reports[file] ?? '') + '\\n1..0');
process.exitCode = 1;
"""
"""Prints what AVA has reported of such files."""


@pytest.mark.slow
@needs_node
def test_ava_reports_each_test_by_its_file(tmp_path):
    cli = tmp_path / "node_modules" / "ava" / "entrypoints" / "cli.mjs"
    cli.parent.mkdir(parents=True)
    cli.write_text(AVA_CLI)
    (cli.parents[1] / "package.json").write_text('{"bin": {"ava": "entrypoints/cli.mjs"}}')
    tests = ("test/a.js", "test/broken.js", "test/helper.js", "test/unselected.js")
    project = NodeProject(scripts={"test": "xo && ava"})
    packages = InstalledPackages("", tmp_path / "node_modules")
    run = run_node(dict.fromkeys(tests, "\n\n"), tests=tests, project=project, packages=packages)
    assert run.outcomes == {
        "test/a.js::later": "skipped",
        "test/a.js::someday": "skipped",
        "test/a.js::adds › small # 1": "passed",
        "test/a.js::fails": "failed",
        "test/broken.js": "error",
        "test/helper.js": "error",
        "test/unselected.js": "error",
    }
    said = {failure.test_id: failure for failure in run.failures}
    assert (said["test/a.js::fails"].path, said["test/a.js::fails"].line) == ("test/a.js", 2)
    assert "- 1\n    + 2" in said["test/a.js::fails"].assertion
    assert "cannot load" in said["test/broken.js"].assertion
    assert "its configuration leaves it out" in said["test/unselected.js"].assertion


MOCHA_CLI = """const given = (name) => process.argv[process.argv.indexOf(name) + 1];
const runner = new (require('events'))();
require(given('--reporter'))(runner, { reporterOptions: { output: given('-O').slice('output='.length) } });
const tests = process.argv.filter((each) => each.startsWith('test/'));
for (const test of tests) require(`${process.cwd()}/${test}`);
for (const test of tests) runner.emit('pass', { fullTitle: () => 'runs', file: `${process.cwd()}/${test}` });
runner.emit('end');
"""
"""Loads test files as Mocha does, where one that throws ends all."""


@pytest.mark.slow
@needs_node
@pytest.mark.parametrize("program", ["mocha.js", "mocha"])
def test_a_file_that_mocha_can_not_load_does_not_end_the_others(tmp_path, program):
    cli = tmp_path / "node_modules" / "mocha" / "bin" / program  # without an ending before Mocha 10
    cli.parent.mkdir(parents=True)
    cli.write_text(MOCHA_CLI)
    more = {
        "project": NodeProject(scripts={"test": "mocha"}),
        "packages": InstalledPackages("", tmp_path / "node_modules"),
    }
    files = {"test/a.js": "", "test/broken.js": "require('./nowhere');\n", "test/c.js": ""}
    run = run_node(files, tests=tuple(files), **more)
    assert run.outcomes == {"test/a.js::runs": "passed", "test/broken.js": "error", "test/c.js::runs": "passed"}
    assert (run.passed, run.failed, run.errors) == (2, 0, 1) and run.reasons
    assert "Cannot find module './nowhere'" in run.failures[0].assertion
    broken = dict.fromkeys(files, files["test/broken.js"])
    ended = run_node(broken, tests=tuple(files), **more)
    assert ended.outcomes == {}
    assert "`Error: Cannot find module './nowhere'`" in ended.reasons[0], "what the runner says of it"


@pytest.mark.slow
@needs_node
@pytest.mark.parametrize(
    ("body", "ended"),
    [
        ("for (;;);", "timeout"),
        ("for (let i = 0; i < 500; i++) require('child_process').spawn('/bin/sleep', ['9']); for (;;);", "processes"),
        ("const kept = []; for (;;) kept.push(Buffer.alloc(5e7, 1));", "finished"),
        ("await fetch('http://192.0.2.1/');", "finished"),
        ("require('fs').writeFileSync('/usr/x', '');", "finished"),
        ("throw new Error('\\x1b[31mred');", "finished"),
    ],
    ids=["time", "processes", "memory", "network", "files", "escapes"],
)  # fmt: skip
@pytest.mark.sampled(2)
def test_limits_hold_for_node(body, ended):
    run = run_node(script(body), Settings(test_timeout_s=1 if ended == "timeout" else 60))
    assert (run.ended, run.passed) == (ended, 0)
    assert run.reasons and "\x1b" not in repr(run)


@pytest.mark.slow
@needs_node
@pytest.mark.parametrize("level", ["bwrap", "landlock", "limits"])
def test_what_had_ended_before_a_limit_is_told(level):
    if reason := why_unavailable(level):
        pytest.skip(reason)
    body = "}); require('node:test')('stays', async () => { await new Promise((done) => setTimeout(done, 60000));"
    settings = Settings(test_timeout_s=2, sandbox=level, allow_weak_sandbox=True)
    run = run_node(script(body), settings)
    assert (run.ended, run.outcomes) == ("timeout", {"a.test.js::t": "passed"}), run
    assert "1 test had finished by then; the runner doesn't report how many there are" in run.reasons


@pytest.mark.slow
@needs_node
def test_code_that_looks_for_a_free_port_finds_the_loopback_interface():
    body = "require('assert').equal(require('os').networkInterfaces().lo[0].address, '127.0.0.1');"
    run = run_node(script(body), project=NodeProject(scripts={"test": "NODE_OPTIONS=--no-warnings node --test"}))
    assert (run.passed, run.reasons) == (1, ()), run
    module = (
        "import { networkInterfaces as list } from 'os'; import test from 'node:test'; test('t', () => list().lo[0]);"
    )
    assert run_node({"a.test.mjs": module}, tests=("a.test.mjs",)).passed == 1


@pytest.mark.slow
@needs_node
@pytest.mark.parametrize("body", ["process.exit(0);", "process.kill(process.pid);"])
def test_a_program_that_ends_before_its_tests_has_not_passed(body):
    run = run_node(script("") | {"a.test.js": body})
    assert run.passed == 0 and run.reasons


@pytest.mark.slow
@needs_node
def test_installed_packages_are_read_only_and_found(tmp_path):
    folder = tmp_path / "node_modules"
    (folder / "dependency").mkdir(parents=True)
    (folder / "dependency" / "index.js").write_text("module.exports = 42;\n")
    (folder / ".vite-temp").mkdir()
    body = "require('assert').equal(require('dependency'), 42); require('assert').throws(() => require('fs').writeFileSync(require.resolve('dependency'), '')); require('fs').mkdirSync('node_modules/.vite-temp');"  # noqa: E501
    run = run_node(script(body), packages=InstalledPackages("", folder))
    assert (run.passed, run.reasons) == (1, ()), run


@pytest.mark.slow
@needs_node
def test_members_with_names_that_lead_elsewhere_are_not_linked(tmp_path):
    folder = tmp_path / "environment" / "node_modules"
    (folder / "@scope" / "one").mkdir(parents=True)
    (folder / "@scope" / "one" / "index.js").write_text("module.exports = 1;\n")
    files = script("require('assert').equal(require('@scope/one') + require('@scope/two'), 3);")
    links = {"@scope/two": "two", "../../out": "two", "@scope/../../out": "two", "@scope/..": "two", "..": "two"}
    project = NodeProject(links=links)
    run = run_node(
        files | {"two/index.js": "module.exports = 2;\n"}, project=project, packages=InstalledPackages("key", folder)
    )
    assert (run.passed, run.reasons) == (1, ()), run
    assert [path.name for path in tmp_path.iterdir()] == ["environment"]


@pytest.mark.slow
@needs_node
def test_a_run_can_be_cancelled():
    cancel = threading.Event()
    threading.Timer(0.5, cancel.set).start()
    with pytest.raises(Cancelled):
        run_suite(script("for (;;);"), RunnerSuite("javascript", ("a.test.js",)), SETTINGS, cancel=cancel)


@pytest.mark.slow
@needs_cargo
def test_cargo_reports_each_test_by_name():
    run = run_suite(RUST, RunnerSuite("rust"), SETTINGS)
    assert run.outcomes == {
        "src/lib.rs::tests::adds": "passed",
        "src/lib.rs::tests::fails": "failed",
        "tests/whole.rs::whole": "passed",
    }
    assert (run.failures[0].path, run.failures[0].line) == ("src/lib.rs", 5)
    broken = run_suite(RUST | {"src/lib.rs": "pub fn add() -> i32 { x }\n"}, RunnerSuite("rust"), SETTINGS)
    assert (broken.passed, broken.outcomes) == (0, {"Cargo.toml": "error"})
    assert "cannot find value `x`" in broken.failures[0].assertion


@needs_go
def test_go_reports_each_test_by_name():
    files = {
        "go.mod": "module example.org/shop\n\ngo 1.20\n",
        "shop.go": "package shop\n\nfunc Add(a, b int) int { return a + b }\n",
        "shop_test.go": 'package shop\n\nimport "testing"\n\nfunc TestAdd(t *testing.T) {\n\tif Add(1, 2) != 3 {\n\t\tt.Fatal()\n\t}\n}\n',  # noqa: E501
    }
    run = run_suite(files, RunnerSuite("go", ("shop_test.go",)), SETTINGS)
    assert run.outcomes == {"example.org/shop::TestAdd": "passed"}


def test_what_is_missing_is_said(monkeypatch):
    monkeypatch.setenv("PATH", str(shutil.which("sh") or "") + "-nowhere")
    with pytest.raises(SandboxError, match="node is not installed") as missing:
        run_node(script(""))
    assert "PATH" in missing.value.hint
    with pytest.raises(SandboxError, match="doesn't run tests with jasmine"):
        run_node(script(""), project=NodeProject(requirements=("jasmine@^3",)))


@pytest.mark.slow
@needs_node
def test_programs_keep_running_and_caches_stay_behind(tmp_path):
    (tmp_path / "target").mkdir()
    for name in ("target/CACHEDIR.TAG", "target/x", "tool.sh"):
        (tmp_path / name).write_text("#!/bin/sh\nexit 7\n")
    (tmp_path / "tool.sh").chmod(0o700)
    body = "const run = require('child_process').spawnSync('./tool.sh'); require('assert').equal(run.status, 7); require('assert').ok(!require('fs').existsSync('target'));"  # noqa: E501
    run = run_suite(script(body), RunnerSuite("javascript", ("a.test.js",)), SETTINGS, tmp_path)
    assert (run.passed, run.reasons) == (1, ()), run


RUBY = {
    "lib/shop.rb": "def mean(prices) = prices.sum / prices.size\n",
    ".rspec": "--require spec_helper\n",
    "spec/spec_helper.rb": "require 'shop'\n",
    "spec/mean_spec.rb": "RSpec.describe('mean') do\n  it('is right') { expect(mean([1, 3])).to eq 2 }\n"
    "  it('is wrong') { expect(mean([1, 3])).to eq 3 }\n  it('breaks') { mean([]) }\n  xit('waits') {}\nend\n",
    "test/mean_test.rb": "require 'bundler/setup'\nrequire 'minitest/autorun'\nrequire 'shop'\n"
    "class MeanTest < Minitest::Test\n  def test_right = assert_equal(2, mean([1, 3]))\n"
    "  def test_wrong = assert_equal(3, mean([1, 3]))\n  def test_breaks = mean([])\n  def test_waits = skip\nend\n",
    "test/unit/mean_test.rb": "require 'test/unit'\nrequire 'shop'\n"
    "class MeanTest < Test::Unit::TestCase\n  def test_right = assert_equal(2, mean([1, 3]))\n"
    "  def test_wrong = assert_equal(3, mean([1, 3]))\n  def test_breaks = mean([])\n  def test_waits = omit\nend\n",
}


@pytest.mark.slow
@needs_ruby
@pytest.mark.parametrize("test", ["spec/mean_spec.rb", "test/mean_test.rb", "test/unit/mean_test.rb"])
def test_ruby_reports_each_test_by_name(test):
    run = run_suite(RUBY, RunnerSuite("ruby", (test,)), SETTINGS)
    assert {name.partition("::")[0] for name in run.outcomes} == {test}, run.output
    assert sorted(run.outcomes.values()) == ["failed", "failed", "passed", "skipped"]
    broken = next(each for each in run.failures if "breaks" in each.test_id)
    assert (broken.path, broken.line, broken.error) == ("lib/shop.rb", 1, "ZeroDivisionError")
    wrong = next(each for each in run.failures if "wrong" in each.test_id)
    assert wrong.error in ("AssertionError", "") and wrong.path in (test, "")


@pytest.mark.slow
@needs_node
def test_a_test_file_that_is_a_program_of_its_own_passes_by_its_exit_status():
    files = {
        "src/sum.js": "import { zero } from './zero';\nexport const sum = (xs) => xs.reduce((a, b) => a + b, zero);\n",
        "src/zero.js": "export const zero = 0;\n",
        "test/right.js": "import { sum } from '../src/sum';\nif (sum([1]) !== 1) throw new Error('wrong');\n",
        "test/wrong.js": "import { sum } from '../src/sum';\nif (sum([1]) !== 2) throw new Error('wrong');\n",
    }
    project = NodeProject(requirements=("uvu@^0.5.0",))
    run = run_node(files, tests=("test/right.js", "test/wrong.js"), project=project)
    assert run.outcomes == {"test/right.js::program": "passed", "test/wrong.js::program": "failed"}, run.output
    assert (run.passed, run.failed) == (1, 1)
