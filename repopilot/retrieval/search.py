"""Searches one index: parses the query, finds passages by words and, where all have vectors, by meaning, ranks them and
explains the scores."""

from __future__ import annotations

import re
import time
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field, replace
from typing import TYPE_CHECKING, TypeVar

import numpy as np

from repopilot import i18n
from repopilot.errors import ModelError, StorageError
from repopilot.repo.project_file import NAME, fits, project_options
from repopilot.retrieval import rank, skipped_files
from repopilot.retrieval.places import ranked_places
from repopilot.retrieval.query import exact_matches
from repopilot.retrieval.query.parse import Query, content_words, parse
from repopilot.retrieval.rank import Ranking, ranking
from repopilot.retrieval.ranking.past_commits import history_of
from repopilot.retrieval.ranking.sorting import first_descending
from repopilot.retrieval.ranking.weights import weights_for
from repopilot.types import Hit, overlap

if TYPE_CHECKING:
    from repopilot.index.embed import Embedder
    from repopilot.index.store import Index
    from repopilot.index.vectors import Vectors

RERANKED = 20
"""How many of the best passages are compared with the query by their vectors."""
PUT_FIRST = 1.0
"""What is added to the score of a file that `.repopilot.toml` puts first."""
NEAR = 50
"""How many passages a question finds by their vectors alone, where all passages have one."""
DEPTH = 8
"""How many passages are considered per place, since neighbouring ones are joined."""
EMBEDDING_SECONDS = 0.25
"""How long vectors may be computed for one query; the first few are computed in any case."""
FIRST = 3
"""How many places come before the best one of documentation."""
LONGEST_EMBEDDED = 2000
"""Characters of a query that are embedded."""
MOST_FILES = 1000
T = TypeVar("T")
_ASIDE = re.compile(r"change|history|news|release|licen[cs]e|contribut|code_of_conduct", re.I)
"""Paths of documentation that doesn't explain the program."""


@dataclass(frozen=True, slots=True)
class Results:
    """What was found: `hits`, and `files` (paths), best first. `notes` say what is missing; `seconds` are per phase.
    `compared` is how many of the best passages were compared by their vectors in the time allowed, and how many there
    were; None without vectors."""

    query: Query
    hits: tuple[Hit, ...]
    notes: tuple[str, ...] = ()
    seconds: Mapping[str, float] = field(default_factory=dict)
    files: tuple[str, ...] = ()
    compared: tuple[int, int] | None = None


def search(
    index: Index,
    text: str,
    k: int = 10,
    *,
    embedder: Embedder | None = None,
    documentation: bool = False,
) -> Results:
    """Find the passages that answer a text best.

    Args:
        index: the index to search.
        text: a question, a task, a name, a path, an error or a stack trace, in English or French; it may contain
            filters (`file:src/* lang:python kind:function symbol:Cart`).
        k: how many passages at most.
        embedder: makes vectors; None for lexical search alone.
        documentation: for plain words, put the passage of documentation that fits best among the first places.

    Returns:
        The results. If there are none, or the embedder failed, the notes say why.

    Raises:
        IndexFailed: the index is damaged.
    """
    started = time.perf_counter()
    query = _naming(index, skipped_files.noted(index, parse(text)))
    seconds = {"parse": time.perf_counter() - started}
    if k < 1 or not len(index.lexical):
        return Results(query, (), (*query.notes, i18n.message("retrieval.nothing_indexed")), seconds)
    mask = exact_matches.allowed(query.filters, index.lexical, index.chunks)
    if not mask.any():
        return Results(query, (), (*query.notes, i18n.message("retrieval.filters_match_nothing")), seconds)
    if query.kind == "overview":
        return _overview(index, query, k, mask, seconds)
    meant = _Meaning(index, embedder if query.kind not in ("path", "traceback") else None)
    near = meant.near(query)
    before = time.perf_counter()
    found = ranking(index.lexical, index.chunks, query, mask, history_of(index), near)
    put_first = index.derived(_put_first)
    if found is not None and put_first is not None:
        found.files["put first"] = put_first
    seconds["lexical"] = time.perf_counter() - before
    if found is None:
        return Results(query, (), (*query.notes, *meant.notes, _no_match_note(query)), seconds)
    compared = meant.rerank(found, near)
    notes = [*query.notes, *found.notes, *meant.notes]
    seconds["vectors"] = meant.seconds
    hits, files = listed(index, found, k)
    if documentation and query.kind == "natural" and not query.wants_docs:
        hits = _with_documentation(index, query, hits, k, mask)
    seconds["total"] = time.perf_counter() - started
    return Results(query, hits, tuple(notes), seconds, files, compared)


