"""Landlock and seccomp, without namespaces: the process confines itself, see inside/confine.py. Also the last level,
resource limits only, which starts the same program."""

from __future__ import annotations

import os

from repopilot.sandbox.job import INSIDE, PYTHON, Job, Places


def command(job: Job) -> list[str]:
    """The command line that runs a job."""
    return [*PYTHON, str(INSIDE / "bootstrap.py")]


def places(job: Job) -> Places:
    return Places(root=os.path.realpath(job.root), work=os.path.realpath(job.work), inside=str(INSIDE))
