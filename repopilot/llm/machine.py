"""Cores, processor and memory of this machine, as far as this process may use them."""

from __future__ import annotations

import functools
import os
import platform
from pathlib import Path

GIB = 1024**3
ASSUMED_MEMORY = 8 * GIB
"""Used where the system doesn't report it."""

_CGROUP_LIMITS = (Path("/sys/fs/cgroup/memory.max"), Path("/sys/fs/cgroup/memory/memory.limit_in_bytes"))


def cores() -> int:
    """Cores this process may run on."""
    if hasattr(os, "sched_getaffinity"):
        return len(os.sched_getaffinity(0))
    return os.cpu_count() or 1


def memory() -> int:
    """Bytes of memory, the container's limit where there is one."""
    try:
        physical = os.sysconf("SC_PHYS_PAGES") * os.sysconf("SC_PAGE_SIZE")
    except (AttributeError, OSError, ValueError):
        return ASSUMED_MEMORY
    return min([physical, *(limit for path in _CGROUP_LIMITS if (limit := _limit(path)))])


def _limit(path: Path) -> int | None:
    try:
        return int(path.read_text())
    except (OSError, ValueError):
        return None  # no such file, or "max"


@functools.cache
def fingerprint() -> str:
    """What a measured speed depends on: the processor and the cores that may be used. A container or virtual machine
    on another host is another machine."""
    return f"{platform.machine()} {_processor()} {cores()}"


def _processor() -> str:
    try:
        lines = Path("/proc/cpuinfo").read_text("utf-8", "replace").splitlines()
    except OSError:
        return platform.processor()
    return next((line.partition(":")[2].strip() for line in lines if line.startswith("model name")), "")
