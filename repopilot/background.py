"""Blocking work in threads, for whoever may stop waiting for it."""

from __future__ import annotations

import asyncio
from collections.abc import Callable
from typing import TypeVar

T = TypeVar("T")


def in_background(work: Callable[[], T]) -> asyncio.Task[T]:
    """Begin work in a thread, as a task. Its error isn't logged where nobody waits for it any more."""
    task = asyncio.create_task(asyncio.to_thread(work))
    task.add_done_callback(_retrieve)
    return task


def _retrieve(task: asyncio.Task[T]) -> None:
    """Mark the error of a task as seen."""
    if not task.cancelled():
        task.exception()
