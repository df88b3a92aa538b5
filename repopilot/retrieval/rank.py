"""Ranking as pure functions over arrays: term scores, symbol match, file scores, fusion. Knows no index on disk.

The recipe: BM25F over path, defined symbols and body (Robertson, Zaragoza, Taylor 2004, "Simple BM25 extension to
multiple weighted fields"), per passage and per file read as one document; the likeness of a symbol's name; words of the
path; what the file is (tests, examples, documentation, … step back unless they are asked for); votes of past commits.
They add up linearly. The weights were fitted by listwise logistic regression on queries made from the history of
fifteen public repositories and from docstrings, cross-validated over repositories; bench/retrieval.py measures them.
"""

from __future__ import annotations

from collections.abc import Collection, Hashable, Mapping, Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING, TypeVar

import numpy as np

if TYPE_CHECKING:
    from repopilot.index.lexical import LexicalIndex

Key = TypeVar("Key", bound=Hashable)

FURTHER = 8
"""How many further passages of a file, beside its best, speak for it."""


@dataclass(frozen=True, slots=True)
class Bm25f:
    """Field weights and the two constants of BM25F."""

    path: float = 4.0
    symbols: float = 5.0
    body: float = 1.0
    b: float = 0.75
    k1: float = 3.0


BM25F = Bm25f()

PASSAGE_WEIGHTS: Mapping[str, float] = {
    "words": 4.6,
    "symbol name": 4.0,
    "coverage": 1.2,
    "function": 1.0,
    "length": -1.65,
}
"""What a signal between 0 and 1 adds to the score of a passage."""

FILE_WEIGHTS: Mapping[str, float] = {
    "more passages": 1.6,
    "whole file": 0.4,
    "path words": 0.5,
    "file name": 0.9,
    "coverage": 1.3,
    "size": 0.9,
    "scope": 2.5,
    "path named": 2.0,
    "history": 2.0,
}
"""Likewise for a file, and so for each of its passages."""

ROLE_WEIGHTS: Mapping[str, float] = {
    "test": -2.2,
    "example": -2.2,
    "doc": -4.4,
    "config": -4.8,
    "generated": -2.0,
    "vendored": -3.0,
}
ROLE_FACTORS: Mapping[str, float] = {"test": 0.3, "example": 0.5, "doc": 0.5, "generated": 0.3, "vendored": 0.3}


@dataclass(frozen=True, slots=True)
class Signals:
    """Everything the ranking knows of a query: by name, float arrays over passages and over files, mostly 0–1."""

    passages: Mapping[str, np.ndarray]
    files: Mapping[str, np.ndarray]


def idf(matching: int | np.ndarray, total: int) -> np.ndarray:
    """Inverse document frequency in its non-negative form: ln(1 + (N − n + ½)/(n + ½))."""
    return np.log1p((total - np.asarray(matching) + 0.5) / (np.asarray(matching) + 0.5))


def saturated(frequencies: np.ndarray, weights: np.ndarray, total: int, k1: float) -> np.ndarray:
    """BM25 of the columns of a (tokens, documents) matrix of normalised frequencies: Σ w·idf·T(k₁+1)/(k₁+T)."""
    factors = weights * idf((frequencies > 0).sum(1), total)
    return factors @ (frequencies * (k1 + 1) / (k1 + frequencies))


def role_factors(lexical: LexicalIndex, wanted: Collection[str] = ()) -> np.ndarray:
    """Per file what its term scores are multiplied by: below 1 for tests, examples, … that aren't asked for."""
    result = np.ones(len(lexical.files), np.float32)
    for role, factor in ROLE_FACTORS.items():
        if role not in wanted:
            result[lexical.role(role)] *= factor
    return result


def role_scores(lexical: LexicalIndex, wanted: Collection[str] = ()) -> np.ndarray:
    """Per file what being a test, an example, … takes from its score."""
    result = np.zeros(len(lexical.files), np.float32)
    for role, weight in ROLE_WEIGHTS.items():
        if role not in wanted:
            result[lexical.role(role)] += weight
    return result


