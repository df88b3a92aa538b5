"""run_pytest with real sandboxes: results, failures, limits, bad input, cancelling."""

from __future__ import annotations

import re
import threading

import pytest
from support.more_tests import MORE_TESTS

from repopilot.errors import Cancelled, SandboxError
from repopilot.i18n import Message, translated
from repopilot.sandbox import levels
from repopilot.sandbox.failures import missing_modules
from repopilot.sandbox.levels import why_unavailable
from repopilot.sandbox.run import run_pytest
from repopilot.settings import Settings

pytestmark = pytest.mark.slow

SETTINGS = Settings()
NOTICED = "no test fails when faults are injected into the code under test"


def run(code: str, tests: str, settings: Settings = SETTINGS, **more):
    return run_pytest({"solution.py": code, "test_solution.py": tests}, ["test_solution.py"], settings, **more)


def test_every_kind_of_honest_test_passes_genuinely():
    code = "def double(x):\n    if x is None:\n        raise ValueError('none')\n    return x * 2\n"
    tests = """
import asyncio, unittest, os, pathlib, pytest
from solution import double

def check(value, expected):
    assert double(value) == expected

def test_through_a_helper():
    check(2, 4)

@pytest.mark.parametrize("value,expected", [(1, 2), ("a", "aa")])
def test_parameters(value, expected):
    assert double(value) == expected

def test_raises():
    with pytest.raises(ValueError, match="none"):
        double(None)

async def test_async():
    await asyncio.sleep(0)
    assert double(3) == 6

def test_files(tmp_path):
    (tmp_path / "a").write_text("x")
    pathlib.Path("beside").write_text("y")
    assert (tmp_path / "a").read_text() == "x"

def test_output(capsys):
    print("hello")
    assert capsys.readouterr().out == "hello\\n"

@pytest.mark.skip(reason="not today")
def test_later():
    assert False

class TestGroup:
    @pytest.fixture
    def four(self):
        return 4

    def test_fixture(self, four):
        assert double(2) == four

class Checks(unittest.TestCase):
    def setUp(self):
        self.value = 3

    def test_unit(self):
        self.assertEqual(double(self.value), 6)
        for x in (1, 2):
            with self.subTest(x=x):
                self.assertEqual(double(x), x + x)
"""
    result = run(code, tests)
    assert result.genuine, (result.reasons, result.output)
    assert (result.passed, result.failed, result.errors) == (9, 0, 0)


def test_failures_say_what_and_where():
    result = run(
        "def half(x):\n    return x / 0\n",
        """
from solution import half

def test_wrong():
    assert 1 == 2, "so wrong"

def test_raises():
    assert half(4) == 2
""",
        verify=False,
    )
    assert (result.passed, result.failed, result.genuine) == (0, 2, False)
    wrong, raises = result.failures
    assert wrong.test_id == "test_solution.py::test_wrong"
    assert "so wrong" in wrong.assertion
    assert (wrong.path, wrong.line) == ("test_solution.py", 5)
    assert "ZeroDivisionError" in raises.assertion
    assert (raises.path, raises.line) == ("solution.py", 2)
    assert "2>     return x / 0" in raises.lines
    assert "test_solution.py:5" in result.output


def test_tests_in_folders_and_a_source_folder():
    files = {
        "src/package/__init__.py": "",
        "src/package/core.py": "VALUE = 3\n",
        "tests/__init__.py": "",
        "tests/common.py": "EXPECTED = 3\n",
        "tests/test_core.py": "from package.core import VALUE\nfrom .common import EXPECTED\n\ndef test_it():\n"
        "    assert VALUE == EXPECTED\n" + MORE_TESTS,
    }
    result = run_pytest(files, ["tests/test_core.py"], SETTINGS)
    assert result.genuine, result.output


def test_a_package_of_a_larger_repository_is_importable_from_its_tests():
    files = {
        "packages/api/pyproject.toml": "[project]\nname = 'api'\n",
        "packages/api/src/api/__init__.py": "",
        "packages/api/src/api/prices.py": "VALUE = 3\n",
        "packages/api/tests/test_prices.py": "from api.prices import VALUE\n\n\ndef test_it():\n    assert VALUE == 3",
    }
    result = run_pytest(files, ["packages/api/tests/test_prices.py"], SETTINGS, verify=False)
    assert result.passed == 1, result.output


