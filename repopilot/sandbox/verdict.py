"""Judges whether tests really passed, from the reports of a run and of its controls. Pure.

An exit status, a report file or printed text can be forged by the code under test, which shares the interpreter with
pytest. A pass is verified when (1) pytest ended with status 0 and reported so with the run's nonce, (2) every test that
the syntax tree of the test files defines has passed, and (3) in each control, a run of the same files in which some
expectations are wrong, exactly those tests failed. Which ones are wrong is known only here, and a program that doesn't
know what is right can't see it. This is no proof: a program that knows the expected values can still deceive it.
"""

from __future__ import annotations

import re
from collections.abc import Collection, Iterable, Mapping, Sequence
from dataclasses import dataclass, field, replace
from typing import Any

from repopilot import i18n
from repopilot.sandbox.controls.inversion import ExpectedTest
from repopilot.sandbox.output.bounded_json import ReportExceedsBounds, json_of, lines_of
from repopilot.sandbox.output.plain_text import plain

_LONGEST = 12_000
"""Most characters of an id, a message or a text."""
_LONGEST_NAME = 100
_MAX_COUNT = 10_000_000
_MAX_STATUS = 255
_MAX_SECONDS = 1e6
_STAGES = ("collect", "setup", "call", "teardown")
_OUTCOMES = ("passed", "failed", "skipped")
_FIELDS = {"id", "when", "outcome", "seconds", "xfail", "text", "message", "frame"}
_MOST_NAMED = 5
_VARIANT = re.compile(r"([^\[]*\.py::[^\[]*)\[.*\]$", re.S)
_STRAY_PASSES = 0.05
_STRAY_FAILURES = 0.1


@dataclass(frozen=True, slots=True)
class Control:
    """The wrong expectations of a control, a run that checks a pass.

    Attributes:
        texts: the changed test files by path.
        fail: ids, without parameters, of the tests that can't pass.
        may_fail: ids of tests that may fail.
    """

    texts: Mapping[str, str]
    fail: frozenset[str] = frozenset()
    may_fail: frozenset[str] = frozenset()


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
        foreign: number of lines not written by pytest's reporter; a report that exceeds the bounds adds one.
        by_test: outcomes by test id, without parameters.
        collected: ids of the tests that were to be run.
        missing_plugins: names of requested pytest plugins that can't be imported.
    """

    outcomes: tuple[TestOutcome, ...] = ()
    status: int | None = None
    foreign: int = 0
    by_test: Mapping[str, tuple[TestOutcome, ...]] = field(default_factory=dict)
    collected: tuple[str, ...] = ()
    missing_plugins: tuple[str, ...] = ()


def read_report(raw: bytes, nonce: str) -> RunReport:
    """Parse the channel's lines. Lines without the nonce or of another form are counted as foreign, as is a report that
    exceeds the bounds of bounded_json.py."""
    outcomes: list[TestOutcome] = []
    collected: list[str] = []
    missing: list[str] = []
    status = None
    foreign = 0
    try:
        for line in lines_of(raw):
            event = _event(line, nonce)
            if event is None or status is not None:  # nothing comes after the end
                foreign += 1
            elif isinstance(event, TestOutcome):
                outcomes.append(event)
            elif event.status is not None:
                status = event.status
            if isinstance(event, _Stage):
                collected += event.ids
                missing += event.missing
    except ReportExceedsBounds:
        foreign += 1
    grouped = _grouped(outcomes)
    return RunReport(tuple(outcomes), status, foreign, grouped, tuple(collected), tuple(dict.fromkeys(missing)))


def without_parameters(test_id: str) -> str:
    """The id of a test without its `[parameters]`."""
    return test_id.partition("[")[0]


def variants_together(ids: Iterable[str]) -> list[str]:
    """Ids for display: the variants of a parametrised Python test become one entry with their number."""
    groups: dict[str, list[str]] = {}
    for name in ids:
        found = _VARIANT.match(name)
        groups.setdefault(f"{found[1]}[…]" if found else name, []).append(name)
    return [f"{group} ×{len(names)}" if len(names) > 1 else names[0] for group, names in groups.items()]


def without_tests(report: RunReport, ids: Collection[str]) -> RunReport:
    """A report without the tests of some ids."""
    outcomes = tuple(outcome for outcome in report.outcomes if outcome.id not in ids)
    return replace(report, outcomes=outcomes, by_test=_grouped(outcomes))


def _grouped(outcomes: Iterable[TestOutcome]) -> dict[str, tuple[TestOutcome, ...]]:
    by_test: dict[str, list[TestOutcome]] = {}
    for outcome in outcomes:
        by_test.setdefault(without_parameters(outcome.id), []).append(outcome)
    return {name: tuple(group) for name, group in by_test.items()}


def why_not_passed(
    report: RunReport, exit_status: int, expected: Mapping[str, Sequence[ExpectedTest]], wanted: int = 0
) -> tuple[str, ...]:
    """Why a run has not passed, as messages.

    Args:
        report: what the run reported.
        exit_status: of the process.
        expected: the tests of each file by its path, as in the report's ids.
        wanted: the exit status of a process in which these tests pass.

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
    return tuple(reasons or _why_not_ended(report, exit_status, wanted))


