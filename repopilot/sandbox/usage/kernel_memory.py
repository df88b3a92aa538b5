"""Memory that a run takes outside of any process's resident set, according to /proc.

Socket buffers, page tables, shared memory that is mapped but released, temporary file systems with their files, and
files that are deleted but open. What can't be measured counts at its maximum.
"""

from __future__ import annotations

import os
from collections.abc import Collection, Iterator
from dataclasses import dataclass
from pathlib import Path

_KB = 1024
_INODE = 1200
"""Bytes that the kernel keeps for a file, even an empty one."""
_OVERSHOOT = 64 * _KB
"""A socket accepts one more message than fits into its buffer."""
_QUEUED_TWICE = 2
"""A packet takes up to about twice the memory of its content."""
_UNIX = ("unix",)
_DATAGRAMS = ("udp", "udp6", "raw", "raw6")
_STREAMS = ("tcp", "tcp6")


@dataclass(frozen=True, slots=True)
class OpenFiles:
    """Open files of a run's processes: distinct sockets, bytes of deleted files, and processes that can't be
    inspected."""

    sockets: int = 0
    deleted: int = 0
    unreadable: int = 0


def available_memory() -> int | None:
    """Bytes that programs can still get without swapping; None where unknown."""
    return _system_memory(b"MemAvailable:")


def shared_memory() -> int:
    """Bytes of all shared memory and temporary file systems of the system."""
    return _system_memory(b"Shmem:") or 0


def page_tables(pids: Collection[int]) -> int:
    """Bytes of the processes' page tables."""
    return _of_status(pids, (b"VmPTE:",))


def resident_memory(pids: Collection[int]) -> int:
    """Bytes that the processes have in memory or swapped out. Shared memory counts for each process, so this is an
    upper bound; it is known at once, whatever its size."""
    return _of_status(pids, (b"VmRSS:", b"VmSwap:"))


def shared_mappings(pids: Collection[int]) -> int:
    """Bytes of the distinct anonymous mappings that processes share, whether their pages are present or not."""
    sizes: dict[bytes, int] = {}
    for pid in pids:
        for line in _lines(f"/proc/{pid}/maps"):
            if line.endswith(b"/dev/zero (deleted)"):
                span, _, _, _, inode = line.split()[:5]
                start, _, end = span.partition(b"-")
                sizes[inode] = max(sizes.get(inode, 0), int(end, 16) - int(start, 16))
    return sum(sizes.values())


def own_network(pids: Collection[int]) -> int | None:
    """The id of a process whose network namespace is not ours; None where all share ours, or can't be inspected."""
    ours = _link("/proc/self/ns/net")
    return next((pid for pid in pids if _link(f"/proc/{pid}/ns/net") not in ("", ours)), None)


def network_buffers(pid: int) -> int:
    """Most bytes that the sockets of a process's network namespace can take, including those that no process has
    open."""
    folder = f"/proc/{pid}/net"
    sockets = sum(len(_lines(f"{folder}/{name}")) - 1 for name in (*_UNIX, *_DATAGRAMS))
    queued = sum(
        _queued(line) for name in _STREAMS if _has_sockets(folder, name) for line in _lines(f"{folder}/{name}")[1:]
    )
    return max(0, sockets) * socket_buffer() + _QUEUED_TWICE * queued


def open_files(pids: Collection[int]) -> OpenFiles:
    """Look at all file descriptors of the processes."""
    sockets = set()
    deleted = dict[tuple[int, int], int]()
    unreadable = 0
    for pid in pids:
        folder = f"/proc/{pid}/fd"
        try:
            names = os.listdir(folder)
        except PermissionError:
            unreadable += resident_memory([pid]) > 0  # an ending process has no memory and can't be inspected
            continue
        except OSError:  # it has ended
            continue
        for name in names:
            place = f"{folder}/{name}"
            target = _link(place)
            if target.startswith("socket:"):
                sockets.add(target)
            elif target.endswith(" (deleted)") and not target.startswith(("/dev/", "/memfd:")):
                deleted.update(_size(place))
    return OpenFiles(len(sockets), sum(deleted.values()), unreadable)


