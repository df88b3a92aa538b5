"""Packages of npm and cargo, installed without the public registries: from a server on this machine, from a folder."""

from __future__ import annotations

import io
import json
import shutil
import subprocess
import tarfile
import threading
from collections.abc import Iterator
from dataclasses import replace
from http.server import BaseHTTPRequestHandler
from pathlib import Path

import pytest
from support.loopback import LoopbackServer
from support.waiting import PATIENCE_S

from repopilot.errors import Cancelled, EnvironmentFailed
from repopilot.project.node_project import NodeProject, oldest_version
from repopilot.project.package_declarations import read_packages
from repopilot.project_environment import declared_packages, find_packages, packages_for_tests
from repopilot.repo.snapshot import open_source
from repopilot.repo.source import parse_source
from repopilot.sandbox.environments import package_install
from repopilot.sandbox.environments.newer_node import with_newer_node
from repopilot.sandbox.environments.package_install import install_packages, load_packages
from repopilot.sandbox.run_program import RunnerSuite, run_suite
from repopilot.sandbox.runners import jest_json
from repopilot.sandbox.runners.runner_form import RunPlan
from repopilot.sandbox.runners.runner_table import RUNNERS
from repopilot.settings import Settings
from repopilot.types import InstalledPackages

needs_npm = pytest.mark.skipif(shutil.which("npm") is None, reason="npm is not installed")
needs_cargo = pytest.mark.skipif(shutil.which("cargo") is None, reason="cargo is not installed")
MANIFEST = {
    "name": "shop",
    "dependencies": {"answer": "^1.0.0"},
    "scripts": {"postinstall": "touch ran-own"},
    "devDependencies": {"stranger": "git+https://example.org/x.git", "neighbour": "file:../x"},
}
TEST = "require('node:test')('t', () => require('assert').equal(require('answer'), 42));\n"


def packed(**files: str) -> bytes:
    buffer = io.BytesIO()
    with tarfile.open(fileobj=buffer, mode="w:gz") as archive:
        for name, text in files.items():
            entry = tarfile.TarInfo(f"package/{name.replace('_', '.')}")
            entry.size = len(text)
            archive.addfile(entry, io.BytesIO(text.encode()))
    return buffer.getvalue()


ANSWER = {"name": "answer", "version": "1.0.3", "scripts": {"install": "touch ran"}}
ARCHIVE = packed(package_json=json.dumps(ANSWER), index_js="module.exports = 42;\n")


@pytest.fixture
def registry(monkeypatch) -> Iterator[str]:
    class Registry(BaseHTTPRequestHandler):
        def do_GET(self) -> None:
            if self.path == "/slow":
                stopped.wait(PATIENCE_S)
            if self.path.endswith(".tgz"):
                body = ARCHIVE
            elif self.path == "/far":
                far = {"name": "far", "version": "1.0.0", "dependencies": {"gone": "http://127.0.0.1:9/gone.tgz"}}
                versions = {"1.0.0": far | {"dist": {"tarball": f"{address}/far.tgz"}}}
                body = json.dumps({"name": "far", "dist-tags": {"latest": "1.0.0"}, "versions": versions}).encode()
            elif self.path == "/answer":
                versions = {"1.0.3": ANSWER | {"dist": {"tarball": f"{address}/answer.tgz"}}}
                body = json.dumps({"name": "answer", "dist-tags": {"latest": "1.0.3"}, "versions": versions}).encode()
            else:
                self.send_error(404)
                return
            self.send_response(200)
            self.end_headers()
            self.wfile.write(body)

        def log_message(self, *_: object) -> None:
            pass

    stopped = threading.Event()
    server = LoopbackServer(("127.0.0.1", 0), Registry)
    address = f"http://127.0.0.1:{server.server_port}"
    threading.Thread(target=server.serve_forever, daemon=True).start()
    monkeypatch.setenv("npm_config_registry", address)
    yield address
    stopped.set()
    server.shutdown()


