"""The evidence of an answer as props of the element `Evidence`. Pure."""

from __future__ import annotations

from collections.abc import Sequence

from repopilot import i18n
from repopilot.agents.explain.evidence_places import SHOWN
from repopilot.types import Evidence


def evidence_props(answer_id: str, evidence: Sequence[Evidence], language: str) -> dict:
    """Props of the element `Evidence`.

    Args:
        answer_id: the id of the answer's message.
        evidence: the places, best first; the first SHOWN are unfolded.
        language: of the reader.

    Returns:
        A JSON-serializable value.
    """
    folded = len(evidence) - SHOWN
    return {
        "answer": answer_id,
        "shown": [_place(place, language) for place in evidence[:SHOWN]],
        "folded": [_place(place, language) for place in evidence[SHOWN:]],
        "more": i18n.text("ui.evidence.more", language, count=folded) if folded > 0 else "",
        "words": i18n.section("ui.evidence.words", language),
    }


def _place(place: Evidence, language: str) -> dict:
    head = place.signature.strip()
    # A signature that is among the lines is not said twice; there it may go on over several lines.
    in_lines = any(head.partition("(")[0] in text for _, text in place.lines)
    return {
        "number": place.number,
        "place": place.place,
        "title": place.symbol or place.path,
        "signature": "" if in_lines else head,
        "summary": place.summary,
        "lines": [[number, text, number in place.focus] for number, text in place.lines],
        "open": i18n.text("ui.evidence.open", language, place=place.place),
    }