def temporary_files(pids: Collection[int]) -> int:
    """Bytes of the temporary file systems, and of their inodes, that are mounted for the processes but not for us. Our
    mounts don't count: each new namespace begins with them, and folders in them are bound into a root."""
    seen: dict[int, int] = {}
    ours = {device for device, _ in _temporary_mounts("self")}
    namespaces: set[str] = {_link("/proc/self/ns/mnt"), ""}
    for pid in pids:
        namespace = _link(f"/proc/{pid}/ns/mnt")
        if namespace in namespaces:
            continue
        namespaces.add(namespace)
        for device, place in _temporary_mounts(pid):
            try:
                state = os.statvfs(place)
                is_it = os.stat(place).st_dev == device  # else another file system is mounted over it
            except OSError:
                continue
            if is_it and device not in ours:
                files = state.f_files - state.f_ffree
                seen[device] = (state.f_blocks - state.f_bfree) * state.f_frsize + files * _INODE
    return sum(seen.values())


def is_temporary(folder: Path) -> bool:
    """Whether a folder is in a file system that is kept in memory."""
    path = os.path.realpath(folder)
    mounts = ((line.split()[1].decode("utf-8", "replace"), line.split()[2]) for line in _lines("/proc/self/mounts"))
    above = [(at, kind) for at, kind in mounts if path == at or path.startswith(at.rstrip("/") + "/")]
    _, kind = sorted([("", b""), *above], key=lambda mount: len(mount[0]))[-1]  # of several at one place, the last
    return kind in (b"tmpfs", b"ramfs")


def _temporary_mounts(pid: int | str) -> Iterator[tuple[int, str]]:
    """Device and place of each temporary file system that is mounted for a process."""
    for line in _lines(f"/proc/{pid}/mountinfo"):
        mount, _, kind = line.partition(b" - ")
        if kind.startswith(b"tmpfs "):
            major, _, minor = mount.split()[2].partition(b":")
            yield os.makedev(int(major), int(minor)), f"/proc/{pid}/root{mount.split()[4].decode('utf-8', 'replace')}"


def _of_status(pids: Collection[int], names: tuple[bytes, ...]) -> int:
    lines = (line for pid in pids for line in _lines(f"/proc/{pid}/status") if line.startswith(names))
    return sum(int(line.split()[1]) * _KB for line in lines)


def _has_sockets(folder: str, name: str) -> bool:
    """Whether a list of TCP sockets has entries, as far as the counters tell. The kernel goes through the tables of the
    whole machine to write the list, which takes milliseconds even where it is empty."""
    return not any(
        line.startswith(f"{name.upper()}: inuse 0".encode())
        for line in _lines(f"{folder}/sockstat{name.removeprefix('tcp')}")
    )


def _queued(line: bytes) -> int:
    """Bytes that wait in a TCP socket to be sent or read: the field `tx_queue:rx_queue`."""
    fields = line.split()
    sending, _, receiving = fields[4].partition(b":") if len(fields) > 4 else (b"0", b"", b"0")
    listening = len(fields) > 3 and fields[3] == b"0A"  # its fields count connections
    return 0 if listening else int(sending, 16) + int(receiving, 16)


def socket_buffer() -> int:
    """Most bytes of a socket's buffer: the default, since calls that raise it have no effect; see inside/seccomp.py."""
    defaults = [_lines(f"/proc/sys/net/core/{name}_default") for name in ("rmem", "wmem")]
    return max([212_992, *(int(lines[0]) for lines in defaults if lines)]) + _OVERSHOOT


def _size(place: str) -> dict[tuple[int, int], int]:
    try:
        state = os.stat(place)
    except OSError:
        return {}
    return {(state.st_dev, state.st_ino): state.st_blocks * 512 + _INODE}


def _system_memory(name: bytes) -> int | None:
    for line in _lines("/proc/meminfo"):
        if line.startswith(name):
            return int(line.split()[1]) * _KB
    return None


def _link(path: str) -> str:
    try:
        return os.readlink(path)
    except OSError:  # the process has ended, or belongs to another user
        return ""


def _lines(path: str) -> list[bytes]:
    try:
        with open(path, "rb", buffering=0) as file:
            return file.read().splitlines()
    except OSError:
        return []
