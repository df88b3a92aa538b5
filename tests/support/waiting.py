"""Waiting for a state, and ports that stay a test's own: nothing here depends on how fast the machine is."""

from __future__ import annotations

import asyncio
import functools
import socket
import sys
import time
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from typing import TypeVar

import httpx

PATIENCE_S = 240.0
"""Longer than anything takes on a machine with twenty processes a core; only what would never come waits so long."""
Found = TypeVar("Found")
get = functools.partial(httpx.get, timeout=PATIENCE_S)
post = functools.partial(httpx.post, timeout=PATIENCE_S)


def until(holds: Callable[[], Found]) -> Found:
    """Wait until something holds, and return what it gave. Raises AssertionError where it doesn't come to hold."""
    deadline = time.monotonic() + PATIENCE_S
    while not (found := holds()):
        assert time.monotonic() < deadline, "it has not come to hold"
        time.sleep(0.02)
    return found


async def eventually(holds: Callable[[], Found]) -> Found:
    """As `until`, while other tasks go on."""
    async with asyncio.timeout(PATIENCE_S):
        while not (found := holds()):
            await asyncio.sleep(0.01)
    return found


@contextmanager
def reserved_port() -> Iterator[int]:
    """A port of loopback for a server that can't take port 0 and say which one it got. Nobody else gets it until the
    block ends, and it refuses connections until the server listens."""
    with socket.socket() as held:
        held.setsockopt(socket.SOL_SOCKET, socket.SO_REUSEADDR, 1)
        held.bind(("127.0.0.1", 0))
        port = held.getsockname()[1]
        if sys.platform != "linux":  # only Linux lets a server listen where another socket is bound without listening
            held.close()
        yield port
