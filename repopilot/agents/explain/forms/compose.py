"""Puts together an answer from its sentence and its items, and numbers what it cites."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import dataclass

from repopilot import i18n
from repopilot.agents.explain.evidence_places import evidence_of_lines
from repopilot.agents.explain.forms.code_answer import CodeAnswer, Inquiry
from repopilot.foreign_text import code_block, suffix_of
from repopilot.index.store import Index
from repopilot.types import Evidence

MOST_LISTED = 20
"""Items of a list. The text says how many more there are."""
QUOTED_LINES = 12
"""Lines of one place that are quoted."""


@dataclass(frozen=True, slots=True)
class Item:
    """A part of an answer: its text without citation, and the lines it cites."""

    text: str
    path: str
    start_line: int
    end_line: int
    symbol: str = ""


def sentence(inquiry: Inquiry, form: str, text: str, items: Sequence[Item]) -> CodeAnswer:
    """An answer of one sentence, which cites all its places, above a quote of the first.

    Args:
        inquiry: the question.
        form: the form of the answer.
        text: the sentence without its full stop.
        items: the places; their texts are not shown.
    """
    places = _places(inquiry.index, items)
    marks = "".join(f" [{place.number}]" for place in places)
    quote = f"\n\n{_quote(places[0])}" if places and places[0].lines else ""
    return CodeAnswer(form, f"{text}{marks}.{quote}", places, True)


def listing(
    inquiry: Inquiry,
    form: str,
    heading: str,
    items: Iterable[Item],
    *,
    sure: bool = True,
    note: str = "",
    numbered: bool = False,
) -> CodeAnswer:
    """An answer that is a list below a heading.

    Args:
        inquiry: the question.
        form: the form of the answer.
        heading: what the list is of, with its colon.
        items: all items; the first MOST_LISTED are listed.
        sure: whether the answer is sure.
        note: a sentence below the list.
        numbered: whether the order of the items says something.
    """
    every = list(items)
    listed = every[:MOST_LISTED]
    left_out = max(0, len(every) - MOST_LISTED)
    places = _places(inquiry.index, listed)
    numbers = {_key(place): place.number for place in places}
    marks = (f"{n}." if numbered else "-" for n in range(1, len(listed) + 1))
    rows = [f"{mark} {item.text} [{numbers[_key(item)]}]" for mark, item in zip(marks, listed, strict=True)]
    cut = [i18n.text("forms.left_out", inquiry.language, count=left_out)] if left_out else []
    notes = [" ".join([*cut, note])] if cut or note else []
    return CodeAnswer(form, "\n\n".join([heading, "\n".join(rows), *notes]), places, sure, left_out)


def _key(place: Item | Evidence) -> tuple[str, int, int]:
    return place.path, place.start_line, place.end_line


def _places(index: Index, items: Iterable[Item]) -> tuple[Evidence, ...]:
    distinct = {_key(item): item for item in reversed(list(items))}
    return tuple(_evidence(index, number, item) for number, item in enumerate(reversed(distinct.values()), 1))


def _evidence(index: Index, number: int, item: Item) -> Evidence:
    return evidence_of_lines(index, number, _key(item), item.symbol)


def _quote(place: Evidence) -> str:
    rows = (text for _, text in place.lines[:QUOTED_LINES])
    return code_block("\n".join(rows), suffix_of(place.path))
