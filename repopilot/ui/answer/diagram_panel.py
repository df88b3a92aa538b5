"""An answer as a diagram in the panel beside the chat: the call graph around its subject."""

from __future__ import annotations

import asyncio
from collections import Counter
from collections.abc import Mapping

from repopilot import i18n
from repopilot.agents.impact.diagram import Diagram, call_diagram
from repopilot.results import Answer, Explanation
from repopilot.ui.buttons import answer_of, button
from repopilot.ui.chat import Chat
from repopilot.ui.elements import show_aside

BOX = (170, 28)
STEP = (215, 36)
TOP = 40


def subject_of(answer: Answer) -> str:
    """The definition that an answer is about, as `path:symbol`; '' if there is none, or if the answer is for a reader
    who doesn't read code."""
    if not isinstance(answer.result, Explanation) or answer.of_all or answer.result.for_reader:
        return ""
    named = next((each for each in answer.evidence if each.symbol), None)
    return f"{named.path}:{named.symbol}" if named else ""


@button
async def show_diagram(chat: Chat, payload: dict) -> dict:
    """Open the panel; returns {}, or {error} where there is nothing to draw.

    Args:
        chat: where the button was pressed.
        payload: {answer: id}.
    """
    shown = answer_of(chat, payload)
    subject = subject_of(shown.answer)
    drawn = await asyncio.to_thread(call_diagram, shown.index, subject)
    await show_aside("Diagram", diagram_props(drawn, subject, chat.language))
    return {}


def diagram_props(drawn: Diagram, subject: str, language: str) -> dict:
    """Props of the element `Diagram`, with the places of boxes and lines in pixels.

    Args:
        drawn: the diagram.
        subject: the definition that it is about.
        language: of the reader.
    """
    heads = {0: i18n.text("ui.diagram.users", language), 2: i18n.text("ui.diagram.used", language)}
    return {
        "title": i18n.text("ui.diagram.calls", language, name=subject.rpartition(":")[2]),
        **chart_props(drawn, heads, language, subjects=1),
        "words": i18n.section("ui.diagram.words", language),
    }


def chart_props(drawn: Diagram, heads: Mapping[int, str], language: str, subjects: int) -> dict:
    """Props of a chart on the page, with the places of boxes and lines in pixels.

    Args:
        drawn: the diagram.
        heads: the headings of columns, by number.
        language: of the reader.
        subjects: how many of the first boxes are its subject.
    """
    rows: Counter[int] = Counter()
    boxes = []
    for number, box in enumerate(drawn.boxes):
        place = {"x": 8 + box.column * STEP[0], "y": TOP + rows[box.column] * STEP[1]}
        about = {"label": box.label, "path": box.path, "line": box.line, "subject": number < subjects}
        boxes.append(about | place)
        rows[box.column] += 1
    heaviest = max((weight for *_, weight in drawn.lines), default=1)
    left_out = [
        {"x": 8 + n * STEP[0], "y": TOP + rows[n] * STEP[1], "label": i18n.text("ui.steps.more", language, count=more)}
        for n, more in enumerate(drawn.left_out)
        if more
    ]
    return {
        "width": 16 + BOX[0] + STEP[0] * max(rows, default=0),
        "height": TOP + STEP[1] * (1 + max(rows.values(), default=0)),
        "box": list(BOX),
        "boxes": boxes,
        "lines": [[a, b, weight / heaviest] for a, b, weight in drawn.lines],
        "heads": [[8 + column * STEP[0], head] for column, head in heads.items()],
        "left_out": left_out,
    }
