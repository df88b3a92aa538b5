"""Isolation levels: finds out by a probe which one works here, and starts a job in it.

The levels landlock and limits start the same program, which confines itself: see inside/confine.py.
"""

from __future__ import annotations

import ctypes
import os
import secrets
import sys
import tempfile
import threading
from dataclasses import replace
from functools import cache
from pathlib import Path
from typing import get_args

from repopilot import i18n
from repopilot.errors import RepoPilotError, SandboxError
from repopilot.sandbox import stage, supervise
from repopilot.sandbox.inside.bootstrap import CONFINED, NAMES_VISIBLE
from repopilot.sandbox.isolation import bwrap, seatbelt
from repopilot.sandbox.job_spec import (
    INSIDE,
    Mounts,
    SandboxJob,
    SandboxLimits,
    document,
    environment,
    host_mounts,
    python,
)
from repopilot.settings import Settings
from repopilot.types import SandboxLevel

STRONG: tuple[SandboxLevel, ...] = ("bwrap", "landlock", "seatbelt")
_SYSTEMS = {"bwrap": ("linux",), "landlock": ("linux",), "seatbelt": ("darwin",), "limits": ("linux", "darwin")}
_PROBE_LIMITS = SandboxLimits(seconds=20.0)


def level(settings: Settings) -> SandboxLevel:
    """The level of test runs: the one that `settings.sandbox` names, else the strongest that works.

    Raises:
        SandboxError: the named level doesn't work, or only resource limits are left and there is no consent to them.
    """
    if settings.sandbox != "auto":
        return _named(settings)
    for candidate in STRONG:
        if not why_unavailable(candidate):
            return candidate
    if settings.allow_weak_sandbox and not why_unavailable("limits"):
        return "limits"
    problems = [i18n.message("sandbox.level_problem", level=name, reason=why_unavailable(name)) for name in STRONG]
    raise SandboxError(
        i18n.message("sandbox.none_works", reasons=i18n.joined(problems, "; ")), i18n.message("sandbox.consent")
    )


def why_unavailable(candidate: SandboxLevel) -> str:
    """Why a level can't be used, '' when a probe inside it could reach nothing outside."""
    return _probe(candidate)[0]


def shows_names(candidate: SandboxLevel) -> bool:
    """Whether programs in a level that works can find out which files exist outside, and how large they are."""
    return _probe(candidate)[1]


@cache
def _probe(candidate: SandboxLevel) -> tuple[str, bool]:
    if sys.platform not in _SYSTEMS[candidate]:
        return i18n.message("sandbox.not_on_this_system"), False
    if candidate == "limits":
        return "", True
    try:
        with tempfile.TemporaryDirectory(prefix="repopilot-") as outside, stage.stage({}, None) as folder:
            secret = Path(outside).resolve() / "secret"
            secret.write_text("secret")
            probe = {"secret": str(secret), "forbidden": str(secret.with_name("written"))}
            work = folder / "work"
            work.mkdir()
            job = SandboxJob(folder / "repo", work, probe=probe, limits=_PROBE_LIMITS)
            outcome = start(job, candidate, threading.Event())
    except RepoPilotError as error:
        return error.message, False
    except OSError as error:
        return str(error), False
    if outcome.status in (CONFINED, NAMES_VISIBLE):
        return "", outcome.status == NAMES_VISIBLE
    return outcome.output.strip() or i18n.message("sandbox.probe_ended", status=outcome.status), False


def start(
    job: SandboxJob, achieved: SandboxLevel, cancel: threading.Event, seconds: float | None = None
) -> supervise.RunOutcome:
    """Run a job to its end in a level.

    Args:
        job: what to run.
        achieved: the level.
        cancel: ends the run once set.
        seconds: an earlier time limit, which the run can't see.

    Returns:
        How it ended.

    Raises:
        SandboxError: the level can't be used.
        Cancelled: `cancel` was set.
    """
    channel = os.pipe()
    limits = replace(job.limits, seconds=seconds or job.limits.seconds)
    return supervise.run(sandbox_command(job, achieved, channel[1]), limits, channel, cancel)


def sandbox_command(job: SandboxJob, achieved: SandboxLevel, channel: int | None) -> supervise.SandboxCommand:
    """The command that starts a job in a level.

    Args:
        job: what to run.
        achieved: the level.
        channel: the file descriptor of its report, None for a server.

    Returns:
        The command; its standard input begins with the job.

    Raises:
        SandboxError: the level can't be used.
        OSError: the machine's counters that it sees can't be written.
    """
    arguments, mounts, outer_environment = _command(job, achieved)
    if achieved == "bwrap":
        bwrap.prepare(job)
    if achieved == "limits":
        _close_to_others()
    marker = secrets.token_hex(16)
    variables = {**outer_environment, "REPOPILOT_RUN": marker}
    return supervise.SandboxCommand(arguments, variables, document(job, achieved, mounts, channel), job.work, marker)


def _close_to_others() -> None:
    """Protect this process's memory and environment from the user's other programs, for its lifetime, where no level
    does. Linux only; debuggers can no longer attach."""
    if sys.platform == "linux":
        set_dumpable = 4
        ctypes.CDLL(None).prctl(set_dumpable, 0, 0, 0, 0)


def _named(settings: Settings) -> SandboxLevel:
    choices: dict[str, SandboxLevel] = {name: name for name in get_args(SandboxLevel)}
    if settings.sandbox not in choices:
        known = ", ".join(("auto", *choices))
        raise SandboxError(
            i18n.message("sandbox.unknown_level", level=settings.sandbox),
            i18n.message("sandbox.known_levels", levels=known),
        )
    wanted = choices[settings.sandbox]
    if wanted == "limits" and not settings.allow_weak_sandbox:
        raise SandboxError(i18n.message("sandbox.weak_needs_consent"), i18n.message("sandbox.consent"))
    if reason := why_unavailable(wanted):
        raise SandboxError(
            i18n.message("sandbox.level_unusable", level=wanted, reason=reason), i18n.message("sandbox.set_auto")
        )
    return wanted


def _command(job: SandboxJob, achieved: SandboxLevel) -> tuple[list[str], Mounts, dict[str, str]]:
    """The command, the folders as seen from inside, and the command's environment."""
    if achieved == "bwrap":  # bwrap sets the inner environment itself
        return bwrap.command(job), bwrap.MOUNTS, {}
    mounts = host_mounts(job)
    command = seatbelt.command(job) if achieved == "seatbelt" else [*python(job), str(INSIDE / "bootstrap.py")]
    return command, mounts, environment(mounts)
