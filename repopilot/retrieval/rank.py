"""Ranks passages of one index for one query, by named contributions that add up. Pure over arrays; knows no disk.

The contributions: BM25F over path, defined symbols and body (see bm25.py), per passage and per file read as one
document; the similarity of a symbol's name; words of the path; the role of the file (tests, examples, documentation, …
rank lower unless they are asked for); what the query names exactly; votes of past commits. They add up linearly. The
weights were fitted by listwise logistic regression on queries from the history of fifteen public repositories and
from docstrings, cross-validated over repositories; bench/retrieval.py measures them.
"""

from __future__ import annotations

from collections.abc import Collection, Hashable, Iterable, Mapping, Sequence
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, TypeVar

import numpy as np

from repopilot import i18n
from repopilot.index.tokens import expand, words
from repopilot.retrieval import commit_votes, exact_matches
from repopilot.retrieval.bm25 import BM25F, Bm25f, TokenFrequencies, idf, saturated, sum_by_file
from repopilot.retrieval.commit_votes import History
from repopilot.retrieval.query import Query
from repopilot.types import Chunk

if TYPE_CHECKING:
    from repopilot.index.lexical import LexicalIndex

Key = TypeVar("Key", bound=Hashable)

FURTHER = 8
"""How many passages of a file, after its best, contribute to its score."""

NAMED, PHRASE, FRAME, FRAME_STEP = 6.0, 6.0, 30.0, 0.5
"""What a named definition, a phrase and a stack frame add to a passage; each further frame adds FRAME_STEP less."""

ASKED = 0.6
"""Factor on the penalty of a file's role for a question, which documentation answers more often than it does a task."""

LEAST_SHOWN = 0.005
"""Smaller contributions are left out of `why`."""

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
"""What a signal adds to the score of a file, and so to that of each of its passages."""

ROLE_WEIGHTS: Mapping[str, float] = {
    "test": -2.2,
    "example": -2.2,
    "doc": -4.4,
    "config": -4.8,
    "generated": -2.0,
    "vendored": -3.0,
}
"""Penalties on the score of a file whose role the query does not ask for."""

ROLE_FACTORS: Mapping[str, float] = {"test": 0.3, "example": 0.5, "doc": 0.5, "generated": 0.3, "vendored": 0.3}
"""Factors on the term scores of a file whose role the query does not ask for."""


@dataclass(frozen=True, slots=True)
class Signals:
    """Unweighted signals by name, mostly 0–1: `passages` float (rows,) and `files` float (files,)."""

    passages: Mapping[str, np.ndarray]
    files: Mapping[str, np.ndarray]


@dataclass(slots=True)
class Ranking:
    """The weighted contributions to the scores of one query.

    `passages` (float (rows,) each) and `files` (float (files,) each) are keyed by name; the score of a file is added to
    that of all its passages. `mask` is bool (rows,): the rows that may be returned. `notes` say what found no match.
    """

    lexical: LexicalIndex
    query: Query
    mask: np.ndarray
    passages: dict[str, np.ndarray]
    files: dict[str, np.ndarray]
    notes: list[str] = field(default_factory=list)

    @property
    def file_scores(self) -> np.ndarray:
        """float (files,)."""
        return np.sum(list(self.files.values()), axis=0)

    @property
    def scores(self) -> np.ndarray:
        """float (rows,); −∞ for rows that may not be returned."""
        total = np.sum(list(self.passages.values()), axis=0) + self.file_scores[self.lexical.file_of]
        return np.where(self.mask, total, -np.inf)

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
        return rows[np.argsort(-scores, kind="stable")[:count]]

    def why(self, row: int) -> dict[str, float]:
        """The contributions to a row's score by name; names of its file's begin with `file: `."""
        file = self.lexical.file_of[row]
        own = {name: float(values[row]) for name, values in self.passages.items()}
        shared = {f"file: {name}": float(values[file]) for name, values in self.files.items()}
        return {name: round(value, 3) for name, value in (own | shared).items() if abs(value) >= LEAST_SHOWN}


