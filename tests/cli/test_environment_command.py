"""`repopilot environment`, without the network, and when an environment is offered."""

from __future__ import annotations

import json
import os
import shutil
import sys
from dataclasses import dataclass
from pathlib import Path

import pytest
from support.more_tests import MORE_TESTS
from support.wheels import pack_installed, write_index, write_wheel

from repopilot.agents.testing.missing import modules_missing
from repopilot.agents.testing.render import run_points
from repopilot.cli.app import main
from repopilot.project.node_test_packages import of_tests
from repopilot.project.package_declarations import PackageDeclaration, read_packages
from repopilot.project_environment import TestPackages, declared_project, find_environment, needed_packages
from repopilot.repo.snapshot import open_source
from repopilot.repo.source import parse_source
from repopilot.results import Answer, Generation, TestReport
from repopilot.sandbox.environments.environment_store import list_environments
from repopilot.settings import Settings
from repopilot.types import Failure, TestRun
from repopilot.ui.answer.questions.environment_offer import offer_text

PYPROJECT = '[project]\nname = "shop"\nversion = "1"\ndependencies = ["idna"]\n[dependency-groups]\ntest = ["pytest"]\n'


@dataclass
class Files:
    files: dict[str, str]

    def text(self, path: str) -> str | None:
        return self.files.get(path)


@pytest.fixture
def repository(tmp_path, monkeypatch) -> Path:
    monkeypatch.setenv("REPOPILOT_HOME", str(tmp_path / "home"))
    folder = tmp_path / "shop"
    folder.mkdir()
    (folder / "pyproject.toml").write_text(PYPROJECT)
    (folder / "shop.py").write_text("import idna\n")
    return folder


@pytest.mark.slow
def test_what_is_needed_is_said_without_fetching_anything(repository, capsys):
    assert main(["environment", str(repository), "--json"]) == 0
    found = json.loads(capsys.readouterr().out)
    assert found["requirements"] == ["idna", "pytest"]
    assert found["declared_in"] == ["pyproject.toml"]
    assert (found["built"], found["stored"]) == (None, [])
    assert main(["environment", str(repository), "--remove"]) == 1
    assert not (repository.parent / "home" / "environments").exists()


def test_a_changed_declaration_is_read_anew(repository):
    snapshot = open_source(parse_source(str(repository)), Settings())
    assert declared_project(snapshot).requirements == ("idna", "pytest")
    (repository / "pyproject.toml").write_text(PYPROJECT.replace("idna", "six"))
    assert declared_project(snapshot).requirements == ("six", "pytest")
    assert find_environment(snapshot, Settings()) is None


def run_lacking(module: str) -> TestRun:
    failure = Failure("test_a.py", f"ModuleNotFoundError: No module named '{module}'")
    return TestRun(0, 0, 1, 0.1, "bwrap", "", False, failures=(failure,))


def test_modules_of_the_repository_are_no_reason_to_offer_an_environment():
    answer = Answer("", result=Generation(tests=TestReport(run_lacking("httpx"))))
    assert modules_missing(answer, ["shop/core.py"]) == ("httpx",)
    assert modules_missing(answer, ["src/httpx/core.py"]) == ()
    ((_, said),) = run_points(answer.result.tests, "en")
    assert said == "The tests were not run. They need `httpx`, which is not installed here."
    assert modules_missing(Answer(""), []) == ()


def test_the_offer_says_what_and_how_large(repository):
    (repository / "package.json").write_text('{"name": "web", "devDependencies": {"mocha": "^11"}}')
    snapshot = open_source(parse_source(str(repository)), Settings())
    needed = needed_packages(snapshot, Files({"test_shop.py": "", "test/cart.test.js": ""}), Settings())
    said = offer_text(needed, Settings(), "en")
    programs = ("`mocha@^11`",) if shutil.which("node") else ()
    assert all(part in said for part in ("`idna`, `pytest`", "1,024 MB", *programs))
    assert needed_packages(snapshot, Files({"shop.py": "", "web.js": ""}), Settings()).requirements == ()


def test_the_offer_names_no_package_of_other_systems_only():
    markers = ("", f"; sys_platform == '{sys.platform}'", "; sys_platform == 'beos'", "; os_name ~= 'x'", "; {")
    names = tuple(f"name{number}{marker}" for number, marker in enumerate(markers))
    said = offer_text(TestPackages(others=(PackageDeclaration("python", "shop", (), names),)), Settings(), "en")
    assert [name for name in names if name in said] == [name for name in names if "beos" not in name]
    assert "need 4 packages" in said


