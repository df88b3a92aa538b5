"""Progress of a phase with its rate and remaining time."""

from __future__ import annotations

import time
from collections.abc import Callable

from repopilot.types import Progress

Listener = Callable[[Progress], None]
_EVERY_S = 0.1
_MEMORY_S = 10.0


class Meter:
    """Counts one phase and tells a listener at most ten times a second, and at its beginning and end.

    The rate is that of about the last ten seconds, so that a remaining time follows what the machine does now.
    """

    def __init__(self, listener: Listener, phase: str, total: int = 0, unit: str = "files", done: int = 0) -> None:
        self._listener, self._phase, self._total, self._unit = listener, phase, total, unit
        self._done, self._told = done, time.monotonic()
        self._mark = (self._told, done)
        self._rate = 0.0
        self._tell("")

    def add(self, count: int, detail: str = "") -> None:
        """`count` more units are done."""
        self._done += count
        now = time.monotonic()
        if now - self._told >= _EVERY_S:
            self._told = now
            self._measure(now)
            self._tell(detail)

    def end(self, detail: str = "") -> None:
        """The phase is over."""
        self._total = self._done = max(self._total, self._done)
        self._measure(time.monotonic())
        self._tell(detail)

    def _measure(self, now: float) -> None:
        since, done = self._mark
        if now > since:
            self._rate = (self._done - done) / (now - since)
        if now - since > _MEMORY_S:
            half = now - _MEMORY_S / 2
            self._mark = (half, self._done - self._rate * (now - half))

    def _tell(self, detail: str) -> None:
        remaining = (self._total - self._done) / self._rate if self._rate > 0 and self._total else None
        self._listener(Progress(self._phase, self._done, self._total, self._unit, self._rate, remaining, detail))
