"""Measures RepoPilot, bm25s, ripgrep, semble and LlamaIndex with Chroma on the same questions, in one run.

    pip install -r requirements.txt -r bench/requirements-peers.txt
    python -m bench.peers DATA [--only NAME …] [--programs NAME …] [--kinds NAME …] [--most N] [--home DIR]
                          [--json FILE]

DATA holds NAME/tree, NAME/questions.jsonl, … as bench/datasets makes them. Each kind of query has its own figures, see
measures.py; they are means over the repositories. `--most` takes at most N queries of a kind from a repository, evenly
spread. `--home` has the weights of MiniLM (`REPOPILOT_HOME=DIR repopilot models pull minilm`). Index seconds are summed
over the trees, without loading the model; query times are over all queries.
"""

from __future__ import annotations

import argparse
import json
import statistics
import tempfile
import time
from collections.abc import Iterator, Sequence
from dataclasses import dataclass, field
from pathlib import Path

import numpy as np

from bench.peers.measures import KINDS, Query, figures_of, queries_of
from bench.peers.programs import PROGRAMS, Tools, Tree
from repopilot.index.embed import Embedders
from repopilot.settings import Settings

DEPTH = 50
"""Places asked of every program."""


@dataclass
class Tally:
    """What one program did: figures by kind and repository, seconds of every index, milliseconds of every query."""

    figures: dict[str, dict[str, dict[str, float]]] = field(default_factory=dict)
    index_seconds: list[float] = field(default_factory=list)
    query_ms: list[float] = field(default_factory=list)


def main() -> None:
    arguments = _arguments()
    tallies: dict[str, Tally] = {name: Tally() for name in arguments.programs}
    with tempfile.TemporaryDirectory() as scratch:
        settings = Settings(_env_file=None, home=arguments.home or Path(scratch))  # type: ignore[call-arg]
        embedder = Embedders().choose(settings)
        if embedder is None:
            print(f"No embedding model in {settings.home}: programs that need one are left out.")
        else:
            embedder.embed(["warm"])
        for tree, queries in _work(arguments):
            for name in list(tallies):
                try:
                    _measure(name, tree, queries, tallies[name], Tools(embedder, Path(scratch) / name))
                except ImportError as error:
                    print(f"{name} is left out: {error}")
                    del tallies[name]
            print(f"measured {tree.name}: {', '.join(sorted({query.kind for query in queries}))}", flush=True)
    for kind in arguments.kinds:
        _report(kind, tallies)
    _report_times(tallies)
    if arguments.json:
        arguments.json.write_text(json.dumps({name: vars(tally) for name, tally in tallies.items()}, indent=1))


def _arguments() -> argparse.Namespace:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("data", type=Path)
    parser.add_argument("--only", nargs="*")
    parser.add_argument("--programs", nargs="*", default=list(PROGRAMS), choices=PROGRAMS)
    parser.add_argument("--kinds", nargs="*", default=list(KINDS), choices=KINDS)
    parser.add_argument("--most", type=int)
    parser.add_argument("--home", type=Path)
    parser.add_argument("--json", type=Path)
    return parser.parse_args()


def _work(arguments: argparse.Namespace) -> Iterator[tuple[Tree, list[Query]]]:
    """Every tree with all queries on it."""
    for folder in sorted(arguments.data.iterdir()):
        if not folder.is_dir() or (arguments.only and folder.name not in arguments.only):
            continue
        by_tree: dict[tuple[str, str], list[Query]] = {}
        for kind in arguments.kinds:
            tree, history, queries = queries_of(folder, kind, arguments.most)
            if queries:
                by_tree.setdefault((tree, history), []).extend(queries)
        for (tree, history), queries in by_tree.items():
            yield Tree(folder.name, folder / tree, folder / history), queries


def _measure(name: str, tree: Tree, queries: Sequence[Query], tally: Tally, tools: Tools) -> None:
    search, seconds = PROGRAMS[name](tree, tools)
    tally.index_seconds.append(seconds)
    values: dict[tuple[str, str], list[float]] = {}
    for query in queries:
        began = time.perf_counter()
        found = search(query.text, DEPTH)
        tally.query_ms.append(1000 * (time.perf_counter() - began))
        for figure, value in figures_of(query, found).items():
            values.setdefault((query.kind, figure), []).append(value)
    for (kind, figure), found_values in values.items():
        of_repository = tally.figures.setdefault(kind, {}).setdefault(tree.name, {})
        of_repository[figure] = statistics.mean(found_values)


def _report(kind: str, tallies: dict[str, Tally]) -> None:
    names = KINDS[kind]
    repositories = sorted({name for tally in tallies.values() for name in tally.figures.get(kind, {})})
    if not repositories:
        return
    print(f"\n{kind}: {', '.join(repositories)}")
    print(f"{'program':34s} " + " ".join(f"{name:>12s}" for name in names))
    for program, tally in tallies.items():
        rows = tally.figures.get(kind, {}).values()
        means = [np.mean([row[name] for row in rows if name in row] or [np.nan]) for name in names]
        print(f"{program:34s} " + " ".join(f"{value:12.3f}" for value in means))


def _report_times(tallies: dict[str, Tally]) -> None:
    print(f"\n{'program':34s} {'index s':>10s} {'p50 ms':>10s} {'p95 ms':>10s}")
    for program, tally in tallies.items():
        if tally.query_ms:
            p50, p95 = np.percentile(tally.query_ms, [50, 95])
            print(f"{program:34s} {sum(tally.index_seconds):10.1f} {p50:10.1f} {p95:10.1f}")


if __name__ == "__main__":
    main()
