"""Did the tests really pass? Judges what a run and its inverted control reported. Pure.

An exit status, a report file or printed text can be forged by the code under test, which shares the interpreter with
pytest. A pass counts when (1) pytest ended with status 0 and reported so with the run's nonce, (2) every test that the
syntax tree of the test files defines has passed, and (3) under the control, the same tests with one expectation made
wrong, pytest ended with exactly 1 and no wrong expectation held. It is a pass *under control*, not a proof: a program
written to recognise this very control could still lie.
"""

from __future__ import annotations

import json
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field

from repopilot.sandbox.control import ExpectedTest, Mutation


@dataclass(frozen=True, slots=True)
class TestOutcome:
    """One reported outcome. `when`: collect, setup, call or teardown; `outcome`: passed, failed or skipped."""

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
    """All that came through the channel. `status` is pytest's own at its end, None when it never got there;
    `foreign` counts lines that pytest's reporter did not write."""

    outcomes: tuple[TestOutcome, ...] = ()
    status: int | None = None
    foreign: int = 0
    by_test: Mapping[str, tuple[TestOutcome, ...]] = field(default_factory=dict)


def read_report(raw: bytes, nonce: str) -> RunReport:
    """Parse the channel's lines; those without the nonce or of another form are counted as foreign."""
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
    return test_id.partition("[")[0]


def why_not_passed(
    report: RunReport, exit_status: int, expected: Mapping[str, Sequence[ExpectedTest]]
) -> tuple[str, ...]:
    """Why a run is no pass; empty when it claims one consistently. `expected`: by path, as in the report's ids."""
    reasons = [] if any(expected.values()) else ["there is no test to run"]
    passed = 0
    for path, tests in expected.items():
        for test in tests:
            outcomes = report.by_test.get(f"{path}::{test.id}", ())
            verdict = _verdict_on(outcomes, test.may_skip)
            passed += verdict == "passed"
            if verdict not in ("passed", "skipped"):
                reasons.append(f"{test.id}: {verdict}")
    if any(outcome.when == "collect" for outcome in report.outcomes):
        reasons.append("a file could not be collected")
    if not passed and not reasons:
        reasons.append("no test passed, all were skipped")
    return tuple(reasons or _why_not_ended(report, exit_status, 0))


def why_not_genuine(
    report: RunReport, exit_status: int, controls: Mapping[str, Mutation], token: str, skipped: Sequence[str] = ()
) -> tuple[str, ...]:
    """Why the control run casts doubt on a pass; empty when it failed as an honest program must. `controls`: the
    mutation of each file by its path; `skipped`: ids of tests that were skipped with the test file's consent."""
    reasons = _why_not_ended(report, exit_status, 1)
    for path, mutation in controls.items():
        outcomes = [o for o in report.by_test.get(f"{path}::{mutation.test}", ()) if o.when != "teardown"]
        failures = [outcome.message + outcome.text for outcome in outcomes if outcome.outcome == "failed"]
        held = any(f"held {token}" in failure for failure in failures)
        at_end = mutation.position is None and mutation.test not in skipped
        if not outcomes:
            reasons.append(f"{mutation.test}: not reported under the control")
        elif held:
            reasons.append(f"{mutation.test}, line {mutation.line}: holds with a wrong expected value as well")
        elif at_end and not any(token in failure for failure in failures):
            reasons.append(f"{mutation.test}: passes although made to fail at its end")
    return tuple(reasons)


def _why_not_ended(report: RunReport, exit_status: int, wanted: int) -> list[str]:
    reasons = []
    if exit_status != wanted:
        reasons.append(f"the exit status is {exit_status} instead of {wanted}")
    if report.status is None:
        reasons.append("pytest did not report its end")
    elif report.status != wanted:
        reasons.append(f"pytest reported the status {report.status} instead of {wanted}")
    if report.foreign:
        reasons.append("something else wrote into the report")
    return reasons


def _verdict_on(outcomes: Sequence[TestOutcome], may_skip: bool) -> str:
    if not outcomes:
        return "not reported"
    if any(outcome.outcome == "failed" for outcome in outcomes):
        return "failed"
    if any(outcome.outcome == "skipped" or outcome.xfail for outcome in outcomes):
        return "skipped" if may_skip else "skipped, though the test file says nothing of it"
    calls = [outcome for outcome in outcomes if outcome.when == "call"]
    if len({outcome.id for outcome in calls}) != len(calls):
        return "reported more than once"
    return "passed" if calls else "not reported"


def _outcome(event: Mapping) -> TestOutcome:
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
