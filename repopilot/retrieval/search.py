"""Search one index: parse, score, rerank, and say why. Lexical at once; vectors join where there are any."""

from __future__ import annotations

import time
from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import TYPE_CHECKING
from weakref import WeakKeyDictionary

import numpy as np

from repopilot.errors import ModelError, StorageError
from repopilot.retrieval import places, rank, votes
from repopilot.retrieval.map import overview_places
from repopilot.retrieval.query import Query, parse
from repopilot.retrieval.score import Ranking, ranking
from repopilot.types import Hit

if TYPE_CHECKING:
    from repopilot.index.embed import Embedder
    from repopilot.index.store import Index

RERANKED = 20
DEPTH = 200
"""Rows considered for the list."""
DENSE_PASSAGE, DENSE_FILE = 2.0, 2.0
SPREAD: Mapping[str, float] = {"task": 3.0, "path": 0.0, "traceback": 0.0, "symbol": 0.3}
SPREAD_ELSE = 1.0
"""What each better passage of the same file costs a passage."""
LONGEST_EMBEDDED = 2000
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


_histories: WeakKeyDictionary[Index, tuple[float, votes.History]] = WeakKeyDictionary()


def search(index: Index, text: str, k: int = 10, *, embedder: Embedder | None = None) -> Results:
    """The `k` passages that answer `text` best. Without an embedder, lexical only. Raises IndexFailed when the index
    is broken; any text gives a result, an empty one says why in its notes."""
    started = time.perf_counter()
    query = parse(text)
    seconds = {"parse": time.perf_counter() - started}
    if k < 1 or not len(index.lexical):
        return Results(query, (), (*query.notes, "Nothing is indexed."), seconds)
    mask = places.allowed(query.filters, index.lexical, index.chunks)
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
    hits, files = _listed(index, found, k)
    seconds["total"] = time.perf_counter() - started
    return Results(query, hits, tuple(notes), seconds, files)


def _overview(index: Index, query: Query, k: int, mask: np.ndarray, seconds: dict[str, float]) -> Results:
    started = time.perf_counter()
    found = [place for place in overview_places(index, query) if mask[place.row]][:k]
    hits = tuple(Hit(index.chunks[place.row], place.score, {place.role: place.score}) for place in found)
    seconds["total"] = seconds["parse"] + time.perf_counter() - started
    notes = query.notes if hits else (*query.notes, "There is no README, manifest or entry point to answer from.")
    return Results(query, hits, notes, seconds, tuple(dict.fromkeys(hit.chunk.path for hit in hits)))


def _history(index: Index) -> votes.History | None:
    """Past commits as a searchable history; None without any."""
    at, history = _histories.get(index, (-HISTORY_SECONDS, None))
    now = time.monotonic()
    if now - at >= HISTORY_SECONDS:
        commits = index.commits
        if history is None or len(commits) != history.size:
            history = votes.read(((c.subject, c.paths) for c in commits), index.lexical.file_numbers)
        _histories[index] = (now, history)
    return history if history is not None and history.files else None


def _rerank(index: Index, found: Ranking, embedder: Embedder) -> list[str]:
    """Add the likeness of vectors to the best passages and their files. Returns what went wrong, in words."""
    from repopilot.index.vectors import vectors_of

    rows = found.top(RERANKED)
    try:
        asked = embedder.embed([found.query.text[:LONGEST_EMBEDDED]])[0]
        vectors = vectors_of(index, embedder).of_chunks(index, rows.tolist())
    except (ModelError, StorageError) as error:
        return [f"Ranked without vectors. {error}"]
    likeness = vectors @ asked
    scaled = (likeness - likeness.min()) / max(float(np.ptp(likeness)), 1e-9)
    passages = np.zeros(len(found.lexical), np.float32)
    passages[rows] = DENSE_PASSAGE * scaled
    files = np.zeros(len(found.lexical.files), np.float32)
    np.maximum.at(files, found.lexical.file_of[rows], DENSE_FILE * scaled)
    found.passages["meaning"] = passages
    found.files["meaning"] = files
    return []


def _listed(index: Index, found: Ranking, k: int) -> tuple[tuple[Hit, ...], tuple[str, ...]]:
    rows = found.top(max(DEPTH, 4 * k))
    scores = found.scores[rows]
    cost = SPREAD.get(found.query.kind, SPREAD_ELSE)
    spread = rank.spread(scores.tolist(), found.lexical.file_of[rows].tolist(), cost)
    order = sorted(range(len(rows)), key=lambda place: -spread[place])
    files = dict.fromkeys(found.lexical.files[found.lexical.file_of[rows[place]]] for place in order)
    hits = []
    for place in order[:k]:
        why = found.why(int(rows[place]))
        if spread[place] != scores[place]:
            why["same file"] = round(spread[place] - float(scores[place]), 3)
        hits.append(Hit(index.chunks[int(rows[place])], round(float(spread[place]), 4), why))
    return tuple(hits), tuple(files)


def _nothing(query: Query) -> str:
    if not query.terms and not query.names:
        return "The question has no word to search for."
    return "Nothing in this repository matches."
