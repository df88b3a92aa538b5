"""run_in_sandbox: the sandbox from asynchronous code, and what cancelling leaves behind."""

from __future__ import annotations

import asyncio
import gc
import threading

import pytest

from repopilot.errors import Cancelled, SandboxError
from repopilot.sandbox import async_runner
from repopilot.sandbox.async_runner import run_in_sandbox
from repopilot.settings import Settings

SETTINGS = Settings()


@pytest.fixture
async def unhandled():
    """What asyncio would log of errors nobody looked at."""
    found: list[dict] = []
    asyncio.get_running_loop().set_exception_handler(lambda _, context: found.append(context))
    return found


async def cancelled_run(monkeypatch, times: int = 1) -> bool:
    """Cancel a run; whether the sandbox had ended when the cancellation arrived."""
    started, ended = threading.Event(), threading.Event()

    def run_until_cancelled(files, tests, settings, *, inputs, cancel, environment, verify):
        started.set()
        assert cancel.wait(20)
        ended.set()
        raise Cancelled("cancelled")

    monkeypatch.setattr(async_runner, "run_pytest", run_until_cancelled)
    task = asyncio.create_task(run_in_sandbox({}, [], SETTINGS))
    await asyncio.to_thread(started.wait, 20)
    for _ in range(times):
        task.cancel()
        await asyncio.sleep(0)
    with pytest.raises(asyncio.CancelledError):
        await task
    return ended.is_set()


async def test_cancelling_ends_the_sandbox_first_and_leaves_no_unretrieved_exception(monkeypatch, unhandled):
    assert await cancelled_run(monkeypatch)
    gc.collect()
    await asyncio.sleep(0)
    assert unhandled == []


async def test_cancelling_twice_leaves_no_unretrieved_exception(monkeypatch, unhandled):
    await cancelled_run(monkeypatch, times=2)
    await asyncio.sleep(0.2)
    gc.collect()
    await asyncio.sleep(0)
    assert unhandled == []


@pytest.mark.slow
async def test_a_run_is_returned_and_its_error_raised(unhandled):
    files = {"a.py": "def one():\n    return 1\n"}
    tests = {"test_a.py": "from a import one\n\ndef test_one():\n    assert one() == 1\n"}
    run = await run_in_sandbox({**files, **tests}, list(tests), SETTINGS, verify=False)
    assert run.passed == 1
    with pytest.raises(SandboxError):
        await run_in_sandbox(files, ["../outside.py"], SETTINGS)
    gc.collect()
    assert unhandled == []
