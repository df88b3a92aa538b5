"""Compares plain BM25, MiniLM, their fusions and RepoPilot's ranking, on one machine in one run.

    python -m bench.retrieval CORPORA_DIR [--sets DIR] [--only NAME …] [--packages NAME …] [--ablate] [--no-vectors]
                              [--home DIR]

CORPORA_DIR/NAME is a repository, DIR/NAME.jsonl its queries: {"query", "gold": [paths]}; DIR/NAME.history.json, if
present, the commits before it as [subject, [paths]]. R@k is the share of queries with a right file among the
first k distinct files of the first DEPTH passages, MRR its mean reciprocal rank. `--packages` adds docstring →
function on installed packages whose docstrings are removed first; there the passage must be right. `--home` keeps
indexes and vectors for the next run. `--ablate` removes one contribution of the ranking at a time.
"""

from __future__ import annotations

import argparse
import json
import statistics
import tempfile
import threading
import time
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass
from pathlib import Path

import numpy as np

from bench.datasets.docstrings import docstring_set
from bench.instant_index import instant_index
from repopilot.index.build.embedding_pause import EmbeddingPause
from repopilot.index.build.fill_vectors import fill_vectors
from repopilot.index.embed import Embedder, Embedders
from repopilot.index.history import commit_index
from repopilot.index.store import Index
from repopilot.index.tokens import expand, words
from repopilot.index.vectors import vectors_of
from repopilot.repo.history import MOST_PATHS, Commit
from repopilot.retrieval.query.parse import parse
from repopilot.retrieval.rank import ranking
from repopilot.retrieval.ranking import bm25
from repopilot.retrieval.ranking.commit_votes import open_history
from repopilot.retrieval.search import listed, search
from repopilot.settings import Settings

DEPTH = 20
OVERFETCH = 50
SETS = Path(__file__).parents[2] / "shared" / "bench" / "localisation"
Method = Callable[[str], list[int]]
"""Rows of the index, best first, for a query."""


@dataclass(frozen=True)
class Case:
    """One repository with its queries; `right` has for each the set of rows that answer it."""

    name: str
    index: Index
    queries: list[str]
    right: list[set[int]]
    by_file: bool
    history: list[tuple[str, list[str]]]
    seconds: float

    def rank_of_right(self, number: int, rows: Sequence[int]) -> int | None:
        """Rank of the first right answer, counting distinct files or passages."""
        files = self.index.lexical.file_of
        items = [int(files[row]) for row in rows] if self.by_file else list(rows)
        right = {int(files[row]) for row in self.right[number]} if self.by_file else self.right[number]
        return next((place for place, item in enumerate(dict.fromkeys(items), start=1) if item in right), None)


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("corpora", type=Path)
    parser.add_argument("--sets", type=Path, default=SETS)
    parser.add_argument("--only", nargs="*")
    parser.add_argument("--packages", nargs="*", default=[])
    parser.add_argument("--ablate", action="store_true")
    parser.add_argument("--no-vectors", action="store_true")
    parser.add_argument("--home", type=Path)
    arguments = parser.parse_args()
    with tempfile.TemporaryDirectory() as scratch:
        home = arguments.home or Path(scratch)
        settings = Settings(_env_file=None, home=home)  # type: ignore[call-arg]
        embedder = None if arguments.no_vectors else Embedders().choose(settings)
        if embedder is None and not arguments.no_vectors:
            print(f"No embedding model in {home}: `REPOPILOT_HOME={home} repopilot models pull minilm`.")
        repositories = list(localisation(arguments.corpora, arguments.sets, arguments.only, settings))
        packages = [docstrings(name, Path(scratch), settings) for name in arguments.packages]
        for title, cases in (("change localisation, by file", repositories), ("docstring → function", packages)):
            if cases:
                report(title, cases, embedder, arguments.ablate)


