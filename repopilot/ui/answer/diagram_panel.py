"""An answer as a diagram in the panel beside the chat: the call graph around what it is about, or a map of folders."""

from __future__ import annotations

import asyncio
from collections import Counter

from repopilot import i18n
from repopilot.errors import RepoPilotError
from repopilot.impact.diagram import Diagram, call_diagram, module_diagram
from repopilot.results import Answer, Explanation
from repopilot.ui.chat import Chat
from repopilot.ui.elements import show_aside
from repopilot.ui.error_text import error_line

BOX, STEP, TOP = (170, 28), (215, 36), 40


def subject_of(answer: Answer) -> str:
    """The definition of the repository that an answer is about, as `path:symbol`; '' where it is about none."""
    if not isinstance(answer.result, Explanation) or answer.of_all:
        return ""
    named = next((each for each in answer.evidence if each.symbol), None)
    return f"{named.path}:{named.symbol}" if named else ""


async def show_diagram(chat: Chat, payload: dict) -> dict:
    """Open the panel; returns {}, or {error} where there is nothing to draw.

    Args:
        chat: where the button was pressed.
        payload: {answer: id, map: true for the folders of the repository}.
    """
    shown = chat.answers.get(str(payload.get("answer", "")))
    if shown is None:
        return {"error": i18n.text("ui.errors.answer_gone", chat.language)}
    subject = "" if payload.get("map") else subject_of(shown.answer)
    index = shown.index
    try:
        drawn = await asyncio.to_thread(lambda: call_diagram(index, subject) if subject else module_diagram(index))
    except RepoPilotError as error:
        return {"error": error_line(error, chat.language)}
    await show_aside("Diagram", diagram_props(str(payload["answer"]), drawn, subject, chat.language))
    return {}


def diagram_props(id: str, drawn: Diagram, subject: str, language: str) -> dict:
    """Props of the element `Diagram`, with the places of boxes and lines in pixels.

    Args:
        id: of the answer's message.
        drawn: the diagram.
        subject: of a call graph, '' for a map of folders.
        language: of the reader.
    """
    rows: Counter[int] = Counter()
    boxes = []
    for number, box in enumerate(drawn.boxes):
        place = {"x": 8 + box.column * STEP[0], "y": TOP + rows[box.column] * STEP[1]}
        boxes.append({"label": box.label, "path": box.path, "line": box.line, "subject": bool(subject) and not number})
        boxes[-1] |= place
        rows[box.column] += 1
    heaviest = max((weight for *_, weight in drawn.lines), default=1)
    kind = "calls" if subject else "modules"
    heads = ("users", "", "used") if subject else ()
    left_out = [
        {"x": 8 + n * STEP[0], "y": TOP + rows[n] * STEP[1], "label": i18n.text("ui.steps.more", language, count=more)}
        for n, more in enumerate(drawn.left_out)
        if more
    ]
    return {
        "answer": id,
        "title": i18n.text(f"ui.diagram.{kind}", language, name=subject.rpartition(":")[2]),
        "map": not subject,
        "width": 16 + BOX[0] + STEP[0] * max(rows, default=0),
        "height": TOP + STEP[1] * (1 + max(rows.values(), default=0)),
        "box": list(BOX),
        "boxes": boxes,
        "lines": [[a, b, weight / heaviest] for a, b, weight in drawn.lines],
        "heads": [[8 + n * STEP[0], i18n.text(f"ui.diagram.{h}", language)] for n, h in enumerate(heads) if h],
        "left_out": left_out,
        "words": i18n.section("ui.diagram.words", language),
    }