def _naming(index: Index, query: Query) -> Query:
    """Turn a question in plain words into one for a name, if its only word that isn't a stop word is exactly the name
    of a definition."""
    said = content_words(query.text) if query.kind == "natural" and not query.names else ()
    return replace(query, kind="symbol", names=said) if len(said) == 1 and index.symbols(said[0]) else query


def _put_first(index: Index) -> np.ndarray | None:
    """What `.repopilot.toml` adds to the score of each file; None if it puts no path first."""
    first = project_options(index.text(NAME)).options.first
    return PUT_FIRST * np.array([fits(path, first) for path in index.lexical.files], float) if first else None


def _overview(index: Index, query: Query, k: int, mask: np.ndarray, seconds: dict[str, float]) -> Results:
    from repopilot.retrieval.repo_map import overview_places  # imports manifest parsing, which few searches need

    started = time.perf_counter()
    found = [place for place in overview_places(index, query) if mask[place.row]][:k]
    hits = tuple(Hit(index.chunks[place.row], place.score, {place.role: place.score}) for place in found)
    seconds["total"] = seconds["parse"] + time.perf_counter() - started
    notes = query.notes if hits else (*query.notes, i18n.message("retrieval.no_overview"))
    return Results(query, hits, notes, seconds, tuple(dict.fromkeys(hit.chunk.path for hit in hits)))


class _Meaning:
    """Compares one query with passages by the vectors of one index. Does nothing without an embedder, or after it
    failed, which `notes` report. `seconds` is the time spent."""

    def __init__(self, index: Index, embedder: Embedder | None) -> None:
        self.notes: list[str] = []
        self.seconds = 0.0
        self._index = index
        self._embedder = embedder
        self._asked: np.ndarray | None = None

    def near(self, query: Query) -> list[int]:
        """The rows whose vectors are nearest to the query's; none if some passages have no vector, or the weights for
        this kind of query don't use them."""
        if not weights_for(query).near or self._index.dense < 1.0:
            return []
        return self._timed(lambda vectors: self._near(query, vectors), [])

    def _near(self, query: Query, vectors: Vectors) -> list[int]:
        return [row for row, _ in vectors.nearest(self._index, self._vector(query, vectors.embedder), NEAR)]

    def rerank(self, found: Ranking, near: Sequence[int]) -> tuple[int, int] | None:
        """Add the similarity of vectors to the scores of the best passages and of those that are near. Returns how many
        were compared, of how many."""
        return self._timed(lambda vectors: self._rerank(found, near, vectors), None)

    def _rerank(self, found: Ranking, near: Sequence[int], vectors: Vectors) -> tuple[int, int]:
        asked = self._vector(found.query, vectors.embedder)
        best = found.top(RERANKED, 1.0).tolist()
        rows = np.array(list(dict.fromkeys([*best, *(row for row in near if found.mask[row])])), np.int64)
        places, computed = vectors.in_time(self._index, rows.tolist(), EMBEDDING_SECONDS - self.seconds)
        similarity = computed @ asked
        weights = weights_for(found.query)
        passages = np.zeros(len(found.lexical), np.float32)
        spread = max(float(np.ptp(similarity)), 1e-9)
        passages[rows[places]] = (weights.near if near else weights.meaning) * (similarity - similarity.min()) / spread
        found.passages["meaning"] = passages
        return len(places), len(rows)

    def _vector(self, query: Query, embedder: Embedder) -> np.ndarray:
        if self._asked is None:
            self._asked = embedder.embed([query.text[:LONGEST_EMBEDDED]], query=True)[0]
        return self._asked

    def _timed(self, use: Callable[[Vectors], T], otherwise: T) -> T:
        if self._embedder is None:
            return otherwise
        from repopilot.index.vectors import vectors_of

        began = time.perf_counter()
        try:
            vectors = vectors_of(self._index, self._embedder)
            before = len(vectors.notes)
            result = use(vectors)
        except (ModelError, StorageError) as error:
            self._embedder = None
            self.notes.append(i18n.message("retrieval.without_vectors", reason=i18n.reason(error)))
            return otherwise
        notes = vectors.notes[before:] if vectors.persistent else vectors.notes
        self.notes = list(dict.fromkeys([*self.notes, *notes]))
        self.seconds += time.perf_counter() - began
        return result


