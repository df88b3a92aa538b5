"""The answer that code writes about a generation. Pure."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import asdict, replace
from typing import Any

from repopilot import i18n
from repopilot.agents.coding.render import changes_sentence
from repopilot.agents.explain.render import sentence_markdown
from repopilot.agents.testing.render import (
    Point,
    failure_list,
    point_list,
    run_points,
    tests_json,
)
from repopilot.foreign_text import code_span, visible
from repopilot.results import Answer, FollowUpEdit, Generation, ImpactReport, Sentence
from repopilot.tools.file_change import Changes
from repopilot.types import OpenReference, Verdict

_MOST_REASONS = 10
_MOST_NAMES = 5
_MOST_REFERENCES = 8
_LONGEST_LINE = 100
_VERDICTS = {"ACCEPT_ORIGINAL": "accepted", "MERGE_FEEDBACK": "kept", "REQUEST_REVISION": "poor"}


def answered(changes: Changes, made: Generation, language: str) -> Answer:
    """The answer of a generation in Markdown: what was done and what is known of it, then what the score is made of,
    the reviewers' points, what the change makes necessary, and its impact."""
    made = replace(made, summary=_summary(changes, made, language))
    parts = [made.summary]
    if made.said:
        parts.append(i18n.text("loop.says", language, summary=said_text(made.said, language)))
    parts.append(reasons_text(made, language))
    if made.points:
        parts.append("\n".join([i18n.text("generate.points", language), *(f"- {point}" for point in made.points)]))
    if made.follow_ups:
        parts.append(_follow_ups(made.follow_ups, language))
    if made.impact:
        parts.append(_impact_sentence(made.impact, language))
    return Answer("\n\n".join(part for part in parts if part), files=changes, result=made)


def reasons_text(made: Generation, language: str) -> str:
    """What the score is made of, in a sentence; '' without one."""
    reasons = "; ".join(i18n.translated(reason, language).rstrip(".") for reason in made.reasons[:_MOST_REASONS])
    return i18n.text("generate.reasons", language, reasons=reasons) if reasons else ""


def said_text(said: Sequence[Sentence], language: str) -> str:
    """What a model says of its change, in Markdown on one line, with a mark where a sentence isn't checked."""
    return " ".join(" ".join(sentence_markdown(each, language).split()) for each in said)


def _summary(changes: Changes, made: Generation, language: str) -> str:
    """Markdown: what was done in a sentence, a list of what is known of it, and what is left for the user to decide."""
    unrun = ", ".join(map(code_span, made.unrun))
    points = [
        *(Point("look", i18n.translated(note, language)) for note in made.notes),
        *(Point("look", i18n.text("check_tools.assumed", language, what=visible(each))) for each in made.assumed),
        *(run_points(made.tests, language) if made.tests else ()),
        *([Point("look", i18n.text("generate.unrun", language, names=unrun))] if unrun else ()),
        *([_verdict_point(made, made.verdict, language)] if made.verdict else ()),
    ]
    if changes and made.verdict is None:
        points.append(Point("look", i18n.text("generate.untested", language)))
    failures = failure_list(made.tests, language) if made.tests else []
    parts = [_done(changes, made, language), point_list(points), "\n".join(failures)]
    left = (_choices(made.choices, language), _open_references(made.open_references, language))
    return "\n\n".join(filter(None, [*parts, *left]))


def generation_json(generation: Generation) -> dict[str, Any]:
    """The command line's document of a generation, without its files and steps."""
    from repopilot.agents.impact.impact_report import impact_json

    return {
        "calls": [asdict(each) for each in generation.calls],
        "explanation": [{**asdict(each), "why": i18n.translated(each.why, "en")} for each in generation.said],
        "assumed": list(generation.assumed),
        "unrun": list(generation.unrun),
        "verdict": asdict(generation.verdict) if generation.verdict else None,
        "tests": tests_json(generation.tests) if generation.tests else None,
        "impact": impact_json(generation.impact) if generation.impact else None,
        "follow_ups": [asdict(each) for each in generation.follow_ups],
    }


def _done(changes: Changes, made: Generation, language: str) -> str:
    """What was done, in a sentence."""
    if made.failure:
        return i18n.text("generate.no_files", language, why=made.failure)
    by_code = i18n.text("generate.by_code", language) if made.by_code else ""
    return " ".join(filter(None, [changes_sentence(changes, language), by_code]))


def _choices(choices: Sequence[str], language: str) -> str:
    if not choices:
        return ""
    return "\n".join([i18n.text("generate.which_place", language), *(f"- `@{choice}`" for choice in choices)])


def _open_references(references: Sequence[OpenReference], language: str) -> str:
    """The references left for the user to decide: the first of them, and how many more there are."""
    if not references:
        return ""
    rows = [
        i18n.text(
            "generate.open_reference",
            language,
            path=each.path,
            line=each.line,
            text=code_span(each.text, _LONGEST_LINE) if each.text.strip() else "",
            reason=i18n.translated(each.reason, language),
        )
        for each in references[:_MOST_REFERENCES]
    ]
    more = len(references) - _MOST_REFERENCES
    if more > 0:
        rows.append(i18n.text("generate.more_references", language, count=more))
    return "\n".join([i18n.text("generate.open_references", language), *(f"- {row}" for row in rows)])


def _follow_ups(found: Sequence[FollowUpEdit], language: str) -> str:
    rows = (f"- `{each.path}:{each.line}` {i18n.translated(each.reason, language)}" for each in found)
    return "\n".join([i18n.text("generate.follow_ups", language), *rows])


def _verdict_point(made: Generation, verdict: Verdict, language: str) -> Point:
    again = i18n.text("generate.revised", language, count=made.revisions) if made.revisions else ""
    decision = i18n.text(f"generate.{_VERDICTS[verdict.decision]}", language)
    text = i18n.text("generate.verdict", language, score=verdict.score, decision=decision, again=again)
    return Point("ok" if verdict.decision == "ACCEPT_ORIGINAL" else "look", text)


def _impact_sentence(impact: ImpactReport, language: str) -> str:
    affected = dict.fromkeys(place.path for place in impact.affected[:_MOST_NAMES] if place.path)
    names = ", ".join(f"`{path}`" for path in affected)
    reached = i18n.text("generate.reached", language, names=names) if names else ""
    risk = i18n.text(f"impact.levels.{impact.risk}", language)
    return i18n.text("generate.impact", language, risk=risk, reached=reached)