def declared(files: dict[str, str]):
    def names(folder: str) -> frozenset[str]:
        below = f"{folder}/" if folder else ""
        return frozenset(path.removeprefix(below).split("/")[0] for path in files if path.startswith(below))

    return read_packages(files.get, names)


def install(declaration, settings, cancel=None):
    return install_packages(declaration, settings, lambda _: None, cancel or threading.Event())


@pytest.mark.slow
@needs_npm
def test_npm_packages_are_installed_without_running_any_script(registry, tmp_path):
    settings = Settings(home=tmp_path / "home")
    (declaration,) = declared({"package.json": json.dumps(MANIFEST)})
    assert declaration.elsewhere == (
        "stranger@git+https://example.org/x.git",
        "neighbour@file:../x",
    )
    assert load_packages(declaration, settings) is None
    packages = install(declaration, settings)
    assert load_packages(declaration, settings) == packages
    assert not list(packages.folder.parent.rglob("ran*"))
    run = run_suite({"a.test.js": TEST}, RunnerSuite("javascript", ("a.test.js",), packages=packages), settings)
    assert (run.passed, run.reasons) == (1, ())
    (other,) = declared({"package.json": json.dumps(MANIFEST | {"dependencies": {"answer": "1"}})})
    assert load_packages(other, settings) is None


@pytest.mark.slow
@needs_npm
def test_members_of_a_workspace_have_their_packages_and_each_other(registry, tmp_path):
    settings = Settings(home=tmp_path / "home")
    member = {"name": "@shop/till", "main": "till.js", "devDependencies": {"answer": "catalog:"}}
    files = {
        "package.json": '{"private": true}',
        "pnpm-workspace.yaml": "packages: ['packages/**', '!packages/old']\ncatalog: {answer: ^1.0.0}\n",
        "packages/till/package.json": json.dumps(member),
        "packages/till/till.js": "module.exports = require('answer') + 1;\n",
        "packages/shop/package.json": '{"name": "@shop/shop", "dependencies": {"@shop/till": "workspace:*"}}',
        "packages/shop/a.test.js": TEST.replace("answer", "@shop/till").replace("42", "43"),
        "packages/old/package.json": '{"name": "../../old", "dependencies": {"absent": "1"}}',
    }
    (declaration,) = declared(files)
    assert (declaration.requirements, declaration.elsewhere) == (("answer@^1.0.0",), ())
    packages = install(declaration, settings)
    run = run_suite(
        files, RunnerSuite("javascript", ("packages/shop/a.test.js",), declaration.node, packages), settings
    )
    assert run.outcomes == {"packages/shop/a.test.js::t": "passed"}, run.output


def test_where_a_build_is_missing_packages_are_entered_at_their_code():
    exports = {".": {"types": "./dist/index.d.ts", "import": "./dist/index.mjs"}, "./part": "./dist/part.cjs"}
    files = {
        "package.json": '{"workspaces": ["libs/*"], "scripts": {"test": "jest"}, "main": "../../out.js"}',
        "libs/a/package.json": json.dumps({"name": "a", "main": "dist/a.js", "source": "lib/a.ts", "exports": exports}),
        "libs/a/lib/a.ts": "export default 1;\n",
        "libs/a/src/part.ts": "",
        "libs/a/dist/index.mjs": "",
        "libs/b/package.json": '{"name": "b", "main": "b.js", "types": "absent.d.ts"}',
        "libs/b/b.js": "",
    }
    (declaration,) = declared(files)
    assert declaration.node.built == {
        "libs/a/dist/a.js": 'module.exports = require("../lib/a.ts");\n',
        "libs/a/dist/index.d.ts": 'export * from "../lib/a";\nexport { default } from "../lib/a";\n',
        "libs/a/dist/part.cjs": 'module.exports = require("../src/part.ts");\n',
    }
    (by_vitest,) = declared(files | {"package.json": '{"workspaces": ["libs/*"], "scripts": {"test": "vitest"}}'})
    assert by_vitest.node.built["libs/a/dist/part.cjs"] == 'export * from "../src/part.ts";\n'


