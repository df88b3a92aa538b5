"""What a run takes at most while it lasts: processes, threads, and memory that is in no process's resident set."""

from __future__ import annotations

import os
import re
import subprocess
import tempfile
import threading
import time
from collections.abc import Callable
from concurrent.futures import ThreadPoolExecutor
from contextlib import suppress
from pathlib import Path
from subprocess import PIPE

import pytest
from support import hostile
from support.other_account import ACCOUNT
from support.small_disk import in_forks, mounted, own_mounts
from support.waiting import until

from repopilot.errors import Cancelled
from repopilot.sandbox import levels, supervise
from repopilot.sandbox.job_spec import MB, SandboxLimits
from repopilot.sandbox.levels import why_unavailable
from repopilot.sandbox.run import run_pytest
from repopilot.sandbox.supervise import run
from repopilot.sandbox.usage import kernel_memory
from repopilot.sandbox.usage.processes import descendants
from repopilot.settings import Settings
from repopilot.types import TestRun

pytestmark = pytest.mark.slow

FOLDER = Path(__file__, "../hostile").resolve()
LEVELS = ("bwrap", "landlock", "limits")
ENDLESS = ("queues_for_nobody", "makes_empty_files")
"""Those that may stay below the limit for as long as they run."""
OWN = 4
"""Processes of bubblewrap and the guard, and our own."""


class Peak(threading.Thread):
    """The most that a measurement says while the block lasts, above what it says at first."""

    def __init__(self, measure: Callable[[], int]) -> None:
        super().__init__(daemon=True)
        self._measure, self._over = measure, threading.Event()
        self._before = self._most = measure()

    def run(self) -> None:
        while not self._over.is_set():
            self._most = max(self._most, self._measure())
            time.sleep(0.001)

    def __enter__(self) -> Peak:
        self.start()
        return self

    def __exit__(self, *error: object) -> None:
        self._over.set()
        self.join()

    @property
    def rise(self) -> int:
        return self._most - self._before


def processes() -> int:
    """Below this one."""
    return len(descendants(os.getpid()))


def taken_memory() -> int:
    """Of the system, counted from anywhere but in processes: those of other programs take it and give it back."""
    anonymous = re.search(r"AnonPages: +(\d+) kB", Path("/proc/meminfo").read_text())
    return -(kernel_memory.available_memory() or 0) - (int(anonymous[1]) << 10 if anonymous else 0)


def run_hostile(name: str, level: str, seconds: float, cancel: threading.Event | None = None) -> TestRun:
    if reason := why_unavailable(level):
        pytest.skip(f"{level}: {reason}")
    files = {"hostile.py": (FOLDER / f"{name}.py").read_text(), "test_it.py": hostile.TEST}
    settings = Settings(sandbox=level, allow_weak_sandbox=True, test_timeout_s=seconds)
    run = run_pytest(files, ["test_it.py"], settings, verify=False, cancel=cancel)
    assert not run.passed
    return run


@pytest.mark.parametrize("level", LEVELS[:2])
def test_there_are_never_more_processes_than_the_limit(level):
    over = threading.Event()
    with Peak(processes) as peak, ThreadPoolExecutor(1) as pool:
        run = pool.submit(run_hostile, "forks_without_end", level, 200, over)
        until(lambda: peak.rise > 32 or run.done())
        over.wait(2)  # it goes on
        over.set()
        with suppress(Cancelled):  # on a busy machine another limit may have ended it first
            run.result()
    assert 32 < peak.rise <= SandboxLimits().processes + OWN


@pytest.mark.parametrize("level", LEVELS)
@pytest.mark.parametrize("name", hostile.HIDING)
@pytest.mark.sampled(4)
def test_memory_outside_of_processes_counts(name, level):
    with Peak(taken_memory) as peak:
        run = run_hostile(name, level, 5 if name in ENDLESS else 60)
    assert run.ended in ("memory", "disk") or name in ENDLESS
    # Twice the limit leaves room for what other programs of the machine take meanwhile.
    assert peak.rise < 2 * SandboxLimits().memory


