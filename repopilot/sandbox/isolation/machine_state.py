"""Hides machine-wide state of the kernel that a run can change, and so could use to leave messages for later runs.

Counters below /proc are covered by a snapshot; device times are reset for each run.
"""

from __future__ import annotations

import contextlib
import os
from functools import lru_cache
from pathlib import Path

_COUNTERS = (
    "buddyinfo",
    "diskstats",
    "interrupts",
    "key-users",
    "loadavg",
    "locks",
    "meminfo",
    "schedstat",
    "softirqs",
    "stat",
    "sys/fs/dentry-state",
    "sys/fs/file-nr",
    "sys/fs/inode-nr",
    "sys/fs/inode-state",
    "sys/kernel/pty/nr",
    "vmstat",
    "zoneinfo",
)
_FOLDERS = ("fs", "irq", "pressure")
_DEVICES = ("null", "zero", "full", "random", "urandom", "tty")


def prepare(folder: Path) -> None:
    """Write the counters that a run sees into a folder, and reset the times of the devices, which are the machine's own
    and which anyone may set to now. Raises OSError where the folder can't be written."""
    folder.mkdir(exist_ok=True)
    for name, content in _counters().items():
        (folder / _file_name(name)).write_bytes(content)
    for name in _DEVICES:
        with contextlib.suppress(OSError):  # where this user may not, neither may a run
            os.utime(f"/dev/{name}")


def cover(folder: Path) -> list[str]:
    """bubblewrap's options that mount the files written by `prepare` over the counters."""
    files = ((str(folder / _file_name(name)), f"/proc/{name}") for name in _counters())
    options = [part for source, path in files for part in ("--ro-bind", source, path)]
    for path in (f"/proc/{name}" for name in _FOLDERS):
        if os.path.isdir(path):
            options += ["--tmpfs", path, "--remount-ro", path]
    return options


def _file_name(counter: str) -> str:
    return counter.replace("/", "-")


@lru_cache(maxsize=1)
def _counters() -> dict[str, bytes]:
    """This kernel's counters by name, the same for all runs of this process."""
    found: dict[str, bytes] = {}
    for name in _COUNTERS:
        path = Path("/proc", name)
        if path.is_file():
            try:
                found[name] = path.read_bytes()
            except OSError:  # only root may read it, so no run may either
                found[name] = b""
    return found
