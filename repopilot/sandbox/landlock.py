"""Landlock and seccomp, without namespaces: the process confines itself, see inside/confine.py. Also the last level,
resource limits only, which starts the same program."""

from __future__ import annotations

import os

from repopilot.sandbox.job_spec import INSIDE, PYTHON, Mounts, SandboxJob


def command(job: SandboxJob) -> list[str]:
    """The command line that runs a job."""
    return [*PYTHON, str(INSIDE / "bootstrap.py")]


def places(job: SandboxJob) -> Mounts:
    return Mounts(root=os.path.realpath(job.root), work=os.path.realpath(job.work), inside=str(INSIDE))
