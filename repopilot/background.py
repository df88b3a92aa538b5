"""Runs work that outlives its caller: tasks, and blocking work in threads."""

from __future__ import annotations

import asyncio
import threading
from collections.abc import Callable, Coroutine
from functools import partial
from typing import TypeVar

T = TypeVar("T")
_started: set[asyncio.Task] = set()


def start_task(work: Coroutine[object, object, T]) -> asyncio.Task[T]:
    """Run work to its end, as a task. A reference is kept, because the event loop has only weak ones to its tasks."""
    task = asyncio.create_task(work)
    _started.add(task)
    task.add_done_callback(_started.discard)
    return task


def in_background(work: Callable[[], T]) -> asyncio.Task[T]:
    """Start work in a thread, as a task. Its error isn't logged if nobody waits for the task any more."""
    task = asyncio.create_task(asyncio.to_thread(work))
    task.add_done_callback(_retrieve)
    return task


async def run_in_thread(work: Callable[[threading.Event], T]) -> T:
    """Run work in a thread. When the caller is cancelled, the work ends before the cancellation is raised.

    Args:
        work: what to run. Its event is set when the caller is cancelled, so that it can end early.
    """
    cancel = threading.Event()
    running = in_background(partial(work, cancel))
    try:
        return await asyncio.shield(running)
    except asyncio.CancelledError:
        cancel.set()
        await asyncio.wait([running])
        raise


def _retrieve(task: asyncio.Task[T]) -> None:
    """Mark the error of a task as seen."""
    if not task.cancelled():
        task.exception()
