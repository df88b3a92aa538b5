"""Runs of tests with a repository's own packages, in every level that works here."""

from __future__ import annotations

from importlib.util import find_spec
from pathlib import Path

import pytest
from support.more_tests import MORE_TESTS

from repopilot.sandbox.levels import why_unavailable
from repopilot.sandbox.run import run_pytest
from repopilot.settings import Settings
from repopilot.types import Environment

OURS = Path(find_spec("pytest").origin).parents[1]
TESTS = (
    """
import subprocess
import sys

import dependency
import shop._version


def test_dependency():
    assert dependency.answer() == 42


def test_file_that_a_build_writes():
    assert shop._version.version == "1.2"


def test_programs_that_tests_start():
    write = "import dependency, os; open(os.environ['COVERAGE_FILE'], 'w')"
    subprocess.run([sys.executable, "-c", write], check=True)
"""
    + MORE_TESTS
)


@pytest.mark.slow
@pytest.mark.parametrize("level", ["bwrap", "landlock", "limits"])
def test_packages_of_an_environment_are_imported(level, tmp_path):
    if reason := why_unavailable(level):
        pytest.skip(reason)
    site = tmp_path / "site-packages"
    site.mkdir()
    (site / "dependency.py").write_text("def answer():\n    return 42\n")
    environment = Environment("key", packages=(site, OURS), files={"shop/_version.py": "version = '1.2'\n"})
    files = {"test_a.py": TESTS, "shop/__init__.py": ""}
    settings = Settings(sandbox=level, allow_weak_sandbox=True)
    run = run_pytest(files, ["test_a.py"], settings, environment=environment, verify=level == "bwrap")
    assert run.genuine == (level == "bwrap"), run.output
    assert (
        run.outcomes.items()
        >= {
            "test_a.py::test_dependency": "passed",
            "test_a.py::test_file_that_a_build_writes": "passed",
            "test_a.py::test_programs_that_tests_start": "passed",
        }.items()
    )
    assert run_pytest(files, ["test_a.py"], settings, verify=False).errors == 1


NAMED = """
class Kept:
    pass

def test_name():
    assert (__name__, repr(Kept)) == ("{name}", "<class '{name}.Kept'>")
"""


@pytest.mark.slow
@pytest.mark.parametrize(
    "files,names",
    [
        ({}, {"tests/test_a.py": "test_a"}),
        ({"tests/__init__.py": ""}, {"tests/test_a.py": "tests.test_a"}),
        ({}, {"a/test_a.py": "test_a", "b/test_b.py": "test_b"}),
        ({}, {"a/test_a.py": "a.test_a", "b/test_a.py": "b.test_a"}),
        (
            {"a/tests/__init__.py": "", "b/tests/__init__.py": ""},
            {"a/tests/test_a.py": "tests.test_a", "b/tests/test_b.py": "tests.test_b"},
        ),
        ({"pytest.ini": "[pytest]\naddopts = -q --import-mode importlib\n"}, {"tests/test_a.py": "tests.test_a"}),
    ],
    ids=["alone", "in a package", "two", "two of one name", "two packages of one name", "as the project says"],
)
def test_a_test_module_has_the_name_that_it_has_in_its_project(files, names):
    environment = Environment("key", packages=(OURS,))
    tests = {path: NAMED.replace("{name}", name) for path, name in names.items()}
    run = run_pytest({**files, **tests}, list(tests), Settings(), environment=environment, verify=False)
    assert run.outcomes == {f"{path}::test_name": "passed" for path in tests}, run.output


@pytest.mark.slow
def test_plugins_that_are_not_installed_are_left_out_and_named():
    environment = Environment("key", packages=(OURS,), plugins=("absent",))
    files = {
        "pytest.ini": "[pytest]\naddopts = -p nowhere.plugin -p tests.needs\n",
        "tests/__init__.py": "",
        "tests/needs.py": "import absent_package\n",
        "tests/conftest.py": "pytest_plugins = ['other_absent']\n",
        "tests/test_a.py": "def test_a(): assert True\n\ndef test_needs(given): assert given\n",
    }
    run = run_pytest(files, ["tests/test_a.py"], Settings(), environment=environment, verify=False)
    assert run.outcomes == {"tests/test_a.py::test_a": "passed", "tests/test_a.py::test_needs": "error"}, run.output
    assert set(run.missing_plugins) == {"absent", "nowhere.plugin", "tests.needs", "other_absent"}
    assert "without its plugin nowhere.plugin" in run.output


@pytest.mark.slow
def test_a_plugin_of_the_repository_that_is_gone_is_a_failure():
    environment = Environment("key", packages=(OURS,))
    files = {"pytest.ini": "[pytest]\naddopts = -p tests.gone\n", "tests/__init__.py": ""}
    files |= {"tests/test_a.py": "def test_a(): assert True\n"}
    run = run_pytest(files, ["tests/test_a.py"], Settings(), environment=environment, verify=False)
    assert (run.outcomes, run.missing_plugins) == ({}, ()), run.output
    assert "No module named 'tests.gone'" in run.output


@pytest.mark.slow
def test_each_outcome_is_named():
    tests = """
import pytest

@pytest.fixture
def broken():
    raise OSError("no")

def test_passes(): assert True
def test_fails(): assert 1 == 2
def test_breaks(broken): pass
@pytest.mark.skip
def test_skips(): pass
@pytest.mark.xfail
def test_expected(): assert 1 == 2
"""
    run = run_pytest({"test_a.py": tests}, ["test_a.py"], Settings(), verify=False)
    assert {name.partition("::")[2]: outcome for name, outcome in run.outcomes.items()} == {
        "test_passes": "passed",
        "test_fails": "failed",
        "test_breaks": "error",
        "test_skips": "skipped",
        "test_expected": "skipped",
    }


@pytest.mark.slow
def test_servers_of_tests_can_listen_on_localhost():
    if reason := why_unavailable("bwrap"):
        pytest.skip(reason)
    tests = """
import socket

def test_localhost():
    server = socket.create_server(("localhost", 0))
    assert socket.create_connection(("localhost", server.getsockname()[1]), timeout=5)
"""
    assert run_pytest({"test_a.py": tests}, ["test_a.py"], Settings(sandbox="bwrap"), verify=False).passed
