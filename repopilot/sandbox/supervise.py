"""Runs one command and limits what it and all its descendants use. None of these processes is left afterwards.

Time, output, processes, memory and disk are watched from outside, because limits set inside count per process only.
"""

from __future__ import annotations

import contextlib
import os
import signal
import subprocess
import sys
import threading
import time
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import IO

from repopilot import i18n
from repopilot.errors import Cancelled, SandboxError
from repopilot.redaction.redact import redacted
from repopilot.sandbox.job_spec import MB, SandboxLimits
from repopilot.sandbox.output.plain_text import plain
from repopilot.sandbox.usage import kernel_memory
from repopilot.sandbox.usage.processes import descendants, disk_use, memory, tasks
from repopilot.types import Ended

_POLL_S = 0.03
_MAX_POLL_S = 0.25
_GLANCE_S = 0.01
_DISK_EVERY = 10  # polls
_OWN_PROCESSES = 3
"""bubblewrap's two processes and the guard, which don't count towards the limit."""
_CROWDED = 0.9
"""A poll counts as crowded from this share of the allowed processes and threads."""
_MOST_CROWDED = 8
"""A run is stopped after more than this many crowded polls in a row."""
_LEFT_TO_OTHERS = 192 * MB
"""A run is stopped when the system has less memory available than this and lost much of it during the run, no matter to
whom."""
_KEPT_HEAD = 64 * 1024
_KEPT_TAIL = 192 * 1024
_GUARD = (sys.executable, "-I", str(Path(__file__).with_name("inside") / "guarded.py"))
_REPORT_CAP = 16 * 1024 * 1024


@dataclass(frozen=True, slots=True)
class RunOutcome:
    """How a command ended.

    Attributes:
        status: its exit status; negative for a signal.
        ended: `finished`, or the limit that it exceeded.
        output: standard output and error, shortened in the middle, without terminal escapes.
        report: what was written to the extra pipe.
        seconds: wall time.
    """

    status: int
    ended: Ended
    output: str
    report: bytes
    seconds: float


def why_stopped(outcome: RunOutcome, limits: SandboxLimits) -> str:
    """The message for a command that exceeded a limit."""
    values = {
        "timeout": limits.seconds,
        "memory": limits.memory // MB,
        "processes": limits.processes,
        "output": limits.output // MB,
        "disk": limits.disk // MB,
    }
    return i18n.message(f"sandbox.stopped.{outcome.ended}", limit=values.get(outcome.ended, 0))


@dataclass(frozen=True, slots=True)
class SandboxCommand:
    """A command to supervise.

    Attributes:
        arguments: program and arguments.
        environment: its complete environment.
        standard_input: what it reads.
        folder: the writable folder whose size counts as disk use.
        marker: a text in the environment that identifies processes that left the group and lost their parents.
        starts_in: the folder it is started in, None for ours.
    """

    arguments: Sequence[str]
    environment: Mapping[str, str]
    standard_input: bytes
    folder: Path
    marker: str
    starts_in: Path | None = None


def guarded(arguments: Sequence[str]) -> list[str]:
    """The command that runs a program (its full path first) so that it ends with this process, even if this is killed.

    Only Linux signals the death of a parent process; elsewhere the command is the program itself.
    """
    return [*_GUARD, *arguments] if sys.platform == "linux" else list(arguments)


