"""The levels themselves: the system call filter as a program, ordinary users, and the death of the application."""

from __future__ import annotations

import functools
import os
import shutil
import signal
import subprocess
import sys
from importlib.util import find_spec
from pathlib import Path

import pytest
from support import hostile
from support.waiting import PATIENCE_S, until

from repopilot.sandbox.inside import seccomp
from repopilot.sandbox.isolation import seatbelt
from repopilot.sandbox.job_spec import SandboxJob
from repopilot.sandbox.levels import why_unavailable

ROOT = Path(__file__, "../../..").resolve()
ALLOW, REFUSE, PRETEND = 0x7FFF0000, 0x50001, 0x50000
AUDIT = {"x86_64": 0xC000003E, "aarch64": 0xC00000B7}
STRONG = ("bwrap", "landlock")


def answer(program, machine, number, *arguments):
    """Interpret the filter for one system call, as the kernel would."""
    data = {0: number, 4: AUDIT.get(machine, 0), **{16 + 8 * i: value for i, value in enumerate(arguments)}}
    position, value = 0, 0
    while True:
        code, when_true, when_false, operand = program[position]
        if code == 0x06:
            return operand
        if code == 0x20:
            value = data.get(operand, 0)
            position += 1
            continue
        matches = {0x15: value == operand, 0x35: value >= operand, 0x45: bool(value & operand)}[code]
        position += 1 + (when_true if matches else when_false)


@pytest.mark.parametrize(("machine", "column"), [("x86_64", 0), ("aarch64", 1)])
def test_the_filter(machine, column):
    apart = seccomp.program(machine, namespaces=True, landlock_abi=0)
    shared = seccomp.program(machine, namespaces=False, landlock_abi=7)
    old = seccomp.program(machine, namespaces=False, landlock_abi=2)
    fcntl, prctl, setsockopt = ((72, 25)[column], (157, 167)[column], (54, 208)[column])
    socket, clone, ioctl = ((41, 198)[column], (56, 220)[column], (16, 29)[column])
    chmod, kill, prlimit = ((91, 52)[column], (62, 129)[column], (302, 261)[column])
    read, mount, truncate = ((0, 63)[column], (165, 40)[column], (76, 45)[column])
    for program in (apart, shared, old):
        assert len(program) < 4096
        assert answer(program, machine, read) == ALLOW
        assert answer(program, machine, mount) == REFUSE
        assert answer(program, machine, clone, 0x10000000 | 17) == REFUSE  # a user namespace
        assert answer(program, machine, clone, 0x003D0F00) == ALLOW  # a thread
        assert answer(program, machine, ioctl, 0, 0x5412) == REFUSE  # typing into the terminal
        assert answer(program, machine, ioctl, 0, 0x5401) == ALLOW
        assert answer(program, "mips", read) == 0x80000000
        assert answer(program, machine, (221, 223)[column]) == PRETEND  # to throw a file out of the page cache
        assert answer(program, machine, 451) == REFUSE  # to ask what is in it
        assert answer(program, machine, fcntl, 3, 1031) == REFUSE  # a larger pipe
        assert answer(program, machine, fcntl, 3, 2) == ALLOW
        assert [answer(program, machine, prctl, option) for option in (4, 15)] == [PRETEND, ALLOW]
        sizes = [answer(program, machine, setsockopt, 3, 1, option) for option in (7, 8, 32, 33, 2)]
        assert sizes == [PRETEND] * 4 + [ALLOW]
        assert answer(program, machine, setsockopt, 3, 6, 7) == ALLOW  # of TCP
    assert [answer(apart, machine, socket, family) for family in (1, 2, 10, 16, 40)] == [ALLOW] * 3 + [REFUSE] * 2
    assert [answer(shared, machine, socket, family) for family in (1, 2, 10, 16, 40)] == [REFUSE] * 5
    assert answer(shared, machine, chmod) == PRETEND
    assert answer(apart, machine, chmod) == ALLOW
    assert [answer(shared, machine, prlimit, pid) for pid in (0, 4711)] == [ALLOW, REFUSE]
    assert [answer(program, machine, kill, 4711) for program in (shared, old)] == [ALLOW, REFUSE]
    assert [answer(program, machine, truncate) for program in (shared, old)] == [ALLOW, REFUSE]


