"""What the functions for questions of a known form take and return: a question with its search results, and an answer
that numbers the places it cites."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import dataclass

from repopilot import i18n
from repopilot.agents.explain.evidence_places import evidence_of_lines
from repopilot.foreign_text import code_block, suffix_of
from repopilot.i18n import Language
from repopilot.index.store import Index
from repopilot.retrieval.search import Results
from repopilot.types import Evidence
from repopilot.workspace import Workspace

MOST_LINES = 40
"""Lines of one cited place that are shown."""
MOST_LISTED = 20
"""Items of a list. The text says how many more there are."""
QUOTED_LINES = 12
"""Lines of one place that are quoted."""


@dataclass(frozen=True, slots=True)
class Inquiry:
    """A question with what the search found for it, and the language to answer in."""

    question: str
    results: Results
    workspace: Workspace
    language: Language

    @property
    def index(self) -> Index:
        """The index of the repository."""
        return self.workspace.index


@dataclass(frozen=True, slots=True)
class CodeAnswer:
    """An answer composed by code, without a model.

    Attributes:
        form: what was asked, for example `default` or `callers`.
        text: in Markdown; `[n]` cites the place with the number n.
        places: what the text cites, numbered from 1 in this order.
        sure: True for what the code knows, False for what is only likely.
    """

    form: str
    text: str
    places: tuple[Evidence, ...]
    sure: bool


class CitedPlaces:
    """The places that an answer cites, numbered from 1 in the order in which they are cited first.

    Args:
        index: gives their lines.
        most: how many lines of one place are quoted; None for all.
    """

    def __init__(self, index: Index, most: int | None = MOST_LINES) -> None:
        self._index = index
        self._most = most
        self._places: dict[tuple[str, int, int], Evidence] = {}

    def cite(self, path: str, start: int, end: int = 0, symbol: str = "") -> str:
        """The citation of a range of lines, `[n]`; the same range has the same number.

        Args:
            path: the file.
            start: the first line.
            end: the last line; 0 for the first alone.
            symbol: what the lines define, '' for nothing.
        """
        last = max(start, end)
        key = (path, start, last)
        if key not in self._places:
            self._places[key] = evidence_of_lines(self._index, len(self._places) + 1, key, symbol, self._most)
        return f"[{self._places[key].number}]"

    @property
    def places(self) -> tuple[Evidence, ...]:
        """The places by number."""
        return tuple(self._places.values())


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
