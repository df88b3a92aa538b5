"""The Controller: a score from 0 to 10 computed from evidence; opinions move it only a little. Pure.

A 1.5B model can't tell buggy code from correct code when asked for an opinion (AUC .58 in our measurements), so what
a run, a parser or an analyser says comes first, and prose is worth at most 1.5 points.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass, field
from typing import Literal, NamedTuple

from repopilot import i18n
from repopilot.agents.testing.attempts import some_failed
from repopilot.resolve.uses.broken_uses import RULE
from repopilot.results import TestReport
from repopilot.types import Decision, Finding, Severity, TestRun, Verdict

Objection = Literal["none", "regression", "fails", "refuted", "fails before", "not run", "kept", "met"]
"""What the Critic's own test showed. `regression`: it passes on the old code and fails on the new; `fails`: it fails,
and there is no old code it could pass on; `refuted`: it passes; `fails before`: it fails on both, which decides
nothing; `kept`, `met`: it failed on an earlier version, as `regression` or `fails`, and passes on this one."""

START = 8.0
UNTESTED = 7.5
"""The highest score of a change that no test verifies: below acceptance."""
_PARTLY_TESTED = 1.0
"""Points for a pass that misses some of what changed, that a limit cut short, or that needed rewritten tests."""
_PASS = 2.0
_FAIL = -4.0
_OBJECTIONS: dict[Objection, float] = {
    "none": 0.0,
    "regression": -3.0,
    "fails": -1.5,
    "refuted": 0.5,
    "fails before": 0.0,
    "not run": 0.0,
    "kept": 0.5,
    "met": 1.0,
}
_FINDINGS: dict[Severity, float] = {"critical": -3.0, "high": -1.5, "medium": -0.5, "low": 0.0}
_ISSUES: dict[Severity, float] = {"critical": -0.8, "high": -0.5, "medium": -0.3, "low": -0.1}
_UNDEFINED = -4.0
"""Points for a name that nothing defines, which fails wherever it is reached."""
_OF_UNDEFINED = frozenset(("F821", "F822", "F823"))
"""The rules of ruff that find such a name."""
_BREAKING = _OF_UNDEFINED | {RULE}
_MOST_FINDINGS = -4.0
_MOST_ISSUES = -1.5
_MOST_DEFENCE = 0.6
_DEFENCE = 0.2
_MOST_NAMED = 5
_BY_CODE = 1.0
"""Points for an edit that follows from the task without a model: nothing in it was guessed."""


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
    """What is known about a version.

    Attributes:
        problem: why it does not parse, '' when it does.
        findings: what the analysers find new in it.
        report: what the repository's tests say.
        missing: modules the sandbox lacks, so that a failure says nothing.
        objection: what the Critic's own test showed.
        removed: public names removed without being requested.
        changed: names of the definitions the version adds or alters.
        by_code: no model took part in the edit, so it does exactly what the task says.
        interpreted: a small model said which edit the task means.
        refactored: it was made entirely by tools that prove that each occurrence keeps its meaning.
        unparsed: files with a syntax error that was there before.
        left: places that the edit left for the user.
        generated: its files that a program generates, so that the change will be lost.
        automatic: its files that run by themselves and that the task doesn't name.
        unrun: linters and similar tools that the repository asks for and that didn't run on it.
    """

    problem: str = ""
    findings: tuple[Finding, ...] = ()
    report: TestReport = field(default_factory=TestReport)
    missing: tuple[str, ...] = ()
    objection: Objection = "none"
    removed: tuple[str, ...] = ()
    changed: tuple[str, ...] = ()
    by_code: bool = False
    interpreted: bool = False
    refactored: bool = False
    unparsed: tuple[str, ...] = ()
    left: tuple[str, ...] = ()
    generated: tuple[str, ...] = ()
    automatic: tuple[str, ...] = ()
    unrun: tuple[str, ...] = ()

    @property
    def interrupted(self) -> bool:
        """Whether the tests were stopped, or none of them ran for another reason than a missing module."""
        run = self.report.run
        if run is None:
            return False
        return run.ended != "finished" or not (run.passed or run.failed or self.missing)

    @property
    def verified(self) -> bool:
        """Whether tests passed, and would not have without the version."""
        return self.objection == "met" or self.report.genuine

    @property
    def broken(self) -> bool:
        """Whether something is newly undefined, left behind elsewhere, or wrong by the type checker."""
        return any(f.rule in _BREAKING or (f.domain == "types" and f.severity == "high") for f in self.findings)


@dataclass(frozen=True, slots=True)
class Opinions:
    """The points of Critic and Defender that quote the code.

    Attributes:
        issues: points against the change.
        defended: points in favour of it.
        unread: reviewers whose replies could not be read.
        dropped: how many points quote nothing in the code.
        test: the Critic's own test, '' for none.
    """

    issues: tuple[Issue, ...] = ()
    defended: tuple[str, ...] = ()
    unread: tuple[str, ...] = ()
    dropped: int = 0
    test: str = field(default="", repr=False)


class _Move(NamedTuple):
    """Points that one reason adds to the score or takes from it."""

    points: float
    why: str
    shown: bool = False
    """Whether it is shown even where it changes nothing."""


def judge(evidence: ChangeEvidence, opinions: Opinions) -> Verdict:
    """START, moved by evidence and a little by opinions; 8 and more accept, 5 to 8 merge the feedback, less revise."""
    if evidence.problem:
        reason = i18n.message("generate.score.no_parse", problem=evidence.problem)
        return Verdict(0.0, "REQUEST_REVISION", (reason,))
    moves = _moves(evidence, opinions)
    score = round(max(0.0, min(10.0, START + sum(move.points for move in moves))), 1)
    return Verdict(score, decision(score), _reasons(moves, evidence, opinions))


def newly_failed(run: TestRun, red_before: Sequence[str]) -> frozenset[str]:
    """The tests that failed in a run, or could not run, and are not among those that failed before the change."""
    return frozenset(run.tests("failed", "error")) - frozenset(red_before)


def decisive_reasons(evidence: ChangeEvidence, opinions: Opinions) -> tuple[str, ...]:
    """The reasons of `judge` without those that leave the score as it is."""
    if evidence.problem:
        return judge(evidence, opinions).reasons
    moves = [move for move in _moves(evidence, opinions) if move.shown or round(move.points, 1)]
    return _reasons(moves, evidence, opinions)


def decision(score: float) -> Decision:
    """What a score means."""
    return "ACCEPT_ORIGINAL" if score >= 8 else "MERGE_FEEDBACK" if score >= 5 else "REQUEST_REVISION"


def counting(objections: Sequence[Objection]) -> Objection:
    """The result that counts among several tests: the one most against the version, else the one most in its favour."""
    ordered: list[Objection] = sorted(objections, key=_OBJECTIONS.__getitem__) or ["none"]
    return ordered[0] if _OBJECTIONS[ordered[0]] < 0 else ordered[-1]


def objection_key(objection: Objection) -> str:
    """The key of the text that says what the Critic's test showed."""
    return f"generate.score.objection.{objection.replace(' ', '_')}"


