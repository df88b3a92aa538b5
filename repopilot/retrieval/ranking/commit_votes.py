"""Past commits as signals: which files were changed by commits whose messages say what the query says. Pure.

Relative votes: the commits most similar to the query vote for their files, on a scale set by the best file. Absolute
votes: each commit's share of the highest possible score counts, so that a repeated commit counts much and a chance
match hardly.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Mapping
from dataclasses import dataclass
from typing import TYPE_CHECKING

import numpy as np

from repopilot.i18n import Message, message
from repopilot.index.history.commit_index import BODY, CommitIndex
from repopilot.index.ragged import parts
from repopilot.retrieval.ranking.bm25 import idf

if TYPE_CHECKING:
    from repopilot.index.lexical import LexicalIndex

VOTERS = 30
ABSOLUTE_VOTERS = 100
SHOWN = 5
"""How many of the most similar commits an explanation counts."""
K1 = 1.2
B = 0.75
HALF_LIFE_DAYS = 365.0
"""Age at which a commit counts half in the absolute votes."""
_DAY = 86400.0


@dataclass(frozen=True, slots=True, eq=False)
class History:
    """Past commits and the files of one index.

    Attributes:
        commits: n commits, searchable.
        usable: how many of them are evidence about files: those that changed some files, but not too many.
        numbers: int32, by file of the commits: its number in the index, −1 for none.
        alive: bool (n,): the commit changed a file that is in the index.
        subject_lengths: float32 (n,): words of the subject.
        lengths: float32 (n,): the same and those of the body, weighted.
        sizes: int64 (n,): how many files it changed.
    """

    commits: CommitIndex
    usable: int
    numbers: np.ndarray
    alive: np.ndarray
    subject_lengths: np.ndarray
    lengths: np.ndarray
    sizes: np.ndarray


@dataclass(frozen=True, slots=True, eq=False)
class HistorySignals:
    """What past commits say about the files of an index for one query.

    `files` has float32 (files,) by name: "history" (relative votes, 0–1) and "history, absolute" (0 and more, seldom
    above 1).
    `similar` are the numbers of the most similar commits, best first; `touches` gives, for each file that any of the
    SHOWN most similar ones changed, how many of them changed it.
    """

    history: History
    files: Mapping[str, np.ndarray]
    similar: tuple[int, ...]
    touches: Mapping[int, int]

    def touched(self, file: int) -> tuple[int, int]:
        """How many of the SHOWN commits most similar to the query changed a file, and how many there are of these."""
        return self.touches.get(file, 0), len(self.similar[:SHOWN])

    def explanation(self, file: int) -> Message | None:
        """What `touched` says in words; None where none of these commits changed the file."""
        touched, of = self.touched(file)
        return message("retrieval.history", touched=touched, count=of) if touched else None


def open_history(commits: CommitIndex | None, numbers: Mapping[str, int]) -> History | None:
    """Relate past commits to the files of an index.

    Args:
        commits: the commits, searchable.
        numbers: the number of each file of the index by its path.

    Returns:
        The history; None when no commit changed any of these files.
    """
    if commits is None or not numbers:
        return None
    known = np.array([numbers.get(path, -1) for path in commits.paths], np.int32)
    sizes = np.diff(commits.file_starts)
    owners = np.repeat(np.arange(len(sizes)), sizes)
    alive = np.bincount(owners[known[commits.files] >= 0], minlength=len(sizes)) > 0
    if not alive.any():
        return None
    subject = np.bincount(commits.commits, commits.subject, minlength=len(sizes)).astype(np.float32)
    body = np.bincount(commits.commits, commits.body, minlength=len(sizes)).astype(np.float32)
    usable = int((sizes > 0).sum())
    return History(commits, usable, known, alive, subject, subject + BODY * body, sizes)


def signals(history: History, terms: Mapping[str, float], lexical: LexicalIndex) -> HistorySignals:
    """What past commits say about the files.

    Args:
        history: the past commits.
        terms: index tokens with their weights in the query.
        lexical: the lexical index whose files the history is about.

    Returns:
        The signals.
    """
    found = _matches(history, terms)
    scores = _bm25(history, found, found.subject + BODY * found.body, history.lengths)
    similar = _best(np.where(history.alive, scores, 0), VOTERS)
    size = len(lexical.files)
    files = {
        "history": _relative(history, scores, similar, size),
        "history, absolute": _absolute(history, found, size),
    }
    owners, touched = _votes(history, similar[:SHOWN])
    touches = Counter(file for _, file in set(zip(owners.tolist(), touched.tolist(), strict=True)))
    return HistorySignals(history, files, tuple(similar.tolist()), touches)


def similar(history: History, terms: Mapping[str, float], count: int) -> list[tuple[int, float]]:
    """The commits most similar to a query, of those that changed a file of the index.

    Args:
        history: the past commits.
        terms: index tokens with their weights in the query.
        count: how many at most.

    Returns:
        (number of the commit, score above 0), best first.
    """
    found = _matches(history, terms)
    scores = _bm25(history, found, found.subject + BODY * found.body, history.lengths)
    best = _best(np.where(history.alive, scores, 0), count)
    return list(zip(best.tolist(), scores[best].tolist(), strict=True))


@dataclass(frozen=True, slots=True, eq=False)
class _Matches:
    """Where the words of a query occur: the numbers of its `tokens` that any commit has, with `weights`; the weight of
    the `unknown` ones; and for each posting the position of its token in `tokens`, its commit, and how often the token
    occurs in subject and body."""

    tokens: np.ndarray
    weights: np.ndarray
    unknown: float
    positions: np.ndarray
    commits: np.ndarray
    subject: np.ndarray
    body: np.ndarray


def _matches(history: History, terms: Mapping[str, float]) -> _Matches:
    index = history.commits
    weights = np.array(list(terms.values()), np.float64)
    known = np.array([token in index.tokens for token in terms], bool)
    tokens = np.array([index.tokens[token] for token in terms if token in index.tokens], np.int64)
    rows, sizes = parts(index.starts, tokens)
    return _Matches(
        tokens,
        weights[known],
        float(weights[~known].sum()),
        np.repeat(np.arange(len(tokens)), sizes),
        index.commits[rows],
        index.subject[rows].astype(np.float32),
        index.body[rows].astype(np.float32),
    )


def _bm25(history: History, found: _Matches, counts: np.ndarray, lengths: np.ndarray) -> np.ndarray:
    """float (n,): BM25 of the query over the commits; `counts` (postings,) are of `found`, `lengths` of all commits."""
    occurring = np.bincount(found.positions[counts > 0], minlength=len(found.tokens))
    norm = K1 * (1 - B + B * lengths * (history.usable / max(float(lengths.sum()), 1e-9)))
    factors = found.weights * idf(occurring, history.usable) * (K1 + 1)
    values = factors[found.positions] * counts / (counts + norm[found.commits])
    return np.bincount(found.commits, values, minlength=len(lengths))


def _best(scores: np.ndarray, count: int) -> np.ndarray:
    """The numbers of the largest positive scores, best first; the newer of two equal ones first."""
    rows = np.flatnonzero(scores > 0)
    if len(rows) > count:
        least = np.partition(scores[rows], len(rows) - count)[len(rows) - count]
        rows = rows[scores[rows] >= least]
    return rows[np.argsort(-scores[rows], kind="stable")[:count]]


def _relative(history: History, scores: np.ndarray, voters: np.ndarray, size: int) -> np.ndarray:
    """float32 (files,): votes of the voters, each its score divided by √files, scaled so that the largest is 1."""
    owners, files = _votes(history, voters)
    known = np.bincount(owners, minlength=len(voters))
    values = scores[voters] / np.sqrt(np.maximum(known, 1))
    result = np.bincount(files, values[owners], minlength=size).astype(np.float32)
    return result / max(float(result.max(initial=0.0)), 1e-9)


def _absolute(history: History, found: _Matches, size: int) -> np.ndarray:
    """float32 (files,): Σ s²/√files over the best commits, s their share of what a commit could score, less by age."""
    index = history.commits
    scores = _bm25(history, found, found.subject, history.subject_lengths)
    ages = (index.at.max(initial=0) - index.at) / _DAY
    voters = _best(np.where(history.alive, scores * 0.5 ** (ages / HALF_LIFE_DAYS), 0), ABSOLUTE_VOTERS)
    occurring = np.bincount(found.positions[found.subject > 0], minlength=len(found.tokens))
    possible = float((found.weights * idf(occurring, history.usable)).sum() + found.unknown * idf(0, history.usable))
    shares = scores[voters] * 0.5 ** (ages[voters] / HALF_LIFE_DAYS) / max(possible * (K1 + 1), 1e-9)
    owners, files = _votes(history, voters)
    values = shares**2 / np.sqrt(history.sizes[voters])
    return np.bincount(files, values[owners], minlength=size).astype(np.float32)


def _votes(history: History, voters: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
    """(voter, file) of each file in the index that one of the voters changed; the voter as position in `voters`."""
    places, sizes = parts(history.commits.file_starts, voters)
    files = history.numbers[history.commits.files[places]]
    inside = files >= 0
    return np.repeat(np.arange(len(voters)), sizes)[inside], files[inside]
