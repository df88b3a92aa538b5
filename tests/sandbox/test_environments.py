"""Building environments with uv from an index on disk, and running tests with them in the sandbox."""

from __future__ import annotations

import os
import platform
import shutil
import sys
import threading
from dataclasses import replace
from pathlib import Path

import pytest
from support.more_tests import MORE_TESTS
from support.wheels import pack_installed, serve_index, write_index, write_wheel

from repopilot.errors import Cancelled, EnvironmentFailed
from repopilot.project.python_project import ProjectDeclaration
from repopilot.project_environment import fetch_for_tests
from repopilot.repo.snapshot import open_source
from repopilot.repo.source import parse_source
from repopilot.sandbox.environments.distribution_metadata import installed_plugins
from repopilot.sandbox.environments.environment_build import build_environment
from repopilot.sandbox.environments.environment_store import (
    environment_key,
    list_environments,
    load_environment,
    remove_environment,
)
from repopilot.sandbox.environments.named_interpreter import interpreter_for, named_environment
from repopilot.sandbox.environments.uv import index_variables
from repopilot.sandbox.run import run_pytest
from repopilot.settings import Settings

pytestmark = pytest.mark.slow

PLUGIN = "import pytest\n\n@pytest.fixture\ndef price():\n    return 42\n"
PROJECT = ProjectDeclaration(
    name="shop-keeper",
    version="1.2",
    requirements=("greeting>=1", "pricing", "pytest-xdist"),
    entry_points={"shop.handlers": {"a": "shop:handle"}},
)
TESTS = """
from importlib.metadata import entry_points, version
import greeting
import shop


def test_dependency(price):
    assert greeting.hello() == "hello"
    assert price == 42


def test_metadata():
    assert version("shop_keeper") == "1.2"
    (point,) = entry_points(group="shop.handlers")
    assert point.load() is shop.handle
"""


@pytest.fixture(scope="module")
def index(tmp_path_factory) -> Path:
    folder = tmp_path_factory.mktemp("index")
    pack_installed(folder)
    write_wheel(folder, "greeting", "1.0", {"greeting.py": "def hello():\n    return 'hello'\n"})
    write_wheel(folder, "greeting", "2.0", {"greeting.py": "def hello():\n    return 'hi'\n"})
    plugin = {"pricing.py": PLUGIN, "pricing-1.0.dist-info/entry_points.txt": "[pytest11]\npricing = pricing\n"}
    write_wheel(folder, "pricing", "1.0", plugin, ("pytest",))
    named = {"serial.py": PLUGIN, "serial-1.0.dist-info/entry_points.txt": "[pytest11]\njson = serial\n"}
    write_wheel(folder, "serial", "1.0", named, ("pytest",))
    write_wheel(folder, "old", "1.0", {"old.py": ""}, ("greeting<1",))
    (folder / "needs_compiler-1.0.tar.gz").write_bytes(b"")
    return write_index(folder)


@pytest.fixture(scope="module")
def home(tmp_path_factory) -> Path:
    """One for all, so that uv unpacks each wheel once."""
    return tmp_path_factory.mktemp("home")


@pytest.fixture
def settings(index, home, monkeypatch) -> Settings:
    monkeypatch.setenv("PIP_CONFIG_FILE", os.devnull)
    monkeypatch.delenv("PIP_FIND_LINKS", raising=False)
    for variable in ("UV_DEFAULT_INDEX", "UV_INDEX"):
        monkeypatch.setenv(variable, index.as_uri())
    for key in list_environments(Settings(home=home)):
        shutil.rmtree(home / "environments" / key)
    return Settings(home=home)


def build(project: ProjectDeclaration, settings: Settings, **more):
    return build_environment(project, settings, lambda _: None, threading.Event(), **more)


