"""Search one index: parse, score, rerank, and say why. Lexical at once; vectors join where there are any."""

from __future__ import annotations

import time
from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import TYPE_CHECKING
from weakref import WeakKeyDictionary

import numpy as np

from repopilot.errors import ModelError, StorageError
from repopilot.retrieval import commit_votes, exact_matches, rank
from repopilot.retrieval.query import Query, parse
from repopilot.retrieval.repo_map import overview_places
from repopilot.retrieval.score import Ranking, ranking
from repopilot.types import Hit

if TYPE_CHECKING:
    from repopilot.index.embed import Embedder
    from repopilot.index.store import Index
    from repopilot.index.vectors import Vectors

RERANKED = 20
MEANING = 2.5
"""What the vector most like the query's adds to its passage's score."""
SAME_FILE: Mapping[str, float] = {"path": 0.0, "traceback": 0.0, "symbol": 0.3}
SAME_FILE_ASKED, SAME_FILE_ELSE = 1.0, 2.0
"""What each better passage of the same file costs a passage: a task wants the files, a question also their parts."""
LONGEST_EMBEDDED = 2000
MOST_FILES = 1000
HISTORY_SECONDS = 10.0
"""How long past commits are taken as read; they arrive in the background."""


@dataclass(frozen=True, slots=True)
class Results:
    """Hits, best first. `files` ranks whole files; `notes` say in words what is missing; `seconds` are per phase."""

    query: Query
    hits: tuple[Hit, ...]
    notes: tuple[str, ...] = ()
    seconds: Mapping[str, float] = field(default_factory=dict)
    files: tuple[str, ...] = ()


_histories: WeakKeyDictionary[Index, tuple[float, commit_votes.History]] = WeakKeyDictionary()


def search(index: Index, text: str, k: int = 10, *, embedder: Embedder | None = None) -> Results:
    """The `k` passages that answer `text` best. Without an embedder, lexical only. Raises IndexFailed when the index
    is broken; any text gives a result, an empty one says why in its notes."""
    started = time.perf_counter()
    query = parse(text)
    seconds = {"parse": time.perf_counter() - started}
    if k < 1 or not len(index.lexical):
        return Results(query, (), (*query.notes, "Nothing is indexed."), seconds)
    mask = exact_matches.allowed(query.filters, index.lexical, index.chunks)
    if not mask.any():
        return Results(query, (), (*query.notes, "No passage satisfies the filters."), seconds)
    if query.kind == "overview":
        return _overview(index, query, k, mask, seconds)
    found = ranking(index.lexical, index.chunks, query, mask, _history(index))
    seconds["lexical"] = time.perf_counter() - started - seconds["parse"]
    if found is None:
        return Results(query, (), (*query.notes, _nothing(query)), seconds)
    notes = [*query.notes, *found.notes]
    if embedder is not None and query.kind not in ("path", "traceback"):
        before = time.perf_counter()
        notes += _rerank(index, found, embedder)
        seconds["vectors"] = time.perf_counter() - before
    hits, files = listed(index, found, k)
    seconds["total"] = time.perf_counter() - started
    return Results(query, hits, tuple(notes), seconds, files)


def _overview(index: Index, query: Query, k: int, mask: np.ndarray, seconds: dict[str, float]) -> Results:
    started = time.perf_counter()
    found = [place for place in overview_places(index, query) if mask[place.row]][:k]
    hits = tuple(Hit(index.chunks[place.row], place.score, {place.role: place.score}) for place in found)
    seconds["total"] = seconds["parse"] + time.perf_counter() - started
    notes = query.notes if hits else (*query.notes, "There is no README, manifest or entry point to answer from.")
    return Results(query, hits, notes, seconds, tuple(dict.fromkeys(hit.chunk.path for hit in hits)))


def _history(index: Index) -> commit_votes.History | None:
    """Past commits as a searchable history; None without any."""
    at, history = _histories.get(index, (0.0, None))
    now = time.monotonic()
    if history is None or not history.files or now - at >= HISTORY_SECONDS:
        commits = index.commits
        if history is None or len(commits) != history.size:
            history = commit_votes.read(((c.subject, c.paths) for c in commits), index.lexical.file_numbers)
        _histories[index] = (now, history)
    return history if history.files else None


def _rerank(index: Index, found: Ranking, embedder: Embedder) -> list[str]:
    """Add the likeness of vectors to the best passages and their files. Returns what went wrong, in words."""
    from repopilot.index.vectors import vectors_of

    try:
        asked = embedder.embed([found.query.text[:LONGEST_EMBEDDED]])[0]
        kept = vectors_of(index, embedder)
        rows = _candidates(index, found, kept, asked)
        vectors = kept.of_chunks(index, rows.tolist())
    except (ModelError, StorageError) as error:
        return [f"Ranked without vectors. {error}"]
    likeness = vectors @ asked
    passages = np.zeros(len(found.lexical), np.float32)
    passages[rows] = MEANING * (likeness - likeness.min()) / max(float(np.ptp(likeness)), 1e-9)
    found.passages["meaning"] = passages
    return []


def _candidates(index: Index, found: Ranking, vectors: Vectors, asked: np.ndarray) -> np.ndarray:
    """The best rows so far; where all of the repository has vectors, those nearest to the question as well."""
    rows = found.top(RERANKED, SAME_FILE_ASKED)
    if index.dense < 1.0:
        return rows
    near = [row for row, _ in vectors.nearest(index, asked, RERANKED) if found.mask[row]]
    return np.unique(np.concatenate((rows, np.array(near, rows.dtype))))


def listed(index: Index, found: Ranking, k: int) -> tuple[tuple[Hit, ...], tuple[str, ...]]:
    """The `k` best passages as hits, spread over files, and the files in order of their best passage."""
    rows = np.nonzero(found.mask)[0]
    files, own = found.lexical.file_of[rows], found.scores[rows]
    scores = rank.spread(own, files, _same_file(found.query))
    order = np.lexsort((rows, -scores))
    hits = [_hit(index, found, int(rows[place]), float(scores[place]), float(own[place])) for place in order[:k]]
    first = dict.fromkeys(files[order[:MOST_FILES]].tolist())
    return tuple(hits), tuple(found.lexical.files[file] for file in first)


def _same_file(query: Query) -> float:
    return SAME_FILE.get(query.kind, SAME_FILE_ASKED if query.asks else SAME_FILE_ELSE)


def _hit(index: Index, found: Ranking, row: int, score: float, own: float) -> Hit:
    why = found.why(row)
    if score != own:
        why["same file"] = round(score - own, 3)
    return Hit(index.chunks[row], round(score, 4), why)


def _nothing(query: Query) -> str:
    if not query.terms and not query.names:
        return "The question has no word to search for."
    return "Nothing in this repository matches."
