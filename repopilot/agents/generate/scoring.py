"""The Controller: a score from 0 to 10 computed from evidence, with opinions able to move it by little. Pure.

A 1.5B model can't tell buggy code from correct code when asked for an opinion (AUC .58 in our measurements), so what
a run, a parser or an analyser says comes first, and prose is worth at most 1.5 points.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, field
from typing import Literal

from repopilot.types import Decision, Finding, Severity, TestRun, Verdict

Objection = Literal["none", "regression", "fails", "refuted", "not run"]
"""What the Critic's own test showed: it passes on the old code and fails on the new one; it fails (there is no old
code it could pass on); it passes; it could not be run."""

START = 8.0
UNTESTED = 7.5
"""The most a change gets that no test exercises: below acceptance."""
_BESIDE, _PARTLY = 0.3, 1.0
"""Points for tests that pass without reaching what changed, or only some of it."""
_MERGE_FROM = -0.5
"""Objections by opinion that together cost less are no reason to write the code anew."""
_TESTS = {"protected pass": 2.0, "own pass": 1.5, "protected fail": -4.0, "own fail": -2.0}
_OBJECTIONS: dict[Objection, float] = {"none": 0.0, "regression": -3.0, "fails": -1.5, "refuted": 0.5, "not run": 0.0}
_FINDINGS: dict[Severity, float] = {"critical": -3.0, "high": -1.5, "medium": -0.5, "low": 0.0}
_ISSUES: dict[Severity, float] = {"critical": -0.8, "high": -0.5, "medium": -0.3, "low": -0.1}
_MOST_FINDINGS, _MOST_ISSUES, _MOST_DEFENCE = -4.0, -1.5, 0.6
_DEFENCE = 0.2
_MOST_NAMED = 5


@dataclass(frozen=True, slots=True)
class Issue:
    """A point against the code that quotes a line which exists."""

    path: str
    line: int
    quote: str
    problem: str
    severity: Severity


@dataclass(frozen=True, slots=True)
class ChangeEvidence:
    """What is known about a version. `protected`: the tests are the repository's or the user's, not generated.
    `missing`: modules the sandbox lacks, so that a failure says nothing.

    `changed` names what the version does anew, `beside` what of it `tests` don't call, `written` the run of further
    tests for that, and `unexercised` what no test calls that passed under control."""

    problem: str = ""
    findings: tuple[Finding, ...] = ()
    tests: TestRun | None = None
    protected: bool = False
    missing: tuple[str, ...] = ()
    objection: Objection = "none"
    removed: tuple[str, ...] = ()
    changed: tuple[str, ...] = ()
    beside: tuple[str, ...] = ()
    written: TestRun | None = None
    unexercised: tuple[str, ...] = ()


@dataclass(frozen=True, slots=True)
class Opinions:
    """What Critic and Defender said that holds: issues and supported points; `unread` names replies that did not
    parse, `dropped` counts points that quote nothing in the code."""

    issues: tuple[Issue, ...] = ()
    defended: tuple[str, ...] = ()
    unread: tuple[str, ...] = ()
    dropped: int = 0
    test: str = field(default="", repr=False)


def judge(evidence: ChangeEvidence, opinions: Opinions) -> Verdict:
    """START, moved by evidence and a little by opinions; ≥ 8 accept, 5–8 merge the feedback, below 5 revise."""
    if evidence.problem:
        return Verdict(0.0, "REQUEST_REVISION", (f"it does not parse: {evidence.problem}",))
    moves = [*_test_moves(evidence), *_finding_moves(evidence), *_objection_moves(evidence), *_opinion_moves(opinions)]
    if evidence.removed:
        moves.append((-1.5, f"public names are gone: {', '.join(evidence.removed[:5])}"))
    total = START + sum(points for points, _ in moves)
    if evidence.unexercised:
        least = min(0.0, UNTESTED - total) if set(evidence.unexercised) == set(evidence.changed) else 0.0
        moves.append((least, f"not exercised by any test: {_listed(evidence.unexercised)}"))
    total = max(0.0, min(10.0, START + sum(points for points, _ in moves)))
    score = round(total, 1)
    reasons = ["8 points: it parses", *(f"{points:+.1f} {why}" for points, why in moves)]
    reasons += [f"the {who}'s reply could not be read: scored without it" for who in opinions.unread]
    return Verdict(score, decision(score), tuple(reasons))


def decision(score: float) -> Decision:
    return "ACCEPT_ORIGINAL" if score >= 8 else "MERGE_FEEDBACK" if score >= 5 else "REQUEST_REVISION"


def no_worse(new: TestRun | None, old: TestRun | None) -> bool:
    """Whether a version does at least as well as another in the same tests."""
    if old is None or (old.passed == 0 and not old.genuine):
        return True
    if new is None or (old.genuine and not new.genuine):
        return False
    return new.passed >= old.passed and new.failed + new.errors <= old.failed + old.errors


def failed(run: TestRun) -> bool:
    """Tests ran and some did not pass. (A run without any result is no evidence either way.)"""
    return run.failed > 0 or (run.errors > 0 and bool(run.failures))


def _test_moves(evidence: ChangeEvidence) -> list[tuple[float, str]]:
    whose = "the repository's tests" if evidence.protected else "generated tests"
    moves = []
    if evidence.tests:
        moves.append(_run_move(evidence.tests, whose, evidence.protected, evidence.beside, evidence))
    if evidence.written:
        left = tuple(n for n in evidence.beside if n in evidence.unexercised)
        moves.append(_run_move(evidence.written, "tests written for it", False, left, evidence))
    return moves


def _run_move(
    run: TestRun, whose: str, protected: bool, beside: Sequence[str], evidence: ChangeEvidence
) -> tuple[float, str]:
    """What a run counts; `beside` is what changed and its tests don't call."""
    kind = "protected" if protected else "own"
    if run.genuine:
        said = f"{whose} pass under control ({run.passed})"
        if not beside:
            return _TESTS[f"{kind} pass"], said
        partly = len(beside) < len(evidence.changed)
        return _PARTLY if partly else _BESIDE, f"{said}, but they don't exercise what is new: {_listed(beside)}"
    if evidence.missing:
        return 0.0, f"{whose} could not run: missing in the sandbox: {', '.join(evidence.missing)}"
    if failed(run):
        first = f": {run.failures[0].test_id}" if run.failures else ""
        return _TESTS[f"{kind} fail"], f"{whose} fail ({run.failed + run.errors}{first})"
    return 0.0, f"{whose} prove nothing: {'; '.join(run.reasons[:2]) or 'no result'}"