def test_a_build_with_pins_plugins_and_metadata_runs_tests(settings):
    pinned = replace(PROJECT, constraints=("greeting==1.0",))
    assert load_environment(pinned, settings) is None
    moments = []
    environment = build_environment(pinned, settings, moments.append, threading.Event())
    assert {"environment_resolve"} <= {moment.phase for moment in moments}
    assert [entry.requirement for entry in environment.left_out] == ["pytest-xdist"]
    assert environment.plugins == ("pricing",)
    assert load_environment(pinned, settings) == environment
    assert load_environment(PROJECT, settings) is None
    files = {"shop.py": "def handle(): pass\n", "test_shop.py": TESTS}
    run = run_pytest(files, ["test_shop.py"], settings, environment=environment)
    assert run.genuine, run.output + str(run.reasons)
    files["test_shop.py"] = "import chainlit\n\ndef test_ours():\n    assert True\n"
    ours = run_pytest(files, ["test_shop.py"], settings, environment=environment, verify=False)
    assert not ours.passed and "chainlit" in ours.output


def test_what_can_not_be_had_is_left_out_one_by_one_with_the_reason(settings):
    project = ProjectDeclaration(
        requirements=("greeting>=1", "needs-compiler", "nowhere", "old", "pricing"),
        constraints=("greeting==9.9",),
        elsewhere=("git+https://example.org/a.git",),
    )
    environment = build(project, settings)
    reasons = {entry.requirement: entry.reason for entry in environment.left_out}
    assert reasons.keys() == {"needs-compiler", "nowhere", "old", "git+https://example.org/a.git"}
    assert all(reasons.values())
    facts = list_environments(settings)[environment.key]
    assert facts.unlocked
    assert "greeting==2.0" in facts.packages
    assert facts.megabytes > 0


@pytest.mark.thorough
def test_requirements_that_exclude_each_other_are_taken_in_their_order(settings):
    environment = build(ProjectDeclaration(requirements=("greeting==1.0", "greeting==2.0")), settings)
    assert [entry.requirement for entry in environment.left_out] == ["greeting==2.0"]


@pytest.mark.thorough
def test_limits_cancelling_and_bounds_leave_nothing_behind(settings):
    small = settings.model_copy(update={"environment_max_mb": 1})
    with pytest.raises(EnvironmentFailed, match="1 MB"):
        build(PROJECT, small)
    quick = settings.model_copy(update={"environment_timeout_s": 0.001})
    with pytest.raises(EnvironmentFailed, match="longer"):
        build(PROJECT, quick)
    cancelled = threading.Event()
    cancelled.set()
    with pytest.raises(Cancelled):
        build_environment(PROJECT, settings, lambda _: None, cancelled)
    with pytest.raises(EnvironmentFailed, match="Python"):
        build(replace(PROJECT, python=">=4"), settings)
    assert list_environments(settings) == {}
    assert not [path for path in settings.environments_folder.iterdir() if path.name.startswith("building")]


def test_an_unreachable_index_is_no_reason_to_leave_packages_out(settings, monkeypatch):
    for variable in ("UV_DEFAULT_INDEX", "UV_INDEX"):
        monkeypatch.setenv(variable, "http://127.0.0.1:9/simple")
    monkeypatch.setenv("UV_HTTP_RETRIES", "0")
    with pytest.raises(EnvironmentFailed, match="reached"):
        build(PROJECT, settings)


def test_a_killed_build_is_taken_up_again_and_an_environment_removed(settings):
    key = environment_key(PROJECT)
    left = settings.environments_folder / f"building-{key}"
    (left / "site").mkdir(parents=True)
    (left / "site" / "half.py").write_text("")
    assert load_environment(PROJECT, settings) is None
    environment = build(PROJECT, settings)
    assert environment.key == key
    assert not left.exists()
    assert build(PROJECT, settings).key == key  # replaces it
    assert remove_environment(key, settings)
    assert not remove_environment(key, settings)
    assert load_environment(PROJECT, settings) is None