def ranking(
    lexical: LexicalIndex, chunks: Sequence[Chunk], query: Query, mask: np.ndarray, history: History | None
) -> Ranking | None:
    """Rank by words, names, paths, phrases, stack frames and past commits.

    Args:
        lexical: the lexical index.
        chunks: its chunks; chunk n is row n.
        query: the parsed query.
        mask: bool (rows,), the rows that satisfy the filters.
        history: past commits, None for none.

    Returns:
        The contributions, or None when nothing in the index matches.
    """
    roles = _wanted_roles(query)
    found = signals(lexical, query.terms, role_factors(lexical, roles))
    passages: dict[str, np.ndarray] = {}
    files = {"kind of file": role_scores(lexical, roles) * (ASKED if query.asks else 1.0)}
    matching = np.zeros(len(lexical), bool)
    if found is not None:
        passages |= _weighted(found.passages, PASSAGE_WEIGHTS)
        files |= _weighted(found.files, FILE_WEIGHTS)
        matching |= found.passages["words"] > 0
    for name, values in _exact_matches(lexical, chunks, query).items():
        passages[name] = values
        matching |= values > 0
    files |= _named_files(lexical, query)
    if history is not None:
        past = commit_votes.signals(history, query.terms, lexical)
        files |= _weighted(past.files, FILE_WEIGHTS)
    matching &= mask
    if query.filters and not query.terms:
        matching = mask
    if not matching.any():
        return None
    if not passages:
        passages["words"] = np.zeros(len(lexical), np.float32)
    return Ranking(lexical, query, matching, passages, files, list(_without_match(query, passages)))


def _wanted_roles(query: Query) -> set[str]:
    """The roles of files that the query asks for, which are not penalised."""
    roles = {"test"} if query.wants_tests else set()
    if query.wants_docs:
        roles |= {"doc"}
    if query.filters.files or query.kind in ("path", "traceback"):
        roles |= {"test", "example", "doc", "config", "generated", "vendored"}
    roles |= {"config", "doc"} & set(query.filters.kinds)
    if query.filters.languages:
        roles |= {"doc", "config"}
    return roles


def _weighted(values: Mapping[str, np.ndarray], weights: Mapping[str, float]) -> dict[str, np.ndarray]:
    return {name: weights[name] * array for name, array in values.items() if name in weights}


def _exact_matches(lexical: LexicalIndex, chunks: Sequence[Chunk], query: Query) -> dict[str, np.ndarray]:
    """Contributions of exact matches to passages, only of the kinds that the query names."""
    found: dict[str, dict[int, float]] = {}
    if query.names and query.kind in ("symbol", "path"):
        rows = exact_matches.named_rows(query, lexical, chunks)
        found["defines it"] = {row: NAMED * value for row, value in rows.items()}
    if query.frames:
        frames = exact_matches.frame_rows(query.frames, lexical, chunks)
        found["stack frame"] = {row: FRAME - FRAME_STEP * depth for depth, row in enumerate(frames)}
    if query.phrases and query.kind != "task":
        found["phrase"] = {
            row: PHRASE for phrase in query.phrases for row in exact_matches.phrase_rows(phrase, lexical, chunks)
        }
    return {name: _array(rows, len(lexical)) for name, rows in found.items()}


def _array(values: Mapping[int, float], size: int) -> np.ndarray:
    result = np.zeros(size, np.float32)
    result[list(values)] = list(values.values())
    return result


def _named_files(lexical: LexicalIndex, query: Query) -> dict[str, np.ndarray]:
    """Contributions to files that the query names by path or by the scope of a conventional commit."""
    found: dict[str, np.ndarray] = {}
    if query.paths:
        weight = FILE_WEIGHTS["path named"] * (5 if query.kind == "path" else 1)
        found["path named"] = weight * exact_matches.named_files(query, lexical)
    if query.scope:
        scope = {token for word in words(query.scope) for token in expand(word)}
        inside = np.zeros(len(lexical.files), bool)
        for token in scope & lexical.tokens.keys():
            inside[lexical.file_of[lexical.fields["path"].of(lexical.tokens[token])[0]]] = True
        found["scope"] = FILE_WEIGHTS["scope"] * inside
    return found


