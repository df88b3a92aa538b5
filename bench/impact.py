"""Impact: recall@10 of the files that real commits had to touch, against two baselines in the same run; and speed.

    python -m bench.impact QUERIES_DIR CORPORA_DIR [--models HOME] [--speed LINES]

QUERIES_DIR holds NAME.jsonl ({"changed", "symbols", "gold"} a line), CORPORA_DIR/NAME the repository before them.
Baselines: `similar`, the files whose MiniLM vector of their beginning is nearest;
`neighbours`, the files that import it or that it imports, then theirs. `--models` is a data directory with MiniLM
installed. `--speed` also times the graph and the reports on a tree of that many lines of installed packages, see
graph_speed.py.
"""

from __future__ import annotations

import argparse
import json
import tempfile
from collections.abc import Callable, Sequence
from pathlib import Path

import numpy as np

from bench.graph_speed import print_speed
from bench.instant_index import instant_index_of
from repopilot.agents.impact.assess import assess
from repopilot.agents.impact.change import Change
from repopilot.agents.impact.codebase import codebase_of
from repopilot.code.graph.graph import Edge, Graph
from repopilot.index.embed import Embedder, Embedders
from repopilot.index.store import Index
from repopilot.repo.snapshot import open_source
from repopilot.repo.source import parse_source
from repopilot.settings import Settings

_K = 10
Ranker = Callable[[dict], Sequence[str]]


def main() -> None:
    arguments = _arguments()
    with tempfile.TemporaryDirectory() as home:
        settings = Settings(home=Path(home))
        embedder = Embedders().choose(Settings(home=arguments.models)) if arguments.models else None
        rows = {}
        for file in sorted(arguments.queries.glob("*.jsonl")):
            rows[file.stem] = _measured(file, arguments.corpora / file.stem, settings, embedder)
        _print_table(rows)
        if arguments.speed:
            print_speed(arguments.speed, Path(home))


def _arguments() -> argparse.Namespace:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("queries", type=Path)
    parser.add_argument("corpora", type=Path)
    parser.add_argument("--models", type=Path)
    parser.add_argument("--speed", type=int, default=0, metavar="LINES")
    return parser.parse_args()


def _measured(file: Path, root: Path, settings: Settings, embedder: Embedder | None) -> dict[str, list[float]]:
    """Recall@10 of every query by method."""
    index = instant_index_of(open_source(parse_source(str(root)), settings), settings)
    rankers: dict[str, Ranker] = {"ours": lambda query: _ours(index, query), "neighbours": _neighbours(index)}
    if embedder is not None:
        rankers["similar"] = _similar(index, embedder)
    queries = [json.loads(line) for line in file.read_text("utf-8").splitlines()]
    known = [query for query in queries if query["changed"] in index.files]
    return {name: [_recall(ranker(query), query["gold"]) for query in known] for name, ranker in rankers.items()}


def _recall(ranked: Sequence[str], gold: Sequence[str]) -> float:
    return len(set(ranked[:_K]) & set(gold)) / len(gold)


def _ours(index: Index, query: dict) -> list[str]:
    names = sorted({s.qualified for s in index.outline(query["changed"]) if s.name in query["symbols"]})
    report = assess(index, [Change(query["changed"], tuple(names), whole=not names)])
    return [item.path for item in report.ranked]


def _neighbours(index: Index) -> Ranker:
    graph = codebase_of(index).graph

    def ranked(query: dict) -> list[str]:
        seen, frontier = [graph.by_path[query["changed"]]], [graph.by_path[query["changed"]]]
        while frontier and len(seen) <= _K:
            frontier = sorted({n for node in frontier for n in _imports(graph, node)} - set(seen))
            seen += frontier
        return [graph.nodes[n].path for n in seen[1:]]

    return ranked


def _imports(graph: Graph, node: int) -> list[int]:
    both = (*graph.outgoing(node, (Edge.IMPORTS,)), *graph.incoming(node, (Edge.IMPORTS,)))
    return [link.node for link in both]


def _similar(index: Index, embedder: Embedder) -> Ranker:
    paths = list(index.files)
    vectors = embedder.embed([index.text(path) or " " for path in paths])

    def ranked(query: dict) -> list[str]:
        scores = vectors @ vectors[paths.index(query["changed"])]
        return [paths[n] for n in np.argsort(-scores, kind="stable") if paths[n] != query["changed"]]

    return ranked


def _print_table(rows: dict[str, dict[str, list[float]]]) -> None:
    methods = list(next(iter(rows.values())))
    print(f"{'recall@10':12s} {'queries':>8s} " + " ".join(f"{m:>11s}" for m in methods))
    for name, found in rows.items():
        print(f"{name:12s} {len(found['ours']):8d} " + " ".join(f"{np.mean(found[m]):11.3f}" for m in methods))
    pooled = {m: float(np.mean([r for found in rows.values() for r in found[m]])) for m in methods}
    print(f"{'all':12s} {'':8s} " + " ".join(f"{pooled[m]:11.3f}" for m in methods))
    best = max(value for method, value in pooled.items() if method != "ours")
    print(f"ours / better baseline: {pooled['ours'] / best:.2f}")


if __name__ == "__main__":
    main()