@pytest.mark.thorough
def test_a_package_of_the_project_that_pytest_uses_too_is_the_projects_own(settings):
    environment = build(ProjectDeclaration(name="pluggy", version="9.9"), settings)
    files = {
        "src/pluggy/__init__.py": "OWN = True\n",
        "test_own.py": "import pluggy\nfrom importlib.metadata import version\n\n"
        "def test_own():\n    assert pluggy.OWN and version('pluggy') == '9.9'\n",
    }
    run = run_pytest(files, ["test_own.py"], settings, environment=environment, verify=False)
    assert run.passed == 1, run.output


@pytest.mark.thorough
def test_options_of_the_project_hold(settings, tmp_path):
    inputs = tmp_path / "repo"
    (inputs / "lib").mkdir(parents=True)
    (inputs / "lib" / "helping.py").write_text("VALUE = 3\n")
    (inputs / "pytest.ini").write_text(
        "[pytest]\npythonpath = lib\nfilterwarnings = error\naddopts = --cov=shop -n 4\nxfail_strict = true\n"
    )
    tests = "import warnings, helping\n\ndef test_it():\n    warnings.warn(str(helping.VALUE))\n"
    environment = build(ProjectDeclaration(), settings)
    files = {"test_it.py": tests}
    run = run_pytest(files, ["test_it.py"], settings, inputs=inputs, environment=environment, verify=False)
    assert run.failed == 1, run.output
    assert "UserWarning: 3" in run.output


@pytest.mark.thorough
def test_a_plugin_may_have_the_name_of_a_module_where_warnings_are_errors(settings, tmp_path):
    (tmp_path / "pytest.ini").write_text("[pytest]\nfilterwarnings = error\n")
    tests = {"test_it.py": "def test_it(price):\n    assert price == 42\n"}
    environment = build(ProjectDeclaration(requirements=("serial",)), settings)
    run = run_pytest(tests, ["test_it.py"], settings, inputs=tmp_path, environment=environment, verify=False)
    assert run.passed == 1, run.output


@pytest.mark.thorough
def test_a_named_interpreter_is_used_as_it_is(settings):
    environment = named_environment(sys.executable)
    files = {"test_a.py": "import pydantic\n\ndef test_a():\n    assert pydantic\n" + MORE_TESTS}
    assert run_pytest(files, ["test_a.py"], settings, verify=False).passed == 18
    again = run_pytest(files, ["test_a.py"], settings, environment=environment)
    assert again.genuine, again.output
    with pytest.raises(EnvironmentFailed, match="nowhere"):
        named_environment("/nowhere/python")


@pytest.mark.thorough
def test_a_project_that_excludes_our_python_gets_another_one_of_the_machine(settings, monkeypatch, tmp_path):
    ours = f"=={platform.python_version()}"
    renamed = tmp_path / "versions" / "renamed" / "bin" / "python3"
    renamed.parent.mkdir(parents=True)
    say = "import sys, platform; platform.python_version = lambda: '3.99.1'; exec(sys.argv[1])"
    command = f"import os, sys; os.execv({sys.executable!r}, ['python', '-c', {say!r}, sys.argv[-1]])"
    renamed.write_text(f"#!{sys.executable}\n{command}\n")
    renamed.chmod(0o755)
    monkeypatch.setenv("PYENV_ROOT", str(tmp_path))
    assert interpreter_for("") is interpreter_for(ours) is interpreter_for(">=4") is None
    found = interpreter_for(">=3.99")
    assert found is not None and found.program == renamed
    project = ProjectDeclaration(python="<3.99,!=" + platform.python_version())
    for other in filter(None, [interpreter_for(project.python)]):  # where the machine has one
        environment = build(project, settings)
        assert environment.interpreter == other.program
        assert environment.key != environment_key(ProjectDeclaration())
        tests = {
            "test_a.py": f"import sys, pytest\n\ndef test_a():\n    assert sys.version.startswith({other.version!r})\n"
        }
        run = run_pytest(tests, ["test_a.py"], settings, environment=environment, verify=False)
        assert run.passed == 1, run.output


