"""What a generation came to, and the answer that code writes about it. Pure."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import asdict, dataclass, field
from typing import Any

from repopilot import i18n
from repopilot.agents.coding.render import changes_sentence
from repopilot.agents.explain.render import sentence_markdown
from repopilot.agents.generate.scoring import Opinions
from repopilot.agents.testing.render import (
    Point,
    failure_list,
    point_list,
    run_points,
    tests_json,
)
from repopilot.foreign_text import code_span
from repopilot.results import FollowUpEdit, Generation, ImpactReport, Sentence, TestReport, ToolUse
from repopilot.tools.file_change import Changes
from repopilot.types import OpenReference, Verdict

_MOST_REASONS, _MOST_NAMES = 10, 5
_MOST_REFERENCES, _LONGEST_LINE = 8, 100
_VERDICTS = {"ACCEPT_ORIGINAL": "accepted", "MERGE_FEEDBACK": "kept", "REQUEST_REVISION": "poor"}


@dataclass(frozen=True, slots=True)
class GenerationOutcome:
    """Everything the answer tells.

    Attributes:
        changes: the files.
        verdict: the Controller's, None without files.
        reasons: those reasons of the verdict that move the score.
        opinions: those of Critic and Defender.
        tests: None when they could not be run at all.
        impact: None when it could not be determined.
        revisions: how often another version was asked for.
        failure: why there are no files, '' when there are some.
        by_code: no model took part in the edit.
        notes: what the user should know of the edit, as messages.
        open_references: what was left for the user to decide.
        choices: places that the task may mean, where it isn't clear which.
        follow_ups: what the files make necessary elsewhere.
        said: what the model says of its change, each sentence checked.
        calls: the tools that the model called.
        language: the question's.
    """

    changes: Changes = ()
    verdict: Verdict | None = None
    reasons: tuple[str, ...] = ()
    opinions: Opinions = field(default_factory=Opinions)
    tests: TestReport | None = None
    impact: ImpactReport | None = None
    revisions: int = 0
    failure: str = ""
    by_code: bool = False
    notes: tuple[str, ...] = ()
    open_references: tuple[OpenReference, ...] = ()
    choices: tuple[str, ...] = ()
    follow_ups: tuple[FollowUpEdit, ...] = ()
    said: tuple[Sentence, ...] = ()
    calls: tuple[ToolUse, ...] = ()
    language: str = "en"

    @property
    def result(self) -> Generation:
        """The data behind the answer."""
        return Generation(
            self.verdict,
            self.tests,
            self.impact,
            self.failure,
            self.follow_ups,
            self.by_code,
            self.notes,
            self.open_references,
            self.choices,
            self.calls,
            summary_text(self),
            _reviewers_points(self),
            self.said,
        )


def answer_text(outcome: GenerationOutcome) -> str:
    """Markdown: what `summary_text` says, then what the score is made of, the reviewers' points, what the change makes
    necessary, and its impact."""
    language = outcome.language
    parts = [summary_text(outcome)]
    if outcome.said:
        parts.append(i18n.text("loop.says", language, summary=said_text(outcome.said, language)))
    if outcome.reasons:
        reasons = "; ".join(i18n.said(reason, language).rstrip(".") for reason in outcome.reasons[:_MOST_REASONS])
        parts.append(i18n.text("generate.reasons", language, reasons=reasons))
    if points := _reviewers_points(outcome):
        parts.append("\n".join([i18n.text("generate.points", language), *(f"- {point}" for point in points)]))
    if outcome.follow_ups:
        parts.append(_follow_ups(outcome.follow_ups, language))
    if outcome.impact:
        parts.append(_impact_sentence(outcome.impact, language))
    return "\n\n".join(part for part in parts if part)


def said_text(said: Sequence[Sentence], language: str) -> str:
    """What a model says of its change, in Markdown on one line, with a mark where a sentence isn't checked."""
    return " ".join(" ".join(sentence_markdown(each, language).split()) for each in said)


