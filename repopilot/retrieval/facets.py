"""Counts what matches a query, by language and by kind. Pure over the arrays of the lexical index."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, replace
from typing import TYPE_CHECKING

import numpy as np

from repopilot.retrieval.query import exact_matches
from repopilot.retrieval.query.parse import Filters, Query, as_filters, as_pairs
from repopilot.retrieval.ranking.bm25 import postings_of

if TYPE_CHECKING:
    from repopilot.index.store import Index


@dataclass(frozen=True, slots=True)
class Counts:
    """How many passages match a query with its filters, in how many files. `languages` and `kinds` are counted as if
    the query had no filter of that name, to show what another choice would give; most frequent first."""

    passages: int = 0
    files: int = 0
    languages: Mapping[str, int] = ()  # type: ignore[assignment]
    kinds: Mapping[str, int] = ()  # type: ignore[assignment]


def matching_rows(index: Index, query: Query) -> np.ndarray:
    """The rows that have a word of the query, whatever its filters; every row for a query of filters alone.

    Args:
        index: the index.
        query: the parsed query.

    Returns:
        bool (rows,).
    """
    lexical = index.lexical
    if not query.terms:
        return np.full(len(lexical), bool(query.filters), bool)
    found = np.zeros(len(lexical), bool)
    tokens = [lexical.tokens[token] for token in query.terms if token in lexical.tokens]
    for postings in lexical.fields.values():
        found[postings_of(postings, tokens).rows] = True
    return found


def count_matches(index: Index, query: Query) -> Counts:
    """Count what matches a query.

    Args:
        index: the index.
        query: the parsed query.
    """
    lexical = index.lexical
    if not len(lexical):
        return Counts()
    rows = matching_rows(index, query)
    matching = rows & _allowed(index, query.filters)
    without_language = rows & _allowed(index, replace(query.filters, languages=()))
    without_kind = rows & _allowed(index, replace(query.filters, kinds=()))
    return Counts(
        int(matching.sum()),
        len(set(lexical.file_of[matching].tolist())),
        _counted(lexical.language_of[without_language], lexical.languages),
        _counted(lexical.kind_of[without_kind], lexical.kinds),
    )


def useless_filters(index: Index, filters: Filters) -> list[tuple[str, str]]:
    """The filters, (name, value), that no passage of the index satisfies."""
    return [
        (name, value) for name, value in as_pairs(filters) if not _allowed(index, as_filters([(name, value)])).any()
    ]


def _allowed(index: Index, filters: Filters) -> np.ndarray:
    return exact_matches.allowed(filters, index.lexical, index.chunks)


def _counted(numbers: np.ndarray, names: tuple[str, ...]) -> dict[str, int]:
    counts = np.bincount(numbers, minlength=len(names)).tolist()
    found = [(name, count) for name, count in zip(names, counts, strict=True) if count]
    return dict(sorted(found, key=lambda pair: (-pair[1], pair[0])))
