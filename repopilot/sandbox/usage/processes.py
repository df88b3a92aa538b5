"""Processes, their memory and the disk use of folders, as the kernel reports them. Empty without /proc."""

from __future__ import annotations

import os
from collections import defaultdict
from collections.abc import Iterable
from pathlib import Path

_INODE = 1024
_USUAL_FILE = 1 << 16
_LARGEST_ENVIRONMENT = 8 << 20
"""Linux gives the arguments and the environment of a program at most 6 MiB together."""


def descendants(root: int, marker: str = "") -> set[int]:
    """The ids of `root`, its descendants and the living members of its process group.

    Args:
        root: a process id, also the process group's.
        marker: also find processes with this text in their environment: those that left the group and lost their
            parents.
    """
    children: dict[int, list[int]] = defaultdict(list)
    members: list[int] = []
    for pid in _pids():
        state, parent, group = _stat(pid)
        if state in ("Z", "X", ""):
            continue
        children[parent].append(pid)
        if group == root or pid == root or (marker and _has_marker(pid, marker)):
            members.append(pid)
    found: set[int] = set()
    while members:
        pid = members.pop()
        if pid not in found:
            found.add(pid)
            members += children[pid]
    return found


def memory(pids: Iterable[int]) -> int:
    """Proportional set size of the processes together, in bytes, with what is swapped out; resident set size where the
    kernel doesn't give it."""
    return sum(_memory(pid) for pid in pids)


def tasks(pids: Iterable[int]) -> int:
    """Threads of the processes together."""
    return sum(_threads(pid) for pid in pids)


def own_tasks() -> int:
    """Threads of all processes of this user; the kernel's limit on processes counts these."""
    return sum(_threads(pid) for pid in _pids() if _owner(pid) == os.getuid())


def disk_use(folder: Path, enough: int) -> int:
    """Bytes on disk below a folder, plus a little for each file, even an empty one; stops counting above `enough`."""
    total = 0
    for place, _, names in os.walk(folder):
        for name in names:
            try:
                total += os.lstat(os.path.join(place, name)).st_blocks * 512 + _INODE
            except OSError:  # deleted meanwhile
                continue
            if total > enough:
                return total
    return total


def _pids() -> list[int]:
    try:
        return [int(name) for name in os.listdir("/proc") if name.isdigit()]
    except OSError:
        return []


def _stat(pid: int) -> tuple[str, int, int]:
    """State, parent and process group."""
    fields = _read(f"/proc/{pid}/stat").rpartition(b")")[2].split(maxsplit=3)
    return (fields[0].decode(), int(fields[1]), int(fields[2])) if len(fields) > 3 else ("", 0, 0)


def _owner(pid: int) -> int | None:
    try:
        return os.stat(f"/proc/{pid}").st_uid
    except OSError:
        return None


def _threads(pid: int) -> int:
    try:
        return len(os.listdir(f"/proc/{pid}/task"))
    except OSError:
        return 0


def _has_marker(pid: int, marker: str) -> bool:
    return marker.encode() in _read(f"/proc/{pid}/environ", _LARGEST_ENVIRONMENT)


def _memory(pid: int) -> int:
    lines = _read(f"/proc/{pid}/smaps_rollup").splitlines()
    shares = [int(line.split()[1]) * 1024 for line in lines if line.startswith((b"Pss:", b"SwapPss:"))]
    if shares:
        return sum(shares)
    resident = _read(f"/proc/{pid}/statm").split()
    return int(resident[1]) * os.sysconf("SC_PAGE_SIZE") if len(resident) > 1 else 0


def _read(path: str, most: int = _USUAL_FILE) -> bytes:
    try:
        descriptor = os.open(path, os.O_RDONLY)  # a file object takes longer than the kernel to read a short file
        try:
            return os.read(descriptor, most)
        finally:
            os.close(descriptor)
    except OSError:  # the process has ended, or belongs to another user
        return b""
