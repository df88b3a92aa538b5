"""Counts and times for Prometheus: of requests, and of the steps of their work. No content, no names."""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable, Iterator, Sequence
from functools import partial
from typing import TYPE_CHECKING

from repopilot import __version__
from repopilot.release import commit
from repopilot.trace import Event, Finished, Sink, Started

if TYPE_CHECKING:
    from prometheus_client import Metric

BOUNDS = (0.01, 0.03, 0.1, 0.3, 1.0, 3.0, 10.0, 30.0, 100.0, 300.0)
"""Upper bounds of the buckets, in seconds."""


class Metrics:
    """The counts and durations since the process started.

    Args:
        states: returns the states of the repositories that clients asked for.
    """

    def __init__(self, states: Callable[[], Sequence[str]]) -> None:
        from prometheus_client import CollectorRegistry, Gauge, Histogram, ProcessCollector, disable_created_metrics

        disable_created_metrics()  # a time for each combination of labels, which nobody asks for
        self._states = states
        self._registry = registry = CollectorRegistry()
        ProcessCollector(registry=registry)
        registry.register(self)
        self._running = Gauge("repopilot_requests_running", "Requests being worked on.", registry=registry)
        times = partial(Histogram, buckets=BOUNDS, registry=registry)
        self._requests = times("repopilot_request_seconds", "Requests.", ("method", "path", "status"))
        self._steps = times("repopilot_step_seconds", "Steps of the work.", ("kind", "state"))

    def request(self, method: str, path: str, status: int, seconds: float) -> None:
        """Count a request by the template of its path."""
        self._requests.labels(method, path, str(status)).observe(seconds)

    def watched(self, sink: Sink) -> Sink:
        """A sink that also counts finished steps."""
        began: dict[str, Started] = {}

        def watch(event: Event) -> None:
            if isinstance(event, Started):
                began[event.id] = event
                self._running.inc(event.parent_id is None)
            elif isinstance(event, Finished) and event.id in began:
                start = began.pop(event.id)
                self._running.dec(start.parent_id is None)
                self._steps.labels(start.kind, event.state).observe(event.at - start.at)
            sink(event)

        return watch

    def exposition(self) -> tuple[bytes, str]:
        """The metrics in Prometheus' text format, and its content type."""
        from prometheus_client import CONTENT_TYPE_LATEST, generate_latest

        return generate_latest(self._registry), CONTENT_TYPE_LATEST

    def collect(self) -> Iterator[Metric]:
        """What is known only when it is asked for; Prometheus' client library calls this."""
        from prometheus_client.core import GaugeMetricFamily, InfoMetricFamily

        yield InfoMetricFamily("repopilot_build", "What runs.", {"version": __version__, "commit": commit()})
        repositories = GaugeMetricFamily("repopilot_repositories", "Repositories asked for.", labels=("state",))
        for state, count in Counter(self._states()).items():
            repositories.add_metric((state,), count)
        yield repositories