def _without_match(query: Query, passages: Mapping[str, np.ndarray]) -> Iterable[str]:
    """Notes on what the query names exactly and nothing matches."""
    if "phrase" in passages and not passages["phrase"].any():
        phrases = ", ".join(repr(phrase) for phrase in query.phrases)
        yield i18n.message("retrieval.no_phrase", count=len(query.phrases), phrases=phrases)
    if query.kind == "traceback" and not passages["stack frame"].any():
        yield i18n.message("retrieval.no_frame")


def role_factors(lexical: LexicalIndex, wanted: Collection[str] = ()) -> np.ndarray:
    """float32 (files,): factors on term scores, below 1 for tests, examples, … whose role is not `wanted`."""
    result = np.ones(len(lexical.files), np.float32)
    for role, factor in ROLE_FACTORS.items():
        if role not in wanted:
            result[lexical.role(role)] *= factor
    return result


def role_scores(lexical: LexicalIndex, wanted: Collection[str] = ()) -> np.ndarray:
    """float32 (files,): penalties (≤ 0) of tests, examples, … whose role is not `wanted`."""
    result = np.zeros(len(lexical.files), np.float32)
    for role, weight in ROLE_WEIGHTS.items():
        if role not in wanted:
            result[lexical.role(role)] += weight
    return result


def signals(
    lexical: LexicalIndex, terms: Mapping[str, float], factors: np.ndarray, constants: Bm25f = BM25F
) -> Signals | None:
    """The signals of a query's words.

    Args:
        lexical: the lexical index.
        terms: index tokens with their weights in the query.
        factors: float (files,), see `role_factors`.
        constants: those of BM25F.

    Returns:
        The signals, or None when no passage has any of the terms.
    """
    tokens = [token for token in terms if token in lexical.tokens]
    if not tokens or not len(lexical):
        return None
    weights = np.array([terms[token] for token in tokens], np.float32)
    frequencies = TokenFrequencies(lexical, [lexical.tokens[token] for token in tokens], constants)
    by_row = factors[lexical.file_of]
    passages = {
        "words": _scaled(saturated(frequencies.rows, weights, len(lexical), constants.k1) * by_row),
        "symbol name": symbol_match(lexical, tokens, weights) * by_row,
        "coverage": _coverage(frequencies.rows, weights),
        "function": _is_kind(lexical, "function"),
        "length": np.log1p(lexical.fields["body"].lengths) / 8,
    }
    whole = _scaled(saturated(frequencies.files, weights, len(lexical.files), constants.k1) * factors)
    return Signals(passages, _file_signals(lexical, frequencies, weights, passages, whole))


def _is_kind(lexical: LexicalIndex, kind: str) -> np.ndarray:
    number = lexical.kinds.index(kind) if kind in lexical.kinds else -1
    return (lexical.kind_of == number).astype(np.float32)


def _scaled(scores: np.ndarray) -> np.ndarray:
    """Scores divided by the largest."""
    return scores / max(float(scores.max(initial=0.0)), 1e-9)


def _coverage(frequencies: np.ndarray, weights: np.ndarray) -> np.ndarray:
    """float (documents,): the share of the query, by weight and rarity, that occurs in them."""
    factors = weights * idf((frequencies > 0).sum(1), frequencies.shape[1])
    return factors @ (frequencies > 0) / max(float(factors.sum()), 1e-9)


def symbol_match(lexical: LexicalIndex, tokens: Sequence[str], weights: np.ndarray) -> np.ndarray:
    """How well the name of a symbol matches the query.

    Args:
        lexical: the lexical index.
        tokens: n tokens of the query, all of them in the index.
        weights: float (n,), their weights.

    Returns:
        float32 (rows,): of the symbols defined in a row, the best F-measure, weighted by rarity, between the words of
        the query and those of the symbol's name.
    """
    rarity = lexical.rarity
    asked = np.minimum(weights, 1) * rarity[[lexical.tokens[token] for token in tokens]]
    shared = np.zeros(len(lexical.names), np.float32)
    for token, weight in zip(tokens, asked, strict=True):
        shared[lexical.name_tokens.of(lexical.tokens[token])[0]] += weight
    match = 2 * shared / np.maximum(lexical.name_mass + asked.sum(), 1e-9)
    result = np.zeros(len(lexical), np.float32)
    for name in np.nonzero(shared)[0].tolist():
        rows = lexical.name_rows.of(name)[0]
        result[rows] = np.maximum(result[rows], match[name])
    return result