class _Drain(threading.Thread):
    """Reads a pipe to its end, so that the writer never blocks, and keeps only the first and the last part."""

    def __init__(self, pipe: IO[bytes], head: int, tail: int) -> None:
        super().__init__(daemon=True)
        self._pipe = pipe
        self._head_size = head
        self._tail_size = tail
        self.total = 0
        self._head = bytearray()
        self._tail = bytearray()
        self.start()

    def run(self) -> None:
        while piece := self._read():
            self.total += len(piece)
            space = self._head_size - len(self._head)
            self._head += piece[:space]
            self._tail += piece[space:] if space > 0 else piece
            if len(self._tail) > 2 * self._tail_size:
                del self._tail[: len(self._tail) - self._tail_size]

    def _read(self) -> bytes:
        try:
            return self._pipe.read(65536)
        except (OSError, ValueError):  # closed here, because a process that can't be killed has the other end open
            return b""

    def shortened(self) -> bytes:
        tail = self._tail[-self._tail_size :] if self._tail_size else b""
        left_out = self.total - len(self._head) - len(tail)
        gap = f"\n… {left_out} bytes left out …\n".encode() if left_out else b""
        return bytes(self._head) + gap + bytes(tail)


def run(
    command: SandboxCommand, limits: SandboxLimits, channel: tuple[int, int], cancel: threading.Event
) -> RunOutcome:
    """Run a command to its end, or to the first limit that it exceeds. Nothing is left running.

    Args:
        command: what to run.
        limits: of all its processes together.
        channel: a pipe (read, write) whose write end the command inherits; both ends are closed here.
        cancel: ends the run once set.

    Returns:
        How it ended.

    Raises:
        SandboxError: the command can't be started.
        Cancelled: `cancel` was set.
    """
    reading, writing = channel
    started = time.monotonic()
    try:
        process = subprocess.Popen(
            command.arguments,
            env=dict(command.environment),
            cwd=command.starts_in,
            stdin=subprocess.PIPE,
            stdout=subprocess.PIPE,
            stderr=subprocess.STDOUT,
            pass_fds=(writing,),
            start_new_session=True,
            bufsize=0,
        )
    except OSError as error:
        os.close(reading)
        raise SandboxError(
            i18n.message("sandbox.not_startable", error=error), i18n.message("sandbox.run_doctor")
        ) from error
    finally:
        os.close(writing)
    report_pipe = os.fdopen(reading, "rb", buffering=0)
    assert process.stdin and process.stdout
    output = _Drain(process.stdout, _KEPT_HEAD, _KEPT_TAIL)
    report = _Drain(report_pipe, _REPORT_CAP, 0)
    try:
        with contextlib.suppress(BrokenPipeError):  # its exit status says why it stopped reading
            process.stdin.write(command.standard_input)
        process.stdin.close()
        ended = _watch(process, limits, started, (output, report), command.folder, cancel)
    finally:
        kill_all(process, command.marker)
        for drain, pipe in ((output, process.stdout), (report, report_pipe)):
            drain.join(timeout=2)
            pipe.close()
    if ended == "cancelled":
        raise Cancelled(i18n.message("sandbox.cancelled"))
    text = output.shortened().decode("utf-8", "replace")
    shown = redacted(plain(text, len(text)))
    return RunOutcome(process.returncode, ended, shown, report.shortened(), time.monotonic() - started)