@pytest.mark.slow
def test_packages_of_other_languages_are_said_and_offered(repository, capsys):
    (repository / "package.json").write_text(
        '{"name": "web", "devDependencies": {"mocha": "^11", "\\u001b[31mx": "1"}}'
    )
    assert main(["environment", str(repository), "--json"]) == 0
    (found,) = json.loads(capsys.readouterr().out)["packages"]
    assert (found["language"], found["project"], found["built"]) == ("javascript", "web", None)
    assert main(["environment", str(repository)]) == 0
    said = capsys.readouterr().out
    assert (
        "Packages declared in package.json (2): mocha@^11, x@1" in said and "Not installed. `--build` installs" in said
    )


@pytest.mark.slow
@pytest.mark.parametrize("has_pnpm", [False, True])
def test_the_program_that_would_install_is_named(repository, tmp_path, monkeypatch, capsys, has_pnpm):
    (repository / "package.json").write_text(
        '{"name": "web", "dependencies": {"x": "1"}, "packageManager": "pnpm@9.0.0"}'
    )
    (repository / "pnpm-lock.yaml").write_text("lockfileVersion: '9.0'\n")
    real = shutil.which
    monkeypatch.setattr(
        shutil,
        "which",
        lambda name, *more, **named: (name if has_pnpm else None) if name == "pnpm" else real(name, *more, **named),
    )
    wanted = "pnpm" if has_pnpm else "npm"
    assert main(["environment", str(repository), "--json"]) == 0
    assert json.loads(capsys.readouterr().out)["packages"][0]["installer"] == wanted
    assert main(["environment", str(repository)]) == 0
    assert f"installs them with {wanted}, " in capsys.readouterr().out


@pytest.fixture
def greeting(repository, tmp_path, monkeypatch) -> Path:
    """A repository whose test needs a package of the index, which the tests alone reach."""
    wheels = tmp_path / "wheels"
    wheels.mkdir()
    pack_installed(wheels)
    write_wheel(wheels, "greeting", "1.0", {"greeting.py": "def hello():\n    return 'hello'\n"})
    monkeypatch.setenv("PIP_CONFIG_FILE", os.devnull)
    monkeypatch.delenv("PIP_FIND_LINKS", raising=False)
    for name in ("UV_DEFAULT_INDEX", "UV_INDEX"):
        monkeypatch.setenv(name, write_index(wheels).as_uri())
    for name in ("REPOPILOT_OLLAMA_URL", "REPOPILOT_EMBEDDED", "REPOPILOT_AUTO_DOWNLOAD"):
        monkeypatch.setenv(name, "" if name.endswith("URL") else "false")
    (repository / "pyproject.toml").write_text(PYPROJECT.replace('"idna"', '"greeting", "nowhere"'))
    (repository / "shop.py").write_text("import greeting\n\n\ndef welcome():\n    return greeting.hello()\n")
    test = "from shop import welcome\n\n\ndef test_welcome():\n    assert welcome() == 'hello'\n" + MORE_TESTS
    (repository / "test_shop.py").write_text(test)
    return repository


def test_of_javascript_only_what_tests_can_load_is_fetched():
    wanted = ["@types/node", "del-cli", "eslint", "happy-dom", "msw", "prettier", "typescript", "vitest", "xo", "zod"]
    wanted += ["@babel/preset-env", "jest-environment-node", "eslint-plugin-env", "morgan", "koa"]
    manifest = {
        "name": "web",
        "dependencies": {"ms": "2"},
        "devDependencies": dict.fromkeys(wanted, "1"),
        "scripts": {"test": "xo && vitest run", "build": "del-cli dist", "lint": "eslint ."},
    }
    texts = {
        "package.json": json.dumps(manifest),
        "src/a.ts": "import { z } from 'zod/v4'\n",
        "src/a.test.ts": "import { setupServer } from 'msw/node'\nimport { a } from './a'\n",
        "src/b.test.ts": "import '../examples/tested'\n",
        "examples/tested/index.js": "require('morgan')\n",
        "examples/shown/index.js": "require('koa')\n",
        "vitest.config.ts": "export default { test: { environment: 'happy-dom' } }\n",
        "babel.config.js": "module.exports = { presets: ['@babel/env'], testEnvironment: 'node' }\n",
        "eslint.config.js": "import prettier from 'prettier'\n",
    }
    (declared,) = read_packages(texts.get, lambda folder: frozenset(texts))
    kept = of_tests(declared, texts, texts.get)
    needed = {"@types/node", "happy-dom", "msw", "typescript", "vitest", "zod"}
    needed |= {"@babel/preset-env", "jest-environment-node", "morgan"}
    assert set(kept.requirements) == {"ms@2", *(f"{name}@1" for name in needed)}
    assert json.loads(kept.files["package.json"])["devDependencies"].keys() == needed