def test_deleted_files_count():
    assert run_hostile("keeps_deleted_files", "landlock", 12).ended == "disk"


def test_threads_are_bounded_and_an_ordinary_number_is_not():
    tests = """
import threading

def test_threads():
    gate = threading.Barrier(40)
    threads = [threading.Thread(target=gate.wait) for _ in range(39)]
    for thread in threads:
        thread.start()
    gate.wait()
    for thread in threads:
        thread.join()
    assert not any(thread.is_alive() for thread in threads)
"""
    assert run_pytest({"test_a.py": tests}, ["test_a.py"], Settings(), verify=False).passed


def test_sockets_and_temporary_files_are_counted():
    """An ordinary use of both is no reason to end a run, and buffers have the size they always have."""
    tests = """
import os, socket, tempfile

def test_sockets():
    pairs = [socket.socketpair() for _ in range(16)]
    pairs[0][0].setsockopt(socket.SOL_SOCKET, socket.SO_SNDBUF, 1 << 24)
    assert pairs[0][0].getsockopt(socket.SOL_SOCKET, socket.SO_SNDBUF) < 1 << 20
    with tempfile.TemporaryFile() as file:
        file.write(b"x" * (10 << 20))
        assert file.tell() == 10 << 20
"""
    assert run_pytest({"test_a.py": tests}, ["test_a.py"], Settings(), verify=False).passed


def test_what_is_measured_of_this_process():
    import socket

    me = {os.getpid()}
    before = kernel_memory.open_files(me)
    pair = socket.socketpair()
    assert kernel_memory.open_files(me).sockets == before.sockets + 2
    for end in pair:
        end.close()
    assert kernel_memory.page_tables(me) > 0
    assert kernel_memory.own_network(me) is None
    assert kernel_memory.temporary_files(me) == 0
    assert (kernel_memory.available_memory() or 0) > 10 * MB


@own_mounts
def test_temporary_file_systems_of_ours_are_not_counted_for_a_run():
    """A process that has just got mounts of its own still has ours; folders of ours may be bound into its root."""
    with tempfile.TemporaryDirectory(dir="/dev/shm") as folder:
        Path(folder, "ours").write_bytes(bytes(32 * MB))
        ready = "echo; exec cat"
        mounts = (f"mkdir {folder}/a {folder}/b", f"mount -t tmpfs own {folder}/a", f"mount --bind {folder} {folder}/b")
        for mount, theirs in (("true", 0), ("; ".join((*mounts, f"head -c 2M /dev/zero > {folder}/a/theirs")), 2 * MB)):
            with subprocess.Popen([*mounted(mount), "sh", "-c", ready], stdin=PIPE, stdout=PIPE) as process:
                assert process.stdout.readline() == b"\n"
                assert theirs <= kernel_memory.temporary_files({process.pid}) <= theirs + MB // 8
                process.stdin.close()


def test_a_process_that_has_ended_is_charged_with_no_files():
    """An ordinary user can't look into one, and it counted as much as all files that a process may have: 70 MB."""

    def look(_: int) -> None:
        if os.geteuid() == 0:
            os.setuid(ACCOUNT)
        if (ended := os.fork()) == 0:
            os._exit(0)
        os.waitid(os.P_PID, ended, os.WEXITED | os.WNOWAIT)
        assert kernel_memory.open_files({ended}).unreadable == 0

    in_forks(look, [0])


def test_what_runs_into_a_limit_is_not_run_again(monkeypatch):
    tests = "def test_good():\n    assert 1 + 1 == 2\n\n\ndef test_never_ends():\n    while True:\n        pass\n"
    levels.level(Settings())  # its probe is a run as well
    started: list[object] = []
    monkeypatch.setattr(supervise, "run", lambda *given: started.append(given) or run(*given))
    ended = run_pytest({"test_a.py": tests}, ["test_a.py"], Settings(test_timeout_s=6))
    assert (ended.ended, ended.genuine, ended.failed, len(started)) == ("timeout", False, 0, 1)
