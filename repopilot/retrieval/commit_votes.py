"""Past commits as a signal: those whose subject is most similar to the query vote for the files they changed. Pure."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from math import sqrt

import numpy as np

from repopilot.index.tokens import expand, words
from repopilot.retrieval.bm25 import idf

VOTERS = 30
K1, B = 1.2, 0.75
MOST_FILES = 30
"""A commit that changed more files than this says nothing about any one of them."""


@dataclass(frozen=True, slots=True, eq=False)
class History:
    """Past commits, searchable by the words of their subjects.

    `postings` gives (commit numbers, counts) by token, `lengths` the number of tokens of each commit (float32), `files`
    the numbers of the files it changed. `size` counts all commits read, including those that are left out.
    """

    postings: Mapping[str, tuple[np.ndarray, np.ndarray]]
    lengths: np.ndarray
    files: tuple[tuple[int, ...], ...]
    size: int


def read(commits: Iterable[tuple[str, Sequence[str]]], numbers: Mapping[str, int]) -> History:
    """Make commits searchable.

    Args:
        commits: (subject, changed paths) of each.
        numbers: the number of each file of the index by its path.

    Returns:
        The commits that changed at least one of these files, and at most MOST_FILES in all.
    """
    postings: dict[str, tuple[list[int], list[int]]] = {}
    lengths: list[int] = []
    changed: list[tuple[int, ...]] = []
    size = 0
    for subject, paths in commits:
        size += 1
        files = tuple(numbers[path] for path in paths if path in numbers)
        if not 0 < len(paths) <= MOST_FILES or not files:
            continue
        occurrences = Counter(token for word in words(subject) for token in expand(word))
        for token, count in occurrences.items():
            numbers_of_token, counts_of_token = postings.setdefault(token, ([], []))
            numbers_of_token.append(len(changed))
            counts_of_token.append(count)
        lengths.append(occurrences.total())
        changed.append(files)
    arrays = {token: (np.array(found), np.array(counts)) for token, (found, counts) in postings.items()}
    return History(arrays, np.array(lengths, np.float32), tuple(changed), size)


def votes(history: History, terms: Mapping[str, float], count: int) -> np.ndarray:
    """The votes of the VOTERS commits most similar to the query.

    A vote counts as much as the commit's BM25 score, divided by the square root of how many files it changed.

    Args:
        history: the past commits.
        terms: index tokens with their weights in the query.
        count: how many files the index has.

    Returns:
        float32 (count,): votes per file, scaled so that the largest is 1.
    """
    result = np.zeros(count, np.float32)
    if not history.files:
        return result
    scores = np.zeros(len(history.files), np.float32)
    norm = K1 * (1 - B + B * history.lengths / max(float(history.lengths.mean()), 1e-9))
    for token, weight in terms.items():
        if token in history.postings:
            commits, counts = history.postings[token]
            scores[commits] += weight * idf(len(commits), len(scores)) * counts * (K1 + 1) / (counts + norm[commits])
    for commit in np.argsort(-scores, kind="stable")[:VOTERS]:
        files = history.files[commit]
        result[list(files)] += scores[commit] / sqrt(len(files))
    return result / max(float(result.max()), 1e-9)