def _listed(names: Sequence[str]) -> str:
    return ", ".join(names[:_MOST_NAMED]) + (
        f" and {len(names) - _MOST_NAMED} more" if len(names) > _MOST_NAMED else ""
    )


def _finding_moves(evidence: ChangeEvidence) -> list[tuple[float, str]]:
    counted = [f for f in evidence.findings if _FINDINGS[f.severity]]
    if not counted:
        return []
    points = max(_MOST_FINDINGS, sum(_FINDINGS[f.severity] for f in counted))
    worst = min(counted, key=lambda f: _FINDINGS[f.severity])
    return [
        (points, f"{len(counted)} new finding(s), such as {worst.rule} in {worst.path}:{worst.line}: {worst.message}")
    ]


def _objection_moves(evidence: ChangeEvidence) -> list[tuple[float, str]]:
    said = {
        "regression": "the critic's test passes on the old code and fails on the new",
        "fails": "the critic's test fails",
        "refuted": "the critic's test passes",
        "not run": "the critic's test could not be run",
    }
    return [(_OBJECTIONS[evidence.objection], said[evidence.objection])] if evidence.objection != "none" else []


def _opinion_moves(opinions: Opinions) -> list[tuple[float, str]]:
    moves: list[tuple[float, str]] = []
    against = max(_MOST_ISSUES, sum(_ISSUES[i.severity] for i in opinions.issues))
    if opinions.issues:
        moves.append((round(against, 2), f"{len(opinions.issues)} objection(s) that quote the code"))
    if opinions.issues and opinions.defended:
        points = min(_MOST_DEFENCE, _DEFENCE * len(opinions.defended), -against)
        moves.append((round(points, 2), f"{len(opinions.defended)} point(s) of the defence"))
    return moves


def wishes(evidence: ChangeEvidence, opinions: Opinions) -> Sequence[str]:
    """What the coder is asked to correct, the certain first."""
    certain = [f"{f.path}:{f.line} {f.message}" for f in evidence.findings if _FINDINGS[f.severity]]
    failing = [
        f"the test {f.test_id} fails: {f.assertion[:300]}"
        for run in (evidence.tests, evidence.written)
        for f in (run.failures if run and not evidence.missing else ())
    ]
    broken = [f"it does not parse: {evidence.problem}"] if evidence.problem else []
    gone = [f"keep the public name {name}" for name in evidence.removed[:5]]
    said = [f"line {i.quote!r}: {i.problem}" for i in opinions.issues]
    return [*broken, *failing[:2], *gone, *certain[:3], *said[:4]]


def worth_merging(evidence: ChangeEvidence, opinions: Opinions) -> bool:
    """Is there feedback that rests on something: a failing test, a finding, a lost name, or objections of weight? A
    score that is low only because nothing was tested is no reason to write the code again."""
    said = sum(_ISSUES[i.severity] for i in opinions.issues) <= _MERGE_FROM
    return said or bool(wishes(evidence, Opinions())) or evidence.objection in ("regression", "fails")