def test_entries_that_are_nested_without_end_are_not_followed():
    deep = '{"a": ' * 900 + '"x.js"' + "}" * 900
    (declaration,) = declared({"package.json": f'{{"exports": {deep}, "main": "/../../etc/x.js"}}', "index.ts": ""})
    assert set(declaration.node.built) <= {"etc/x.js"}


@pytest.mark.slow
def test_tests_use_the_code_of_a_member_that_is_not_built(tmp_path):
    files = {
        "package.json": '{"workspaces": ["libs/*"]}',
        "libs/a/package.json": '{"name": "a", "main": "dist/a.js", "source": "lib/a.js"}',
        "libs/a/lib/a.js": "module.exports = 42;\n",
        "b.test.js": TEST.replace("answer", "a"),
    }
    (declaration,) = declared(files)
    (tmp_path / "node_modules").mkdir()
    packages = InstalledPackages("key", tmp_path / "node_modules")
    suite = RunnerSuite("javascript", ("b.test.js",), declaration.node, packages)
    run = run_suite(files, suite, Settings(home=tmp_path))
    assert run.outcomes == {"b.test.js::t": "passed"}, run.output


@pytest.mark.parametrize(
    ("bounds", "oldest"),
    [
        (">=22", "22.0.0"),
        ("^20.19 || ^22.12.1 || >=24", "20.19.0"),
        (">= 18.0.0 <= 22.1", "18.0.0"),
        ("18 - 22", "18.0.0"),
        ("v9 || 22.x", "9.0.0"),
        ("lts/*", ""),
        ("<20", ""),
        ("*", ""),
    ],
)
def test_the_oldest_version_that_bounds_admit(bounds, oldest):
    assert oldest_version(bounds) == oldest
    (declaration,) = declared({"package.json": json.dumps({"engines": {"node": bounds}}), ".nvmrc": "v19.8.1"})
    assert declaration.node.node_version == (oldest or "19.0.0")


@pytest.mark.parametrize(
    ("script", "wanted"),
    [
        ("node --test src/a.test.ts", "22.18.0"),
        ("tsc && node b.mts | cat", "22.18.0"),
        ("node --import tsx --test a.ts", "20.1.0"),
        ("node build.js && vitest a.ts", "20.1.0"),
    ],
)
def test_scripts_that_start_typescript_by_node_itself_want_one_that_reads_it(script, wanted):
    manifest = {"engines": {"node": ">=20.1"}, "scripts": {"any": script}}
    (declaration,) = declared({"package.json": json.dumps(manifest)})
    assert declaration.node.node_version == wanted


@pytest.mark.slow
@needs_npm
def test_a_newer_node_comes_with_the_packages_where_the_project_asks_for_it(registry, tmp_path):
    settings = Settings(home=tmp_path / "home")
    (old,) = declared({"package.json": '{"engines": {"node": ">=4"}, "dependencies": {"answer": "1"}}'})
    assert with_newer_node(old) == old
    (declaration,) = map(
        with_newer_node, declared({"package.json": '{"engines": {"node": ">=1000"}, "dependencies": {"answer": "1"}}'})
    )
    (package, bounds) = declaration.requirements[-1].split("@")
    assert (package.startswith("node-"), bounds) == (True, "^1000.0.0")
    with pytest.raises(EnvironmentFailed, match=package):  # this registry has none
        install(declaration, settings)
    installed = install(old, settings)
    program = installed.folder / package / "bin" / "node"
    program.parent.mkdir(parents=True)
    program.write_text("#!/bin/sh\necho the newer one\n")
    program.chmod(0o755)
    run = run_suite({"a.test.js": TEST}, RunnerSuite("javascript", ("a.test.js",), packages=installed), settings)
    assert "the newer one" in run.output


