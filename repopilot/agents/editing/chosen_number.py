"""Exchanges a number that a task describes too vaguely for code alone: the model has to point to the same one."""

from __future__ import annotations

import asyncio
from collections.abc import Sequence
from dataclasses import replace

from repopilot import i18n
from repopilot.agents.editing.edit_request import EditRequest
from repopilot.agents.editing.exact.described_quantities import QuantitySite, quantity_patch, quantity_sites, rows_of
from repopilot.agents.editing.exact.sources import Sources, outcome
from repopilot.agents.editing.exact.wording.reading import on_one_line
from repopilot.agents.editing.outcome import EditOutcome
from repopilot.errors import GenerationFailed
from repopilot.llm import structured
from repopilot.llm.model import Model
from repopilot.prompts import nonce, render, sanitized
from repopilot.trace import Step
from repopilot.workspace import Workspace

_MOST_LINES = 5
_LEAST_SCORE = 1.2
_LEAST_CONFIDENCE = 0.65
"""Of 11 such tasks on eight repositories the first line was right for 6. The model pointed to it so surely for 4 of
these, and to the first line for none of the other 5 and of 4 tasks that exchange no number."""
_NONE = "none of them"
_LONGEST_LINE = 100


async def chosen_number(request: EditRequest, workspace: Workspace, step: Step) -> EditOutcome | None:
    """Put another number where code and the model agree that a task means it.

    Args:
        request: the task.
        workspace: the repository and the model.
        step: gets the model's choice as a child.

    Returns:
        The edit; None where the task exchanges no quantities, or the two don't agree.

    Raises:
        ModelError: the model failed.
    """
    model = workspace.coder or workspace.model
    if model is None or request.paths or request.drafts or request.feedback:
        return None
    sources = Sources(workspace)
    rows = rows_of(await asyncio.to_thread(quantity_sites, on_one_line(request.task.strip()), sources))[:_MOST_LINES]
    if not rows or rows[0][0].score < _LEAST_SCORE:
        return None
    async with step.child("choose the number", "tool", request.task) as choosing:
        line = await _pointed_to(rows, request.task, sources, model, choosing)
        if line is None:
            return None
        edit = await asyncio.to_thread(_made, rows[0], sources)
    note = i18n.message("placed.chosen_number", line=line)
    return replace(edit, by_code=False, notes=(note, *edit.notes)) if edit is not None else None


async def _pointed_to(
    rows: Sequence[Sequence[QuantitySite]], task: str, sources: Sources, model: Model, step: Step
) -> str | None:
    """The first line, where the model points to it; None for any other answer."""
    from llama_index.core.llms import ChatMessage

    lines = [_shown(row[0], sources) for row in rows]
    shown = "\n".join(reversed(lines))  # the best is last, where small models look
    name = sources.workspace.index.name
    prompt = sanitized(render("choose_number", task=task.strip()[:800], name=name, lines=shown), nonce())
    messages = [ChatMessage(role="user", content=prompt)]
    word, confidence = await structured.choose_word(model, messages, [*lines, _NONE], step)
    step.note(chosen=word, confidence=round(confidence, 3))
    return word if word == lines[0] and confidence >= _LEAST_CONFIDENCE else None


def _shown(site: QuantitySite, sources: Sources) -> str:
    source = sources.get(site.path)
    line = source.line_text(site.line).strip() if source is not None else ""
    return f"{site.path}:{site.line} {line[:_LONGEST_LINE]}"


def _made(row: Sequence[QuantitySite], sources: Sources) -> EditOutcome | None:
    try:
        return outcome(quantity_patch(row, sources), sources)
    except GenerationFailed:  # the file can't be read with the new number
        return None
