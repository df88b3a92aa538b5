"""The history of a test-and-repair loop: which attempt is best, when to stop, how it is told. Pure."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import asdict, dataclass

from repopilot.types import Failure, TestRun

_SAME_FAILURE = 3
_REPEATS = 2


@dataclass(frozen=True, slots=True)
class Iteration:
    """One attempt. `run` is None when the candidate was not worth running, `problem` says why; `change` is what
    differs from the best one before, `why` what it was made for."""

    number: int
    candidate: str
    run: TestRun | None
    failures: tuple[Failure, ...] = ()
    change: str = ""
    why: str = ""
    problem: str = ""

    @property
    def genuine(self) -> bool:
        return self.run is not None and self.run.genuine


def best(iterations: Sequence[Iteration]) -> Iteration:
    """The genuine one, else the one that passes most and fails least, else the earliest."""
    return max(iterations, key=lambda iteration: (*_merit(iteration), -iteration.number))


def why_stop(iterations: Sequence[Iteration], most: int, *, has_model: bool) -> str:
    """Why there should be no further iteration, in words; '' to go on."""
    last = iterations[-1]
    if last.genuine:
        return "the tests passed under control"
    if not has_model:
        return "there is no model to repair with"
    if len(iterations) >= most:
        return f"{most} iterations are the limit"
    if sum(1 for iteration in iterations if "returned before" in iteration.problem) >= _REPEATS:
        return "the model repeats itself"
    signatures = [_signature(iteration) for iteration in iterations if iteration.run]
    if len(signatures) >= _SAME_FAILURE and len(set(signatures[-_SAME_FAILURE:])) == 1:
        return "every attempt fails in the same way"
    if len(signatures) >= 4 and signatures[-1] == signatures[-3] and signatures[-2] == signatures[-4]:
        return "the attempts alternate between two failures"
    return ""


def doubtful_tests(iterations: Sequence[Iteration]) -> tuple[str, ...]:
    """Tests that every one of at least two different runs failed while other tests passed: ids without parameters."""
    runs = [iteration for iteration in iterations if iteration.run and iteration.run.passed]
    if len(runs) < 2:
        return ()
    failed = [{failure.test_id.partition("[")[0] for failure in iteration.failures} for iteration in runs]
    return tuple(sorted(set.intersection(*failed)))


def as_json(iteration: Iteration) -> dict[str, object]:
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


def in_words(iteration: Iteration) -> str:
    """What the step shows, in Markdown."""
    run = iteration.run
    parts = [f"{iteration.why}." if iteration.why else "", f"Changed: {iteration.change}." if iteration.change else ""]
    if run is None:
        return " ".join(filter(None, [*parts, f"Not run: {iteration.problem}."]))
    verdict = "passed under control" if run.genuine else "; ".join(run.reasons[:3]) or "no genuine pass"
    parts.append(f"{run.passed} passed, {run.failed} failed, {run.errors} errors ({run.level}): {verdict}.")
    parts += [f"\n`{f.test_id}` {f.path}:{f.line}\n```\n{f.assertion[:600]}\n```" for f in iteration.failures[:3]]
    return " ".join(filter(None, parts))


def first_line(failure: Failure) -> str:
    """The failing assertion in short."""
    return failure.assertion.partition("\n")[0][:200]


def _merit(iteration: Iteration) -> tuple[bool, bool, int, int]:
    run = iteration.run
    if run is None:
        return (False, False, 0, 0)
    return (run.genuine, True, run.passed, -run.failed - run.errors)


def _signature(iteration: Iteration) -> tuple:
    assert iteration.run
    return (iteration.run.ended, *((failure.test_id, failure.assertion) for failure in iteration.failures))