@pytest.mark.parametrize(
    ("files", "members"),
    [
        ({"package.json": '{"workspaces": ["a", "libs/*", "examples/*"]}'}, {"a", "libs/b"}),
        ({"package.json": '{"workspaces": {"packages": ["./libs/**"]}}'}, {"libs/b", "libs/deep/c"}),
        ({"package.json": '{"workspaces": ["../*", "/a", "**/../..", 3]}'}, set()),
        ({"package.json": "[]", "pnpm-workspace.yaml": "packages: ["}, set()),
    ],
)
def test_members_are_found_by_the_patterns_of_each_package_manager(files, members):
    below = dict.fromkeys(("a", "libs/b", "libs/deep/c", "examples/d"), "")
    files = files | {f"{folder}/package.json": json.dumps({"name": folder.replace("/", "-")}) for folder in below}
    (declaration,) = declared(files | {"libs/b/vitest.config.ts": ""})
    assert set(declaration.node.links.values()) == members
    assert declaration.node.projects == (("libs/b/vitest.config.ts",) if "libs/b" in members else ())


@pytest.mark.parametrize(
    ("scripts", "folders"),
    [
        ({"test": "mocha --require test/env --timeout 9 ./test/unit/**/*.js --exit"}, ("test/unit/",)),
        ({"test": "npm run a && npm run b", "a": "node --test t/a/**/*.js", "b": "node --test t/b"}, ("t/a/", "t/b")),
        ({"test": "mocha --require test/env --exit", "test:one": "mocha test/one.js"}, ()),
        ({"test": "mocha *.test.js test/"}, ()),
        ({"test": "node --test && node test/types.js"}, ()),
        ({"test": "vitest run src"}, ()),
        ({"test": "c8 ava test/*.ts", "build": "ava lib"}, ("test/",)),
    ],
)
def test_the_folders_of_tests_are_those_that_the_scripts_give_to_the_runner(scripts, folders):
    (declaration,) = declared({"package.json": json.dumps({"scripts": scripts})})
    assert declaration.node.test_folders == folders


@pytest.mark.parametrize(
    ("script", "by_member"),
    [
        ("pnpm -r test", True),
        ("npm test --workspaces", True),
        ("turbo test", True),
        ("vitest -run", False),
        ("yarn workspace a test", True),
    ],
)
def test_settings_at_the_top_are_for_members_unless_these_run_their_tests_themselves(script, by_member):
    manifest = {"workspaces": ["a"], "scripts": {"test": script}}
    files = {"package.json": json.dumps(manifest), "a/package.json": "{}", "vitest.config.ts": ""}
    (declaration,) = declared(files | {"a/vitest.config.ts": ""})
    assert declaration.node.projects == (("a/vitest.config.ts",) if by_member else ())


def test_settings_of_jest_in_the_manifest_of_a_member_are_its_own(tmp_path):
    files = {"package.json": '{"workspaces": ["a", "b"]}', "a/package.json": '{"jest": {}}', "b/package.json": "{}"}
    (declaration,) = declared(files)
    assert declaration.node.projects == ("a/package.json",)
    plan = RunPlan(tmp_path / "node", ("a/x.test.js",), declaration.node)
    program = jest_json.jest_command(plan)
    assert program.arguments[program.arguments.index("--projects") + 1] == "{root}/a/package.json"
    assert program.variables["PWD"] == "{root}/a", "a transformer looks for tsconfig.json from there upwards"
    assert "PWD" not in jest_json.jest_command(replace(plan, project=NodeProject())).variables
    assert not jest_json.vitest_settings(plan) and "--config" not in " ".join(jest_json.vitest_command(plan).arguments)
    (at_the_top,) = declared({**files, "jest.config.js": ""})
    assert at_the_top.node.projects == ()


@pytest.mark.parametrize("runner", ["jest", "vitest", "mocha"])
@pytest.mark.parametrize("given", ["--config config/{}.js", "--config=config/{}.js"])
def test_settings_that_the_test_script_names_are_those_of_the_run(tmp_path, runner, given):
    given = given.format(runner)
    scripts = {"test": f"TRACE=1 {runner} --reporter dot {given}", "test:dist": f"{runner} --config other.js"}
    (declaration,) = declared({"package.json": json.dumps({"scripts": scripts}), "config/jest.config.js": ""})
    plan = RunPlan(tmp_path / "node", ("tests/x.js",), declaration.node)
    arguments = next(each for each in RUNNERS if each.name == runner).command(plan).arguments
    assert given in " ".join(arguments) and "dot" not in arguments and "other.js" not in " ".join(arguments)


