"""What a generation came to, and the answer code writes about it. Pure."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import asdict, dataclass, field
from typing import Any

from repopilot.agents.checks import Changes, Tested
from repopilot.agents.scoring import Opinions
from repopilot.types import FileChange, TestRun, Verdict

_SAID = {
    "ACCEPT_ORIGINAL": "accepted as written",
    "MERGE_FEEDBACK": "reviewers' points considered",
    "REQUEST_REVISION": "not good enough: review it yourself before you take it",
}


@dataclass(frozen=True, slots=True)
class Outcome:
    """`failure` says why there are no files. `impact` is its report as JSON, None when there is none."""

    context: str = ""
    changes: Changes = ()
    verdict: Verdict | None = None
    opinions: Opinions = field(default_factory=Opinions)
    tested: Tested | None = None
    impact: Mapping[str, Any] | None = None
    revisions: int = 0
    failure: str = ""


def answer_text(outcome: Outcome) -> str:
    """Markdown: the files, the verdict with its reasons, the tests, the impact; what the model said comes last."""
    parts = []
    if outcome.failure:
        parts.append(f"**No files.** {outcome.failure}")
    if outcome.changes:
        parts.append("\n".join(_file_line(c) for c in outcome.changes))
    if outcome.verdict:
        parts.append(_verdict_text(outcome.verdict, outcome.revisions))
    if outcome.tested:
        parts.append(tests_text(outcome.tested))
    if outcome.opinions.issues:
        parts.append(
            "\n".join(["Reviewers' points:", *(f"- `{i.path}:{i.line}` {i.problem}" for i in outcome.opinions.issues)])
        )
    if outcome.impact:
        parts.append(_impact_text(outcome.impact))
    if outcome.context:
        parts.append(f"The code around it: {outcome.context.strip()}")
    return "\n\n".join(part for part in parts if part)


def details_of(outcome: Outcome) -> dict[str, object]:
    """The JSON-able extras of the answer: verdict, tests, impact, failure."""
    tests = outcome.tested
    ran = {**(asdict(tests.run) if tests.run else {}), **(tests.report or {})} if tests else {}
    return {
        "verdict": asdict(outcome.verdict) if outcome.verdict else None,
        "tests": ran | {"protected": tests.protected} if tests and ran else None,
        "impact": outcome.impact,
        "failure": outcome.failure or None,
    }


def tests_text(tested: Tested) -> str:
    """One sentence on a run, with the first failures; why there was none."""
    run = tested.run
    if run is None:
        return f"Tests: none were run ({(tested.report or {}).get('stopped_because') or 'only Python is run here'})."
    whose = "the repository's" if tested.protected else "generated"
    if run.genuine:
        return f"Tests: {run.passed} passed under control ({whose}, sandbox {run.level}, {run.duration_s:.1f} s)."
    counts = f"{run.passed} passed, {run.failed} failed, {run.errors} errors ({whose}, sandbox {run.level})"
    why = f" {'; '.join(run.reasons[:2])}." if run.reasons else ""
    return "\n".join([f"Tests: {counts}.{why}", *_failures(run)])


def _failures(run: TestRun) -> Sequence[str]:
    return [
        f"- `{f.test_id}`: {f.assertion.strip().splitlines()[0][:200] if f.assertion.strip() else 'failed'}"
        for f in run.failures[:3]
    ]


def _file_line(change: FileChange) -> str:
    lines = change.diff.split("\n")
    added = sum(line.startswith("+") and not line.startswith("+++ ") for line in lines)
    removed = sum(line.startswith("-") and not line.startswith("--- ") for line in lines)
    return f"- `{change.path}` {change.change} (+{added} −{removed})"


def _verdict_text(verdict: Verdict, revisions: int) -> str:
    again = f" after {revisions} revision(s)" if revisions else ""
    reasons = "".join(f"\n- {reason}" for reason in verdict.reasons[1:6])
    return f"**{verdict.score:g}/10**, {_SAID[verdict.decision]}{again}.{reasons}"


def _impact_text(impact: Mapping[str, Any]) -> str:
    affected = [str(item.get("path", "")) for item in impact.get("affected", ()) if isinstance(item, Mapping)]
    named = ", ".join(f"`{p}`" for p in dict.fromkeys(filter(None, affected[:5])))
    return f"Impact: {impact.get('risk', 'UNKNOWN')}" + (f", reaches {named}." if named else ".")
