"""The lexical ranking of one query over one index: named contributions per passage and per file, added up."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, field

import numpy as np

from repopilot.index.lexical import LexicalIndex
from repopilot.index.tokens import expand, words
from repopilot.retrieval import exact_matches, rank
from repopilot.retrieval.commit_votes import History, votes
from repopilot.retrieval.query import Query
from repopilot.types import Chunk

NAMED, PHRASE, FRAME, FRAME_STEP = 6.0, 6.0, 30.0, 0.5
ASKED = 0.6
"""A question is answered by documentation sooner than a task."""
SHOWN = 0.005


@dataclass(slots=True)
class Ranking:
    """What speaks for each passage and each file, by name and already weighted; a file's score is added to that of all
    its passages. `mask` are the rows that may be shown."""

    lexical: LexicalIndex
    query: Query
    mask: np.ndarray
    passages: dict[str, np.ndarray]
    files: dict[str, np.ndarray]
    notes: list[str] = field(default_factory=list)

    @property
    def file_scores(self) -> np.ndarray:
        """float per file."""
        return np.sum(list(self.files.values()), axis=0)

    @property
    def scores(self) -> np.ndarray:
        """float per row; −∞ for rows that may not be shown."""
        total = np.sum(list(self.passages.values()), axis=0) + self.file_scores[self.lexical.file_of]
        return np.where(self.mask, total, -np.inf)

    def top(self, count: int, same_file: float) -> np.ndarray:
        """The rows with the best scores, best first, at most `count`; each better one of its file costs `same_file`."""
        rows = np.nonzero(self.mask)[0]
        scores = rank.spread(self.scores[rows], self.lexical.file_of[rows], same_file)
        return rows[np.argsort(-scores, kind="stable")[:count]]

    def why(self, row: int) -> dict[str, float]:
        """The contributions to a row's score; those of its file begin with `file: `."""
        file = self.lexical.file_of[row]
        own = {name: float(values[row]) for name, values in self.passages.items()}
        shared = {f"file: {name}": float(values[file]) for name, values in self.files.items()}
        return {name: round(value, 3) for name, value in (own | shared).items() if abs(value) >= SHOWN}


def ranking(
    lexical: LexicalIndex, chunks: Sequence[Chunk], query: Query, mask: np.ndarray, history: History | None
) -> Ranking | None:
    """Rank by words, names, paths, phrases, frames and past commits; None when nothing in the index matches."""
    wanted = _wanted(query)
    found = rank.signals(lexical, query.terms, rank.role_factors(lexical, wanted))
    passages: dict[str, np.ndarray] = {}
    files = {"kind of file": rank.role_scores(lexical, wanted) * (ASKED if query.asks else 1.0)}
    matching = np.zeros(len(lexical), bool)
    if found is not None:
        passages |= _times(found.passages, rank.PASSAGE_WEIGHTS)
        files |= _times(found.files, rank.FILE_WEIGHTS)
        matching |= found.passages["words"] > 0
    for name, values in _exact(lexical, chunks, query).items():
        passages[name] = values
        matching |= values > 0
    files |= _named(lexical, query)
    if history is not None:
        files["history"] = rank.FILE_WEIGHTS["history"] * votes(history, query.terms, len(lexical.files))
    matching &= mask
    if query.filters and not query.terms:
        matching = mask
    if not matching.any():
        return None
    if not passages:
        passages["words"] = np.zeros(len(lexical), np.float32)
    return Ranking(lexical, query, matching, passages, files, list(_unmet(query, passages)))


def _wanted(query: Query) -> set[str]:
    wanted = {"test"} if query.wants_tests else set()
    if query.wants_docs:
        wanted |= {"doc"}
    if query.filters.files or query.kind in ("path", "traceback"):
        wanted |= {"test", "example", "doc", "config", "generated", "vendored"}
    wanted |= {"config", "doc"} & set(query.filters.kinds)
    if query.filters.languages:
        wanted |= {"doc", "config"}
    return wanted


def _times(values: Mapping[str, np.ndarray], weights: Mapping[str, float]) -> dict[str, np.ndarray]:
    return {name: weights[name] * array for name, array in values.items() if name in weights}


def _exact(lexical: LexicalIndex, chunks: Sequence[Chunk], query: Query) -> dict[str, np.ndarray]:
    """Contributions of what the query names exactly; only those it has."""
    found: dict[str, dict[int, float]] = {}
    if query.names and query.kind in ("symbol", "path"):
        found["defines it"] = {
            row: NAMED * value for row, value in exact_matches.named_rows(query, lexical, chunks).items()
        }
    if query.frames:
        rows = exact_matches.frame_rows(query.frames, lexical, chunks)
        found["stack frame"] = {row: FRAME - FRAME_STEP * depth for depth, row in enumerate(rows)}
    if query.phrases and query.kind != "task":
        found["phrase"] = {
            row: PHRASE for phrase in query.phrases for row in exact_matches.phrase_rows(phrase, lexical, chunks)
        }
    return {name: _array(rows, len(lexical)) for name, rows in found.items()}


def _array(values: Mapping[int, float], size: int) -> np.ndarray:
    result = np.zeros(size, np.float32)
    result[list(values)] = list(values.values())
    return result


def _named(lexical: LexicalIndex, query: Query) -> dict[str, np.ndarray]:
    found: dict[str, np.ndarray] = {}
    if query.paths:
        weight = rank.FILE_WEIGHTS["path named"] * (5 if query.kind == "path" else 1)
        found["path named"] = weight * exact_matches.named_files(query, lexical)
    if query.scope:
        scope = {token for word in words(query.scope) for token in expand(word)}
        inside = np.zeros(len(lexical.files), bool)
        for token in scope & lexical.tokens.keys():
            inside[lexical.file_of[lexical.fields["path"].of(lexical.tokens[token])[0]]] = True
        found["scope"] = rank.FILE_WEIGHTS["scope"] * inside
    return found


def _unmet(query: Query, passages: Mapping[str, np.ndarray]) -> Iterable[str]:
    if "phrase" in passages and not passages["phrase"].any():
        yield f"No passage contains {' or '.join(repr(phrase) for phrase in query.phrases)} word for word."
    if query.kind == "traceback" and not passages["stack frame"].any():
        yield "None of the stack frames lies in this repository."