def test_the_lock_file_is_that_of_the_package_manager():
    files = {"package-lock.json": "{}", "pnpm-lock.yaml": ""}
    (npm,) = declared(files | {"package.json": "{}"})
    (pnpm,) = declared(files | {"package.json": '{"packageManager": "pnpm@11.3.0+sha512.2c40"}'})
    assert (npm.lock, pnpm.lock) == ("package-lock.json", "pnpm-lock.yaml")


@pytest.mark.parametrize("manager", ["npm@11.0.0", "pnpm@11.3.0"])
@pytest.mark.parametrize("programs", [(), ("npm",), ("npm", "pnpm"), ("pnpm",)])
def test_the_named_installer_is_the_one_that_installs(tmp_path, monkeypatch, manager, programs):
    manifest = {"packageManager": manager, "dependencies": {"answer": "1"}}
    (declaration,) = declared({"package-lock.json": "{}", "pnpm-lock.yaml": "", "package.json": json.dumps(manifest)})
    run: list[str] = []

    def note(arguments, **rest):
        run.append(arguments[0])
        raise EnvironmentFailed("noted")

    monkeypatch.setattr(shutil, "which", lambda name: name if name in programs else None)
    monkeypatch.setattr(package_install, "run_installer", note)
    named = package_install.installer_name(declaration)
    with pytest.raises(EnvironmentFailed) as raised:
        install(declaration, Settings(home=tmp_path))
    assert run == [named] if named in programs else named in raised.value.message


def test_members_with_settings_of_their_own_are_run_with_those(tmp_path):
    project = NodeProject(projects=("libs/a/vite.config.ts", "libs/b/jest.config.js"))
    plan = RunPlan(tmp_path / "node", ("libs/a/src/x.test.ts",), project)
    ((name, settings),) = jest_json.vitest_settings(plan).items()
    assert f"--config={{root}}/{name}" in jest_json.vitest_command(plan).arguments
    assert "./libs/a/vite.config.ts" in settings and "libs/b" not in settings
    assert not jest_json.vitest_settings(replace(plan, tests=("other.test.ts",)))
    arguments = jest_json.jest_command(replace(plan, tests=("libs/b/x.test.js",))).arguments
    assert arguments[arguments.index("--projects") + 1] == "{root}/libs/b/jest.config.js"
    every = jest_json.jest_command(replace(plan, tests=()))
    assert "{root}/libs/a/vite.config.ts" in every.arguments and "PWD" not in every.variables


@pytest.mark.slow
@needs_npm
def test_what_can_not_be_installed_is_said(registry, tmp_path):
    settings = Settings(home=tmp_path / "home")
    (declaration,) = declared({"package.json": '{"dependencies": {"absent": "1"}}'})
    with pytest.raises(EnvironmentFailed, match="404"):
        install(declaration, settings)
    assert not [path for path in settings.environments_folder.iterdir() if path.name.startswith("building")]
    (slow,) = declared({"package.json": '{"dependencies": {"slow": "1"}}'})
    cancel = threading.Event()
    threading.Timer(1.5, cancel.set).start()
    with pytest.raises(Cancelled):
        install(slow, settings, cancel)
    with pytest.raises(EnvironmentFailed, match="longer than 1 s"):
        install(slow, Settings(home=tmp_path / "home", environment_timeout_s=1))


@pytest.mark.slow
@needs_npm
def test_a_host_that_is_not_reached_is_the_reason_and_only_tried_again_without_lock(registry, tmp_path, monkeypatch):
    monkeypatch.setenv("npm_config_fetch_retries", "0")
    files = {"package.json": '{"dependencies": {"far": "1"}}', "package-lock.json": '{"lockfileVersion": 3}'}
    (declaration,) = declared(files)
    settings = Settings(home=tmp_path / "home")
    with pytest.raises(EnvironmentFailed, match="ECONNREFUSED"):
        install(declaration, settings)
    logs = settings.environments_folder / "cache" / "npm" / "_logs"
    assert len(list(logs.iterdir())) == 2


