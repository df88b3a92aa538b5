"""The prompt of a placed edit, a few hundred tokens: what stays the same between samples comes first."""

from __future__ import annotations

from typing import TYPE_CHECKING

from repopilot.agents.editing.edit_request import EditRequest
from repopilot.agents.editing.placed.slot import Slot
from repopilot.agents.editing.placed.surroundings import CountTokens, named_elsewhere, surroundings, twin
from repopilot.agents.editing.placed.target_places import TargetPlace
from repopilot.agents.editing.placed.wanted import Wanted
from repopilot.index.store import Index
from repopilot.prompts import nonce, render, sanitized

if TYPE_CHECKING:
    from llama_index.core.llms import ChatMessage

_LONGEST_SHOWN = 90
"""Lines of a function that are shown around the block that changes."""


def messages_for(
    place: TargetPlace, wanted: Wanted, slot: Slot, request: EditRequest, index: Index, count: CountTokens
) -> list[ChatMessage]:
    """The prompt for the lines of a slot.

    Args:
        place: where the edit is.
        wanted: what the task asks for.
        slot: the lines that are asked for.
        request: the task as the user wrote it, what was wrong with earlier versions, a test that is to pass.
        index: knows what is defined elsewhere.
        count: counts the model's tokens.
    """
    from llama_index.core.llms import ChatMessage

    named, task = named_elsewhere(place, wanted, index), request.task
    other = twin(place) if slot.shown and place.language == "python" else ""
    alike = f"Elsewhere in the file:\n```{place.language}\n{other}\n```\n" if other else ""
    common = {
        "path": place.path,
        "language": place.language,
        "named": (f"Elsewhere:\n{named}\n" if named else "") + alike + _failing(request, place.language),
        "task": task.strip()[:1500],
        "feedback": "".join(f"An earlier version failed: {reason}\n" for reason in request.feedback),
    }
    if slot.unit == "statement":
        text = render("placed_condition", shown=_around(slot), what=slot.place, **common)
    elif slot.block:
        text = render("placed_block", shown=_around(slot), block=slot.block, **common)
    elif slot.shown:
        code = surroundings(place, wanted, task, index, count) if "." in slot.place else ""
        context = f"{place.path}, shortened:\n```{place.language}\n{code}\n```\n" if code else ""
        text = render("placed_change", context=context, shown=slot.shown, what=slot.place, **common)
    else:
        code = surroundings(place, wanted, task, index, count)
        text = render("placed_add", code=code, what=_what(place, wanted), **common)
    mark = nonce()
    return [
        ChatMessage(role="system", content=render("placed_system", name=index.name)),
        ChatMessage(role="user", content=sanitized(text, mark)),
    ]


def _failing(request: EditRequest, language: str) -> str:
    """The test that is to pass, and what it says now."""
    test = request.failing
    return f"This test fails:\n```{language}\n{test.text}\n```\n{test.error}\n" if test is not None else ""


def _what(place: TargetPlace, wanted: Wanted) -> str:
    name = f" `{wanted.name}`" if wanted.name else ""
    where = f" of `{place.owner}`" if place.owner else ""
    return f"the new {wanted.noun or 'code'}{name}{where}"


def _around(slot: Slot) -> str:
    """The function that changes; of a very long one its beginning and what is around the block."""
    lines = slot.shown.split("\n")
    if len(lines) <= _LONGEST_SHOWN:
        return slot.shown
    at = slot.shown[: slot.shown.find(slot.block)].count("\n")
    start, end = max(8, at - 20), min(len(lines), at + slot.block.count("\n") + 20)
    return "\n".join([*lines[:8], "    ...", *lines[start:end], *(["    ..."] if end < len(lines) else [])])
