"""Puts together an answer from its sentence and its items, and numbers what it cites."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import dataclass

from repopilot import i18n
from repopilot.agents.explain.forms.cited_places import CitedPlaces
from repopilot.agents.explain.forms.code_answer import CodeAnswer, Inquiry
from repopilot.foreign_text import code_block, suffix_of
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
    cited = CitedPlaces(inquiry.index, most=None)
    marks = "".join(f" {mark}" for mark in dict.fromkeys(_cited(item, cited) for item in items))
    quote = f"\n\n{_quote(cited.places[0])}" if cited.places and cited.places[0].lines else ""
    return CodeAnswer(form, f"{text}{marks}.{quote}", cited.places, True)


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
    cited = CitedPlaces(inquiry.index, most=None)
    rows = [
        f"{f'{n}.' if numbered else '-'} {item.text} {_cited(item, cited)}"
        for n, item in enumerate(every[:MOST_LISTED], 1)
    ]
    left_out = len(every) - len(rows)
    cut = [i18n.text("forms.left_out", inquiry.language, count=left_out)] if left_out else []
    notes = [" ".join([*cut, note])] if cut or note else []
    return CodeAnswer(form, "\n\n".join([heading, "\n".join(rows), *notes]), cited.places, sure)


def _cited(item: Item, cited: CitedPlaces) -> str:
    return cited.cite(item.path, item.start_line, item.end_line, item.symbol)


def _quote(place: Evidence) -> str:
    rows = (text for _, text in place.lines[:QUOTED_LINES])
    return code_block("\n".join(rows), suffix_of(place.path))