@pytest.mark.slow
@needs_npm
@pytest.mark.parametrize("path", ["private/npm/answer/-/answer-1.0.3.tgz", "somebody/answer/tarball/main"])
def test_a_lock_file_may_name_hosts_that_only_its_authors_reach(registry, tmp_path, monkeypatch, path):
    monkeypatch.setenv("npm_config_fetch_retries", "0")
    manifest = {"name": "shop", "version": "1.0.0", "dependencies": {"answer": "^1.0.0"}}
    answer = {"version": "1.0.3", "resolved": f"http://127.0.0.1:9/{path}"}
    lock = {"lockfileVersion": 3, "packages": {"": manifest, "node_modules/answer": answer}, **manifest}
    files = {"package.json": json.dumps(manifest), "package-lock.json": json.dumps(lock, indent=2)}
    (declaration,) = declared(files)
    packages = install(declaration, Settings(home=tmp_path / "home"))
    assert (packages.folder / "answer" / "index.js").is_file()


@pytest.mark.slow
@needs_cargo
def test_cargo_packages_are_vendored_and_used_without_network(tmp_path):
    library, repository = tmp_path / "answer", tmp_path / "shop"
    for folder in (library, repository):
        (folder / "src").mkdir(parents=True)
    (library / "Cargo.toml").write_text('[package]\nname = "answer"\nversion = "1.0.0"\nedition = "2021"\n')
    (library / "src/lib.rs").write_text("pub fn answer() -> i32 { 42 }\n")
    git = ["git", "-C", str(library), "-c", "user.name=a", "-c", "user.email=a@b"]
    for command in (["init", "-q"], ["add", "."], ["commit", "-qm", "x"]):
        subprocess.run([*git, *command], check=True)
    manifest = f'[package]\nname = "shop"\nversion = "0.1.0"\nedition = "2021"\n[dependencies]\nanswer = {{ git = "file://{library}" }}\n'  # noqa: E501
    (repository / "Cargo.toml").write_text(manifest)
    (repository / "src/lib.rs").write_text("#[test] fn asks() { assert_eq!(answer::answer(), 42) }\n")
    settings = Settings(home=tmp_path / "home")
    snapshot = open_source(parse_source(str(repository)), settings)
    (declaration,) = declared_packages(snapshot)
    assert find_packages(snapshot, declaration, settings) is None
    packages = install(declaration, settings)
    run = run_suite({}, RunnerSuite("rust", packages=packages), settings, repository)
    assert run.outcomes == {"src/lib.rs::asks": "passed"}, run.output
    assert not (repository / "Cargo.lock").exists()


class NoFiles:
    files = ()

    def text(self, path):
        return None


def test_modules_that_the_user_installed_in_a_local_repository_are_used(tmp_path):
    (tmp_path / "package.json").write_text('{"name": "shop"}')
    (tmp_path / "node_modules").mkdir()
    settings = Settings(home=tmp_path / "home")
    snapshot = open_source(parse_source(str(tmp_path)), settings)
    (declaration,) = declared_packages(snapshot)
    assert find_packages(snapshot, declaration, settings).folder == tmp_path / "node_modules"


def test_a_working_copy_whose_manifest_differs_uses_the_packages_of_the_state_that_was_opened(tmp_path):
    """Such as the state before a change under review that touches package.json or the lock file."""
    settings = Settings(home=tmp_path / "home")
    states = []
    for name, version in (("opened", "2.0.0"), ("edited", "1.0.0")):
        (tmp_path / name).mkdir()
        manifest = {"name": "shop", "version": version, "devDependencies": {"jest": f"^{version}"}}
        (tmp_path / name / "package.json").write_text(json.dumps(manifest))
        states.append(open_source(parse_source(str(tmp_path / name)), settings))
    (tmp_path / "opened" / "node_modules").mkdir()
    opened, edited = states
    (declaration,) = declared_packages(edited)
    assert packages_for_tests(edited, declaration, NoFiles(), settings) is None
    found = packages_for_tests(replace(edited, edited_from=opened), declaration, NoFiles(), settings)
    assert found.folder == tmp_path / "opened" / "node_modules"


