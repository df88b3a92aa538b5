"""Ranking as pure functions over arrays: term scores, symbol match, file scores, fusion. Knows no index on disk.

The recipe: BM25F over path, defined symbols and body (Robertson, Zaragoza, Taylor 2004, "Simple BM25 extension to
multiple weighted fields"), per passage and per file read as one document; the likeness of a symbol's name; words of the
path; what the file is (tests, examples, documentation, … step back unless they are asked for); votes of past commits.
They add up linearly with weights fitted on queries from the history of public repositories (bench/README.md).
"""

from __future__ import annotations

from collections.abc import Collection, Hashable, Mapping, Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING, TypeVar

import numpy as np

if TYPE_CHECKING:
    from repopilot.index.lexical import LexicalIndex

Key = TypeVar("Key", bound=Hashable)

BODY_SHARE = 8
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

FILE_WEIGHTS: Mapping[str, float] = {
    "best passage": 2.3,
    "more passages": 1.85,
    "whole file": 1.8,
    "path words": 2.3,
    "file name": 1.3,
    "symbol name": 1.6,
    "coverage": 1.7,
    "rarest word": 0.3,
    "size": 1.5,
    "scope": 2.0,
    "path named": 4.0,
    "history": 1.7,
}
"""What a signal between 0 and 1 adds to the score of a file."""

PASSAGE_WEIGHTS: Mapping[str, float] = {
    "words": 5.5,
    "symbol name": 4.9,
    "coverage": 0.9,
    "definition": 1.6,
    "function": 2.3,
    "length": -2.9,
}
"""Likewise for a passage; its file's score comes on top, times FILE_SHARE."""

FILE_SHARE = {"task": 1.0}
FILE_SHARE_ELSE = 0.3
ROLE_FACTORS: Mapping[str, float] = {"test": 0.3, "example": 0.5, "doc": 0.5, "generated": 0.3, "vendored": 0.3}
ROLE_WEIGHTS: Mapping[str, float] = {
    "test": -3.0,
    "example": -3.0,
    "doc": -4.0,
    "config": -4.0,
    "generated": -2.0,
    "vendored": -3.0,
}


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
    """The signals of weighted index tokens; None when no chunk has any of them. `factors` per file: see role_factors."""
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
        "definition": (lexical.fields["symbols"].lengths > 0).astype(np.float32),
        "function": _is_kind(lexical, "function"),
        "length": np.log1p(lexical.fields["body"].lengths) / 8,
    }
    return Signals(passages, _file_signals(lexical, matrix, weights, passages, factors, constants))


class _Matrix:
    """Normalised frequencies of the query's tokens: `rows` (tokens, passages) and `files` (tokens, files); `in_path`
    (tokens, files) says which are words of the path."""

    def __init__(self, lexical: LexicalIndex, tokens: Sequence[int], constants: Bm25f) -> None:
        shape = len(tokens), len(lexical.files)
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
    best, more = _best_and_more(lexical, passages["words"])
    return {
        "best passage": best,
        "more passages": more,
        "whole file": _scaled(saturated(matrix.files, weights, len(lexical.files), constants.k1) * factors),
        "path words": rarity @ matrix.in_path / max(float(rarity.sum()), 1e-9),
        "symbol name": file_best(lexical, passages["symbol name"]),
        "coverage": file_best(lexical, passages["coverage"]),
        "rarest word": (matrix.files[int(np.argmax(rarity))] > 0).astype(np.float32),
        "size": np.log1p(_by_file(lexical, "body", slice(None), lexical.fields["body"].lengths)) / 10,
    }


def file_best(lexical: LexicalIndex, values: np.ndarray) -> np.ndarray:
    """The largest value of each file's rows."""
    starts, rows = lexical.file_rows
    return np.maximum.reduceat(values[rows], starts[:-1])


def _best_and_more(lexical: LexicalIndex, scores: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
    """Per file its best passage's score, and the mean of the next BODY_SHARE (missing ones count as zero)."""
    rows = np.nonzero(scores > 0)[0]
    rows = rows[np.lexsort((-scores[rows], lexical.file_of[rows]))]
    files, first = np.unique(lexical.file_of[rows], return_index=True)
    place = np.arange(len(rows)) - np.repeat(first, np.diff([*first, len(rows)]))
    best, more = np.zeros(len(lexical.files)), np.zeros(len(lexical.files))
    best[files] = scores[rows[first]]
    further = rows[(place >= 1) & (place <= BODY_SHARE)]
    np.add.at(more, lexical.file_of[further], scores[further] / BODY_SHARE)
    return best, more


def weighted(found: Mapping[str, np.ndarray], weights: Mapping[str, float]) -> np.ndarray:
    """Σ weight · signal over the signals that have a weight."""
    return np.sum([weights[name] * values for name, values in found.items() if name in weights], axis=0)


def spread(scores: Sequence[float], files: Sequence[int], cost: float) -> list[float]:
    """Scores less `cost` for every better passage of the same file, so that one file does not fill the list."""
    seen: dict[int, int] = {}
    result = list(scores)
    for place in sorted(range(len(scores)), key=lambda i: -scores[i]):
        earlier = seen.get(files[place], 0)
        result[place] -= cost * earlier
        seen[files[place]] = earlier + 1
    return result


def reciprocal_rank_fusion(rankings: Sequence[Sequence[Key]], k: float = 60.0) -> list[tuple[Key, float]]:
    """Items of several rankings, best first, by Σ 1/(k + rank), rank from 1; ties in order of first appearance.

    Cormack, Clarke, Büttcher 2009. An item that stands twice in a ranking counts once, where it stands first.
    """
    scores: dict[Key, float] = {}
    for ranking in rankings:
        for rank, item in enumerate(dict.fromkeys(ranking), start=1):
            scores[item] = scores.get(item, 0.0) + 1.0 / (k + rank)
    return sorted(scores.items(), key=lambda pair: -pair[1])
