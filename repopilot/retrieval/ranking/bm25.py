"""BM25 and BM25F over the arrays of the lexical index. Pure.

BM25F: Robertson, Zaragoza and Taylor, "Simple BM25 Extension to Multiple Weighted Fields", CIKM 2004.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING

import numpy as np

from repopilot.index.ragged import parts

if TYPE_CHECKING:
    from repopilot.index.lexical import LexicalIndex, Postings


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


def saturated(frequencies: np.ndarray, factors: np.ndarray, k1: float) -> np.ndarray:
    """BM25 scores of documents: Σ w·idf·T(k₁+1)/(k₁+T).

    Args:
        frequencies: float (tokens, documents), T: term frequencies normalised by length.
        factors: float (tokens,), w·idf: the weight of each token in the query times its rarity.
        k1: how slowly repeated occurrences stop counting.

    Returns:
        float (documents,).
    """
    return factors @ (frequencies * (k1 + 1) / (k1 + frequencies))


@dataclass(frozen=True, slots=True, eq=False)
class FieldPostings:
    """The postings of a query's tokens in one field: `rows`, `counts`, and each token's place in the query as
    `positions`."""

    positions: np.ndarray
    rows: np.ndarray
    counts: np.ndarray


class TokenFrequencies:
    """Frequencies of a query's tokens over all fields, weighted and normalised by length as BM25F does.

    `rows` is float32 (tokens, passages) and `files` float32 (tokens, files), each file read as one document; `found` is
    bool (tokens, passages) and `matching` int (tokens,): which passages have a token, and how many; `in_path` is bool
    (tokens, files): the token is a word of the file's path. `postings` are those of each field.
    """

    def __init__(self, lexical: LexicalIndex, tokens: Sequence[int], constants: Bm25f = BM25F) -> None:
        """Count `tokens`, given by their numbers in the index."""
        self.tokens = tokens
        self.postings = {name: postings_of(postings, tokens) for name, postings in lexical.fields.items()}
        self.rows = np.zeros((len(tokens), len(lexical)), np.float32)
        for name, found in self.postings.items():
            norm = getattr(constants, name) * _length_factor(lexical.fields[name].lengths, constants.b)
            self.rows.reshape(-1)[found.positions * len(lexical) + found.rows] += found.counts * norm[found.rows]
        self.files, self.in_path = self._by_file(lexical, constants)
        self.found = self.rows > 0
        self.matching = np.count_nonzero(self.found, axis=1)

    def _by_file(self, lexical: LexicalIndex, constants: Bm25f) -> tuple[np.ndarray, np.ndarray]:
        """`files` and `in_path`."""
        shape = len(self.tokens), len(lexical.files)
        in_path = np.zeros(shape, bool)
        places = []
        values = []
        for name, found in self.postings.items():
            files = lexical.file_of[found.rows]
            place = found.positions * shape[1] + files
            counts = found.counts
            if name == "path":  # all rows of a file have the same path, which counts once
                once = lexical.first_of_file[found.rows]
                place = place[once]
                counts = counts[once]
                files = files[once]
                in_path.reshape(-1)[place] = True
            norm = getattr(constants, name) * _length_factor(lexical.file_lengths[name], constants.b)
            places.append(place)
            values.append(counts * norm[files])
        sums = np.bincount(np.concatenate(places), np.concatenate(values), minlength=in_path.size)
        return sums.astype(np.float32).reshape(shape), in_path


def postings_of(postings: Postings, tokens: Sequence[int]) -> FieldPostings:
    """The postings of some tokens.

    Args:
        postings: those of a field.
        tokens: numbers of tokens.
    """
    numbers = np.asarray(tokens, np.int64)
    chosen, sizes = parts(postings.starts, numbers)
    return FieldPostings(np.repeat(np.arange(len(numbers)), sizes), postings.rows[chosen], postings.counts[chosen])


def _length_factor(lengths: np.ndarray, b: float) -> np.ndarray:
    return 1 / (1 - b + b * lengths / max(float(lengths.mean()), 1e-9))