def _file_signals(
    lexical: LexicalIndex,
    frequencies: TokenFrequencies,
    weights: np.ndarray,
    passages: Mapping[str, np.ndarray],
    whole: np.ndarray,
) -> dict[str, np.ndarray]:
    rarity = weights * idf((frequencies.rows > 0).sum(1), len(lexical))
    return {
        "more passages": _further_passages(lexical, passages["words"]),
        "whole file": whole,
        "path words": rarity @ frequencies.in_path / max(float(rarity.sum()), 1e-9),
        "file name": _file_name(lexical, frequencies.tokens),
        "coverage": file_best(lexical, passages["coverage"]),
        "size": np.log1p(sum_by_file(lexical, "body", slice(None), lexical.fields["body"].lengths)) / 10,
    }


def _file_name(lexical: LexicalIndex, tokens: Sequence[int]) -> np.ndarray:
    """float (files,): the share of the words of the file's name that the query has."""
    found = np.zeros(len(lexical.files), np.float32)
    for token in tokens:
        files, counts = lexical.file_words.of(token)
        found[files] += counts
    return found / np.maximum(lexical.file_words.lengths, 1)


def file_best(lexical: LexicalIndex, values: np.ndarray) -> np.ndarray:
    """float (files,): the largest of the values, float (rows,), of each file's rows."""
    starts, rows = lexical.file_rows
    return np.maximum.reduceat(values[rows], starts[:-1])


def _further_passages(lexical: LexicalIndex, scores: np.ndarray) -> np.ndarray:
    """float (files,): the mean score of the FURTHER passages after the best; missing ones count as zero."""
    rows = np.nonzero(scores > 0)[0]
    rows = rows[np.lexsort((-scores[rows], lexical.file_of[rows]))]
    _, first, size = np.unique(lexical.file_of[rows], return_index=True, return_counts=True)
    place = np.arange(len(rows)) - np.repeat(first, size)
    further = rows[(place >= 1) & (place <= FURTHER)]
    return np.bincount(lexical.file_of[further], scores[further], minlength=len(lexical.files)) / FURTHER


def spread(scores: np.ndarray, files: np.ndarray, cost: float) -> np.ndarray:
    """Lower the scores of passages whose file has better ones, so that one file does not fill the list.

    Args:
        scores: float (n,).
        files: int (n,), the number of each passage's file.
        cost: what each better passage of the same file takes from a score.

    Returns:
        float (n,), in the order of `scores`.
    """
    order = np.lexsort((-scores, files))
    ordered = files[order]
    places = np.arange(len(order))
    first = np.concatenate(([True], ordered[1:] != ordered[:-1])) if len(order) else np.zeros(0, bool)
    earlier = np.empty(len(order))
    earlier[order] = places - np.maximum.accumulate(np.where(first, places, 0))
    return scores - cost * earlier


def reciprocal_rank_fusion(rankings: Sequence[Sequence[Key]], k: float = 60.0) -> list[tuple[Key, float]]:
    """Fuse rankings by Σ 1/(k + rank), rank counted from 1.

    Cormack, Clarke and Büttcher, "Reciprocal Rank Fusion outperforms Condorcet and individual Rank Learning Methods",
    SIGIR 2009.

    Args:
        rankings: items, best first; one that occurs twice in a ranking counts once, at its first place.
        k: the larger, the less the first ranks weigh.

    Returns:
        Items with their scores, best first; ties in order of first appearance.
    """
    scores: dict[Key, float] = {}
    for ranking in rankings:
        for rank, item in enumerate(dict.fromkeys(ranking), start=1):
            scores[item] = scores.get(item, 0.0) + 1.0 / (k + rank)
    return sorted(scores.items(), key=lambda pair: -pair[1])