def test_a_repository_lies_under_the_files_and_stays_as_it_is(tmp_path):
    (tmp_path / "data").mkdir()
    (tmp_path / "data" / "n.txt").write_text("7")
    (tmp_path / "solution.py").write_text("raise SystemExit('the old one')\n")
    (tmp_path / "test_old.py").write_text(
        "import solution\n\ndef test_data():\n    assert solution.read() == 7\n\ndef test_read_only():\n"
        "    import pytest\n    with pytest.raises(OSError):\n        open('data/n.txt', 'w')\n" + MORE_TESTS
    )
    (tmp_path / "out").symlink_to("/etc")
    files = {"solution.py": "def read():\n    return int(open('data/n.txt').read())\n"}
    result = run_pytest(files, ["test_old.py"], SETTINGS, inputs=tmp_path)
    assert result.genuine, result.output
    assert (tmp_path / "solution.py").read_text().startswith("raise")


WRITING = """import pathlib
import pytest
from solution import double

@pytest.fixture
def beside():
    path = pathlib.Path(__file__).parent / "beside.txt"
    path.write_text("2")
    yield path
    path.unlink()

def test_reads():
    assert double(2) == 4

def test_writes(beside):
    assert double(int(beside.read_text())) == 4

def test_overwrites():
    pathlib.Path("data.txt").write_text("3")
    assert double(int(pathlib.Path("data.txt").read_text())) == 6

def test_is_wrong():
    pathlib.Path("data.txt").write_text("3")
    assert double(3) == WRONG
"""


@pytest.mark.parametrize("level", ["bwrap", "landlock"])
@pytest.mark.parametrize("wrong", [6, 7])
@pytest.mark.sampled(1)
def test_tests_that_write_into_the_repository_run_in_a_copy_and_are_not_controlled(level, wrong, tmp_path):
    if reason := why_unavailable(level):
        pytest.skip(reason)
    (tmp_path / "data.txt").write_text("1")
    (tmp_path / "test_a.py").write_text(WRITING.replace("WRONG", str(wrong)))
    files = {"solution.py": "def double(number):\n    return number * 2\n"}
    result = run_pytest(files, ["test_a.py"], Settings(sandbox=level), inputs=tmp_path)
    assert result.outcomes == {
        "test_a.py::test_reads": "passed",
        "test_a.py::test_writes": "passed",
        "test_a.py::test_overwrites": "passed",
        "test_a.py::test_is_wrong": "passed" if wrong == 6 else "failed",
    }, result.output
    assert (result.passed, result.failed, result.errors) == (4 if wrong == 6 else 3, 0 if wrong == 6 else 1, 0)
    assert not result.genuine and len(result.apart) == 3
    assert "not controlled" in result.reasons[-1] and "test_writes" in result.reasons[-1]
    assert (tmp_path / "data.txt").read_text() == "1"
    assert "/sandbox/" not in result.output and str(tmp_path) not in result.output


def test_missing_dependencies_are_named():
    tests = "from solution import x\n\ndef test_it():\n    assert x\n"
    result = run("import numbers_from_nowhere.deep\n", tests, verify=False)
    assert (result.passed, result.errors) == (0, 1)
    assert missing_modules(result) == ("numbers_from_nowhere",)
    assert "missing in the sandbox: numbers_from_nowhere" in result.output
    own = run_pytest({"test_a.py": "import pkg.gone\n", "pkg/__init__.py": ""}, ["test_a.py"], SETTINGS, verify=False)
    assert missing_modules(own, ["test_a.py", "pkg/__init__.py"]) == ()


@pytest.mark.parametrize(
    ("tests", "reason"),
    [
        ("def test_it(:\n", "not valid Python"),
        ("x = 1\n", "no test"),
        ("", "no test"),
        ("def test_it():\n    pass\n\nimport pytest\npytest.skip('all', allow_module_level=True)\n", "not reported"),
    ],
)
def test_tests_that_test_nothing_are_no_pass(tests, reason):
    result = run("", tests)
    assert not result.genuine
    assert any(reason in text for text in result.reasons), result.reasons
    assert all(isinstance(text, Message) and translated(text, "fr") != text for text in result.reasons)


def test_an_endless_program_is_stopped_and_reported():
    result = run(
        "while True:\n    pass\n", "import solution\n\ndef test_it():\n    assert 1\n", Settings(test_timeout_s=2)
    )
    assert (result.ended, result.genuine, result.passed) == ("timeout", False, 0)
    assert "longer than 2 s" in result.output
    assert [translated(reason, "fr") for reason in result.reasons] == ["arrêté\u202f: durée supérieure à 2\u202fs"]


def test_cancelling_ends_the_run():
    cancel = threading.Event()
    threading.Timer(1.0, cancel.set).start()
    with pytest.raises(Cancelled):
        run(
            "import time\ntime.sleep(600)\n",
            "import solution\n\ndef test_it():\n    pass\n",
            Settings(test_timeout_s=120),
            cancel=cancel,
        )