def summary_text(outcome: GenerationOutcome) -> str:
    """Markdown: what was done in a sentence, a list of what is known of it, and what is left for the user to decide."""
    language = outcome.language
    points = [
        *(Point("look", i18n.said(note, language)) for note in outcome.notes),
        *(run_points(outcome.tests, language) if outcome.tests else ()),
        *([_verdict_point(outcome, outcome.verdict)] if outcome.verdict else ()),
    ]
    failures = failure_list(outcome.tests, language) if outcome.tests else []
    parts = [_done(outcome), point_list(points), "\n".join(failures)]
    return "\n\n".join(filter(None, [*parts, _choices(outcome.choices, language), _open_references(outcome)]))


def generation_json(generation: Generation) -> dict[str, Any]:
    """The command line's document of a generation, without its files and steps."""
    from repopilot.impact.impact_report import impact_json

    return {
        "calls": [asdict(each) for each in generation.calls],
        "explanation": [{**asdict(each), "why": i18n.said(each.why, "en")} for each in generation.said],
        "verdict": asdict(generation.verdict) if generation.verdict else None,
        "tests": tests_json(generation.tests) if generation.tests else None,
        "impact": impact_json(generation.impact) if generation.impact else None,
        "follow_ups": [asdict(each) for each in generation.follow_ups],
    }


def _done(outcome: GenerationOutcome) -> str:
    """What was done, in a sentence."""
    language = outcome.language
    if outcome.failure:
        return i18n.text("generate.no_files", language, why=outcome.failure)
    by_code = i18n.text("generate.by_code", language) if outcome.by_code else ""
    return " ".join(filter(None, [changes_sentence(outcome.changes, language), by_code]))


def _reviewers_points(outcome: GenerationOutcome) -> tuple[str, ...]:
    return tuple(f"`{issue.path}:{issue.line}` {issue.problem}" for issue in outcome.opinions.issues)


def _choices(choices: Sequence[str], language: str) -> str:
    if not choices:
        return ""
    return "\n".join([i18n.text("generate.which_place", language), *(f"- `@{choice}`" for choice in choices)])


def _open_references(outcome: GenerationOutcome) -> str:
    """The references left for the user to decide: the first of them, and how many more there are."""
    language, references = outcome.language, outcome.open_references
    if not references:
        return ""
    rows = [
        i18n.text(
            "generate.open_reference",
            language,
            path=each.path,
            line=each.line,
            text=code_span(each.text, _LONGEST_LINE) if each.text.strip() else "",
            reason=i18n.said(each.reason, language),
        )
        for each in references[:_MOST_REFERENCES]
    ]
    more = len(references) - _MOST_REFERENCES
    if more > 0:
        rows.append(i18n.text("generate.more_references", language, count=more))
    return "\n".join([i18n.text("generate.open_references", language), *(f"- {row}" for row in rows)])


def _follow_ups(found: Sequence[FollowUpEdit], language: str) -> str:
    rows = (f"- `{each.path}:{each.line}` {i18n.said(each.reason, language)}" for each in found)
    return "\n".join([i18n.text("generate.follow_ups", language), *rows])


def _verdict_point(outcome: GenerationOutcome, verdict: Verdict) -> Point:
    language = outcome.language
    again = i18n.text("generate.revised", language, count=outcome.revisions) if outcome.revisions else ""
    decision = i18n.text(f"generate.{_VERDICTS[verdict.decision]}", language)
    text = i18n.text("generate.verdict", language, score=verdict.score, decision=decision, again=again)
    return Point("ok" if verdict.decision == "ACCEPT_ORIGINAL" else "look", text)


def _impact_sentence(impact: ImpactReport, language: str) -> str:
    affected = dict.fromkeys(place.path for place in impact.affected[:_MOST_NAMES] if place.path)
    names = ", ".join(f"`{path}`" for path in affected)
    reached = i18n.text("generate.reached", language, names=names) if names else ""
    risk = i18n.text(f"impact.levels.{impact.risk}", language)
    return i18n.text("generate.impact", language, risk=risk, reached=reached)
