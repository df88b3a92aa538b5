"""BM25 and BM25F over the arrays of the lexical index. Pure.

BM25F: Robertson, Zaragoza and Taylor, "Simple BM25 Extension to Multiple Weighted Fields", CIKM 2004.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING

import numpy as np

if TYPE_CHECKING:
    from repopilot.index.lexical import LexicalIndex


@dataclass(frozen=True, slots=True)
class Bm25f:
    """The weights of the fields and the two constants of BM25F."""

    path: float = 4.0
    symbols: float = 5.0
    body: float = 1.0
    b: float = 0.75
    k1: float = 3.0


BM25F = Bm25f()


def idf(matching: int | np.ndarray, total: int) -> np.ndarray:
    """Inverse document frequency in its non-negative form: ln(1 + (N − n + ½)/(n + ½)).

    Args:
        matching: n, how many documents have the term; a number or an array of them.
        total: N, how many documents there are.
    """
    return np.log1p((total - np.asarray(matching) + 0.5) / (np.asarray(matching) + 0.5))


def saturated(frequencies: np.ndarray, weights: np.ndarray, total: int, k1: float) -> np.ndarray:
    """BM25 scores of documents: Σ w·idf·T(k₁+1)/(k₁+T).

    Args:
        frequencies: float (tokens, documents), T: term frequencies normalised by length.
        weights: float (tokens,), w: the weight of each token in the query.
        total: how many documents there are.
        k1: how slowly repetition stops to count.

    Returns:
        float (documents,).
    """
    factors = weights * idf((frequencies > 0).sum(1), total)
    return factors @ (frequencies * (k1 + 1) / (k1 + frequencies))


class TokenFrequencies:
    """Frequencies of a query's tokens over all fields, weighted and normalised by length as BM25F does.

    `rows` is float32 (tokens, passages) and `files` float32 (tokens, files), each file read as one document; `in_path`
    is bool (tokens, files): the token is a word of the file's path.
    """

    def __init__(self, lexical: LexicalIndex, tokens: Sequence[int], constants: Bm25f = BM25F) -> None:
        """Count `tokens`, given by their numbers in the index."""
        shape = len(tokens), len(lexical.files)
        self.tokens = tokens
        self.rows = np.zeros((len(tokens), len(lexical)), np.float32)
        self.files = np.zeros(shape, np.float32)
        self.in_path = np.zeros(shape, bool)
        for name, postings in lexical.fields.items():
            weight = getattr(constants, name)
            norm = weight * _length_factor(postings.lengths, constants.b)
            file_norm = weight * _length_factor(sum_by_file(lexical, name, slice(None), postings.lengths), constants.b)
            for number, token in enumerate(tokens):
                rows, counts = postings.of(token)
                self.rows[number, rows] += counts * norm[rows]
                self.files[number] += sum_by_file(lexical, name, rows, counts) * file_norm
                if name == "path":
                    self.in_path[number, lexical.file_of[rows]] = True


def sum_by_file(lexical: LexicalIndex, field: str, rows: np.ndarray | slice, values: np.ndarray) -> np.ndarray:
    """Sum values of rows per file; all rows of a file have the same path, which counts once.

    Args:
        lexical: the index.
        field: the field that the values are of: path, symbols or body.
        rows: int (n,), numbers of rows.
        values: float (n,), one for each of them.

    Returns:
        float (files,).
    """
    files = lexical.file_of[rows]
    if field != "path":
        return np.bincount(files, values, minlength=len(lexical.files))
    result = np.zeros(len(lexical.files))
    result[files] = values
    return result


def _length_factor(lengths: np.ndarray, b: float) -> np.ndarray:
    return 1 / (1 - b + b * lengths / max(float(lengths.mean()), 1e-9))