def localisation(corpora: Path, sets: Path, only: list[str] | None, settings: Settings) -> Iterator[Case]:
    for file in sorted(sets.glob("*.jsonl")):
        root = corpora / file.stem
        if not root.is_dir() or (only and file.stem not in only):
            continue
        lines = [json.loads(line) for line in file.read_text("utf-8").splitlines() if line.strip()]
        past = file.with_suffix(".history.json")
        history = json.loads(past.read_text("utf-8")) if past.exists() else []
        index, seconds = built(file.stem, root, settings)
        right = [{int(r) for path in line["gold"] for r in index.lexical.rows_of_file(path)} for line in lines]
        yield Case(file.stem, index, [line["query"] for line in lines], right, True, history, seconds)


def docstrings(name: str, scratch: Path, settings: Settings) -> Case:
    root, found = docstring_set(name, scratch / "packages")
    index, seconds = built(f"{name}-docstrings", root, settings)
    right = []
    for item in found:
        rows = index.lexical.rows_of_file(item.path).tolist()
        right.append({r for r in rows if index.chunks[r].start_line <= item.line <= index.chunks[r].end_line})
    return Case(name, index, [item.docstring for item in found], right, False, [], seconds)


def built(name: str, root: Path, settings: Settings) -> tuple[Index, float]:
    """The instant index, and how long it took."""
    index = instant_index(name, root, settings, full=True)
    return index, sum(index.report.seconds.values())


def report(title: str, cases: Sequence[Case], embedder: Embedder | None, ablate: bool) -> None:
    lines = sum(info.lines for case in cases for info in case.index.files.values())
    seconds = sum(case.seconds for case in cases)
    print(f"\n{title}: {', '.join(case.name for case in cases)}")
    print(f"instant index: {lines:,} lines in {seconds:.1f} s, {lines / seconds:,.0f} lines/s")
    print(f"{'method':34s}   R@1   R@5  R@10   MRR  ms (p50)")
    names = [*(baselines if embedder else ("plain BM25",)), "ours, instant"]
    names += ["ours, full"] * bool(embedder) + ["ours, instant + history"] * any(case.history for case in cases)
    methods_of = {case.name: methods(case, embedder) for case in cases}
    for name in names:
        row(name, [(case, methods_of[case.name][name]) for case in cases])
    if ablate:
        for left_out in contributions(cases):
            row(f"ours without {left_out}", [(case, ours(case, left_out)) for case in cases])


def row(name: str, pairs: Sequence[tuple[Case, Method]]) -> None:
    """Macro means over the repositories."""
    figures, times = [], []
    for case, method in pairs:
        ranks = []
        for number, query in enumerate(case.queries):
            began = time.perf_counter()
            rows = method(query)
            times.append(time.perf_counter() - began)
            ranks.append(case.rank_of_right(number, rows))
        hits = [np.mean([r is not None and r <= k for r in ranks]) for k in (1, 5, 10)]
        figures.append([*hits, np.mean([1 / r if r else 0.0 for r in ranks])])
    means = " ".join(f"{value:5.3f}" for value in np.mean(figures, axis=0))
    print(f"{name:34s} {means}  {1000 * statistics.median(times):6.1f}", flush=True)


baselines = ("plain BM25", "MiniLM alone", "reciprocal rank fusion", "70 % Jaccard + 30 % MiniLM")


def methods(case: Case, embedder: Embedder | None) -> dict[str, Method]:
    found: dict[str, Method] = {"plain BM25": lambda query: plain_bm25(case.index, query)}
    found["ours, instant"] = lambda query: rows_of(case.index, search(case.index, query, DEPTH).hits)
    found["ours, instant + history"] = ours(case, "", history=True)
    if embedder is not None:
        fill_vectors(case.index, embedder, lambda progress: None, threading.Event(), EmbeddingPause())
        vectors = vectors_of(case.index, embedder).in_time(case.index, range(len(case.index.chunks)), 1e9)[1]

        def minilm(query: str) -> list[int]:
            return np.argsort(-(vectors @ embedder.embed([query], query=True)[0]), kind="stable").tolist()

        def fused(query: str) -> list[int]:
            pairs = reciprocal_rank_fusion([plain_bm25(case.index, query)[:200], minilm(query)[:200]])
            return [row for row, _ in pairs]

        found |= {"MiniLM alone": minilm, "reciprocal rank fusion": fused}
        found["70 % Jaccard + 30 % MiniLM"] = lambda query: jaccard_rerank(case.index, query, vectors, embedder)
        found["ours, full"] = lambda query: rows_of(
            case.index, search(case.index, query, DEPTH, embedder=embedder).hits
        )
    return found


