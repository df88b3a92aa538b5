"""Past commits as a signal: those whose subject is most like the query vote for the files they changed. Pure."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from math import sqrt

import numpy as np

from repopilot.index.tokens import expand, words
from repopilot.retrieval.rank import idf

VOTERS = 30
K1, B = 1.2, 0.75
MOST_FILES = 30
"""A commit that changed more files than this says nothing of any one of them."""


@dataclass(frozen=True, slots=True, eq=False)
class History:
    """Past commits, searchable: `postings` gives (commit numbers, counts) by token, `files` the file numbers of each.
    `size` counts all commits read, also those of no use."""

    postings: Mapping[str, tuple[np.ndarray, np.ndarray]]
    lengths: np.ndarray
    files: tuple[tuple[int, ...], ...]
    size: int


def read(commits: Iterable[tuple[str, Sequence[str]]], numbers: Mapping[str, int]) -> History:
    """The commits, (subject, paths) each, that changed a file still there; `numbers` are those of the files by path."""
    postings: dict[str, tuple[list[int], list[int]]] = {}
    lengths: list[int] = []
    kept: list[tuple[int, ...]] = []
    size = 0
    for subject, paths in commits:
        size += 1
        files = tuple(numbers[path] for path in paths if path in numbers)
        if not 0 < len(paths) <= MOST_FILES or not files:
            continue
        counts = Counter(token for word in words(subject) for token in expand(word))
        for token, count in counts.items():
            where, often = postings.setdefault(token, ([], []))
            where.append(len(kept))
            often.append(count)
        lengths.append(sum(counts.values()))
        kept.append(files)
    arrays = {token: (np.array(where), np.array(often)) for token, (where, often) in postings.items()}
    return History(arrays, np.array(lengths, np.float32), tuple(kept), size)


def votes(history: History, terms: Mapping[str, float], count: int) -> np.ndarray:
    """float32 (count,): per file the votes of the VOTERS commits most like the query, the largest being 1.

    A vote weighs the commit's BM25 score over the square root of how many files it changed.
    """
    result = np.zeros(count, np.float32)
    if not history.files:
        return result
    scores = np.zeros(len(history.files), np.float32)
    norm = K1 * (1 - B + B * history.lengths / max(float(history.lengths.mean()), 1e-9))
    for token, weight in terms.items():
        if token in history.postings:
            where, often = history.postings[token]
            scores[where] += weight * idf(len(where), len(scores)) * often * (K1 + 1) / (often + norm[where])
    for commit in np.argsort(-scores, kind="stable")[:VOTERS]:
        files = history.files[commit]
        result[list(files)] += scores[commit] / sqrt(len(files))
    return result / max(float(result.max()), 1e-9)