def test_plugins_that_do_not_suit_a_verified_run_are_not_loaded(tmp_path):
    info = tmp_path / "a-1.dist-info"
    info.mkdir()
    (info / "entry_points.txt").write_text("[pytest11]\nxdist = xdist.plugin\nAsync: x = a\nmock = pytest_mock\n")
    assert "xdist" not in installed_plugins((tmp_path,))
    assert "mock" in installed_plugins((tmp_path,))


def test_the_index_of_pip_is_used_unless_uv_has_its_own(monkeypatch, tmp_path):
    monkeypatch.setenv("PIP_CONFIG_FILE", os.devnull)
    monkeypatch.setenv("PIP_INDEX_URL", "https://index.example.org/simple")
    assert index_variables()["UV_DEFAULT_INDEX"] == "https://index.example.org/simple"
    monkeypatch.setenv("UV_INDEX_URL", "https://other.example.org/simple")
    assert "UV_DEFAULT_INDEX" not in index_variables()


@pytest.mark.thorough
def test_versions_are_those_of_the_commits_date_where_no_lock_states_them(index, settings, monkeypatch):
    times = {"greeting-2.0-py3-none-any.whl": "2025-06-01T00:00:00Z"}
    with serve_index(index.parent, times, "2024-01-01T00:00:00Z") as address:
        for variable in ("UV_DEFAULT_INDEX", "UV_INDEX"):
            monkeypatch.setenv(variable, address)

        def built(as_of: str, *requirements: str) -> set[str]:
            project = replace(PROJECT, requirements=requirements, as_of=as_of)
            key = build(project, settings).key
            return {package for package in list_environments(settings)[key].packages if "greeting" in package}

        assert built("2025-01-01T12:00:00+04:00", "greeting") == {"greeting==1.0"}
        assert built("2025-07-01T00:00:00Z", "greeting", "pricing") == {"greeting==2.0"}
        # Of a package that came after the last commit, and of a clock that was wrong:
        assert built("2025-01-01T12:00:00Z", "greeting>=2", "pricing>=1") == {"greeting==2.0"}
        assert built("1970-01-01T00:00:00Z", "greeting", "pricing>=1.0") == {"greeting==2.0"}
    for variable in ("UV_DEFAULT_INDEX", "UV_INDEX"):
        monkeypatch.setenv(variable, index.as_uri())
    assert built("2025-01-01T12:00:00Z", "greeting>=1.0") == {"greeting==2.0"}  # an index that doesn't say when


class Tested:
    """The files of a repository with one test."""

    files = ("test_shop.py",)

    def text(self, path: str) -> str | None:
        return None


@pytest.mark.thorough
async def test_what_could_not_be_fetched_isnt_tried_again_within_the_hour(index, settings, monkeypatch, tmp_path):
    (tmp_path / "pyproject.toml").write_text('[project]\nname = "stall"\ndependencies = ["greeting>1"]\n')
    snapshot = open_source(parse_source(str(tmp_path)), settings)

    async def fetched() -> tuple[tuple[str, ...], int]:
        moments: list[object] = []
        problems = await fetch_for_tests(snapshot, Tested(), settings, moments.append)
        return problems, len(moments)

    for variable in ("UV_DEFAULT_INDEX", "UV_INDEX"):
        monkeypatch.setenv(variable, (tmp_path / "none").as_uri())
    (first,), tried = await fetched()
    (second,), again = await fetched()
    assert tried and not again and second.startswith(first) and "--build" in second
    for variable in ("UV_DEFAULT_INDEX", "UV_INDEX"):
        monkeypatch.setenv(variable, index.as_uri())
    (note,) = settings.environments_folder.glob("*.failed.json")
    os.utime(note, (1, 1))
    assert (await fetched())[0] == ()