@pytest.mark.parametrize(
    ("script", "imported", "version"),
    [
        ("node --test", "../src/a.ts", "22.18.0"),
        ("node --import=tsx --test", "../src/a.ts", ""),
        ("node --test", "../src/a.js", ""),
        ("vitest", "../src/a.ts", ""),
    ],
)
def test_where_node_itself_reads_typescript_one_is_fetched_that_can(script, imported, version):
    manifest = {"scripts": {"test": script}, "devDependencies": {"c8": "1"}}
    texts = {"package.json": json.dumps(manifest), "test/a.test.mjs": f"import {{ a }} from '{imported}'\n"}
    (declared,) = read_packages(texts.get, lambda folder: frozenset(texts))
    assert of_tests(declared, texts, texts.get).node.node_version == version
    built = {"package.json": json.dumps(manifest | {"main": "lib/a.js", "name": "a"}), "src/a.ts": ""}
    names = {"": frozenset(("package.json", "src")), "src": frozenset(("a.ts",))}
    (declared,) = read_packages(built.get, lambda folder: names.get(folder, frozenset()))
    assert (declared.node.node_version == "22.18.0") == (script == "node --test")


@pytest.mark.parametrize(
    ("developing", "loader", "version"), [(("jest",), False, "22.18.0"), (("jest", "ts-node"), True, "")]
)
def test_what_loads_jests_settings_in_typescript_is_fetched(developing, loader, version):
    """Jest has ts-node load them, which no file names; without it a Node does that reads TypeScript."""
    manifest = {"scripts": {"test": "jest"}, "devDependencies": dict.fromkeys(developing, "30")}
    texts = {"package.json": json.dumps(manifest), "jest.config.ts": "export default {};\n", "src/a.test.ts": ""}
    (declared,) = read_packages(texts.get, lambda folder: frozenset(texts))
    kept = of_tests(declared, texts, texts.get)
    assert ("ts-node@30" in kept.requirements) == loader and kept.node.node_version == version


@pytest.mark.slow
def test_generate_fetches_what_the_tests_need_by_itself_once(greeting, capsys):
    command = ["generate", str(greeting), "rename the function `welcome` to `greet`", "--json"]
    assert main([*command, "--no-environment"]) == 0
    found = json.loads(capsys.readouterr().out)
    assert found["environment"]["packages"] == 0 and not found["tests"]["passed"]
    assert main(command) == 0
    found = json.loads(capsys.readouterr().out)
    assert found["environment"]["packages"] == 6 and found["tests"]["passed"] == 18
    assert [entry["requirement"] for entry in found["environment"]["left_out"]] == ["nowhere"]
    assert (found["tests"]["turned_green"], found["tests"]["turned_red"]) == ([], [])
    (built,) = list_environments(Settings())
    folder = Settings().environments_folder / built
    before = folder.stat().st_ino
    assert main(command) == 0
    assert folder.stat().st_ino == before


@pytest.mark.slow
@pytest.mark.thorough
def test_what_can_not_be_fetched_is_said_and_the_work_goes_on(greeting, monkeypatch, capsys):
    for name in ("UV_DEFAULT_INDEX", "UV_INDEX"):
        monkeypatch.setenv(name, "http://127.0.0.1:9/simple")
    monkeypatch.setenv("UV_HTTP_RETRIES", "0")
    assert main(["generate", str(greeting), "rename the function `welcome` to `greet`", "--json"]) == 0
    said = capsys.readouterr()
    (problem,) = json.loads(said.out)["environment"]["problems"]
    assert "can't be reached" in problem and "can't be reached" in said.err
    monkeypatch.setenv("REPOPILOT_ENVIRONMENTS", "never")
    assert main(["generate", str(greeting), "rename the function `welcome` to `greet`", "--json"]) == 0
    assert json.loads(capsys.readouterr().out)["environment"]["problems"] == []


@pytest.mark.slow
@pytest.mark.thorough
def test_refine_tests_a_file_with_what_its_project_declares(greeting, capsys):
    code, tests = greeting / "shop.py", greeting / "test_shop.py"
    assert main(["refine", str(code), "--tests", str(tests), "--json", "--no-environment"]) == 1
    capsys.readouterr()
    assert main(["refine", str(code), "--tests", str(tests), "--json"]) == 0
