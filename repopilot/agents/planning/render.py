"""A plan in words. Pure."""

from __future__ import annotations

from repopilot import i18n
from repopilot.results import Plan, PlanPart, PlanState

_MARKS: dict[PlanState, str] = {"open": " ", "done": "x", "failed": "!", "skipped": "-"}


def plan_markdown(plan: Plan, language: str) -> str:
    """The plan as a task list below its note, with its questions and how to go on."""
    lines = [plan.note, ""] if plan.note else []
    lines += [i18n.text("planning.title", language, task=_one_line(plan.task)), ""]
    lines += [_part_row(part, language) for part in plan.parts]
    if plan.questions:
        lines += ["", i18n.text("planning.decide_first", language)]
        lines += [f"- {q.question} ({' / '.join(q.options)})" for q in plan.questions]
    if any(p.state == "open" for p in plan.parts):
        lines += ["", i18n.text("planning.how_to_go_on", language)]
    return "\n".join(lines)


def _part_row(part: PlanPart, language: str) -> str:
    files = f" — {', '.join(f'`{f}`' for f in part.files)}" if part.files else ""
    about = [i18n.text(f"planning.risk.{part.risk.lower()}", language)]
    if part.depends_on:
        about.append(i18n.text("planning.after", language, numbers=", ".join(map(str, part.depends_on))))
    return f"{part.number}. [{_MARKS[part.state]}] {_one_line(part.title)}{files} ({', '.join(about)})"


def _one_line(text: str) -> str:
    return " ".join(text.split())
