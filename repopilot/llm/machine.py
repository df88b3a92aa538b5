"""Cores and memory of this machine, as far as this process may use them."""

from __future__ import annotations

import os
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


def fitting_model() -> str:
    """The Qwen2.5-Coder size that fits: 1.5B from 4 cores and 8 GB on, else 0.5B."""
    return "qwen2.5-coder:1.5b" if cores() >= 4 and memory() >= 7.5 * GIB else "qwen2.5-coder:0.5b"