def signals(
    lexical: LexicalIndex, terms: Mapping[str, float], factors: np.ndarray, constants: Bm25f = BM25F
) -> Signals | None:
    """The signals of weighted index tokens; None when no chunk has any. `factors` per file: see role_factors."""
    tokens = [token for token in terms if token in lexical.tokens]
    if not tokens or not len(lexical):
        return None
    weights = np.array([terms[token] for token in tokens], np.float32)
    matrix = _Matrix(lexical, [lexical.tokens[token] for token in tokens], constants)
    by_row = factors[lexical.file_of]
    names = symbol_match(lexical, tokens, weights) * by_row
    passages = {
        "words": _scaled(saturated(matrix.rows, weights, len(lexical), constants.k1) * by_row),
        "symbol name": names,
        "coverage": _coverage(matrix.rows, weights),
        "function": _is_kind(lexical, "function"),
        "length": np.log1p(lexical.fields["body"].lengths) / 8,
    }
    return Signals(passages, _file_signals(lexical, matrix, weights, passages, factors, constants))


class _Matrix:
    """Normalised frequencies of the query's tokens: `rows` (tokens, passages) and `files` (tokens, files); `in_path`
    (tokens, files) says which are words of the path."""

    def __init__(self, lexical: LexicalIndex, tokens: Sequence[int], constants: Bm25f) -> None:
        shape = len(tokens), len(lexical.files)
        self.tokens = tokens
        self.rows = np.zeros((len(tokens), len(lexical)), np.float32)
        self.files = np.zeros(shape, np.float32)
        self.in_path = np.zeros(shape, bool)
        for name, postings in lexical.fields.items():
            weight = getattr(constants, name)
            norm = weight * _norm(postings.lengths, constants.b)
            file_norm = weight * _norm(_by_file(lexical, name, slice(None), postings.lengths), constants.b)
            for number, token in enumerate(tokens):
                rows, counts = postings.of(token)
                self.rows[number, rows] += counts * norm[rows]
                self.files[number] += _by_file(lexical, name, rows, counts) * file_norm
                if name == "path":
                    self.in_path[number, lexical.file_of[rows]] = True


def _by_file(lexical: LexicalIndex, field: str, rows: np.ndarray | slice, values: np.ndarray) -> np.ndarray:
    """Values of rows summed per file; all rows of a file have the same path, which counts once."""
    files = lexical.file_of[rows]
    if field != "path":
        return np.bincount(files, values, minlength=len(lexical.files))
    result = np.zeros(len(lexical.files))
    result[files] = values
    return result


def _is_kind(lexical: LexicalIndex, kind: str) -> np.ndarray:
    number = lexical.kinds.index(kind) if kind in lexical.kinds else -1
    return (lexical.kind_of == number).astype(np.float32)


def _norm(lengths: np.ndarray, b: float) -> np.ndarray:
    return 1 / (1 - b + b * lengths / max(float(lengths.mean()), 1e-9))


def _scaled(scores: np.ndarray) -> np.ndarray:
    return scores / max(float(scores.max(initial=0.0)), 1e-9)


def _coverage(frequencies: np.ndarray, weights: np.ndarray) -> np.ndarray:
    """The share of the query, by weight and rarity, that occurs at all."""
    factors = weights * idf((frequencies > 0).sum(1), frequencies.shape[1])
    return factors @ (frequencies > 0) / max(float(factors.sum()), 1e-9)


