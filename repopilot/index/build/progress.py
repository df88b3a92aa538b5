"""Progress of one phase of a build, with its rate and the remaining time."""

from __future__ import annotations

import time

from repopilot.types import OnProgress, Progress

_INTERVAL_S = 0.1
_RATE_WINDOW_S = 10.0


class PhaseProgress:
    """Counts the units of one phase and reports at its start, at its end, and at most ten times a second between.

    The rate covers about the last ten seconds, so that the remaining time follows the machine's current speed.

    Args:
        report: receives every update.
        phase: id of the phase; the browser shows the text `ui.phases` has for it.
        total: units to do; 0 while unknown.
        unit: id of the counted unit; its text is in `ui.units`.
        done: units that were done before.
    """

    def __init__(self, report: OnProgress, phase: str, total: int = 0, unit: str = "files", done: int = 0) -> None:
        self._report = report
        self._total = total
        self._done = done
        self._phase = phase
        self._unit = unit
        self._reported_at = time.monotonic()
        self._window_start: tuple[float, float] = (self._reported_at, done)
        self._rate = 0.0
        self._send("")

    def advance(self, count: int, detail: str = "") -> None:
        """Count `count` more units; `detail` names the last one."""
        self._done += count
        now = time.monotonic()
        if now - self._reported_at >= _INTERVAL_S:
            self._reported_at = now
            self._measure(now)
            self._send(detail)

    def pause(self, reason: str) -> None:
        """Report at once that the phase is paused, and why. The pause doesn't count for the rate."""
        self._report(Progress(self._phase, self._done, self._total, self._unit, detail=reason))

    def resume(self) -> None:
        """Continue the phase after a pause."""
        self._reported_at = time.monotonic()
        self._window_start = (self._reported_at, self._done)
        self._send("")

    def finish(self) -> None:
        """The phase is over."""
        self._total = self._done = max(self._total, self._done)
        self._measure(time.monotonic())
        self._send("")

    def _measure(self, now: float) -> None:
        since, done = self._window_start
        if now > since:
            self._rate = (self._done - done) / (now - since)
        if now - since > _RATE_WINDOW_S:
            middle = now - _RATE_WINDOW_S / 2
            self._window_start = (middle, self._done - self._rate * (now - middle))

    def _send(self, detail: str) -> None:
        remaining_s = (self._total - self._done) / self._rate if self._rate > 0 and self._total else None
        self._report(Progress(self._phase, self._done, self._total, self._unit, self._rate, remaining_s, detail))
