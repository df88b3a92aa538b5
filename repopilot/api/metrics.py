"""Counts and times for Prometheus: of requests, and of the steps of their work. No content, no names."""

from __future__ import annotations

from bisect import bisect_left
from collections import Counter, defaultdict
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass, field
from itertools import accumulate
from typing import TYPE_CHECKING

from repopilot import __version__
from repopilot.release import commit
from repopilot.trace import Event, Finished, Sink, Started

if TYPE_CHECKING:
    from prometheus_client import Metric

BOUNDS = (0.01, 0.03, 0.1, 0.3, 1.0, 3.0, 10.0, 30.0, 100.0, 300.0)
"""Upper bounds of the buckets, in seconds."""


@dataclass(slots=True)
class Times:
    """A histogram of durations."""

    counts: list[int] = field(default_factory=lambda: [0] * (len(BOUNDS) + 1))
    total: float = 0.0

    def add(self, seconds: float) -> None:
        """Count a duration."""
        self.counts[bisect_left(BOUNDS, seconds)] += 1
        self.total += seconds


class Metrics:
    """The counts and durations since the process started.

    Args:
        states: returns the states of the repositories that clients asked for.
    """

    def __init__(self, states: Callable[[], Sequence[str]]) -> None:
        self._states = states
        self._running = 0
        self._requests: defaultdict[tuple[str, ...], Times] = defaultdict(Times)
        self._steps: defaultdict[tuple[str, ...], Times] = defaultdict(Times)

    def request(self, method: str, path: str, status: int, seconds: float) -> None:
        """Count a request by the template of its path."""
        self._requests[method, path, str(status)].add(seconds)

    def watched(self, sink: Sink) -> Sink:
        """A sink that also counts finished steps."""
        began: dict[str, Started] = {}

        def watch(event: Event) -> None:
            if isinstance(event, Started):
                began[event.id] = event
                self._running += event.parent_id is None
            elif isinstance(event, Finished) and event.id in began:
                start = began.pop(event.id)
                self._running -= start.parent_id is None
                self._steps[start.kind, event.state].add(event.at - start.at)
            sink(event)

        return watch

    def exposition(self) -> tuple[bytes, str]:
        """The metrics in Prometheus' text format, and its content type."""
        from prometheus_client import CONTENT_TYPE_LATEST, CollectorRegistry, ProcessCollector, generate_latest

        registry = CollectorRegistry()
        ProcessCollector(registry=registry)
        registry.register(self)
        return generate_latest(registry), CONTENT_TYPE_LATEST

    def collect(self) -> Iterator[Metric]:
        """The metrics; Prometheus' client library calls this."""
        from prometheus_client.core import GaugeMetricFamily, InfoMetricFamily

        yield InfoMetricFamily("repopilot_build", "What runs.", {"version": __version__, "commit": commit()})
        yield GaugeMetricFamily("repopilot_requests_running", "Requests being worked on.", self._running)
        repositories = GaugeMetricFamily("repopilot_repositories", "Repositories asked for.", labels=("state",))
        for state, count in Counter(self._states()).items():
            repositories.add_metric((state,), count)
        yield repositories
        yield _histogram("repopilot_request_seconds", "Requests.", ("method", "path", "status"), self._requests)
        yield _histogram("repopilot_step_seconds", "Steps of the work.", ("kind", "state"), self._steps)


def _histogram(name: str, about: str, labels: Sequence[str], times: dict[tuple[str, ...], Times]) -> Metric:
    from prometheus_client.core import HistogramMetricFamily

    family = HistogramMetricFamily(name, about, labels=labels)
    bounds = [*map(str, BOUNDS), "+Inf"]
    for values, each in list(times.items()):
        family.add_metric(values, list(zip(bounds, accumulate(each.counts), strict=True)), each.total)
    return family