def symbol_match(lexical: LexicalIndex, tokens: Sequence[str], weights: np.ndarray) -> np.ndarray:
    """Per row the best F-measure, weighted by rarity, between the query and the words of one symbol defined there."""
    rarity = lexical.rarity
    asked = np.minimum(weights, 1) * rarity[[lexical.tokens[token] for token in tokens]]
    shared = np.zeros(len(lexical.names), np.float32)
    for token, weight in zip(tokens, asked, strict=True):
        shared[lexical.name_tokens.of(lexical.tokens[token])[0]] += weight
    match = 2 * shared / np.maximum(lexical.name_mass + asked.sum(), 1e-9)
    result = np.zeros(len(lexical), np.float32)
    for name in np.nonzero(shared)[0]:
        rows = lexical.name_rows.of(name)[0]
        result[rows] = np.maximum(result[rows], match[name])
    return result


def _file_signals(
    lexical: LexicalIndex,
    matrix: _Matrix,
    weights: np.ndarray,
    passages: Mapping[str, np.ndarray],
    factors: np.ndarray,
    constants: Bm25f,
) -> dict[str, np.ndarray]:
    rarity = weights * idf((matrix.rows > 0).sum(1), len(lexical))
    return {
        "more passages": _more(lexical, passages["words"]),
        "whole file": _scaled(saturated(matrix.files, weights, len(lexical.files), constants.k1) * factors),
        "path words": rarity @ matrix.in_path / max(float(rarity.sum()), 1e-9),
        "file name": _file_name(lexical, matrix.tokens),
        "coverage": file_best(lexical, passages["coverage"]),
        "size": np.log1p(_by_file(lexical, "body", slice(None), lexical.fields["body"].lengths)) / 10,
    }


def _file_name(lexical: LexicalIndex, tokens: Sequence[int]) -> np.ndarray:
    """Per file the share of the words of its name that the query has."""
    found = np.zeros(len(lexical.files), np.float32)
    for token in tokens:
        files, counts = lexical.file_words.of(token)
        found[files] += counts
    return found / np.maximum(lexical.file_words.lengths, 1)


def file_best(lexical: LexicalIndex, values: np.ndarray) -> np.ndarray:
    """The largest value of each file's rows."""
    starts, rows = lexical.file_rows
    return np.maximum.reduceat(values[rows], starts[:-1])


def _more(lexical: LexicalIndex, scores: np.ndarray) -> np.ndarray:
    """Per file the mean score of the FURTHER passages next to its best; missing ones count as zero."""
    rows = np.nonzero(scores > 0)[0]
    rows = rows[np.lexsort((-scores[rows], lexical.file_of[rows]))]
    _, first, size = np.unique(lexical.file_of[rows], return_index=True, return_counts=True)
    place = np.arange(len(rows)) - np.repeat(first, size)
    further = rows[(place >= 1) & (place <= FURTHER)]
    return np.bincount(lexical.file_of[further], scores[further], minlength=len(lexical.files)) / FURTHER


def spread(scores: np.ndarray, files: np.ndarray, cost: float) -> np.ndarray:
    """Scores less `cost` for every better passage of the same file, so that one file does not fill the list."""
    order = np.lexsort((-scores, files))
    ordered = files[order]
    places = np.arange(len(order))
    first = np.concatenate(([True], ordered[1:] != ordered[:-1])) if len(order) else np.zeros(0, bool)
    earlier = np.empty(len(order))
    earlier[order] = places - np.maximum.accumulate(np.where(first, places, 0))
    return scores - cost * earlier


def reciprocal_rank_fusion(rankings: Sequence[Sequence[Key]], k: float = 60.0) -> list[tuple[Key, float]]:
    """Items of several rankings, best first, by Σ 1/(k + rank), rank from 1; ties in order of first appearance.

    Cormack, Clarke, Büttcher 2009. An item that stands twice in a ranking counts once, where it stands first.
    """
    scores: dict[Key, float] = {}
    for ranking in rankings:
        for rank, item in enumerate(dict.fromkeys(ranking), start=1):
            scores[item] = scores.get(item, 0.0) + 1.0 / (k + rank)
    return sorted(scores.items(), key=lambda pair: -pair[1])
