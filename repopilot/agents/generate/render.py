"""What a generation came to, and the answer code writes about it. Pure."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import asdict, dataclass, field
from typing import Any

from repopilot import i18n
from repopilot.agents.generate.evidence import Changes, Tested
from repopilot.agents.generate.scoring import Opinions
from repopilot.types import FileChange, TestRun, Verdict

_NO_POINTS = ("+0.0 ", "-0.0 ")
_MOST_REASONS, _MOST_NAMED = 6, 5
_SAID = {
    "ACCEPT_ORIGINAL": "generate.accepted",
    "MERGE_FEEDBACK": "generate.kept",
    "REQUEST_REVISION": "generate.poor",
}


@dataclass(frozen=True, slots=True)
class GenerationOutcome:
    """`failure` says why there are no files. `impact` is its report as JSON, None when there is none. `merged`: the
    reviewers' points are worked in. `unexercised` names what changed and no passing test calls. `language` is the
    question's, for what code itself says."""

    context: str = ""
    changes: Changes = ()
    verdict: Verdict | None = None
    opinions: Opinions = field(default_factory=Opinions)
    tested: Tested | None = None
    impact: Mapping[str, Any] | None = None
    revisions: int = 0
    failure: str = ""
    merged: bool = False
    unexercised: tuple[str, ...] = ()
    language: str = "en"


def answer_text(outcome: GenerationOutcome) -> str:
    """Markdown: a paragraph of what was done, the verdict and the tests; then what the score is made of, failures,
    reviewers' points and impact; what the model said comes last."""
    language = outcome.language
    parts = [_summary(outcome)]
    if outcome.tested:
        parts.append("\n".join(f for part in _rounds(outcome.tested) if part.run for f in _failures(part.run)))
    if outcome.verdict:
        reasons = [r for r in outcome.verdict.reasons if not r.startswith(_NO_POINTS)]
        parts.append(
            i18n.text("generate.reasons", language, reasons="; ".join(r.rstrip(".") for r in reasons[:_MOST_REASONS]))
        )
    if outcome.opinions.issues:
        points = (f"- `{i.path}:{i.line}` {i.problem}" for i in outcome.opinions.issues)
        parts.append("\n".join([i18n.text("generate.points", language), *points]))
    if outcome.impact:
        parts.append(_impact_text(outcome.impact, language))
    if outcome.context:
        parts.append(i18n.text("generate.around", language, text=outcome.context.strip()))
    return "\n\n".join(part for part in parts if part)


def _summary(outcome: GenerationOutcome) -> str:
    language = outcome.language
    said = []
    if outcome.failure:
        said.append(i18n.text("generate.no_files", language, why=outcome.failure))
    if outcome.changes:
        said.append(
            i18n.text("generate.change", language, files=", ".join(_file_text(c, language) for c in outcome.changes))
        )
    if outcome.verdict:
        said.append(_verdict_text(outcome, outcome.verdict))
    if outcome.unexercised:
        names = ", ".join(f"`{name}`" for name in outcome.unexercised[:_MOST_NAMED])
        said.append(i18n.text("generate.unexercised", language, names=names))
    if outcome.tested:
        said += [_run_text(part, language) for part in _rounds(outcome.tested)]
    return " ".join(said)


def details_of(outcome: GenerationOutcome) -> dict[str, object]:
    """The JSON-able extras of the answer: verdict, tests, impact, failure."""
    return {
        "verdict": asdict(outcome.verdict) if outcome.verdict else None,
        "tests": _tests_json(outcome.tested, outcome.unexercised) if outcome.tested else None,
        "impact": outcome.impact,
        "failure": outcome.failure or None,
    }


def _tests_json(tested: Tested, unexercised: Sequence[str] = ()) -> dict[str, object] | None:
    """`written` is the same for the tests of what the repository's don't call; `unexercised` are names."""
    ran = {**(asdict(tested.run) if tested.run else {}), **(tested.report or {})}
    if not ran:
        return None
    written = _tests_json(tested.written) if tested.written else None
    return ran | {"protected": tested.protected, "written": written, "unexercised": list(unexercised)}


def tests_text(tested: Tested, language: str = "en") -> str:
    """One sentence on a run, with the first failures; why there was none."""
    return "\n".join([_run_text(tested, language), *(_failures(tested.run) if tested.run else ())])


def _rounds(tested: Tested) -> Sequence[Tested]:
    return [tested, tested.written] if tested.written else [tested]


def _run_text(tested: Tested, language: str) -> str:
    run = tested.run
    if run is None:
        why = (tested.report or {}).get("stopped_because") or i18n.text("generate.only_python", language)
        return i18n.text("generate.tests_none", language, why=why)
    whose = i18n.text("generate.tests_repository" if tested.protected else "generate.tests_written", language)
    if run.genuine:
        return i18n.text(
            "generate.tests_passed", language, passed=run.passed, whose=whose, level=run.level, seconds=run.duration_s
        )
    counts = {"passed": run.passed, "failed": run.failed, "errors": run.errors}
    why = f" {'; '.join(run.reasons[:2])}." if run.reasons and not run.failures else ""
    return i18n.text("generate.tests_counted", language, **counts, whose=whose, level=run.level) + why


def _failures(run: TestRun) -> Sequence[str]:
    return [
        f"- `{f.test_id}`: {f.assertion.strip().splitlines()[0][:200] if f.assertion.strip() else 'failed'}"
        for f in run.failures[:3]
    ]


def _file_text(change: FileChange, language: str) -> str:
    lines = change.diff.split("\n")
    plus = sum(line.startswith("+") and not line.startswith("+++ ") for line in lines)
    minus = sum(line.startswith("-") and not line.startswith("--- ") for line in lines)
    return i18n.text(f"generate.{change.change}", language, path=change.path, plus=plus, minus=minus)


def _verdict_text(outcome: GenerationOutcome, verdict: Verdict) -> str:
    language = outcome.language
    again = i18n.text("generate.revised", language, count=outcome.revisions) if outcome.revisions else ""
    said = i18n.text("generate.merged" if outcome.merged else _SAID[verdict.decision], language)
    return i18n.text("generate.verdict", language, score=verdict.score, said=said, again=again)


def _impact_text(impact: Mapping[str, Any], language: str) -> str:
    affected = [str(item.get("path", "")) for item in impact.get("affected", ()) if isinstance(item, Mapping)]
    names = ", ".join(f"`{p}`" for p in dict.fromkeys(filter(None, affected[:5])))
    reached = i18n.text("generate.reached", language, names=names) if names else ""
    return i18n.text("generate.impact", language, risk=impact.get("risk", "UNKNOWN"), reached=reached)
