"""A plan in a chat: a task list with buttons."""

from __future__ import annotations

import re
from collections.abc import Sequence
from dataclasses import replace

import chainlit as cl

from repopilot import i18n
from repopilot.agents.planning.render import plan_markdown
from repopilot.agents.wishes.likely_places import ordered
from repopilot.agents.wishes.planning_loop import MOST_PARTS
from repopilot.errors import UsageError
from repopilot.i18n import section, text, translated
from repopilot.results import Plan, PlanPart
from repopilot.retrieval.query.parse import reply_language
from repopilot.ui.buttons import answer_of, button
from repopilot.ui.changes.file_changes import commit_on_branch
from repopilot.ui.chat import Chat
from repopilot.ui.elements import element, update
from repopilot.ui.stored_turns import change_exchange


@button
async def create_plan_branch(chat: Chat, payload: dict) -> dict:
    """Put the finished parts of a plan on a branch of the local repository.

    Args:
        chat: where the button was pressed.
        payload: {answer: id}.

    Returns:
        {done: what was created}, or {error}.
    """
    shown = answer_of(chat, payload, "ui.errors.files_gone")
    plan = shown.answer.brings(Plan)
    if shown.root is None or plan is None or not shown.files:
        raise UsageError(i18n.message("ui.errors.files_gone"))
    return await commit_on_branch(chat, shown.root, shown.files.values(), plan.task)


_NAMES_A_FILE = re.compile(r"[\w-]\.\w{1,5}\b|@\w")


async def plan_element(chat: Chat, answer_id: str, plan: Plan) -> cl.CustomElement:
    """The task list under an answer; the lists of older answers lose their buttons.

    Args:
        chat: the chat of the answer.
        answer_id: of the answer's message.
        plan: what to list.

    Returns:
        The element, not sent yet.
    """
    for older in chat.plans.values():
        await update(older, {**older.props, "current": False})
    shown = chat.answers.get(answer_id)
    local = shown is not None and shown.root is not None and bool(shown.files)
    chat.plans[answer_id] = element(
        "Plan", {**plan_props(answer_id, plan, chat.language), "branch": local}, id=f"{answer_id}-Plan"
    )
    return chat.plans[answer_id]


@button
async def edit_plan(chat: Chat, payload: dict) -> dict:
    """Replace the parts of the latest plan, in the conversation too.

    Args:
        chat: where the button was pressed.
        payload: {answer: id, lines: the titles of the parts}.

    Returns:
        {}, or {error}.
    """
    shown = answer_of(chat, payload, "ui.errors.plan_outdated")
    answer_id = str(payload["answer"])
    task_list = chat.plans.get(answer_id)
    plan = shown.answer.brings(Plan)
    turns = [exchange for exchange in chat.exchanges if exchange.is_turn]
    if plan is None or task_list is None or not turns or turns[-1].answer is not shown.answer:
        raise UsageError(i18n.message("ui.errors.plan_outdated"))
    parts = edited(plan.parts, [str(line) for line in payload.get("lines", ())])
    if not parts:
        raise UsageError(i18n.message("ui.errors.plan_empty"))
    plan = replace(plan, parts=parts, questions=(), note="")
    language = reply_language(plan.task, chat.settings)
    await change_exchange(chat, shown, answer=replace(shown.answer, text=plan_markdown(plan, language), result=plan))
    await update(task_list, plan_props(answer_id, plan, chat.language))
    return {}


def edited(parts: Sequence[PlanPart], lines: Sequence[str]) -> tuple[PlanPart, ...]:
    """Make parts of the user's lines. Pure.

    Args:
        parts: the parts as they are.
        lines: the titles, one per line.

    Returns:
        The parts. A part whose title is unchanged is kept whole. If there are as many lines as parts, a changed title
        that names no file keeps its part's place and is open again; any other line becomes a new part.
    """
    titles = [line.strip() for line in lines if line.strip()][:MOST_PARTS]
    same_places = len(titles) == len(parts)
    left = list(parts)
    chosen: list[PlanPart] = []
    for number, title in enumerate(titles, len(parts) + 1):
        known = next((part for part in left if part.title == title), None)
        if known is not None:
            left.remove(known)
        elif same_places and not _NAMES_A_FILE.search(title):
            reworded = parts[number - len(parts) - 1]
            if reworded.title not in titles:
                known = replace(reworded, title=title, state="open", note="", drafts=(), order=0)
        chosen.append(known or PlanPart(number, title))
    return ordered(chosen)


def plan_props(answer_id: str, plan: Plan, language: str) -> dict:
    """The props of the element `Plan`.

    Args:
        answer_id: of the answer's message.
        plan: what to list.
        language: of the interface.

    Returns:
        A JSON-serializable value.
    """
    done = sum(part.state == "done" for part in plan.parts)
    return {
        "answer": answer_id,
        "task": plan.task,
        "progress": text("ui.plan.progress", language, done=done, count=len(plan.parts)),
        "parts": [_part_props(part, language) for part in plan.parts],
        "questions": [{"question": asked.question, "options": list(asked.options)} for asked in plan.questions],
        "current": True,
        "words": section("ui.plan.words", language),
    }


def _part_props(part: PlanPart, language: str) -> dict:
    after = ", ".join(map(str, part.depends_on))
    reasons = "; ".join(translated(reason, language) for reason in part.reasons)
    facts = [
        part.place or ", ".join(part.files),
        text(f"ui.plan.risk_{part.risk.lower()}", language),
        text("ui.plan.after", language, parts=after) if after else "",
    ]
    return {
        "number": part.number,
        "title": part.title,
        "state": part.state,
        "label": text(f"ui.plan.{part.state}", language),
        "facts": " · ".join(fact for fact in facts if fact),
        "why": text("planning.why", language, reasons=reasons) if reasons else "",
        "acceptance": list(part.acceptance),
        "note": translated(part.note, language),
    }
