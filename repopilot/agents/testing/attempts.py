"""The attempts of test and repair: which one is best, when to stop, how runs compare. Pure."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import asdict

from repopilot import i18n
from repopilot.results import Iteration
from repopilot.types import Failure, TestRun

_SAME_FAILURE = 3
"""This many runs in a row that fail in the same way end the loop."""
_MOST_REPEATS = 2
"""This many candidates that were tried before end the loop."""


def best(iterations: Sequence[Iteration]) -> Iteration:
    """The best iteration: a verified one, else the one that passes most and fails least, else the earliest."""
    return max(iterations, key=lambda iteration: (*_merit(iteration), -iteration.number))


def why_stop(iterations: Sequence[Iteration], limit: int, *, has_model: bool) -> str:
    """Why there should be no further iteration.

    Args:
        iterations: all of them so far, at least one.
        limit: the most iterations there may be.
        has_model: whether there is a model that could write another candidate.

    Returns:
        The reason in words, '' to go on.
    """
    if iterations[-1].genuine:
        return i18n.message("testing.stopped.verified")
    if not has_model:
        return i18n.message("testing.stopped.no_model")
    if len(iterations) >= limit:
        return i18n.message("testing.stopped.limit", count=limit)
    if sum(iteration.repeated for iteration in iterations) >= _MOST_REPEATS:
        return i18n.message("testing.stopped.repeats")
    signatures = [_signature(iteration.run, iteration.failures) for iteration in iterations if iteration.run]
    if len(signatures) >= _SAME_FAILURE and len(set(signatures[-_SAME_FAILURE:])) == 1:
        return i18n.message("testing.stopped.same_failure")
    return ""


def some_failed(run: TestRun) -> bool:
    """Whether tests ran and some did not pass. A run without any result is no evidence either way."""
    return run.failed > 0 or (run.errors > 0 and bool(run.failures))


def iteration_json(iteration: Iteration) -> dict[str, object]:
    """One entry of `iterations` in the command line's document, and of the step's facts."""
    run = iteration.run
    counts = (
        {key: getattr(run, key) for key in ("passed", "failed", "errors", "genuine", "ended", "level", "duration_s")}
        if run
        else {}
    )
    reasons = list(run.reasons) if run else [iteration.problem]
    return {
        "number": iteration.number,
        **counts,
        "failures": [asdict(failure) for failure in iteration.failures],
        "change": iteration.change,
        "why": iteration.why,
        "reasons": reasons,
    }


def first_line(assertion: str) -> str:
    """A failed assertion in short."""
    return next(iter(assertion.strip().splitlines()), "")[:200]


def _merit(iteration: Iteration) -> tuple[bool, bool, int, int]:
    run = iteration.run
    if run is None:
        return (False, False, 0, 0)
    return (run.genuine, True, run.passed, -run.failed - run.errors)


def _signature(run: TestRun, failures: Sequence[Failure]) -> tuple[object, ...]:
    """What two runs must have in common to have failed in the same way."""
    return (run.ended, *((failure.test_id, failure.assertion) for failure in failures))
