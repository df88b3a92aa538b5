"""Runs tasks on a Ray cluster. The only module that imports Ray, which is an optional extra."""

from __future__ import annotations

import logging
import os
import socket
import sys
import time
from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager, redirect_stdout
from types import ModuleType
from typing import Any
from urllib.parse import urlsplit

from repopilot.errors import ClusterError, UsageError
from repopilot.i18n import message

RETRIES = 3
"""How often a task is restarted after its process was killed."""
LOST_AFTER_S = 30.0
"""Seconds of silence of the head node after which the cluster counts as lost; Ray exits without a word after 60."""
LONGEST_REASON = 300
_POLL_S = 2.0
_CONNECT_S = 5.0


def run_tasks(address: str, function: Callable, calls: Sequence[tuple]) -> Iterator[tuple[int, Any]]:
    """Run every call as a task of its own, on any free process of the cluster.

    Args:
        address: as `ray.init` takes it.
        function: importable on every machine of the cluster.
        calls: the arguments of each call.

    Yields:
        The number and the result of each call as it ends; a ClusterError instead of the result if the call raised an
        error or its process kept being killed.

    Raises:
        UsageError: Ray isn't installed.
        ClusterError: the cluster can't be reached, or is lost.
    """
    with _connected(address) as ray:
        head = address if "://" in address else ray.get_runtime_context().gcs_address
        left = len(calls)
        try:
            task = ray.remote(num_cpus=1, max_retries=RETRIES)(function)
            pending = {task.remote(*call): number for number, call in enumerate(calls)}
            heard = time.monotonic()
            while pending:
                ended, _ = ray.wait(list(pending), timeout=_POLL_S)
                if ended or _answers(head):
                    heard = time.monotonic()
                elif time.monotonic() - heard > LOST_AFTER_S:
                    raise ConnectionError(head)
                for each in ended:
                    left -= 1
                    yield pending.pop(each), _result(ray, each)
        except ConnectionError as error:
            raise ClusterError(
                message("cli.ray_lost", address=address, left=left), message("cli.ray_lost_hint")
            ) from error


@contextmanager
def _connected(address: str) -> Iterator[ModuleType]:
    os.environ["RAY_USAGE_STATS_ENABLED"] = "0"  # overrides Ray's config file; processes of `--ray local` inherit it
    try:
        import ray
    except ImportError as error:
        raise UsageError(message("cli.ray_extra"), message("cli.ray_extra_hint")) from error
    try:
        if ":" in address and not _answers(address):  # Ray would retry for minutes
            raise ConnectionError(message("cli.ray_silent"))
        ray.init(address, log_to_driver=False, logging_level=logging.ERROR)
    except (OSError, RuntimeError, ValueError) as error:
        raise ClusterError(
            message("cli.ray_unreachable", address=address, error=_end(error)),
            message("cli.ray_unreachable_hint"),
        ) from error
    with redirect_stdout(sys.stderr):  # Ray reports the fate of its workers on standard output
        try:
            yield ray
        finally:
            ray.shutdown()


def _answers(address: str) -> bool:
    """Whether something listens at an address."""
    try:
        place = urlsplit(address if "://" in address else f"//{address}")
        with socket.create_connection((place.hostname, place.port or 0), timeout=_CONNECT_S):
            return True
    except (OSError, ValueError):
        return False


def _result(ray: ModuleType, task: object) -> Any:
    try:
        return ray.get(task)
    except ray.exceptions.RayTaskError as error:
        return ClusterError(message("index.failed", error=_end(error.cause)), message("cli.ray_same"))
    except ray.exceptions.RayError as error:
        return ClusterError(
            message("cli.ray_killed", count=RETRIES + 1, error=_end(error)), message("cli.ray_killed_hint")
        )


def _end(error: Exception) -> str:
    """The end of an error's message: Ray puts the traceback of the other process first."""
    return " ".join(str(error).split())[-LONGEST_REASON:] or type(error).__name__
