"""A plan as a value: numbered parts with files, order and risk; as JSON and as Markdown, each readable back. Pure.

The Markdown in the conversation is the state: a plan survives a reload, a restart and a copy into another chat.
"""

from __future__ import annotations

import re
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import asdict, replace
from typing import Any

from repopilot.results import Plan, PlanPart, PlanQuestion, PlanState

MOST_PARTS = 12
_MARKS: dict[PlanState, str] = {"open": " ", "done": "x", "failed": "!", "skipped": "-"}
_STATES = {mark: state for state, mark in _MARKS.items()}
_TITLE = re.compile(r"^\*\*Plan:\*\* (?P<task>.*)$", re.M)
_PART = re.compile(
    r"^(?P<number>\d+)\. \[(?P<mark>[ x!-])\] (?P<title>.+?)(?: — (?P<files>`[^—]*`))?"
    r" \((?P<risk>LOW|MEDIUM|HIGH|UNKNOWN) risk(?:, after (?P<after>[\d, ]+))?\)$",
    re.M,
)


def ordered(parts: Iterable[PlanPart]) -> tuple[PlanPart, ...]:
    """Numbered from 1 so that every part stands behind those it depends on; unknown and circular ones are dropped."""
    given = list(parts)[:MOST_PARTS]
    known = {p.number for p in given}
    left, placed = given, []
    while left:
        done = {p.number for p in placed}
        free = next((p for p in left if not (set(p.depends_on) & known) - done - {p.number}), left[0])
        placed.append(free)
        left = [p for p in left if p is not free]
    numbers = {p.number: position for position, p in enumerate(placed, 1)}
    return tuple(
        replace(
            p,
            number=numbers[p.number],
            depends_on=tuple(sorted(numbers[d] for d in set(p.depends_on) & known if numbers[d] < numbers[p.number])),
        )
        for p in placed
    )


def plan_json(plan: Plan) -> dict[str, Any]:
    return {key: value for key, value in asdict(plan).items() if key not in ("kind", "note")}


def plan_from_json(document: Mapping[str, Any]) -> Plan:
    """The plan of `plan_json`, also after a trip through JSON. Raises KeyError, TypeError on anything else."""
    parts = tuple(
        PlanPart(**{**p, "files": tuple(p["files"]), "depends_on": tuple(p["depends_on"])}) for p in document["parts"]
    )
    questions = tuple(PlanQuestion(q["question"], tuple(q["options"])) for q in document["questions"])
    return Plan(document["task"], parts, questions)


def plan_markdown(plan: Plan) -> str:
    """The plan as a task list, with its questions and how to go on."""
    lines = [f"**Plan:** {_one_line(plan.task)}", ""]
    lines += [_part_line(p) for p in plan.parts]
    if plan.questions:
        lines += ["", "Worth deciding first (or skip by proceeding):"]
        lines += [f"- {q.question} ({' / '.join(q.options)})" for q in plan.questions]
    if any(p.state == "open" for p in plan.parts):
        lines += ["", 'Say "proceed" for the next part, "proceed with all", "proceed with part 2" or "skip part 3".']
    return "\n".join(lines)


def plan_from_markdown(text: str) -> Plan | None:
    """The last plan in a text written by `plan_markdown`, without its questions; None when there is none."""
    titles = list(_TITLE.finditer(text))
    if not titles:
        return None
    body = text[titles[-1].end() :]
    parts = tuple(
        PlanPart(
            int(m["number"]), m["title"], tuple(re.findall(r"`([^`]+)`", m["files"] or "")), m["risk"],  # type: ignore[arg-type]
            tuple(int(n) for n in re.findall(r"\d+", m["after"] or "")), _STATES[m["mark"]],
        )
        for m in _PART.finditer(body)
    )  # fmt: skip
    return Plan(titles[-1]["task"], parts) if parts else None


def _part_line(part: PlanPart) -> str:
    files = f" — {', '.join(f'`{f}`' for f in part.files)}" if part.files else ""
    after = f", after {', '.join(map(str, part.depends_on))}" if part.depends_on else ""
    return f"{part.number}. [{_MARKS[part.state]}] {_one_line(part.title)}{files} ({part.risk} risk{after})"


def _one_line(text: str) -> str:
    return " ".join(text.replace("—", "-").split())


_ITEM = re.compile(r"^\s*(?:[-*•]|\d+[.)])\s+(.+)$", re.M)
_THEN = re.compile(r"(?:,|;|\.)?\s*\b(?:and )?(?:then|after that|finally|at the end|puis|ensuite|enfin)\b,?\s*", re.I)
_COLON_LIST = re.compile(r",\s*(?:and |et )?|;\s*|\s+(?:and|et)\s+")
_LIST = re.compile(r",\s*(?:and |et )?(?:also )?|;\s*|\s+and also\s+")


def split_task(task: str) -> Sequence[str]:
    """The parts a task names itself: its list items, its "first … then …", or what stands behind its colon."""
    items = [m.strip() for m in _ITEM.findall(task)]
    if len(items) >= 2:
        return items[:MOST_PARTS]
    steps = [
        s.strip(" ,.;") for s in _THEN.split(re.sub(r"^\s*(?:first|d'abord)\b,?\s*", "", task.strip(), flags=re.I))
    ]
    if len(steps) >= 2 and all(steps):
        return steps[:MOST_PARTS]
    head, colon, listed = task.partition(":")
    named = [part.strip(" .") for part in (_COLON_LIST.split(listed) if colon else _LIST.split(task))]
    if len(named) >= 3 and all(named):
        return [f"{head.strip()}: {part}" if colon else part for part in named][:MOST_PARTS]
    return []
