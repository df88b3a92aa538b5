"""How central the nodes of a code graph are: PageRank along dependencies. Pure."""

from __future__ import annotations

import numpy as np

from repopilot.code.graph.graph import DEPENDING, Graph

_DAMPING = 0.85
_ROUNDS = 30


def page_rank(graph: Graph) -> np.ndarray:
    """The PageRank of every node, float (nodes,), with a mean of 1: rank flows from dependents to their dependencies.

    A node's rank is divided among its edges in proportion to their confidence.
    """
    size = len(graph.nodes)
    if not size:
        return np.zeros(0)
    chosen = np.isin(graph.kinds, [int(kind) for kind in DEPENDING])
    sources = graph.sources[chosen]
    targets = graph.targets[chosen]
    weights = graph.confidence[chosen].astype(np.float64)
    out = np.bincount(sources, weights, size)
    shares = weights / out[sources]
    rank = np.full(size, 1.0)
    for _ in range(_ROUNDS):
        flow = np.bincount(targets, shares * rank[sources], size)
        lost = rank[out == 0].sum() / size
        rank = (1 - _DAMPING) + _DAMPING * (flow + lost)
    return rank
