"""Isolation levels: which one works here, found by trying, and how to start a job in it."""

from __future__ import annotations

import ctypes
import os
import secrets
import sys
import tempfile
import threading
from functools import cache
from pathlib import Path
from typing import get_args

from repopilot.errors import RepoPilotError, SandboxError
from repopilot.sandbox import bwrap, landlock, seatbelt, stage, supervise
from repopilot.sandbox.inside.bootstrap import CONFINED
from repopilot.sandbox.job_spec import Mounts, SandboxJob, SandboxLimits, document, environment
from repopilot.settings import Settings
from repopilot.types import SandboxLevel

STRONG: tuple[SandboxLevel, ...] = ("bwrap", "landlock", "seatbelt")
_SYSTEMS = {"bwrap": ("linux",), "landlock": ("linux",), "seatbelt": ("darwin",), "limits": ("linux", "darwin")}
_PROBE_LIMITS = SandboxLimits(seconds=20.0)
_CONSENT = "Install bubblewrap, or set REPOPILOT_ALLOW_WEAK_SANDBOX=1 to run generated tests with resource limits only."


def level(settings: Settings) -> SandboxLevel:
    """The level test runs get: the one `settings.sandbox` names, else the strongest that works when tried.

    Raises SandboxError when the named one doesn't work, and when only resource limits are left without consent.
    """
    if settings.sandbox != "auto":
        return _named(settings)
    for candidate in STRONG:
        if not why_unavailable(candidate):
            return candidate
    if settings.allow_weak_sandbox and not why_unavailable("limits"):
        return "limits"
    reasons = "; ".join(f"{name}: {why_unavailable(name)}" for name in STRONG)
    raise SandboxError(f"No sandbox works on this machine ({reasons}).", _CONSENT)


@cache
def why_unavailable(candidate: SandboxLevel) -> str:
    """'' when a probe inside the level found nothing of the outside in reach, else what went wrong, in words."""
    if sys.platform not in _SYSTEMS[candidate]:
        return "not on this system"
    if candidate == "limits":
        return ""
    try:
        with tempfile.TemporaryDirectory(prefix="repopilot-") as outside, stage.stage({}, None) as folder:
            secret = Path(outside).resolve() / "secret"
            secret.write_text("secret")
            probe = {"secret": str(secret), "forbidden": str(secret.with_name("written"))}
            job = SandboxJob(folder / "repo", stage.fresh_work(folder, "work"), probe=probe, limits=_PROBE_LIMITS)
            outcome = start(job, candidate, threading.Event())
    except (OSError, RepoPilotError) as error:
        return getattr(error, "message", str(error))
    return "" if outcome.status == CONFINED else outcome.output.strip() or f"the probe ended with {outcome.status}"


def start(job: SandboxJob, achieved: SandboxLevel, cancel: threading.Event) -> supervise.RunOutcome:
    """Run a job to its end in a level. Raises SandboxError and Cancelled."""
    try:
        command, places, outside = _command(job, achieved)
    except OSError as error:
        raise SandboxError(f"{achieved} can't be used: {error}.", "Run `doctor` to see what works.") from error
    if achieved == "limits":
        _close_to_others()
    marker = secrets.token_hex(16)
    channel = os.pipe()
    return supervise.run(
        command,
        {**outside, "REPOPILOT_RUN": marker},
        document(job, achieved, places, channel[1]),
        job.limits,
        channel=channel,
        folder=job.work,
        marker=marker,
        cancel=cancel,
    )


def _close_to_others() -> None:
    """Where nothing else keeps programs of the same user out, this process's memory and environment are closed to
    them for the rest of its life (on Linux; the price is that debuggers can't attach)."""
    if sys.platform == "linux":
        set_dumpable = 4
        ctypes.CDLL(None).prctl(set_dumpable, 0, 0, 0, 0)


def _named(settings: Settings) -> SandboxLevel:
    choices: dict[str, SandboxLevel] = {name: name for name in get_args(SandboxLevel)}
    if settings.sandbox not in choices:
        raise SandboxError(f"There is no sandbox level {settings.sandbox!r}.", f"One of: auto, {', '.join(choices)}.")
    wanted = choices[settings.sandbox]
    if wanted == "limits" and not settings.allow_weak_sandbox:
        raise SandboxError("Resource limits alone are a weak sandbox and need consent.", _CONSENT)
    if reason := why_unavailable(wanted):
        raise SandboxError(f"The sandbox level {wanted} does not work here: {reason}.", "Set REPOPILOT_SANDBOX=auto.")
    return wanted


def _command(job: SandboxJob, achieved: SandboxLevel) -> tuple[list[str], Mounts, dict[str, str]]:
    """The command, where its folders are inside, and its environment."""
    if achieved == "bwrap":  # which sets the inner environment itself
        return bwrap.command(job), bwrap.PLACES, {}
    if achieved == "seatbelt":
        return seatbelt.command(job), seatbelt.places(job), environment(seatbelt.places(job))
    return landlock.command(job), landlock.places(job), environment(landlock.places(job))
