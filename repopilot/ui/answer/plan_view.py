"""A plan in a chat: a task list with buttons. Its state is its text in the conversation (see agents/plans.py)."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace

import chainlit as cl

from repopilot.agents.planning.plan import MOST_PARTS, Plan, PlanPart, ordered, plan_from_json, plan_json, plan_markdown
from repopilot.results import Answer
from repopilot.ui.chat import Chat
from repopilot.ui.elements import element, update

GONE = "This plan is not the newest of the conversation."


def plan_of(answer: Answer) -> Plan | None:
    """The plan an answer brings, None without one."""
    document = answer.details.get("plan")
    return plan_from_json(document) if isinstance(document, dict) else None


def introduction(answer: Answer) -> str:
    """The text of the answer without the task list, which the element shows instead."""
    return answer.text.split("**Plan:**", 1)[0].strip()


async def plan_element(chat: Chat, answer_id: str, plan: Plan) -> cl.CustomElement:
    """The task list under an answer. Older ones lose their buttons."""
    for older, shown in chat.plans.items():
        await update(shown, {**shown.props, "answer": older, "current": False})
    chat.plans[answer_id] = element("Plan", _props(answer_id, plan))
    return chat.plans[answer_id]


async def edit_plan(chat: Chat, payload: dict) -> dict:
    """Take the user's own parts, one a line: payload {answer, lines}. The conversation holds the new plan at once."""
    answer_id = str(payload.get("answer", ""))
    shown, made = chat.shown.get(answer_id), chat.plans.get(answer_id)
    plan = plan_of(shown.answer) if shown else None
    if plan is None or made is None or not chat.exchanges or chat.exchanges[-1].answer != shown.answer:
        return {"error": GONE}
    parts = edited(plan.parts, [str(line) for line in payload.get("lines", ())])
    if not parts:
        return {"error": "A plan needs at least one part."}
    plan = replace(plan, parts=parts, questions=())
    shown.answer = replace(
        shown.answer, text=plan_markdown(plan), details={**shown.answer.details, "plan": plan_json(plan)}
    )
    chat.exchanges[-1] = replace(chat.exchanges[-1], answer=shown.answer)
    await update(made, _props(answer_id, plan))
    return {}


def edited(parts: Sequence[PlanPart], lines: Sequence[str]) -> tuple[PlanPart, ...]:
    """The user's lines as parts: a line that was there keeps its files, order and state, a new one is open. Pure."""
    titles = [line.strip() for line in lines if line.strip()][:MOST_PARTS]
    left = list(parts)
    chosen: list[PlanPart] = []
    for number, title in enumerate(titles, len(parts) + 1):
        known = next((part for part in left if part.title == title), None)
        if known is not None:
            left.remove(known)
        chosen.append(known or PlanPart(number, title))
    return ordered(chosen)


def _props(answer_id: str, plan: Plan) -> dict:
    return {"answer": answer_id, "plan": plan_json(plan), "current": True}