def _reasons(moves: Sequence[_Move], evidence: ChangeEvidence, opinions: Opinions) -> tuple[str, ...]:
    paths = ", ".join(evidence.unparsed)
    start = i18n.message(f"generate.score.{'start_unparsed' if paths else 'start'}", points=START, paths=paths)
    unread = (i18n.message(f"generate.scored_without.{who}") for who in opinions.unread)
    return (start, *(i18n.message("generate.score.move", points=m.points, why=m.why) for m in moves), *unread)


def _moves(evidence: ChangeEvidence, opinions: Opinions) -> list[_Move]:
    """Everything that changes the score, in the order of the report."""
    moves = [_run_move(evidence.report.run, evidence)] if evidence.report.run else []
    moves += [*_finding_moves(evidence), *_objection_moves(evidence), *_opinion_moves(opinions)]
    if evidence.by_code:
        moves.append(_Move(_BY_CODE, i18n.message("generate.score.by_code")))
    if evidence.removed:
        moves.append(_Move(-1.5, i18n.message("generate.score.removed", names=", ".join(evidence.removed[:5]))))
    if evidence.refactored:
        moves.append(_Move(0.0, i18n.message("generate.score.refactored"), shown=True))
    elif evidence.changed and not (evidence.by_code or evidence.verified) and (points := _down_to_untested(moves)):
        moves.append(_Move(points, i18n.message("generate.score.untested")))
    for reservation in _reservations(evidence):
        moves.append(_Move(_down_to_untested(moves), reservation, shown=True))
    return moves


def _down_to_untested(moves: Sequence[_Move]) -> float:
    """The points that keep a version from being accepted."""
    return min(0.0, UNTESTED - START - sum(move.points for move in moves))


def _reservations(evidence: ChangeEvidence) -> Iterator[str]:
    """Why a version isn't accepted as it is, whatever speaks for it."""
    if evidence.left:
        yield i18n.message("generate.score.left", count=len(evidence.left), places=_name_list(evidence.left))
    elif evidence.broken:
        yield i18n.message("generate.score.broken")
    if evidence.interpreted:
        yield i18n.message("generate.score.interpreted")
    if evidence.interrupted:
        yield i18n.message("generate.score.interrupted")
    for key in ("generated", "automatic"):
        if paths := getattr(evidence, key):
            yield i18n.message(f"generate.score.{key}", paths=_name_list(paths))


