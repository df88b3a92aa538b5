"""Runs blocking work in threads, for callers that may stop waiting."""

from __future__ import annotations

import asyncio
from collections.abc import Callable
from typing import TypeVar

T = TypeVar("T")


def in_background(work: Callable[[], T]) -> asyncio.Task[T]:
    """Start work in a thread, as a task. Its error isn't logged if nobody waits for the task any more."""
    task = asyncio.create_task(asyncio.to_thread(work))
    task.add_done_callback(_retrieve)
    return task


def _retrieve(task: asyncio.Task[T]) -> None:
    """Mark the error of a task as seen."""
    if not task.cancelled():
        task.exception()
