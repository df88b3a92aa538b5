"""Ranking as pure functions over arrays: term scores, symbol match, file scores, fusion. Knows no index on disk.

The recipe: BM25F over path, defined symbols and body (Robertson, Zaragoza, Taylor 2004, "Simple BM25 extension to
multiple weighted fields"); a symbol match; a score per file made of its best passages and of the file read as one
document; votes of past commits; reciprocal rank fusion (Cormack, Clarke, Büttcher 2009).
"""

from __future__ import annotations

from collections.abc import Hashable, Mapping, Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING, TypeVar

import numpy as np

if TYPE_CHECKING:
    from repopilot.index.lexical import LexicalIndex, Postings

Key = TypeVar("Key", bound=Hashable)


@dataclass(frozen=True, slots=True)
class Bm25f:
    """Field weights and the two constants of BM25F."""

    path: float = 4.0
    symbols: float = 5.0
    body: float = 1.0
    b: float = 0.75
    k1: float = 3.0


BM25F = Bm25f()


def idf(matching: int | np.ndarray, total: int) -> np.ndarray:
    """Inverse document frequency in its non-negative form: ln(1 + (N − n + ½)/(n + ½))."""
    return np.log1p((total - np.asarray(matching) + 0.5) / (np.asarray(matching) + 0.5))


def term_matrix(lexical: LexicalIndex, tokens: Sequence[str], constants: Bm25f = BM25F) -> np.ndarray:
    """(tokens, rows) float32: the length-normalised, field-weighted frequency of each token in each row."""
    matrix = np.zeros((len(tokens), len(lexical)), np.float32)
    for name, postings in lexical.fields.items():
        weight = getattr(constants, name)
        norm = weight / (1 - constants.b + constants.b * postings.lengths / max(float(postings.lengths.mean()), 1e-9))
        for number, token in enumerate(tokens):
            known = lexical.tokens.get(token)
            if known is not None:
                rows, counts = postings.of(known)
                matrix[number, rows] += counts * norm[rows]
    return matrix


def reciprocal_rank_fusion(rankings: Sequence[Sequence[Key]], k: float = 60.0) -> list[tuple[Key, float]]:
    """Items of several rankings, best first, by Σ 1/(k + rank); ties in order of first appearance."""
    scores: dict[Key, float] = {}
    for ranking in rankings:
        for rank, item in enumerate(dict.fromkeys(ranking), start=1):
            scores[item] = scores.get(item, 0.0) + 1.0 / (k + rank)
    return sorted(scores.items(), key=lambda pair: -pair[1])
