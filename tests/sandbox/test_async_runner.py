"""The sandbox from asynchronous code, and what cancelling leaves behind."""

from __future__ import annotations

import asyncio
import gc
import threading
from functools import partial

import pytest

from repopilot.background import run_in_thread
from repopilot.errors import Cancelled, SandboxError
from repopilot.sandbox.run import run_pytest
from repopilot.settings import Settings

SETTINGS = Settings()


@pytest.fixture
async def unhandled():
    """What asyncio would log of errors nobody looked at."""
    found: list[dict] = []
    asyncio.get_running_loop().set_exception_handler(lambda _, context: found.append(context))
    return found


async def cancelled_run(times: int = 1) -> bool:
    """Cancel a run; whether the sandbox had ended when the cancellation arrived."""
    started, ended = threading.Event(), threading.Event()

    def run_until_cancelled(cancel: threading.Event) -> None:
        started.set()
        assert cancel.wait(20)
        ended.set()
        raise Cancelled("cancelled")

    task = asyncio.create_task(run_in_thread(run_until_cancelled))
    await asyncio.to_thread(started.wait, 20)
    for _ in range(times):
        task.cancel()
        await asyncio.sleep(0)
    with pytest.raises(asyncio.CancelledError):
        await task
    return ended.is_set()


async def test_cancelling_ends_the_sandbox_first_and_leaves_no_unretrieved_exception(unhandled):
    assert await cancelled_run()
    gc.collect()
    await asyncio.sleep(0)
    assert unhandled == []


@pytest.mark.slow
async def test_cancelling_twice_leaves_no_unretrieved_exception(unhandled):
    await cancelled_run(times=2)
    await asyncio.sleep(0.2)
    gc.collect()
    await asyncio.sleep(0)
    assert unhandled == []


@pytest.mark.slow
async def test_a_run_is_returned_and_its_error_raised(unhandled):
    files = {"a.py": "def one():\n    return 1\n"}
    tests = {"test_a.py": "from a import one\n\ndef test_one():\n    assert one() == 1\n"}
    run = await run_in_thread(partial(run_pytest, {**files, **tests}, list(tests), SETTINGS, verify=False))
    assert run.passed == 1
    with pytest.raises(SandboxError):
        await run_in_thread(partial(run_pytest, files, ["../outside.py"], SETTINGS))
    gc.collect()
    assert unhandled == []
