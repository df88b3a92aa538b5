"""Runs one command and bounds what it and all its descendants use; when it returns, none of them is left.

Time, output, processes, memory and disk are watched from outside, because limits set inside count per process only.
"""

from __future__ import annotations

import contextlib
import os
import signal
import subprocess
import threading
import time
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import IO

from repopilot.errors import Cancelled, SandboxError
from repopilot.sandbox.job_spec import SandboxLimits
from repopilot.sandbox.processes import descendants, disk_use, memory
from repopilot.types import Ended

_POLL_S, _MAX_POLL_S = 0.03, 0.25
_DISK_EVERY = 10  # polls
_KEPT_HEAD, _KEPT_TAIL = 64 * 1024, 192 * 1024
_REPORT_CAP = 16 * 1024 * 1024


@dataclass(frozen=True, slots=True)
class RunOutcome:
    """How a command ended. `status` is its exit status (negative: the signal); `output` standard output and error,
    shortened in the middle; `report` what was written to the extra pipe."""

    status: int
    ended: Ended
    output: str
    report: bytes
    seconds: float


class _Drain(threading.Thread):
    """Reads a pipe to its end so that the writer never blocks, and keeps only the first and the last part."""

    def __init__(self, pipe: IO[bytes], head: int, tail: int) -> None:
        super().__init__(daemon=True)
        self._pipe, self._head_size, self._tail_size = pipe, head, tail
        self.total, self._head, self._tail = 0, bytearray(), bytearray()
        self.start()

    def run(self) -> None:
        while piece := self._read():
            self.total += len(piece)
            room = self._head_size - len(self._head)
            self._head += piece[:room]
            self._tail += piece[room:] if room > 0 else piece
            if len(self._tail) > 2 * self._tail_size:
                del self._tail[: len(self._tail) - self._tail_size]

    def _read(self) -> bytes:
        try:
            return self._pipe.read(65536)
        except (OSError, ValueError):  # closed under us, because something outside our reach holds the other end
            return b""

    def kept(self) -> bytes:
        tail = self._tail[-self._tail_size :] if self._tail_size else b""
        left_out = self.total - len(self._head) - len(tail)
        gap = f"\n… {left_out} bytes left out …\n".encode() if left_out else b""
        return bytes(self._head) + gap + bytes(tail)


def run(
    command: Sequence[str],
    environment: Mapping[str, str],
    standard_input: bytes,
    limits: SandboxLimits,
    *,
    channel: tuple[int, int],
    folder: Path,
    marker: str,
    cancel: threading.Event,
) -> RunOutcome:
    """Run `command` under `limits`. `channel` is a pipe (read, write) whose write end the command inherits; both ends
    are closed here. `folder` is the writable folder whose size counts as disk use. `marker`: see `_end`.

    Raises SandboxError when the command can't be started, Cancelled when `cancel` was set; nothing is left running.
    """
    reading, writing = channel
    started = time.monotonic()
    try:
        process = subprocess.Popen(
            command,
            env=dict(environment),
            stdin=subprocess.PIPE,
            stdout=subprocess.PIPE,
            stderr=subprocess.STDOUT,
            pass_fds=(writing,),
            start_new_session=True,
            bufsize=0,
        )
    except OSError as error:
        os.close(reading)
        raise SandboxError(f"The sandbox could not be started: {error}.", "Run `doctor`.") from error
    finally:
        os.close(writing)
    report_pipe = os.fdopen(reading, "rb", buffering=0)
    assert process.stdin and process.stdout
    output = _Drain(process.stdout, _KEPT_HEAD, _KEPT_TAIL)
    report = _Drain(report_pipe, _REPORT_CAP, 0)
    try:
        with contextlib.suppress(BrokenPipeError):  # its exit status says why it stopped reading
            process.stdin.write(standard_input)
        process.stdin.close()
        ended = _watch(process, limits, started, (output, report), folder, cancel)
    finally:
        _end(process, marker)
        for drain, pipe in ((output, process.stdout), (report, report_pipe)):
            drain.join(timeout=2)
            pipe.close()
    if ended == "cancelled":
        raise Cancelled("The test run was stopped.")
    text = output.kept().decode("utf-8", "replace")
    return RunOutcome(process.returncode, ended, text, report.kept(), time.monotonic() - started)


def _watch(
    process: subprocess.Popen,
    limits: SandboxLimits,
    started: float,
    drains: tuple[_Drain, _Drain],
    folder: Path,
    cancel: threading.Event,
) -> Ended:
    """Wait for the end, or for the first limit that is exceeded."""
    polls, cost = 0, 0.0
    while True:
        try:
            process.wait(min(max(_POLL_S, 10 * cost), _MAX_POLL_S))  # a tenth of a core, where processes are many
            return "finished"
        except subprocess.TimeoutExpired:
            polls += 1
        if cancel.is_set():
            return "cancelled"
        if time.monotonic() - started > limits.seconds:
            return "timeout"
        if drains[0].total > limits.output or drains[1].total > _REPORT_CAP:
            return "output"
        scanned = time.thread_time()
        tree = descendants(process.pid)
        if len(tree) > limits.processes:
            return "processes"
        if memory(tree) > limits.memory:
            return "memory"
        cost = time.thread_time() - scanned
        if polls % _DISK_EVERY == 0 and disk_use(folder, limits.disk) > limits.disk:
            return "disk"


def _end(process: subprocess.Popen, marker: str) -> None:
    """Kill the process group at once, then every descendant left, and whoever carries the run's marker."""
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
    with contextlib.suppress(ProcessLookupError, PermissionError):  # gone, or only zombies of others are left
        how(pid, signal.SIGKILL)