def plain_bm25(index: Index, query: str, k1: float = 1.2, b: float = 0.75) -> list[int]:
    """Okapi BM25 over the words of the chunks, nothing else."""
    body = index.lexical.fields["body"]
    scores = np.zeros(len(index.lexical), np.float32)
    norm = k1 * (1 - b + b * body.lengths / body.lengths.mean())
    for token in dict.fromkeys(token for word in words(query) for token in expand(word)):
        if token in index.lexical.tokens:
            rows, counts = body.of(index.lexical.tokens[token])
            scores[rows] += bm25.idf(len(rows), len(scores)) * counts * (k1 + 1) / (counts + norm[rows])
    return np.argsort(-scores, kind="stable").tolist()


def jaccard_rerank(index: Index, query: str, vectors: np.ndarray, embedder: Embedder) -> list[int]:
    """The nearest OVERFETCH passages, ordered by .7 × Jaccard similarity of the word sets + .3 × cosine."""
    cosine = vectors @ embedder.embed([query], query=True)[0]
    nearest = np.argsort(-cosine, kind="stable")[:OVERFETCH]
    query_words = {word.lower() for word in words(query)}
    passage_words = [{word.lower() for word in words(index.chunks[int(row)].text)} for row in nearest]
    shared = [len(query_words & other) / max(1, len(query_words | other)) for other in passage_words]
    return nearest[np.argsort(-(0.7 * np.array(shared) + 0.3 * cosine[nearest]), kind="stable")].tolist()


def ours(case: Case, left_out: str, history: bool = False) -> Method:
    """The instant ranking without one contribution, and with the history of the case if wanted."""
    lexical = case.index.lexical
    commits = [Commit("", subject, tuple(paths), 0) for subject, paths in case.history if len(paths) <= MOST_PATHS]
    built = commit_index.build(commits)
    past = open_history(built, lexical.file_numbers) if history else None
    everything = np.ones(len(lexical), bool)

    def method(query: str) -> list[int]:
        found = ranking(lexical, case.index.chunks, parse(query), everything, past)
        if found is None:
            return []
        for name in [name for name in found.passages if name == left_out and len(found.passages) > 1]:
            del found.passages[name]
        for name in [name for name in found.files if f"file: {name}" == left_out]:
            del found.files[name]
        return rows_of(case.index, listed(case.index, found, DEPTH)[0])

    return method


def contributions(cases: Sequence[Case]) -> list[str]:
    """The names of everything that adds to a score on the first queries."""
    names: dict[str, None] = {}
    for case in cases:
        for query in case.queries[:20]:
            for hit in search(case.index, query, DEPTH).hits:
                names |= dict.fromkeys(hit.why)
    return sorted(names.keys() - {"same file"})


def rows_of(index: Index, hits: Sequence) -> list[int]:
    """The row numbers of hits."""
    result = []
    for hit in hits:
        rows = index.lexical.rows_of_file(hit.chunk.path).tolist()
        result.append(next(row for row in rows if index.chunks[row].id == hit.chunk.id))
    return result


def reciprocal_rank_fusion(rankings: Sequence[Sequence[int]], k: float = 60.0) -> list[tuple[int, float]]:
    """Fuse rankings by Σ 1/(k + rank), rank counted from 1.

    Cormack, Clarke and Büttcher, "Reciprocal Rank Fusion outperforms Condorcet and individual Rank Learning Methods",
    SIGIR 2009.

    Args:
        rankings: items, best first; one that occurs twice in a ranking counts once, at its first place.
        k: the larger, the less the first ranks weigh.

    Returns:
        Items with their scores, best first; ties in order of first appearance.
    """
    scores: dict[int, float] = {}
    for ranked in rankings:
        for rank, item in enumerate(dict.fromkeys(ranked), start=1):
            scores[item] = scores.get(item, 0.0) + 1.0 / (k + rank)
    return sorted(scores.items(), key=lambda pair: -pair[1])


if __name__ == "__main__":
    main()