def _with_documentation(index: Index, query: Query, hits: tuple[Hit, ...], k: int, mask: np.ndarray) -> tuple[Hit, ...]:
    """Put the best passage of documentation after the FIRST best ones. Documentation has the words of a question more
    often than code, so code is ranked before it, but at times only documentation has the answer."""
    lexical = index.lexical
    explains = lexical.role("doc") & np.array([_ASIDE.search(path) is None for path in lexical.files], bool)
    found = ranking(lexical, index.chunks, replace(query, wants_docs=True), mask & explains[lexical.file_of], None)
    best = listed(index, found, 1)[0] if found is not None else ()
    if not best or any(overlap(best[0].chunk, hit.chunk) for hit in hits[:FIRST]):
        return hits
    rest = (hit for hit in hits[FIRST:] if not overlap(best[0].chunk, hit.chunk))
    return (*hits[:FIRST], *best, *rest)[:k]


def listed(index: Index, found: Ranking, k: int) -> tuple[tuple[Hit, ...], tuple[str, ...]]:
    """The best passages of a ranking as hits, and its files.

    Args:
        index: the index that was ranked.
        found: the ranking.
        k: how many hits at most.

    Returns:
        Hits, best first and spread over files, and the paths of at most MOST_FILES files in the order of their best
        passages.
    """
    weights = weights_for(found.query)
    lexical = found.lexical
    rows = np.nonzero(found.mask)[0]
    files = lexical.file_of[rows]
    own = found.scores[rows]
    scores = rank.spread(own, files, weights.same_file)
    order = first_descending(scores, max(MOST_FILES, DEPTH * k))
    best = order[: DEPTH * k]
    lowered = dict(zip(rows[best].tolist(), zip(scores[best].tolist(), own[best].tolist(), strict=True), strict=True))
    passages = ranked_places.Passages(lexical.file_of, lexical.spans, lexical.group_of)
    tokens = ranked_places.token_weights(lexical, found.query.terms)
    places = ranked_places.joined(passages, lowered, k, weights.joins)
    hits = [_hit(index, found, place, lowered, tokens) for place in places]
    first = dict.fromkeys(files[order[:MOST_FILES]].tolist())
    return tuple(hits), tuple(lexical.files[file] for file in first)


def _hit(
    index: Index,
    found: Ranking,
    place: ranked_places.Place,
    scores: Mapping[int, tuple[float, float]],
    tokens: Mapping[str, float],
) -> Hit:
    """A place as a hit with the score of its best passage. `scores` by row: (lowered by the cost of its file, own)."""
    row = place.rows[0]
    why = found.why(row)
    (score, own) = scores[row]
    if score != own:
        why["same file"] = round(score - own, 3)
    chunk = index.chunks[row]
    if len(place.rows) > 1:
        text = index.lines(chunk.path, place.start, place.end) or chunk.text
        chunk = replace(chunk, start_line=place.start, end_line=place.end, text=text)
    history = found.past.explanation(int(found.lexical.file_of[row])) if found.past else None
    lines = ranked_places.matching_lines(chunk.text, chunk.start_line, tokens)
    return Hit(chunk, round(score, 4), why, lines, history or "")


def _no_match_note(query: Query) -> str:
    return i18n.message("retrieval.no_match" if query.terms or query.names else "retrieval.no_words")
