"""Ranks passages of one index for one query, by named contributions that add up. Pure over arrays; knows no disk.

A contribution is a signal (signals.py and commit_votes.py in ranking/) times its weight (weights.py there), or an exact
match of what the query names. They add up linearly. bench/train_ranking.py fits the weights.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, field
from typing import TYPE_CHECKING

import numpy as np

from repopilot import i18n
from repopilot.retrieval.query import exact_matches, frame_places
from repopilot.retrieval.query.parse import Query
from repopilot.retrieval.ranking import commit_votes
from repopilot.retrieval.ranking.commit_votes import History, HistorySignals
from repopilot.retrieval.ranking.signals import Signals, signals
from repopilot.retrieval.ranking.sorting import descending, first_descending, grouped, places_in_groups
from repopilot.retrieval.ranking.weights import weights_for
from repopilot.types import Chunk

if TYPE_CHECKING:
    from repopilot.index.lexical import LexicalIndex

NAMED = 6.0
"""What a named definition adds to a passage."""
PHRASE = 6.0
"""What a phrase adds to a passage."""
FRAME = 60.0
"""What a stack frame adds to a passage: more than words can make up for. The second frame adds a half of it, the third
a third, and so on."""

PAST_COMMITS = "file: history"
"""The contribution in `why` that the `history` of a hit explains."""
LEAST_SHOWN = 0.005
"""Smaller contributions are left out of `why`."""


@dataclass(slots=True)
class Ranking:
    """The weighted contributions to the scores of one query.

    `passages` (float (rows,) each) and `files` (float (files,) each) are keyed by name; the score of a file is added to
    that of all its passages. `mask` is bool (rows,): the rows that may be returned. `notes` say what found no match;
    `past` is what past commits say.
    """

    lexical: LexicalIndex
    query: Query
    mask: np.ndarray
    passages: dict[str, np.ndarray]
    files: dict[str, np.ndarray]
    notes: list[str] = field(default_factory=list)
    past: HistorySignals | None = None

    @property
    def scores(self) -> np.ndarray:
        """float64 (rows,); −∞ for rows that may not be returned."""
        total = sum(self.passages.values(), np.zeros(len(self.lexical)))
        total += sum(self.files.values(), np.zeros(len(self.lexical.files)))[self.lexical.file_of]
        total[~self.mask] = -np.inf
        return total

    def top(self, count: int, same_file: float) -> np.ndarray:
        """The rows with the best scores.

        Args:
            count: how many at most.
            same_file: what each better passage of its file takes from a row's score.

        Returns:
            int (≤ count,), best first.
        """
        rows = np.nonzero(self.mask)[0]
        scores = spread(self.scores[rows], self.lexical.file_of[rows], same_file)
        return rows[first_descending(scores, count)]

    def why(self, row: int) -> dict[str, float]:
        """The contributions to a row's score by name; the names of its file's contributions begin with `file: `."""
        file = int(self.lexical.file_of[row])
        own = {name: values.item(row) for name, values in self.passages.items()}
        shared = {f"file: {name}": values.item(file) for name, values in self.files.items()}
        return {name: round(value, 3) for name, value in (own | shared).items() if abs(value) >= LEAST_SHOWN}


def ranking(
    lexical: LexicalIndex,
    chunks: Sequence[Chunk],
    query: Query,
    mask: np.ndarray,
    history: History | None,
    near: Sequence[int] = (),
) -> Ranking | None:
    """Rank by words, names, paths, phrases, stack frames and past commits.

    Args:
        lexical: the lexical index.
        chunks: its chunks; chunk n is row n.
        query: the parsed query.
        mask: bool (rows,), the rows that satisfy the filters.
        history: past commits, None for none.
        near: rows that match by meaning (vectors), whatever their words.

    Returns:
        The contributions, or None when nothing in the index matches.
    """
    past = None if history is None else commit_votes.signals(history, query.terms, lexical)
    found = all_signals(lexical, query, past)
    weights = weights_for(query)
    passages = _weighted(found.passages, weights.passages)
    files = _weighted(found.files, weights.files)
    matching = found.passages["words"] > 0 if "words" in found.passages else np.zeros(len(lexical), bool)
    for name, values in _exact_matches(lexical, chunks, query).items():
        passages[name] = values
        matching |= values > 0
    matching[list(near)] = True
    matching &= mask
    if query.filters and not query.terms:
        matching = mask
    if not matching.any():
        return None
    if not passages:
        passages["words"] = np.zeros(len(lexical), np.float32)
    return Ranking(lexical, query, matching, passages, files, list(_without_match(query, passages)), past)


def all_signals(lexical: LexicalIndex, query: Query, past: HistorySignals | None) -> Signals:
    """The signals of a query's words and names, and those of past commits where there are any."""
    found = signals(lexical, query)
    return found if past is None else Signals(found.passages, {**found.files, **past.files})


def _weighted(values: Mapping[str, np.ndarray], weights: Mapping[str, float]) -> dict[str, np.ndarray]:
    return {name: weights[name] * array for name, array in values.items() if name in weights}


def _exact_matches(lexical: LexicalIndex, chunks: Sequence[Chunk], query: Query) -> dict[str, np.ndarray]:
    """Contributions of exact matches to passages, only of the kinds that the query names."""
    found: dict[str, dict[int, float]] = {}
    if query.names and query.kind in ("symbol", "path"):
        rows = exact_matches.named_rows(query, lexical, chunks)
        found["defines it"] = {row: NAMED * value for row, value in rows.items()}
    if query.frames:
        frames = frame_places.rows_of(query.frames, lexical, chunks)
        found["stack frame"] = {row: FRAME / depth for depth, row in enumerate(frames, 1)}
    if query.phrases and query.kind != "task":
        found["phrase"] = {
            row: PHRASE for phrase in query.phrases for row in exact_matches.phrase_rows(phrase, lexical, chunks)
        }
    return {name: _array(rows, len(lexical)) for name, rows in found.items()}


def _array(values: Mapping[int, float], size: int) -> np.ndarray:
    result = np.zeros(size, np.float32)
    result[list(values)] = list(values.values())
    return result


def _without_match(query: Query, passages: Mapping[str, np.ndarray]) -> Iterable[str]:
    """Notes on phrases and stack frames of the query that nothing matches."""
    if "phrase" in passages and not passages["phrase"].any():
        phrases = ", ".join(repr(phrase) for phrase in query.phrases)
        yield i18n.message("retrieval.no_phrase", count=len(query.phrases), phrases=phrases)
    if query.kind == "traceback" and not passages["stack frame"].any():
        yield i18n.message("retrieval.no_frame")


def spread(scores: np.ndarray, files: np.ndarray, cost: float) -> np.ndarray:
    """Lower the scores of passages whose file has better ones, so that one file does not fill the list.

    Args:
        scores: float (n,).
        files: int (n,), the number of each passage's file.
        cost: what each better passage of the same file takes from a score.

    Returns:
        float (n,), in the order of `scores`.
    """
    order = grouped(files, descending(scores))
    earlier = np.empty(len(order))
    earlier[order] = places_in_groups(files[order])
    return scores - cost * earlier
