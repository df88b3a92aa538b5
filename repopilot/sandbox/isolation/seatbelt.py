"""The macOS level, Seatbelt, with a profile that denies by default."""

from __future__ import annotations

import json
import os
from pathlib import Path

from repopilot import i18n
from repopilot.errors import SandboxError
from repopilot.sandbox.job_spec import INSIDE, SandboxJob, python, readable

_PROGRAM = "/usr/bin/sandbox-exec"
_SYSTEM = (
    "/usr/lib",
    "/usr/bin",
    "/bin",
    "/usr/share",
    "/System/Library",
    "/Library/Frameworks",
    "/private/var/db/timezone",
    "/dev/urandom",
    "/dev/random",
    "/dev/null",
    "/dev/zero",
)


def command(job: SandboxJob) -> list[str]:
    """The command line that runs a job. Raises SandboxError on a system without Seatbelt."""
    if not Path(_PROGRAM).exists():
        raise SandboxError(i18n.message("sandbox.no_seatbelt"))
    return [_PROGRAM, "-p", profile(job), *python(job), str(INSIDE / "bootstrap.py")]


def profile(job: SandboxJob) -> str:
    """The profile: no network, only the named files, signals only to its own processes."""
    readable_paths = [*_SYSTEM, *readable(job), str(INSIDE), os.path.realpath(job.root), os.path.realpath(job.work)]
    rules = "\n".join(f"(allow file-read* process-exec (subpath {json.dumps(path)}))" for path in readable_paths)
    return f"""(version 1)
(deny default)
(allow process-fork)
(allow signal (target same-sandbox))
(allow sysctl-read)
(allow file-read-metadata)
{rules}
(allow file-write* (subpath {json.dumps(os.path.realpath(job.work))}) (literal "/dev/null"))
"""
