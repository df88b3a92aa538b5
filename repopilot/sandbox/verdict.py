"""Judges whether tests really passed, from the reports of a run and of its inverted run. Pure.

An exit status, a report file or printed text can be forged by the code under test, which shares the interpreter with
pytest. A pass is verified when (1) pytest ended with status 0 and reported so with the run's nonce, (2) every test that
the syntax tree of the test files defines has passed, and (3) in the inverted run, the same tests with one expectation
made wrong, pytest ended with exactly 1 and no wrong expectation passed. This verification by assertion inversion is no
proof: a program written to recognise this very inversion could still deceive it.
"""

from __future__ import annotations

import json
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any

from repopilot import i18n
from repopilot.sandbox.inversion import ExpectedTest, Mutation, wrong_pass


@dataclass(frozen=True, slots=True)
class TestOutcome:
    """One reported outcome.

    Attributes:
        id: pytest's node id.
        when: collect, setup, call or teardown.
        outcome: passed, failed or skipped.
        seconds: duration.
        xfail: it was expected to fail.
        text: pytest's long representation of a failure.
        message: the failing assertion in short.
        path: of the innermost frame in the code under test, '' without one.
        line: of that frame.
    """

    __test__ = False

    id: str
    when: str
    outcome: str
    seconds: float = 0.0
    xfail: bool = False
    text: str = ""
    message: str = ""
    path: str = ""
    line: int = 0


@dataclass(frozen=True, slots=True)
class RunReport:
    """Everything that came through the report channel.

    Attributes:
        outcomes: in order.
        status: pytest's own exit status, None when it did not reach its end.
        foreign: number of lines that pytest's reporter did not write.
        by_test: outcomes by test id, without parameters.
    """

    outcomes: tuple[TestOutcome, ...] = ()
    status: int | None = None
    foreign: int = 0
    by_test: Mapping[str, tuple[TestOutcome, ...]] = field(default_factory=dict)


def read_report(raw: bytes, nonce: str) -> RunReport:
    """Parse the channel's lines. Lines without the nonce or of another form are counted as foreign."""
    outcomes: list[TestOutcome] = []
    status, foreign = None, 0
    for line in raw.splitlines():
        try:
            event = json.loads(line)
            if event["nonce"] != nonce:
                foreign += 1
            elif event["event"] == "outcome":
                outcomes.append(_outcome(event))
            elif event["event"] == "finished":
                status = int(event["status"])
        except (ValueError, KeyError, TypeError):
            foreign += 1
    by_test: dict[str, list[TestOutcome]] = {}
    for outcome in outcomes:
        by_test.setdefault(without_parameters(outcome.id), []).append(outcome)
    return RunReport(tuple(outcomes), status, foreign, {name: tuple(group) for name, group in by_test.items()})


def without_parameters(test_id: str) -> str:
    """The id of a test without its `[parameters]`."""
    return test_id.partition("[")[0]


def why_not_passed(
    report: RunReport, exit_status: int, expected: Mapping[str, Sequence[ExpectedTest]]
) -> tuple[str, ...]:
    """Why a run has not passed, as messages.

    Args:
        report: what the run reported.
        exit_status: of the process.
        expected: the tests of each file by its path, as in the report's ids.

    Returns:
        The reasons; none when the run consistently claims a pass.
    """
    reasons = [] if any(expected.values()) else [_reason("no_test")]
    passed = 0
    for path, tests in expected.items():
        for test in tests:
            outcomes = report.by_test.get(f"{path}::{test.id}", ())
            verdict = _verdict_on(outcomes, test.may_skip)
            passed += verdict == "passed"
            if verdict not in ("passed", "skipped"):
                reasons.append(_reason(verdict, test=test.id))
    if any(outcome.when == "collect" for outcome in report.outcomes):
        reasons.append(_reason("not_collected"))
    if not passed and not reasons:
        reasons.append(_reason("all_skipped"))
    return tuple(reasons or _why_not_ended(report, exit_status, 0))


def why_not_verified(
    report: RunReport, exit_status: int, mutants: Mapping[str, Mutation], token: str, skipped: Sequence[str] = ()
) -> tuple[str, ...]:
    """Why the inverted run casts doubt on a pass, as messages.

    Args:
        report: what the inverted run reported.
        exit_status: of its process.
        mutants: the mutation of each test file by its path.
        token: the one in the mutants' messages.
        skipped: ids of tests that were skipped, as their file says they may be.

    Returns:
        The reasons; none when the run failed as an honest program must.
    """
    reasons = _why_not_ended(report, exit_status, 1)
    for path, mutation in mutants.items():
        outcomes = [o for o in report.by_test.get(f"{path}::{mutation.test}", ()) if o.when != "teardown"]
        failures = [outcome.message + outcome.text for outcome in outcomes if outcome.outcome == "failed"]
        passes = any(wrong_pass(token) in failure for failure in failures)
        at_end = mutation.position is None and mutation.test not in skipped
        if not outcomes:
            reasons.append(_reason("not_reported_inverted", test=mutation.test))
        elif passes:
            reasons.append(_reason("passes_inverted", test=mutation.test, line=mutation.line))
        elif at_end and not any(token in failure for failure in failures):
            reasons.append(_reason("passes_at_end", test=mutation.test))
    return tuple(reasons)


def _reason(name: str, **values: object) -> str:
    return i18n.message(f"sandbox.verdict.{name}", **values)


def _why_not_ended(report: RunReport, exit_status: int, expected: int) -> list[str]:
    """Why a run has not ended properly with the expected exit status."""
    reasons: list[str] = []
    if exit_status != expected:
        reasons.append(_reason("exit_status", status=exit_status, expected=expected))
    if report.status is None:
        reasons.append(_reason("no_end"))
    elif report.status != expected:
        reasons.append(_reason("reported_status", status=report.status, expected=expected))
    if report.foreign:
        reasons.append(_reason("foreign_lines"))
    return reasons


def _verdict_on(outcomes: Sequence[TestOutcome], may_skip: bool) -> str:
    """`passed`, `skipped`, or the name of the reason why a test did neither."""
    if not outcomes:
        return "not_reported"
    if any(outcome.outcome == "failed" for outcome in outcomes):
        return "failed"
    if any(outcome.outcome == "skipped" or outcome.xfail for outcome in outcomes):
        return "skipped" if may_skip else "skipped_unannounced"
    calls = [outcome for outcome in outcomes if outcome.when == "call"]
    if len({outcome.id for outcome in calls}) != len(calls):
        return "reported_twice"
    return "passed" if calls else "not_reported"


def _outcome(event: Mapping[str, Any]) -> TestOutcome:
    path, line = (*event["frame"], "", 0)[:2]
    return TestOutcome(
        str(event["id"]),
        str(event["when"]),
        str(event["outcome"]),
        float(event["seconds"]),
        bool(event["xfail"]),
        str(event["text"]),
        str(event["message"]),
        str(path),
        int(line),
    )
