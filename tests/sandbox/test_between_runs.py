"""What one run could tell a later one, or one could find out about another: each way is closed, and none would help."""

from __future__ import annotations

import contextlib
import random
import tempfile
import threading
from pathlib import Path

import pytest

from repopilot.sandbox import levels
from repopilot.sandbox.control_plan import plan_controls, plan_decoys
from repopilot.sandbox.run import run_pytest
from repopilot.sandbox.verdict import RunReport, TestOutcome
from repopilot.settings import Settings

HONEST = "def add(a, b):\n    return a + b\n"
TESTS = "from solution import add\n\n"
TESTS += "".join(f"\ndef test_{n}():\n    assert add({n}, 1) == {n + 1}\n" for n in range(3))
LOOK = """
import os

def state():
    found = []
    for name in ("vmstat", "meminfo", "stat", "loadavg", "sys/fs/dentry-state", "sys/fs/inode-nr"):
        with open("/proc/" + name) as file:
            found.append(file.read())
    for name in ("fs", "pressure"):
        found.append(os.listdir("/proc/" + name))
    return found

def test_state():
    import sys
    state()
    print("STATE", state())
    for _ in range(20000):
        os.path.exists("/usr/missing-" + os.urandom(8).hex())
    print("STATE", state())
"""
SOCKET = """
import socket

def test_socket():
    with socket.socket(socket.AF_UNIX) as new:
        assert new.getsockopt(socket.SOL_SOCKET, socket.SO_TYPE) == socket.SOCK_STREAM
        for option in (57, 71):
            try:
                new.getsockopt(socket.SOL_SOCKET, option, 8)
            except PermissionError:
                continue
            raise AssertionError(option)
"""


def bubblewrap() -> Settings:
    if reason := levels.why_unavailable("bwrap"):
        pytest.skip(f"bwrap: {reason}")
    return Settings(sandbox="bwrap")


class Watch(threading.Thread):
    """The texts of the tests of each run, in order, as they lie in its folder."""

    def __init__(self, folder: Path) -> None:
        super().__init__(daemon=True)
        self._folder, self._texts, self._over = folder, dict[str, str](), threading.Event()

    def run(self) -> None:
        while not self._over.wait(0.003):
            for work in self._folder.glob("repopilot-*/work"):
                if work.parent.name not in self._texts:
                    with contextlib.suppress(OSError):  # the run is over
                        self._texts[work.parent.name] = (work.parent / "repo/test_a.py").read_text()

    def texts(self) -> list[str]:
        self._over.set()
        self.join()
        return list(self._texts.values())


def runs_of(folder: Path, monkeypatch, code: str) -> tuple:
    settings = Settings()
    levels.level(settings)  # its probe has a folder as well
    monkeypatch.setattr(tempfile, "tempdir", str(folder))
    watch = Watch(folder)
    watch.start()
    run = run_pytest({"solution.py": code, "test_a.py": TESTS}, ["test_a.py"], settings)
    return run, watch.texts()


@pytest.mark.slow
def test_the_tests_as_they_are_do_not_come_first(tmp_path, monkeypatch):
    run, texts = runs_of(tmp_path, monkeypatch, HONEST)
    assert (run.genuine, run.passed, run.reasons) == (True, 3, ())
    assert [text != TESTS for text in texts[:3]] == [True, True, False]


@pytest.mark.slow
def test_what_fails_anyway_is_run_twice_more_at_most(tmp_path, monkeypatch):
    run, texts = runs_of(tmp_path, monkeypatch, HONEST.replace("+", "-"))
    assert (run.genuine, run.failed) == (False, 3)
    assert len(texts) <= 3
    assert texts[-1] == TESTS


def test_every_decoy_has_something_wrong_where_there_are_several_tests():
    for seed in range(50):
        decoys = plan_decoys({"test_a.py": TESTS}, (), random.Random(seed))
        assert len(decoys) == 2
        assert all(decoy.fail and decoy.texts["test_a.py"] != TESTS for decoy in decoys)
    assert plan_decoys({"test_a.py": "def test_a():\n    return 1\n"}, (), random.Random(0)) == ()


def test_decoys_of_tests_that_are_skipped_do_not_count():
    ids = [f"test_a.py::test_{n}" for n in range(3)]
    outcomes = {ids[0]: (TestOutcome(ids[0], "call", "passed"),)}
    outcomes |= {test: (TestOutcome(test, "setup", "skipped"),) for test in ids[1:]}
    report = RunReport(tuple(group[0] for group in outcomes.values()), 0, 0, outcomes)
    for seed in range(20):
        rng = random.Random(seed)
        decoys = plan_decoys({"test_a.py": TESTS}, (), rng)
        plan = plan_controls({"test_a.py": TESTS}, report, (), rng, decoys)
        assert sum(ids[0] in control.fail for control in (*decoys, *plan)) >= 2


@pytest.mark.slow
def test_counters_of_the_machine_stand_still():
    states = set()
    for _ in range(2):
        run = run_pytest({"test_a.py": LOOK + "    assert 0\n"}, ["test_a.py"], bubblewrap(), verify=False)
        states |= {line for line in run.output.splitlines() if line.startswith("STATE")}
    assert len(states) == 1
    assert "MemTotal" in states.pop()


@pytest.mark.slow
def test_numbers_of_sockets_are_not_told():
    run = run_pytest({"test_a.py": SOCKET}, ["test_a.py"], bubblewrap(), verify=False)
    assert run.passed == 1, run.output


@pytest.mark.slow
def test_times_of_devices_are_not_kept():
    look = "import os\n\ndef test_look():\n    print('TIME', os.stat('/dev/null').st_mtime_ns)\n"
    touch = look.replace("    print", "    os.utime('/dev/null')\n    print")
    times = []
    for source in (touch, look):
        run = run_pytest({"test_a.py": source + "    assert 0\n"}, ["test_a.py"], bubblewrap(), verify=False)
        times += [line for line in run.output.splitlines() if line.startswith("TIME")]
    assert len(set(times)) == 2
    assert Path("/dev/null").is_char_device()


SHARED = "def clean(box):\n    assert len(box) == 0\n\n\ndef test_clean():\n    clean([])\n"


@pytest.mark.parametrize(
    "imports",
    [
        "from test_shared import clean\n",
        "from tests.test_shared import (\n    clean,\n)\n",
        "from .test_shared import *\n",
        "from tests import test_shared\n\nclean = test_shared.clean\n",
    ],
)
def test_a_wrong_expectation_of_a_function_that_other_test_files_import_may_fail_their_tests(imports):
    sources = {
        "tests/test_shared.py": SHARED,
        "tests/test_user.py": f"{imports}\n\ndef test_user():\n    clean([])\n",
        "tests/test_other.py": "import os\n\n\ndef test_other():\n    os.getcwd()\n",
    }
    controls = [each for seed in range(20) for each in plan_decoys(sources, (), random.Random(seed))]
    wrong = [each for each in controls if each.fail]
    assert wrong and all(each.fail == {"tests/test_shared.py::test_clean"} for each in wrong)
    assert all(each.may_fail == {"tests/test_user.py::test_user"} for each in wrong)


@pytest.mark.slow
def test_tests_that_share_a_checking_function_are_verified():
    user = "from test_shared import clean\nfrom solution import add\n\n\ndef test_user():\n    clean([])\n"
    user += "    assert add(1, 1) == 2\n"
    files = {"solution.py": HONEST, "test_shared.py": SHARED, "test_user.py": user}
    run = run_pytest(files, ["test_shared.py", "test_user.py"], bubblewrap())
    assert run.genuine, run.reasons