@pytest.mark.parametrize("path", ["../outside.py", "/absolute.py", "a/../../b.py", ""])
def test_paths_that_leave_the_folder_are_refused(path):
    with pytest.raises(SandboxError):
        run_pytest({path: "x", "test_a.py": ""}, ["test_a.py"], SETTINGS)


def test_tests_that_are_not_there_or_not_python_are_refused():
    for name in ("test_gone.py", "test.js"):
        with pytest.raises(SandboxError):
            run_pytest({"a.py": "", "test.js": ""}, [name], SETTINGS)


def test_modules_named_like_ours_are_the_codes_own():
    files = {
        "report.py": "WHO = 'mine'\n",
        "confine.py": "WHO = 'mine'\n",
        "test_a.py": "import report, confine\n\ndef test_it():\n    assert report.WHO == confine.WHO == 'mine'\n",
    }
    assert run_pytest(files, ["test_a.py"], SETTINGS, verify=False).passed == 1


def test_every_run_sees_the_same_names_times_and_numbers_of_files():
    """All that the code under test sees of its surroundings, told by what it finds: the same in each of eleven runs."""
    tests = """
import os, pathlib, hashlib
from solution import double

def seen():
    here = pathlib.Path(__file__).parent
    files = sorted((str(p.relative_to(here)), p.stat().st_mtime, p.stat().st_size, p.stat().st_nlink)
                   for p in here.rglob("*"))
    variables = sorted((name, len(value)) for name, value in os.environ.items())
    return hashlib.sha256(repr((files, variables, os.getcwd(), os.listdir("."))).encode()).hexdigest()[:16]

def test_sees():
    found = seen()
    assert found == "{digest}"

def test_doubles():
    assert double(2) == 4
"""
    code = "def double(x):\n    return x * 2\n"
    found = run(code, tests.replace("{digest}", "0" * 16), verify=False)
    digest = re.search(r"[0-9a-f]{16}", found.failures[0].assertion)
    assert digest
    assert run(code, tests.replace("{digest}", digest[0])).genuine


def test_code_whose_faults_no_test_notices_is_not_verified():
    code = "def double(x):\n    return x * 2\n"
    result = run(code, "import solution\n" + MORE_TESTS)
    assert (result.passed, result.genuine) == (17, False)
    assert result.reasons == ("no test fails when faults are injected into the code under test",)


@pytest.mark.parametrize(
    "conftest",
    [
        "def pytest_pyfunc_call(pyfuncitem):\n    return None\n",
        "import _pytest.runner\n",
        "from _pytest import assertion\n",
        "from _pytest.reports import TestReport\n",
    ],
)
def test_a_conftest_that_takes_part_in_how_tests_are_run_is_not_verified(conftest):
    files = {"conftest.py": conftest, "test_a.py": "def test_it():\n    assert len('ab') == 2\n"}
    result = run_pytest(files, ["test_a.py"], SETTINGS)
    assert (result.passed, result.genuine) == (1, False)
    assert "conftest.py, line 1, can change how tests are run" in result.reasons[0]


def test_an_ordinary_conftest_is_no_reason_for_doubt():
    ordinary = "import pytest\n\n@pytest.fixture\ndef two():\n    return 2\n\ndef pytest_configure(config):\n    pass\n"
    tests = "def test_it(two):\n    assert len('ab') == 2\n" + MORE_TESTS
    assert run_pytest({"conftest.py": ordinary, "test_a.py": tests}, ["test_a.py"], SETTINGS).reasons in (
        (),
        (NOTICED,),
    )


def test_levels_by_name():
    assert levels.level(Settings(sandbox="auto")) in levels.STRONG
    assert levels.level(Settings(sandbox="limits", allow_weak_sandbox=True)) == "limits"
    for settings in (Settings(sandbox="limits"), Settings(sandbox="seatbelt"), Settings(sandbox="jail")):
        with pytest.raises(SandboxError) as caught:
            levels.level(settings)
        assert caught.value.hint


def test_without_a_strong_level_consent_is_needed(monkeypatch):
    monkeypatch.setattr(levels, "STRONG", ("seatbelt",))
    with pytest.raises(SandboxError, match="seatbelt: not on this system"):
        levels.level(Settings())
    assert levels.level(Settings(allow_weak_sandbox=True)) == "limits"


def test_long_output_keeps_its_beginning_and_its_end():
    tests = "def test_it():\n    print('first')\n    print('x' * 3_000_000)\n    print('last')\n    assert False\n"
    result = run("", tests, verify=False)
    assert (result.ended, result.failed) == ("finished", 1)
    assert len(result.output) < 400_000
    assert "bytes left out" in result.output
    assert "first" in result.output
    assert "last" in result.output
    assert "1 failed" in result.output
