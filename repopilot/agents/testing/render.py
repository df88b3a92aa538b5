"""Test runs in words, in the question's language. Pure."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import asdict
from typing import Any, Literal, NamedTuple

from repopilot import i18n
from repopilot.agents.testing.attempts import first_line, iteration_json
from repopilot.foreign_text import code_span, visible
from repopilot.results import Iteration, MutantOutcome, TestReport
from repopilot.sandbox.failures import missing_modules
from repopilot.sandbox.verdict import variants_together
from repopilot.types import TestRun

_MOST_FAILURES = 3
_MOST_REASONS = 2
_MOST_NAMES = 5
_MOST_MUTANTS = 4
_LONGEST_ASSERTION = 600
_MARKS = {"ok": "✓", "look": "!", "bad": "✗"}


class Point(NamedTuple):
    """One thing that a user should know of a result, and whether it is good, needs a look, or is bad."""

    mark: Literal["ok", "look", "bad"]
    text: str


def report_text(report: TestReport, language: str) -> str:
    """Markdown: a list of what a report's run showed, then its first failures."""
    return "\n\n".join(
        filter(None, [point_list(run_points(report, language)), "\n".join(failure_list(report, language))])
    )


def point_list(points: Sequence[Point]) -> str:
    """Points in Markdown, a line each."""
    return "  \n".join(f"{_MARKS[point.mark]} {point.text}" for point in points)


def failure_list(report: TestReport, language: str) -> list[str]:
    """Markdown rows of the first failures of a report's run."""
    return [
        f"- `{f.test_id}`: {first_line(f.assertion) or i18n.text('testing.failed', language)}"
        for f in (report.run.failures[:_MOST_FAILURES] if report.run else ())
    ]


def mutants_text(report: TestReport, language: str) -> str:
    """Markdown on written tests: which faults put into the code each test catches, and which faults none catches."""
    if not report.run:
        return ""
    if not report.mutants:
        return i18n.text("testing.mutants.unmeasured", language)
    left = [mutant for mutant in report.mutants if not mutant.caught_by]
    counts = {"total": len(report.mutants), "caught": len(report.mutants) - len(left)}
    rows = [i18n.text("testing.mutants.summary", language, **counts), ""]
    for test in dict.fromkeys(name for mutant in report.mutants for name in mutant.caught_by):
        own = [mutant for mutant in report.mutants if test in mutant.caught_by]
        places = _places(own, language)
        rows.append(i18n.text("testing.mutants.caught", language, test=test, count=len(own), places=places))
    if left:
        rows.append(i18n.text("testing.mutants.uncaught", language, places=_places(left, language)))
    return "\n".join(rows)


def _places(mutants: Sequence[MutantOutcome], language: str) -> str:
    said = [
        i18n.text("testing.mutants.place", language, line=m.line, before=m.before, after=m.after)
        for m in mutants[:_MOST_MUTANTS]
    ]
    left = len(mutants) - len(said)
    return ", ".join([*said, *([i18n.text("testing.mutants.others", language, count=left)] if left > 0 else [])])


def iteration_text(iteration: Iteration, language: str) -> str:
    """What the step of one attempt shows, in Markdown."""
    run = iteration.run
    said = i18n.translated(iteration.why, language)
    parts = [f"{said[:1].upper()}{said[1:]}." if said else ""]
    if iteration.change:
        parts.append(i18n.text("testing.iteration.changed", language, change=iteration.change))
    if run is None:
        parts.append(i18n.text("testing.iteration.not_run", language, problem=iteration.problem))
        return " ".join(filter(None, parts))
    unverified = "; ".join(i18n.translated(reason, language) for reason in run.reasons[:3])
    if run.genuine or not unverified:
        unverified = i18n.text("testing.verified" if run.genuine else "testing.unverified", language)
    counts = {"passed": run.passed, "failed": run.failed, "errors": run.errors}
    parts.append(i18n.text("testing.iteration.counts", language, **counts, level=run.level, verdict=unverified))
    parts += [
        f"\n`{f.test_id}` {f.path}:{f.line}\n```\n{f.assertion[:_LONGEST_ASSERTION]}\n```"
        for f in iteration.failures[:_MOST_FAILURES]
    ]
    return " ".join(filter(None, parts))


def repair_json(report: TestReport) -> dict[str, object]:
    """The command line's document of a repair."""
    tests = report.tests
    return {
        "genuine_pass": report.genuine,
        "level": report.level,
        "stopped_because": report.stopped_because,
        "iterations": [iteration_json(iteration) for iteration in report.iterations],
        "code": report.code,
        "tests": next(iter(tests.values())) if len(tests) == 1 else dict(tests),
    }


def tests_json(report: TestReport) -> dict[str, Any] | None:
    """The `tests` of the command line's document of a generation, None when nothing was run.

    The fields of the run, `protected` and `unexercised` as in the report.
    """
    document: dict[str, Any] = asdict(report.run) if report.run else {}
    if report.stopped_because:
        document["stopped_because"] = report.stopped_because
    if not document:
        return None
    broken = list(report.broken)
    repaired = [name for name in report.repaired if name not in report.new]
    turned = {"broken": broken, "repaired": repaired, "red_before": list(report.red_before)}
    turned |= {
        "added": list(report.added),
        "own": list(report.own),
        "new": list(report.new),
        "skipped": list(report.skipped),
    }
    return document | {
        "protected": report.protected,
        "turned_green": repaired,
        "turned_red": broken,
        **(turned | {"still_green": report.still_green, "reached": report.reached} if report.compared else {}),
        "unexercised": list(report.unexercised),
        "said_without": report.said_without,
        "rewritten": list(report.rewritten),
    }