def _watch(
    process: subprocess.Popen[bytes],
    limits: SandboxLimits,
    started: float,
    drains: tuple[_Drain, _Drain],
    folder: Path,
    cancel: threading.Event,
) -> Ended:
    """Wait for the end, or for the first limit that is exceeded."""
    polls = 0
    crowded = 0
    cost = 0.0
    tree = set[int]()
    usage = _Usage(limits, folder)
    while True:
        # Polling takes at most a twentieth of a core, even with many processes.
        if _ends_within(process, min(max(_POLL_S, 20 * cost), _MAX_POLL_S), limits.memory // 8, tree):
            return "finished"
        polls += 1
        if cancel.is_set():
            return "cancelled"
        if time.monotonic() - started > limits.seconds:
            return "timeout"
        if drains[0].total > limits.output or drains[1].total > _REPORT_CAP:
            return "output"
        scanned = time.thread_time()
        tree = descendants(process.pid)
        crowded = crowded + 1 if tasks(tree) >= _CROWDED * limits.processes else 0
        if crowded > _MOST_CROWDED or len(tree) > limits.processes + _OWN_PROCESSES:
            return "processes"
        if exceeded := usage.exceeded(tree, look_at_disk=polls % _DISK_EVERY == 0):
            return exceeded
        cost = time.thread_time() - scanned


def _ends_within(process: subprocess.Popen[bytes], seconds: float, much: int, tree: set[int]) -> bool:
    """Wait up to `seconds` for a process to end; stop waiting if the page tables of `tree` grow by `much`, or the
    system's available memory falls by twice as much. Returns whether the process has ended."""
    deadline = time.monotonic() + seconds
    glance = _GLANCE_S
    tables = kernel_memory.page_tables(tree)
    before = kernel_memory.available_memory() or 0
    while True:
        try:
            process.wait(max(0.0, min(glance, deadline - time.monotonic())))
            return True
        except subprocess.TimeoutExpired:
            if time.monotonic() >= deadline:
                return False
        began = time.thread_time()
        if kernel_memory.page_tables(tree) - tables > much:
            return False
        if before - (kernel_memory.available_memory() or 0) > 2 * much:
            return False
        glance = max(_GLANCE_S, 10 * (time.thread_time() - began))


class _Usage:
    """Memory and disk of one run, measured from outside."""

    def __init__(self, limits: SandboxLimits, folder: Path) -> None:
        self._limits = limits
        self._folder = folder
        self._folder_in_memory = kernel_memory.is_temporary(folder)
        self._shared_before = kernel_memory.shared_memory()
        self._available_before = kernel_memory.available_memory() or 0
        self._disk = 0

    def exceeded(self, tree: set[int], *, look_at_disk: bool) -> Ended | None:
        """The limit that the processes exceed, None for none."""
        tables = kernel_memory.page_tables(tree)
        if tables > self._limits.memory:
            return "memory"
        apart = kernel_memory.own_network(tree)
        files = kernel_memory.open_files(tree) if apart is None else kernel_memory.OpenFiles()
        if look_at_disk:
            self._disk = disk_use(self._folder, self._limits.disk)
            if self._disk + files.deleted > self._limits.disk:
                return "disk"
        left = self._limits.memory - tables - self._beside_processes(tree, apart, files)
        if self._is_scarce():
            return "memory"
        if kernel_memory.resident_memory(tree) <= left:
            return None
        # memory() walks the page tables, which may grow meanwhile, so large ones aren't walked: no ordinary program's
        # are.
        return "memory" if tables > self._limits.memory // 16 or memory(tree) > left else None

    def _is_scarce(self) -> bool:
        available = kernel_memory.available_memory()
        if available is None or available > _LEFT_TO_OTHERS:
            return False
        return self._available_before - available > self._limits.memory // 4

    def _beside_processes(self, tree: set[int], apart: int | None, files: kernel_memory.OpenFiles) -> int:
        total = kernel_memory.temporary_files(tree)
        if kernel_memory.shared_memory() - self._shared_before > self._limits.memory // 8:
            total += kernel_memory.shared_mappings(tree)
        if self._folder_in_memory:
            total += self._disk + files.deleted
        if apart is not None:
            return total + kernel_memory.network_buffers(apart)
        sockets = files.sockets + files.unreadable * self._limits.descriptors
        return total + sockets * kernel_memory.socket_buffer()


def kill_all(process: subprocess.Popen[bytes], marker: str) -> None:
    """Kill a group leader, its group, all remaining descendants and every process with the run's marker."""
    _kill(process.pid, os.killpg)
    for _ in range(50):
        left = {pid for pid in descendants(process.pid, marker) if pid != process.pid}
        for pid in left:
            _kill(pid, os.kill)
        if not left:
            break
        time.sleep(0.01)
    process.wait()


def _kill(pid: int, how: Callable[[int, int], None]) -> None:
    with contextlib.suppress(ProcessLookupError, PermissionError):  # ended, or only zombies of other users are left
        how(pid, signal.SIGKILL)