def test_an_unknown_machine_has_no_filter():
    with pytest.raises(OSError, match="no seccomp table"):
        seccomp.program("sparc", namespaces=True, landlock_abi=0)


RUN = """
import sys
from repopilot.sandbox.run import run_pytest
from repopilot.settings import Settings
files = {"solution.py": sys.argv[2], "test_a.py": "from solution import f\\n\\ndef test_a():\\n    assert f() == 3\\n"}
run = run_pytest(files, ["test_a.py"], Settings(sandbox=sys.argv[1], test_timeout_s=float(sys.argv[3])))
print(run.level, run.genuine, run.passed, run.ended, run.reasons)
"""


def open_to_everybody() -> dict[str, str]:
    """The environment in which a user without any rights would import our packages."""
    packages = Path(find_spec("pydantic").origin).parents[1]
    return {"PYTHONPATH": f"{ROOT}:{packages}", "PATH": os.environ["PATH"]}


@functools.cache
def python_of_everybody() -> str | None:
    """An interpreter that a user without any rights can start, with our packages."""
    for program in (sys.executable, shutil.which("python3.11", path="/usr/bin") or "", "/usr/bin/python3"):
        again = (
            "import subprocess, sys, repopilot, pydantic; assert sys.version_info >= (3, 11); "
            "subprocess.run([sys.executable, '-c', ''], check=True)"
        )
        command = ordinary(program, "-c", again)
        environment = open_to_everybody()
        if program and subprocess.run(command, env=environment, cwd="/", capture_output=True).returncode == 0:
            return program
    return None


def ordinary(*command: str) -> list[str]:
    return ["setpriv", "--reuid=61000", "--regid=61000", "--clear-groups", *command]


@pytest.mark.slow
@pytest.mark.skipif(os.geteuid() != 0 or not shutil.which("setpriv"), reason="the other tests run as an ordinary user")
@pytest.mark.parametrize("level", STRONG)
@pytest.mark.parametrize(
    ("code", "expected"),
    [
        ("import os\nwhile True:\n    os.fork()\n", "False 0"),
        ("def f():\n    return open('/etc/passwd').read() and 3\n", "False 0 finished"),
        ("import os\ndef f():\n    return 3 + os.path.exists('/etc/passwd')\n", "True 1 finished ()"),
    ],
)
@pytest.mark.sampled(2)
def test_ordinary_users_have_the_same_levels(level, code, expected, tmp_path):
    if reason := why_unavailable(level):
        pytest.skip(reason)
    program = python_of_everybody()
    if program is None:
        pytest.skip("an ordinary user can't read this checkout or start its interpreter")
    environment = open_to_everybody() | {"HOME": str(tmp_path)}
    done = subprocess.run(
        ordinary(program, "-B", "-c", RUN, level, code, "8" if "fork" in code else "60"),
        capture_output=True,
        text=True,
        env=environment,
        cwd="/",
        timeout=PATIENCE_S,
        check=False,
    )
    assert done.stdout.startswith(f"{level} {expected}"), done.stdout + done.stderr[-2000:]


@pytest.mark.slow
@pytest.mark.parametrize("level", STRONG)
def test_nothing_outlives_the_application(level, tmp_path):
    if reason := why_unavailable(level):
        pytest.skip(reason)
    mark = "mark" + os.urandom(8).hex()
    code = (
        f"import subprocess, sys, time\nsubprocess.Popen([sys.executable, '-c', 'import time; time.sleep(600)', "
        f"'{mark}'], start_new_session=True)\ntime.sleep(600)\n"
    )
    with subprocess.Popen([sys.executable, "-c", RUN, level, code, "200"], cwd=ROOT) as application:
        until(lambda: hostile.processes_with(mark, wait=False))
        application.send_signal(signal.SIGKILL)
    assert not hostile.processes_with(mark)


def test_the_macos_profile_denies_by_default(tmp_path):
    """All that can be said of it on Linux."""
    profile = seatbelt.profile(SandboxJob(tmp_path / 'a "quoted" folder', tmp_path / "work"))
    assert profile.startswith("(version 1)\n(deny default)\n")
    assert "network" not in profile
    assert profile.count("file-write*") == 1
    assert f'(allow file-write* (subpath "{tmp_path}/work")' in profile
    assert r"a \"quoted\" folder" in profile
    assert profile.count("(") == profile.count(")")