def _run_move(run: TestRun, evidence: ChangeEvidence) -> _Move:
    """The points for a test run."""
    report = evidence.report
    done, count = report.reached
    if run.genuine:
        key = "by_control" if run.control else "by_inversion"
        values = {"control": run.control, "checked": run.checked, "passed": run.passed}
        how = i18n.message(f"generate.score.{key}", **values)
        if done:
            return _Move(_PARTLY_TESTED, i18n.message("generate.score.turned", how=how, done=done, count=count))
        if report.unexercised:
            why = i18n.message("generate.score.beside", how=how, names=_name_list(report.unexercised))
            return _Move(_PARTLY_TESTED, why)
        if report.rewritten:
            names = _name_list(report.rewritten)
            return _Move(_PARTLY_TESTED, i18n.message("generate.score.rewritten", how=how, names=names))
        return _Move(_PASS, i18n.message("generate.score.pass", how=how))
    if report.unbroken:
        key = "generate.score.unbroken" if len(report.added) < run.passed else "generate.score.only_with_it"
        passed = run.passed - len(report.added) or run.passed
        return _Move(UNTESTED - START, i18n.message(key, passed=passed))
    if evidence.missing:
        modules = ", ".join(evidence.missing)
        return _Move(0.0, i18n.message("generate.score.missing", modules=modules))
    if report.red_before and not newly_failed(run, report.red_before):
        count = len(report.red_before)
        return _Move(0.0, i18n.message("generate.score.red_before", passed=run.passed, count=count))
    if some_failed(run):
        failed = len(newly_failed(run, report.red_before)) or run.failed + run.errors
        why = i18n.message("generate.score.fail", failed=failed)
        if run.failures:
            first = run.failures[0].test_id
            why = i18n.message("generate.score.fail_first", failed=failed, first=first)
        return _Move(_FAIL, why)
    return _Move(0.0, i18n.message("generate.score.nothing_proved", why=_why_not_genuine(run)))


def _why_not_genuine(run: TestRun) -> str:
    """The first two reasons why a run counts for nothing."""
    if not run.reasons:
        return i18n.message("generate.score.no_result")
    if len(run.reasons) == 1:
        return run.reasons[0]
    return i18n.message("generate.score.both", first=run.reasons[0], second=run.reasons[1])


def _name_list(names: Sequence[str]) -> str:
    return i18n.first_names(names, _MOST_NAMED)


def _finding_moves(evidence: ChangeEvidence) -> list[_Move]:
    counted = [f for f in evidence.findings if _points(f)]
    if not counted:
        return []
    points = max(_MOST_FINDINGS, sum(_points(f) for f in counted))
    worst = min(counted, key=_points)
    place = f"{worst.path}:{worst.line}"
    values = {"count": len(counted), "rule": worst.rule, "place": place, "problem": worst.message}
    return [_Move(points, i18n.message("generate.score.findings", **values))]


def _points(finding: Finding) -> float:
    return _UNDEFINED if finding.rule in _OF_UNDEFINED else _FINDINGS[finding.severity]


def _objection_moves(evidence: ChangeEvidence) -> list[_Move]:
    shown = evidence.objection
    if shown == "none":
        return []
    return [_Move(_OBJECTIONS[shown], i18n.message(objection_key(shown)), shown=shown == "fails before")]


def _opinion_moves(opinions: Opinions) -> list[_Move]:
    moves: list[_Move] = []
    against = max(_MOST_ISSUES, sum(_ISSUES[i.severity] for i in opinions.issues))
    if opinions.issues:
        why = i18n.message("generate.score.issues", count=len(opinions.issues))
        moves.append(_Move(round(against, 2), why))
    if opinions.issues and opinions.defended:
        points = min(_MOST_DEFENCE, _DEFENCE * len(opinions.defended), -against)
        why = i18n.message("generate.score.defended", count=len(opinions.defended))
        moves.append(_Move(round(points, 2), why))
    return moves


def requested_corrections(evidence: ChangeEvidence) -> tuple[str, ...]:
    """What the model is asked to correct, the most certain first; in English, for its prompt.

    What the model didn't cause is left out: tests that failed before, that lack a package, or that were interrupted. So
    are findings that weigh less than a high one.
    """
    certain = [f"{f.path}:{f.line} {f.message}" for f in evidence.findings if _points(f) <= _FINDINGS["high"]]
    run = evidence.report.run
    counts = run is not None and run.ended == "finished" and not evidence.missing
    failing = [
        f"the test {f.test_id} fails: {f.assertion[:300]}"
        for f in (run.failures if run is not None and counts else ())
        if f.test_id not in evidence.report.red_before
    ]
    if run is not None and counts and not failing:
        unrun = sorted(newly_failed(run, evidence.report.red_before) - {f.test_id for f in run.failures})
        failing = [f"{test} can't be run: {run.output[-600:]}" for test in unrun[:1]]
    broken = [f"it does not parse: {evidence.problem}"] if evidence.problem else []
    removed = [f"keep the public name {name}" for name in evidence.removed[:5]]
    return (*broken, *failing[:2], *removed, *certain[:3])


def agreed_findings(evidence: ChangeEvidence, opinions: Opinions) -> tuple[str, ...]:
    """Findings too minor to be corrected on their own, on lines that the Critic objects to, each with the objection
    that it confirms. In English, as `requested_corrections`."""
    problems = {(issue.path, issue.line): issue.problem for issue in opinions.issues}
    return tuple(
        f"{f.path}:{f.line} {f.message}. A reviewer says of that line: {problems[f.path, f.line]}"
        for f in evidence.findings
        if _points(f) > _FINDINGS["high"] and (f.path, f.line) in problems
    )
