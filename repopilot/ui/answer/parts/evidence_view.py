"""The evidence of an answer as props of the element `Evidence`. Pure."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from functools import cache

from repopilot import i18n
from repopilot.agents.explain.evidence_places import SHOWN
from repopilot.types import Evidence
from repopilot.ui.answer.parts.excerpt import excerpt
from repopilot.ui.highlight import Line, highlighted

LONGEST = 150_000
"""Longest file whose places are coloured, in characters: evidence must be on the screen within a second."""


def evidence_props(
    answer_id: str,
    evidence: Sequence[Evidence],
    text_of: Callable[[Evidence], str | None],
    language: str,
    cited: int = 0,
    for_reader: bool = False,
) -> dict:
    """Props of the element `Evidence`.

    Args:
        answer_id: the id of the answer's message.
        evidence: the places, best first; the first one is unfolded, the first SHOWN are listed.
        text_of: gives the text of the file of a place.
        language: of the reader.
        cited: how many places an agent model's answer cites: these come first, all unfolded; 0 for another answer.
        for_reader: the answer is for somebody who reads no code: all places are behind one click.

    Returns:
        A JSON-serializable value.
    """
    first = 0 if for_reader else cited or SHOWN
    folded = len(evidence) - first
    files = {(place.origin, place.path): place for place in evidence}
    read = cache(lambda *file: _read(file[1], text_of(files[file]) or ""))
    return {
        "answer": answer_id,
        "shown": [_place(place, read(place.origin, place.path), language) for place in evidence[:first]],
        "unfolded": cited or 1,
        "folded": [_place(place, read(place.origin, place.path), language) for place in evidence[first:]],
        "more": i18n.text("ui.evidence.more" if first else "ui.evidence.all", language, count=folded)
        if folded > 0
        else "",
        "words": i18n.section("ui.evidence.words", language),
    }


def _read(path: str, text: str) -> tuple[list[str], list[Line]]:
    """The lines of a file, plain and coloured."""
    lines = text.split("\n")
    return lines, highlighted(path, text) if len(text) <= LONGEST else [[["", line]] for line in lines]


def _place(place: Evidence, file: tuple[list[str], list[Line]], language: str) -> dict:
    lines = _lines(place, *file)
    return {
        "number": place.number,
        "place": place.place,
        "title": place.symbol or place.path,
        "summary": place.summary,
        "lines": lines,
        "cut": bool(lines) and lines[-1][0] < place.end_line,
        "open": i18n.text("ui.evidence.open", language, place=place.place),
    }


def _lines(place: Evidence, lines: Sequence[str], coloured: Sequence[Line]) -> list[list]:
    """[number, pieces, whether it is marked] of each line to show: from the file, or as stored if the file changed."""
    stored = dict(place.lines)
    current = all(number <= len(lines) and lines[number - 1].startswith(line) for number, line in stored.items())
    if not (stored and current):
        return [[number, [["", line]], number in place.focus] for number, line in stored.items()]
    numbers = excerpt(lines, place.start_line, place.end_line, stored)
    return [[number, coloured[number - 1], number in place.focus] for number in numbers]
