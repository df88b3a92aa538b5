"""The strongest level: bubblewrap. Own namespaces for users, processes, network, files; then limits and seccomp."""

from __future__ import annotations

import os
import shutil
import subprocess
from functools import lru_cache

from repopilot.sandbox.job import INSIDE, MB, PYTHON, Job, Places, environment, interpreter, system

PLACES = Places(root="/sandbox/repo", work="/sandbox/work", inside="/sandbox/inside")


def command(job: Job) -> list[str]:
    """The command line that runs a job. Raises OSError where bubblewrap is not installed."""
    program = shutil.which("bwrap")
    if program is None:
        raise OSError("bubblewrap is not installed")
    options = [
        "--unshare-all",
        "--unshare-user",
        *_no_further_namespaces(program),
        "--die-with-parent",
        "--new-session",
        "--cap-drop",
        "ALL",
        "--uid",
        "1000",
        "--gid",
        "1000",
        "--hostname",
        "sandbox",
        "--clearenv",
    ]
    for name, value in environment(PLACES).items():
        options += ["--setenv", name, value]
    options += ["--proc", "/proc", "--dev", "/dev"]
    for folder, size in (("/dev/shm", 64 * MB), ("/tmp", 64 * MB), (PLACES.work, job.limits.disk)):
        options += ["--size", str(size), "--tmpfs", folder]
    for path in (*system(), *interpreter()):
        options += _link_or_bind(path)
    options += ["--ro-bind", str(job.root), PLACES.root, "--ro-bind", str(INSIDE), PLACES.inside]
    return [program, *options, "--", *PYTHON, f"{PLACES.inside}/bootstrap.py"]


def _link_or_bind(path: str) -> list[str]:
    if os.path.islink(path) and path.count("/") == 1:  # /lib → usr/lib
        return ["--symlink", os.readlink(path), path]
    return ["--ro-bind", path, path]


@lru_cache(maxsize=1)
def _no_further_namespaces(program: str) -> tuple[str, ...]:
    """Older versions lack the option; seccomp refuses new namespaces in any case."""
    shown = subprocess.run([program, "--help"], capture_output=True, text=True, env={}, timeout=10, check=False)
    return ("--disable-userns",) if "--disable-userns" in shown.stdout + shown.stderr else ()
