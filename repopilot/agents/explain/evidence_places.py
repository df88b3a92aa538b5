"""The places that code found for a question, best first, with the lines that bear on it: what is shown before any
model has said a word, and what the model then reads."""

from __future__ import annotations

from collections.abc import Collection, Mapping, Sequence
from dataclasses import fields, replace
from itertools import count

from repopilot.index.store import Index
from repopilot.retrieval.places.doc_summary import doc_summary
from repopilot.retrieval.places.focused_lines import focused_lines, line_scores
from repopilot.retrieval.places.place_symbol import definition_spans, place_symbol
from repopilot.retrieval.places.ranked_places import token_weights
from repopilot.retrieval.search import Results
from repopilot.types import Chunk, Evidence, contains, innermost

SHOWN = 5
"""Places shown with all their lines; the rest is folded."""
LINES = (24, 20, 20, 10, 10, 10, 10, 10)
"""The most lines of the first, second, … place. No further places are shown."""
LONGEST_LINE = 240
_FOCUS = 3
_FOCUS_SHARE = 0.5
"""A line is marked when it scores at least this share of the best line's score."""


def evidence_for(index: Index, results: Results, first: Sequence[Evidence] = ()) -> tuple[Evidence, ...]:
    """Make evidence of the results of a search.

    Args:
        index: the index that was searched.
        results: what was found.
        first: places that an answer by code cites. They keep their numbers and come first; those that the search found
            too are not repeated.

    Returns:
        The places, numbered from 1 in their order.
    """
    weights = token_weights(index.lexical, results.query.terms)
    numbers = count(len(first) + 1)
    hits = [hit for hit in results.hits if not any(contains(place, hit.chunk) for place in first)]
    known = {place.place for place in first}
    # Places cited by an answer by code are a line or two, so they don't use up the limits in LINES.
    found = [
        place
        for hit, most in zip(hits, LINES, strict=False)
        for place in _definitions(index, hit.chunk, weights, results.query.names, most)
        if place.place not in known
    ]
    return (*first, *(replace(place, number=next(numbers)) for place in found))


def evidence_rows(evidence: Sequence[Evidence]) -> list[dict]:
    """The places as a step notes them; the values are shared, since copying them takes long."""
    names = [each.name for each in fields(Evidence) if each.name != "origin"]
    return [{name: getattr(place, name) for name in names} for place in evidence]


def evidence_of_lines(
    index: Index, number: int, lines: tuple[str, int, int], symbol: str = "", most: int | None = None
) -> Evidence:
    """Evidence that is a range of lines.

    Args:
        index: the repository's index.
        number: the number of the evidence.
        lines: (path, first, last), inclusive.
        symbol: the qualified name of what is defined there.
        most: how many of the lines the evidence has at most; None for all.
    """
    path, start, end = lines
    text = index.lines(path, start, end if most is None else min(end, start + most - 1))
    return Evidence(number, path, start, end, symbol, tuple(enumerate(text.split("\n"), start)) if text else ())


def _definitions(
    index: Index, chunk: Chunk, weights: Mapping[str, float], names: Collection[str], most: int
) -> list[Evidence]:
    """The definitions in a place that contain its best lines, those with the highest total score first."""
    lines = chunk.text.split("\n")
    scores = line_scores(lines, weights)
    outline = index.outline(chunk.path)
    heads = [s.start_line - chunk.start_line for s in outline if s.start_line >= chunk.start_line and s.name in names]
    chosen = focused_lines(lines, scores, max(weights.values(), default=0.0), most, heads)
    text = index.rows(chunk.path)
    found = []
    spans = definition_spans(outline, chunk)
    whole = chunk.symbol if len(spans) == 1 else ""
    for start, end in spans:
        shown = [n for n in chosen if start <= chunk.start_line + n <= end]
        best = max(shown, key=lambda n: scores[n], default=None)
        # Lines without a word score below 0. Where the question has no words to look for, all others may be shown.
        if best is not None and scores[best] >= 0 and (scores[best] > 0 or max(scores) <= 0):
            line = chunk.start_line + best
            symbol = place_symbol(outline, replace(chunk, start_line=start, end_line=end), line, names)
            symbol = symbol or (innermost(outline, line) if chunk.kind != "doc" else None)
            place = Evidence(
                0,
                chunk.path,
                start,
                end,
                symbol.qualified if symbol else whole,
                tuple((chunk.start_line + n, lines[n][:LONGEST_LINE]) for n in shown),
                symbol.short_signature if symbol else "",
                doc_summary(text, symbol.start_line, symbol.end_line) if symbol else "",
                tuple(chunk.start_line + n for n in _focus(shown, scores)),
            )
            found.append((sum(scores[n] for n in shown), place))
    return [place for _, place in sorted(found, key=lambda each: -each[0])]


def _focus(chosen: Sequence[int], scores: Sequence[float]) -> list[int]:
    """The best of the chosen lines, ascending."""
    ranked = sorted(chosen, key=lambda number: -scores[number])[:_FOCUS]
    return sorted(n for n in ranked if scores[n] > 0 and scores[n] >= _FOCUS_SHARE * scores[ranked[0]])
