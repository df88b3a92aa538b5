"""What folds away below an answer's first lines: the lists of an impact report, and what a score is made of. Pure."""

from __future__ import annotations

from repopilot import i18n
from repopilot.agents.explain.render import sentence_markdown
from repopilot.agents.impact.render import impact_sections, impact_summary
from repopilot.results import Answer, Generation, ImpactReport

_MOST_NAMES = 5


def summary_of(answer: Answer, language: str) -> str:
    """The first lines of an answer, in Markdown; '' if all of it is shown."""
    if isinstance(answer.result, ImpactReport):
        return impact_summary(answer.result, _numbers(answer, answer.result), language)
    return answer.result.summary if isinstance(answer.result, Generation) else ""


def folds_props(answer_id: str, answer: Answer, language: str) -> dict | None:
    """Props of the element `Folds`: {answer, folds: [{title, rows in Markdown, count}], note}; None if nothing
    folds. Without `count`, the rows are counted.

    Args:
        answer_id: of the answer's message.
        answer: the answer.
        language: of the reader.
    """
    note = ""
    if isinstance(answer.result, ImpactReport):
        sections, note = impact_sections(answer.result, _numbers(answer, answer.result), language)
        folds = [{"title": each.heading, "rows": list(each.rows), "count": each.total} for each in sections]
    elif isinstance(answer.result, Generation):
        folds = _of_generation(answer.result, language)
    else:
        return None
    shown = [fold for fold in folds if fold["rows"]]
    words = i18n.section("ui.folds.words", language)
    return {"answer": answer_id, "folds": shown, "note": note, "words": words} if shown or note else None


def said_props(answer_id: str, answer: Answer, language: str) -> dict | None:
    """Props of the element `Folds` with a model's remarks on its change, shown below the files; None if there are
    none."""
    said = answer.result.said if isinstance(answer.result, Generation) else ()
    rows = [sentence_markdown(each, language) for each in said]
    fold = {"title": i18n.text("ui.folds.said", language), "rows": rows, "open": True}
    words = i18n.section("ui.folds.words", language)
    return {"answer": answer_id, "folds": [fold], "note": "", "words": words} if rows else None


def _of_generation(result: Generation, language: str) -> list[dict]:
    reasons = result.verdict.reasons if result.verdict else ()
    affected = dict.fromkeys(place.path for place in result.impact.affected if place.path) if result.impact else {}
    touched = [f"`{each.path}:{each.line}` {i18n.translated(each.reason, language)}" for each in result.follow_ups]
    touched += [f"`{path}`" for path in list(affected)[:_MOST_NAMES] if len(touched) < 2 * _MOST_NAMES]
    return [
        {"title": i18n.text("ui.folds.score", language), "rows": [i18n.translated(each, language) for each in reasons]},
        {"title": i18n.text("ui.folds.points", language), "rows": list(result.points)},
        {"title": i18n.text("ui.folds.touches", language), "rows": touched},
    ]


def _numbers(answer: Answer, report: ImpactReport) -> dict[str, int]:
    return {item.id: place.number for item, place in zip(report.affected, answer.evidence, strict=False)}
