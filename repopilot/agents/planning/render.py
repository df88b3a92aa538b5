"""A plan in words. Pure."""

from __future__ import annotations

from repopilot import i18n
from repopilot.results import Plan, PlanPart, PlanState

_MARKS: dict[PlanState, str] = {"open": " ", "running": "…", "done": "x", "failed": "!", "skipped": "-"}


def plan_markdown(plan: Plan, language: str) -> str:
    """The plan as a task list below its note, with its questions and how to go on."""
    lines = [plan.note, ""] if plan.note else []
    lines += [i18n.text("planning.title", language, task=_one_line(plan.task)), ""]
    if not plan.parts:
        lines += [i18n.text("planning.need_answer", language)]
    for part in plan.parts:
        lines += _part_rows(part, language)
    if plan.questions:
        lines += ["", i18n.text("planning.decide_first", language)] if plan.parts else [""]
        lines += [f"- {q.question} ({' / '.join(q.options)})" for q in plan.questions]
    if any(p.state == "open" for p in plan.parts):
        lines += ["", i18n.text("planning.how_to_go_on", language)]
    return "\n".join(lines)


def _part_rows(part: PlanPart, language: str) -> list[str]:
    place = (
        f" — `{part.place}`" if part.place else f" — {', '.join(f'`{f}`' for f in part.files)}" if part.files else ""
    )
    about = [i18n.text(f"planning.risk.{part.risk.lower()}", language)]
    if part.depends_on:
        about.append(i18n.text("planning.after", language, numbers=", ".join(map(str, part.depends_on))))
    rows = [f"{part.number}. [{_MARKS[part.state]}] {_one_line(part.title)}{place} ({', '.join(about)})"]
    if part.reasons:
        reasons = "; ".join(i18n.translated(r, language) for r in part.reasons)
        rows.append(f"   - {i18n.text('planning.why', language, reasons=reasons)}")
    if part.acceptance:
        rows.append(f"   - {i18n.text('planning.acceptance', language, points='; '.join(part.acceptance))}")
    if part.note:
        rows.append(f"   - {i18n.translated(part.note, language)}")
    return rows


def _one_line(text: str) -> str:
    return " ".join(text.split())