def run_points(report: TestReport, language: str, *, pasted: bool = False) -> list[Point]:
    """What a report's run showed, or why there was none. Protected tests are the repository's, or `pasted`."""
    run = report.run
    if run is None:
        why = i18n.translated(report.stopped_because, language) or i18n.text("testing.only_python", language)
        return [_not_run(why, language)]
    if lacking := [] if run.passed or run.failed else missing_modules(run):
        modules = ", ".join(f"`{name}`" for name in lacking)
        return [_not_run(i18n.text("testing.lacking", language, modules=modules), language)]
    if run.errors and not (run.passed or run.failed) and report.red_before and not report.broken:
        return [_not_run(i18n.text("testing.never_start", language), language)]
    protected = "pasted" if pasted else "of_repository"
    whose = i18n.text(f"testing.points.{protected if report.protected else 'written'}", language)
    compared = report.compared and (run.passed or run.failed)
    counted = _compared(report, whose, language) if compared else _counted(run, whose, language)
    return [*counted, *_verification(report, run, language), *_unexercised(report, language)]


def _not_run(why: str, language: str) -> Point:
    why = f"{why[:1].upper()}{why[1:].rstrip('.')}."
    return Point("look", i18n.text("testing.points.not_run", language, why=why))


def _counted(run: TestRun, whose: str, language: str) -> list[Point]:
    counts: dict[str, tuple[Literal["ok", "bad"], int]] = {
        "passed": ("ok", run.passed),
        "failed": ("bad", run.failed),
        "errors": ("bad", run.errors),
    }
    return [
        Point(mark, i18n.text(f"testing.points.{key}", language, count=count, whose=whose))
        for key, (mark, count) in counts.items()
        if count
    ]


def _compared(report: TestReport, whose: str, language: str) -> list[Point]:
    """Which tests the change turned red or green."""
    green = i18n.text("testing.points.still_green", language, count=report.still_green, whose=whose)
    groups: dict[str, tuple[Literal["ok", "look", "bad"], Sequence[str]]] = {
        "turned_red": ("bad", report.broken),
        "turned_green": ("ok", [name for name in report.repaired if name not in report.own]),
        "turned_own": ("ok", [name for name in report.own if name not in report.new]),
        "turned_new": ("ok", report.new),
        "rewritten": ("look", report.rewritten),
        "added": ("ok", report.added),
        "still_red": ("look", report.red_before),
    }
    turned = [
        Point(
            mark,
            i18n.text(
                f"testing.points.{key}",
                language,
                count=len(ids),
                names=_names(ids, language, 2 if key == "still_red" else _MOST_NAMES),
            ),
        )
        for key, (mark, ids) in groups.items()
        if ids
    ]
    if said := report.said_without:
        turned.append(Point("ok", i18n.text("testing.points.said_without", language, said=code_span(visible(said)))))
    skipped = i18n.text("testing.points.still_skipped", language, names=_names(report.skipped, language, 2))
    left = [Point("look", skipped)] if report.skipped else []
    return [*([Point("ok", green)] if report.still_green else []), *turned, *left]


def _verification(report: TestReport, run: TestRun, language: str) -> list[Point]:
    """Whether the pass is verified, and how; else why not."""
    if run.genuine:
        if run.control:
            return [Point("ok", i18n.text("testing.points.verified_control", language, control=run.control))]
        done, count = report.reached
        whole = "verified_turned" if done else "verified"
        key = whole if run.checked == run.passed else "verified_part"
        points = [Point("ok", i18n.text(f"testing.points.{key}", language, checked=run.checked, total=run.passed))]
        if unchecked := [name for name in report.repaired if name.partition("[")[0] not in run.inverted]:
            names = _names(unchecked, language, _MOST_NAMES)
            points.append(Point("look", i18n.text("testing.points.uninverted", language, names=names)))
        if done:
            left = i18n.text("testing.points.unreached", language, done=done, count=count, left=count - done)
            points.append(Point("look", left))
        return points
    gone = (i18n.message("testing.gone", count=len(report.broken)),) if report.compared and run.passed else ()
    passed_all = not (run.failed or run.errors) and run.ended == "finished"
    reasons = run.reasons[:_MOST_REASONS] or (gone if passed_all else ())
    if not reasons or (run.failures and run.ended == "finished"):
        return []
    why = "; ".join(i18n.translated(reason, language).rstrip(".") for reason in reasons)
    return [Point("look", i18n.text("testing.points.not_verified", language, why=why))]


def _unexercised(report: TestReport, language: str) -> list[Point]:
    names = _names(report.unexercised, language, _MOST_NAMES)
    return [Point("look", i18n.text("testing.unexercised", language, names=names))] if names else []


def _names(ids: Sequence[str], language: str, most: int) -> str:
    names = variants_together(ids)
    return i18n.translated(i18n.first_names([f"`{name}`" for name in names], most), language)
