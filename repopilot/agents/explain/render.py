"""Explanations that code writes itself: places with a quote, what was not found, call paths."""

from __future__ import annotations

import re
from collections.abc import Sequence
from dataclasses import replace
from typing import Literal

from repopilot import i18n
from repopilot.agents.explain.context import evidence_of
from repopilot.agents.exploration import Exploration
from repopilot.i18n.format import short_commit
from repopilot.index.store import Index
from repopilot.results import Answer, Explanation
from repopilot.retrieval.cite import Excerpt
from repopilot.types import Citation

SHOWN_PLACES = 5
QUOTED_LINES = 20
_NEAREST_PLACES = 3


def absent_answer(index: Index, found: Exploration, absent: Sequence[str]) -> Answer:
    """Says that the repository doesn't hold the answer, what was searched, and what comes nearest.

    Args:
        index: the repository's index.
        found: the exploration, whose first excerpts are listed as the nearest places.
        absent: names in the question that occur nowhere.

    Returns:
        The answer, in the exploration's language.
    """
    language = found.language
    scope = {"files": len(index.files), "commit": short_commit(index.commit)}
    parts = [i18n.text("explain.absent", language, **scope)]
    if absent:
        parts.append(absent_names_note(absent, index, language))
    places, citations = _places(found.pack.excerpts[:_NEAREST_PLACES], index.commit, language)
    if places:
        parts += [i18n.text("explain.nearest", language), places]
    return Answer(
        "\n\n".join(parts), citations, evidence=evidence_of(found, citations, index), result=Explanation("absent")
    )


def extractive_answer(
    index: Index, found: Exploration, why: Literal["extractive", "failed", "unusable"] = "extractive"
) -> Answer:
    """The best places with their first words, the best one quoted: every line is the repository's own.

    Args:
        index: the repository's index.
        found: the exploration with at least one excerpt.
        why: why there is no text by the model: there is no model (`extractive`), it `failed`, or its text was
            `unusable`.

    Returns:
        The answer, in the exploration's language.
    """
    language = found.language
    excerpts = found.pack.excerpts[:SHOWN_PLACES]
    places, citations = _places(excerpts, index.commit, language)
    kind = "text" if found.map else excerpts[0].path.rpartition(".")[2]
    quoted = (found.map or excerpts[0].text).split("\n")[:QUOTED_LINES]
    parts = [i18n.text(f"explain.{why}", language), places, "\n".join([f"~~~~{kind}", *quoted, "~~~~"])]
    result = Explanation("extractive", interrupted=why == "failed")
    return Answer("\n\n".join(parts), citations, evidence=evidence_of(found, citations, index), result=result)


def absent_names_note(names: Sequence[str], index: Index, language: str) -> str:
    """Say that names in the question occur nowhere in the repository.

    Args:
        names: the names.
        index: the repository's index.
        language: of the note.

    Returns:
        A sentence of Markdown, with the number of files and the commit that were searched.
    """
    listed = ", ".join(f"`{name}`" for name in names)
    scope = {"files": len(index.files), "commit": short_commit(index.commit)}
    return i18n.text("explain.absent_names", language, names=listed, **scope)


def with_call_path(answer: Answer, found: Exploration, index: Index) -> Answer:
    """Put the call path above an answer.

    Args:
        answer: the explanation.
        found: the exploration with the call path.
        index: the repository's index, whose commit is cited.

    Returns:
        The answer, with evidence and a citation of each place, whose numbers follow those of the answer.
    """
    first = max([len(found.pack.excerpts), *(c.number for c in answer.citations)]) + 1
    language = found.language
    rows, citations = [i18n.text("explain.call_path", language), ""], list(answer.citations)
    for number, place in enumerate(found.call_path, first):
        is_file = place.name == place.path
        verb = place.verb if language == "en" else "→" * bool(place.verb)
        words = [verb, f"`{place.name}`", "" if is_file else f"(`{place.path}:{place.line}`)", f"[{number}]"]
        rows.append(f"{number - first + 1}. {' '.join(filter(None, words))}")
        symbol = "" if is_file else place.name
        citations.append(Citation(number, place.path, place.line, place.end_line, index.commit, symbol, True))
    text = "\n".join([*rows, "", answer.text])
    return replace(answer, text=text, citations=tuple(citations), evidence=evidence_of(found, citations, index))


def _places(excerpts: Sequence[Excerpt], commit: str, language: str) -> tuple[str, tuple[Citation, ...]]:
    """A list of places with their citations."""
    rows, citations = [], []
    for number, e in enumerate(excerpts, 1):
        place = i18n.text("explain.place", language, symbol=e.symbol, path=e.path) if e.symbol else f"`{e.path}`"
        rows.append(f"- {place} [{number}]{_gist(e)}")
        citations.append(Citation(number, e.path, e.start_line, e.end_line, commit, e.symbol, True))
    return "\n".join(rows), tuple(citations)


def _gist(excerpt: Excerpt) -> str:
    """The first line of prose in an excerpt: of its docstring, comment or paragraph; '' where there is only code."""
    prose = re.search(r"(?:[\"']{3}|^\s*(?:#|//|\*|/\*\*?|--)\s)\s*([A-Za-zÀ-ÿ][^\n\"*]{15,160})", excerpt.text, re.M)
    return f": {prose.group(1).strip()}" if prose else ""