@pytest.mark.parametrize(
    ("scripts", "runner", "options"),
    [
        ({"test": "nyc mocha --require a/env --reporter spec -t 9 test/"}, "mocha", ("--require", "a/env", "-t", "9")),
        ({"test": "npm run lint && npm run unit", "unit": "cross-env X=1 vitest run"}, "vitest", ()),
        ({"test": "npm run test"}, "node", ()),
        ({"test": "node --import tsx --test 'x"}, "node", ()),
        ({"test": "node build.js && node --test"}, "node", ()),
        ({"test": "react-scripts test"}, "jest", ()),
        ({"lint": "mocha"}, "node", ()),
    ],
)  # fmt: skip
def test_the_runner_is_the_one_of_the_test_script(scripts, runner, options):
    (declaration,) = declared({"package.json": json.dumps({"scripts": scripts})})
    assert declaration.node.runner == runner
    assert declaration.node.options("mocha", ("--require", "-t")) == options
    assert declaration.node.operands("mocha", ("--require", "-t", "--reporter")) == (("test/",) if options else ())


@pytest.mark.parametrize(
    ("script", "options"),
    [
        ("node --import a build.js && node --import b --test", ("--import", "b")),
        ("node --import a build.js && node --test", ()),
        ("node --import a build.js && jest", ()),
        ("node --import a build.js && node --import b node_modules/jest/bin/jest.js", ("--import", "b")),
        ("node --import a test.js", ("--import", "a")),
    ],
)
def test_options_of_node_are_those_of_the_command_that_runs_tests(script, options):
    (declaration,) = declared({"package.json": json.dumps({"scripts": {"test": script}})})
    assert declaration.node.options("node", ("--import",)) == options


@pytest.mark.parametrize(
    ("scripts", "variables"),
    [
        ({"test": "NODE_OPTIONS='--import=tsx/esm' PATH=/x ava"}, {"NODE_OPTIONS": "--import=tsx/esm"}),
        (
            {"test": "npm run lint && A=1 npm run unit", "unit": "cross-env TZ=UTC B= vitest run C=2"},
            {"A": "1", "TZ": "UTC", "B": ""},
        ),
        ({"lint": "A=1 eslint", "test": "node --test"}, {}),
        ({"test": "A=1 node build.js && B=2 node --test"}, {"B": "2"}),
        ({"test": "A=1 node test.js"}, {"A": "1"}),
    ],
)
def test_variables_are_those_that_the_test_script_sets(scripts, variables):
    (declaration,) = declared({"package.json": json.dumps({"scripts": scripts})})
    assert declaration.node.variables == variables


@pytest.mark.parametrize("text", ["", "[]", "{", '{"dependencies": 3, "scripts": [1]}', "[" * 99999, '{"name": {}}'])
def test_a_broken_manifest_declares_nothing(text):
    for name in ("package.json", "Cargo.toml", "go.mod"):
        assert [each.requirements for each in declared({name: text})] == [()]
    hostile = '[package]\nname = "x"\n[[bin]]\nname = "../../x"\npath = "/etc/x"\n[workspace]\nmembers = ["../*", 3]\n'
    (declaration,) = declared({"Cargo.toml": hostile})
    assert declaration.requirements == ()


def test_declarations_of_go_are_read(tmp_path: Path):
    (declaration,) = declared({"go.mod": "module example.org/shop\n\nrequire (\n\tgithub.com/a/b v1.2.3\n)\n"})
    assert (declaration.name, declaration.requirements) == ("example.org/shop", ("github.com/a/b@v1.2.3",))
