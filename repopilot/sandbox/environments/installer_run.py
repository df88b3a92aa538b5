"""Runs a package manager, bounded in time, memory and disk space."""

from __future__ import annotations

import os
import secrets
import threading
from collections.abc import Mapping, Sequence
from dataclasses import replace
from pathlib import Path

from repopilot import disk, i18n
from repopilot.errors import EnvironmentFailed, StorageError
from repopilot.sandbox import supervise
from repopilot.sandbox.job_spec import MB, SandboxLimits
from repopilot.settings import Settings

_LIMITS = SandboxLimits(memory=4096 * MB, processes=256)


def run_installer(
    arguments: Sequence[str],
    variables: Mapping[str, str],
    folder: Path,
    settings: Settings,
    cancel: threading.Event,
    *,
    starts_in: Path | None = None,
) -> supervise.RunOutcome:
    """Run a command of a package manager.

    Args:
        arguments: its program, with the full path, and its arguments.
        variables: its environment variables, besides those of our own process.
        folder: the folder that it writes to, whose size is limited.
        settings: the limits.
        cancel: ends the run once set.
        starts_in: the folder it is started in, None for ours.

    Returns:
        How it ended; the caller reads its status.

    Raises:
        EnvironmentFailed: it took too long or wrote too much.
        StorageError: the disk is full.
        Cancelled: `cancel` was set.
    """
    marker = secrets.token_hex(16)
    environment = {**os.environ, **variables, "REPOPILOT_RUN": marker}
    command = supervise.SandboxCommand(supervise.guarded(arguments), environment, b"", folder, marker, starts_in)
    limits = replace(_LIMITS, seconds=settings.environment_timeout_s, disk=settings.environment_max_mb * MB)
    outcome = supervise.run(command, limits, os.pipe(), cancel)
    if outcome.ended == "timeout":
        raise EnvironmentFailed(
            i18n.message("environments.timeout", seconds=limits.seconds), i18n.message("environments.timeout_hint")
        )
    if outcome.ended == "disk":
        raise too_large(settings.environment_max_mb)
    if outcome.ended != "finished":
        name = Path(arguments[0]).name
        raise EnvironmentFailed(i18n.message("environments.installer_stopped", program=name, limit=outcome.ended))
    if outcome.status != 0 and disk.says_full(outcome.output):  # nothing is wrong with the packages
        raise disk_full()
    return outcome


def disk_full() -> StorageError:
    """The error for an environment that doesn't fit on the disk."""
    return StorageError(i18n.message("environments.disk_full"), i18n.message("environments.disk_full_hint"))


def too_large(limit: int, needed: int | None = None) -> EnvironmentFailed:
    """The error for an environment over the limit, in MB; `needed` is its size where known beforehand."""
    if needed is None:
        problem = i18n.message("environments.too_large", limit=limit)
    else:
        problem = i18n.message("environments.too_large_to_fetch", limit=limit, needed=needed)
    return EnvironmentFailed(problem, i18n.message("environments.too_large_hint"))