def passing(report: RunReport) -> frozenset[str]:
    """Ids, without parameters, of tests that have a passed variant and no failed one."""
    return frozenset(
        test
        for test, outcomes in report.by_test.items()
        if any(outcome.when == "call" and outcome.outcome == "passed" and not outcome.xfail for outcome in outcomes)
        and not any(outcome.outcome == "failed" for outcome in outcomes)
    )


def failing(report: RunReport) -> frozenset[str]:
    """Ids, without parameters, of tests that have a failed variant."""
    return frozenset(
        test for test, outcomes in report.by_test.items() if any(outcome.outcome == "failed" for outcome in outcomes)
    )


def fails_elsewhere(report: RunReport, control: Control) -> bool:
    """Whether a test without wrong expectations fails in a control."""
    return not failing(report) <= control.fail | control.may_fail


def why_not_verified(report: RunReport, exit_status: int, first: RunReport, control: Control) -> tuple[str, ...]:
    """Why a control casts doubt on a pass, as messages.

    Args:
        report: what the control reported.
        exit_status: of its process.
        first: the report of the run that passed.
        control: what was wrong in it.

    Returns:
        The reasons; none if, of the tests that had passed, exactly those with wrong expectations failed. A small share
        of exceptions is allowed: a failed test may leave something behind that breaks the next one.
    """
    failed = failing(report)
    passed = passing(first)
    wrong = control.fail & passed
    untouched = passed - control.fail - control.may_fail
    reasons = _why_not_ended(report, exit_status, 1 if failed else 0)
    missing = sorted(first.by_test.keys() - report.by_test.keys())
    reasons += [_reason("not_reported_inverted", test=test) for test in missing[:_MOST_NAMED]]
    passes = sorted(wrong - failed)
    if len(passes) > len(wrong) * _STRAY_PASSES:
        reasons += [_reason("passes_inverted", test=test) for test in passes[:_MOST_NAMED]]
    breaks = sorted(untouched & failed)
    if len(breaks) > len(untouched) * _STRAY_FAILURES:
        reasons += [_reason("fails_untouched", test=test) for test in breaks[:_MOST_NAMED]]
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


@dataclass(frozen=True, slots=True)
class _Stage:
    """An event other than an outcome: collected tests (`ids`), a `missing` plugin, or pytest's end (`status`)."""

    status: int | None = None
    ids: tuple[str, ...] = ()
    missing: tuple[str, ...] = ()


def _event(line: bytes, nonce: str) -> TestOutcome | _Stage | None:
    """The event in a line of the report; None where pytest's reporter can't have written the line."""
    event = json_of(line)
    if not isinstance(event, dict) or event.pop("nonce", None) != nonce:
        return None
    kind = event.pop("event", None)
    values = set(event)
    if kind == "collected" and values == {"ids"} and isinstance(event["ids"], list):
        return _Stage(ids=tuple(plain(name, _LONGEST) for name in event["ids"] if isinstance(name, str)))
    if kind == "finished" and values == {"status"} and _is_number(event["status"], _MAX_STATUS):
        return _Stage(event["status"])
    if kind == "missing plugin" and values == {"name"} and isinstance(event["name"], str):
        return _Stage(missing=(plain(event["name"], _LONGEST_NAME),))
    return _outcome(event) if kind == "outcome" and values == _FIELDS else None


def _outcome(event: Mapping[str, Any]) -> TestOutcome | None:
    """A reported outcome; None where a value is malformed."""
    texts = [event[name] for name in ("id", "text", "message")]
    well_formed = (
        all(isinstance(text, str) for text in texts)
        and event["when"] in _STAGES
        and event["outcome"] in _OUTCOMES
        and isinstance(event["xfail"], bool)
        and isinstance(event["seconds"], (int, float))
        and abs(event["seconds"]) < _MAX_SECONDS
        and _is_frame(event["frame"])
    )
    if not well_formed:
        return None
    path, line = event["frame"] or ("", 0)
    test, text, message = (plain(value, _LONGEST) for value in texts)
    seconds = max(0.0, float(event["seconds"]))  # a test may have set its clock back
    return TestOutcome(test, event["when"], event["outcome"], seconds, event["xfail"], text, message, path, line)


def _is_frame(value: object) -> bool:
    if not isinstance(value, list) or len(value) not in (0, 2):
        return False
    return not value or (isinstance(value[0], str) and _is_number(value[1], _MAX_COUNT))


def _is_number(value: object, most: int) -> bool:
    return type(value) is int and 0 <= value <= most
