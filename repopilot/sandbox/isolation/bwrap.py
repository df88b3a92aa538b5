"""The strongest level, bubblewrap: own namespaces for users, processes, network and files; then limits and seccomp."""

from __future__ import annotations

import os
import shutil
import subprocess
from functools import lru_cache
from pathlib import Path, PurePosixPath

from repopilot import i18n
from repopilot.errors import SandboxError
from repopilot.sandbox.isolation import machine_state
from repopilot.sandbox.job_spec import INSIDE, KEPT, MB, Mounts, SandboxJob, environment, python, readable, system

MOUNTS = Mounts(root="/sandbox/repo", work="/sandbox/work", inside="/sandbox/inside")


def command(job: SandboxJob) -> list[str]:
    """The command line that runs a job. Raises SandboxError where bubblewrap is not installed."""
    program = shutil.which("bwrap")
    if program is None:
        raise SandboxError(i18n.message("sandbox.no_bubblewrap"))
    serves = job.program is not None and job.program.serves
    options = [*_namespaces(program, reads_all=serves), "--die-with-parent", "--new-session", "--clearenv"]
    for name, value in environment(MOUNTS).items():
        options += ["--setenv", name, value]
    options += ["--proc", "/proc", *machine_state.cover(_counters(job)), "--dev", "/dev", "--chdir", "/"]
    for folder, size in (("/dev/shm", 64 * MB), ("/tmp", 64 * MB), (MOUNTS.work, job.limits.disk)):
        options += ["--perms", "1777", "--size", str(size), "--tmpfs", folder]
    if job.keeps:
        options += ["--bind", str(job.work / KEPT), f"{MOUNTS.work}/{KEPT}"]
    bound = [*system(), *readable(job)]
    links = job.program.links if job.program is not None and serves else {}
    for folder in _above([*bound, MOUNTS.root, *links]):  # bubblewrap would make them for root only
        options += ["--perms", "0755", "--dir", folder]
    for path in bound:
        options += _link_or_bind(path)
    options += ["--ro-bind", str(job.root), MOUNTS.root, "--ro-bind", str(INSIDE), MOUNTS.inside]
    for link, target in links.items():
        options += ["--symlink", target, link]
    options += ["--ro-bind", str(INSIDE / "hosts"), "/etc/hosts"]  # for localhost, on which servers in tests listen
    return [program, *options, "--", *python(job), f"{MOUNTS.inside}/bootstrap.py"]


def prepare(job: SandboxJob) -> None:
    """Prepare the counters and device times that a job sees. Raises OSError where they can't be written."""
    machine_state.prepare(_counters(job))


def _counters(job: SandboxJob) -> Path:
    return job.work.parent / "proc"


def _above(paths: list[str]) -> list[str]:
    """Every folder above the paths, outermost first."""
    folders = {str(parent) for path in paths for parent in PurePosixPath(path).parents}
    return sorted(folders - {"/", "/tmp"})


def _link_or_bind(path: str) -> list[str]:
    if os.path.islink(path) and path.count("/") == 1:  # /lib → usr/lib
        return ["--symlink", os.readlink(path), path]
    return ["--ro-bind", path, path]


def _namespaces(program: str, *, reads_all: bool) -> list[str]:
    """Options for namespaces. Root needs no user namespace and must not have one: in it the process would stay the
    machine's root, who has no limit on processes. Instead it becomes an unused user inside, see inside/confine.py; with
    `reads_all`, this user may read everything that is mounted, even root's files."""
    apart = ["--unshare-ipc", "--unshare-pid", "--unshare-net", "--unshare-uts", "--unshare-cgroup-try"]
    apart += ["--hostname", "sandbox", "--cap-drop", "ALL"]
    if os.geteuid() == 0:
        kept = ("CAP_SETUID", "CAP_SETGID", "CAP_SETPCAP", *(("CAP_DAC_READ_SEARCH",) if reads_all else ()))
        return [*apart, *(part for name in kept for part in ("--cap-add", name))]
    return [*apart, "--unshare-user", *_no_further_namespaces(program), "--uid", "1000", "--gid", "1000"]


@lru_cache(maxsize=1)
def _no_further_namespaces(program: str) -> tuple[str, ...]:
    """Older versions lack the option; seccomp refuses new namespaces in any case."""
    help_text = subprocess.run([program, "--help"], capture_output=True, text=True, env={}, timeout=10, check=False)
    return ("--disable-userns",) if "--disable-userns" in help_text.stdout + help_text.stderr else ()
