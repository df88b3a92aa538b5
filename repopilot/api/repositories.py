"""The repositories that the API's clients work on: opened once, kept up to date."""

from __future__ import annotations

import asyncio
import threading
import time
from dataclasses import dataclass

from repopilot.index.store import Index
from repopilot.runtime import Runtime
from repopilot.types import Progress, Snapshot
from repopilot.workspace import Workspace, open_index, open_snapshot, open_workspace

FRESH_S = 60.0
"""A remote that was fetched less than this ago is not fetched again."""


@dataclass(frozen=True, slots=True)
class OpenedRepository:
    """A repository with its index, and when it was fetched, by the monotonic clock."""

    snapshot: Snapshot
    index: Index
    fetched_at: float


class Repositories:
    """Opens repositories. Thread-safe: each is opened by one request at a time.

    Args:
        runtime: the state of the process.
    """

    def __init__(self, runtime: Runtime) -> None:
        self.runtime = runtime
        self._opened: dict[tuple[str, str], OpenedRepository] = {}
        self._locks: dict[tuple[str, str], asyncio.Lock] = {}

    def listed(self) -> list[dict]:
        """{source, ref, name, commit} of what is open."""
        return [
            {"source": source, "ref": ref, "name": each.snapshot.name, "commit": each.index.commit}
            for (source, ref), each in self._opened.items()
        ]

    async def open(self, source: str, ref: str = "") -> OpenedRepository:
        """A repository up to date. Raises RepoPilotError."""
        key = (source, ref)
        async with self._locks.setdefault(key, asyncio.Lock()):
            known = self._opened.get(key)
            fresh = known is not None and time.monotonic() - known.fetched_at < FRESH_S
            if known is None or known.snapshot.root is not None or not fresh:
                known = self._opened[key] = await asyncio.to_thread(self._open, source, ref)
            return known

    async def workspace(self, source: str, ref: str = "") -> Workspace:
        """A repository with the models of the moment. Raises RepoPilotError."""
        opened = await self.open(source, ref)
        return await open_workspace(opened.index, opened.snapshot, self.runtime)

    def _open(self, source: str, ref: str) -> OpenedRepository:
        snapshot = open_snapshot(source, self.runtime, ref or None, _ignore, threading.Event())
        return OpenedRepository(snapshot, open_index(snapshot, self.runtime, _ignore), time.monotonic())


def _ignore(progress: Progress) -> None:
    """A request has no place for progress: a stream tells the steps."""
