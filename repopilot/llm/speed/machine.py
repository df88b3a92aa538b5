"""Cores, processor and memory of this machine, as far as this process may use them."""

from __future__ import annotations

import functools
import os
import platform
import subprocess
import sys
from pathlib import Path

GIB = 1024**3
ASSUMED_MEMORY = 8 * GIB
"""Assumed where the system doesn't report its memory."""
UNIFIED_SHARE = 0.7

_CGROUP_LIMITS = (Path("/sys/fs/cgroup/memory.max"), Path("/sys/fs/cgroup/memory/memory.limit_in_bytes"))


def cores() -> int:
    """Cores this process may run on."""
    if hasattr(os, "sched_getaffinity"):
        return len(os.sched_getaffinity(0))
    return os.cpu_count() or 1


def memory() -> int:
    """Bytes of memory, the container's limit where there is one."""
    if sys.platform == "win32":
        return ASSUMED_MEMORY
    try:
        physical = os.sysconf("SC_PHYS_PAGES") * os.sysconf("SC_PAGE_SIZE")
    except (OSError, ValueError):
        return ASSUMED_MEMORY
    return min([physical, *(limit for path in _CGROUP_LIMITS if (limit := _limit(path)))])


def _limit(path: Path) -> int | None:
    try:
        return int(path.read_text())
    except (OSError, ValueError):
        return None  # no such file, or "max"


@functools.cache
def graphics_memory() -> int:
    """GPU memory in bytes: as nvidia-smi reports it; on a Mac with Apple silicon, the share of the machine's memory
    that the GPU may use; 0 if none is known."""
    if platform.system() == "Darwin" and platform.machine() == "arm64":
        return int(memory() * UNIFIED_SHARE)
    command = ["nvidia-smi", "--query-gpu=memory.total", "--format=csv,noheader,nounits"]
    try:
        listed = subprocess.run(command, capture_output=True, text=True, timeout=5, check=True).stdout
        return sum(int(line) << 20 for line in listed.split())
    except (OSError, ValueError, subprocess.SubprocessError):
        return 0  # no such tool, or no such processor


@functools.cache
def fingerprint() -> str:
    """Identifies the hardware that a measured speed depends on: the processor and the usable cores. A container or
    virtual machine on another host is another machine."""
    return f"{platform.machine()} {_processor()} {cores()}"


def _processor() -> str:
    try:
        lines = Path("/proc/cpuinfo").read_text("utf-8", "replace").splitlines()
    except OSError:
        return platform.processor()
    return next((line.partition(":")[2].strip() for line in lines if line.startswith("model name")), "")
