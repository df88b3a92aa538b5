"""A language model of past commits over the tree of paths: which words go with which files and folders. Pure.

Every file and each of its folders has the words of the commits that changed it. A folder's words smooth those of what
is in it, from the root down, as in hierarchical Dirichlet smoothing (MacKay and Peto, "A hierarchical Dirichlet
language model", Natural Language Engineering 1995):

    P(word | node) = (count + μ·P(word | parent)) / (all counts of the node + μ)

It learns scopes: `fix(worker)` goes with packages/backend. What a query needs of it is ln P(word | node)/P(word |
root), the sum of a term of the node alone (`base`) and of a `gain` for each word that was counted on the way down.
"""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass

import numpy as np

from repopilot.index.ragged import ragged

MU = 100.0
"""How many counts of a node weigh as much as what its folder says. Larger than usual: with 1 a file with a long past
loses to one without for every word it was never changed with."""
BLOCK = 1 << 20
"""How many counts are added up at a time, which bounds the memory of building."""


@dataclass(frozen=True, slots=True, eq=False)
class PathTree:
    """The model over n nodes (files and folders) and t tokens.

    Attributes:
        levels: int64 (depths + 1,): the nodes of depth d are `levels[d]` to `levels[d + 1]`; the root is node 0.
        parents: int32 (n,).
        base: float32 (n,): Σ ln(μ/(all counts + μ)) from the root down.
        root: float32 (t,): ln P(token | root).
        starts: int64 (t + 1,): the gains of token k are `starts[k]` to `starts[k + 1]`.
        nodes: int32: the node of each gain.
        gains: float32.
    """

    levels: np.ndarray
    parents: np.ndarray
    base: np.ndarray
    root: np.ndarray
    starts: np.ndarray
    nodes: np.ndarray
    gains: np.ndarray


@dataclass(frozen=True, slots=True, eq=False)
class Paths:
    """The nodes of a tree: their `names` in order ('' for the root); `parents` and `levels` as in `PathTree`."""

    names: list[str]
    parents: np.ndarray
    levels: np.ndarray


def paths_of(files: Iterable[str]) -> Paths:
    """The tree of some files and all their folders."""
    known = {""}
    for path in files:
        while path not in known:
            known.add(path)
            path = path.rpartition("/")[0]
    names = sorted(known, key=lambda name: (_depth(name), name))
    numbers = {name: number for number, name in enumerate(names)}
    parents = np.array([numbers[name.rpartition("/")[0]] for name in names], np.int32)
    sizes = np.bincount([_depth(name) for name in names])
    return Paths(names, parents, np.concatenate(([0], np.cumsum(sizes))).astype(np.int64))


def _depth(name: str) -> int:
    return name.count("/") + 1 if name else 0


def build(paths: Paths, size: int, words: tuple[np.ndarray, ...], touched: tuple[np.ndarray, ...]) -> PathTree:
    """Count and smooth.

    Args:
        paths: the tree.
        size: how many tokens there are.
        words: the words of c commits: starts int64 (c + 1,), and for each word its token and its weight.
        touched: the files of the same commits: starts int64 (c + 1,), and for each file its node.

    Returns:
        The model. A word counts on each file of its commit with its weight divided by √files.
    """
    keys, counts = _count(size, words, touched)
    levels = _with_folders(paths, size, keys, counts)
    totals = np.zeros(len(paths.names), np.float64)
    for level_keys, level_counts in levels:
        totals += np.bincount(level_keys // max(size, 1), level_counts, minlength=len(totals))
    root = np.full(size, -np.inf)
    root_keys, root_counts = levels[0]
    root[root_keys] = np.log(root_counts / max(totals[0], 1e-9))
    starts, nodes, gains = _gains(paths, size, levels, totals)
    return PathTree(
        levels=paths.levels,
        parents=paths.parents,
        base=pushed_down(paths, np.where(np.arange(len(totals)) > 0, np.log(MU / (totals + MU)), 0)).astype(np.float32),
        root=root.astype(np.float32),
        starts=starts,
        nodes=nodes,
        gains=gains,
    )


def pushed_down(tree: Paths | PathTree, values: np.ndarray) -> np.ndarray:
    """float (n,): for each node the sum of the values, float (n,), from the root down to it."""
    result = np.array(values)
    for first, end in zip(tree.levels[1:-1].tolist(), tree.levels[2:].tolist(), strict=True):
        result[first:end] += result[tree.parents[first:end]]
    return result


def _count(size: int, words: tuple[np.ndarray, ...], touched: tuple[np.ndarray, ...]) -> tuple[np.ndarray, np.ndarray]:
    """Ascending keys node·size + token, and their counts, of the changed files themselves."""
    (word_starts, tokens, weights), (file_starts, nodes) = words, touched
    files = np.diff(file_starts)
    commits = np.repeat(np.arange(len(files)), files)
    sizes = np.diff(word_starts)[commits]
    share = 1 / np.sqrt(np.maximum(files, 1))
    ends = np.cumsum(sizes)
    cuts = np.searchsorted(ends, np.arange(BLOCK, (ends[-1] if len(ends) else 0) + BLOCK, BLOCK))
    blocks, first = [_summed(np.empty(0, np.int64), np.empty(0))], 0
    for end in np.unique(cuts + 1).tolist():
        pairs, first = slice(first, end), end
        places = ragged(word_starts[commits[pairs]], sizes[pairs])
        keys = np.repeat(nodes[pairs].astype(np.int64), sizes[pairs]) * size + tokens[places]
        blocks.append(_summed(keys, weights[places] * np.repeat(share[commits[pairs]], sizes[pairs])))
    return _summed(*(np.concatenate(part) for part in zip(*blocks, strict=True)))


def _summed(keys: np.ndarray, counts: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
    """Distinct keys, ascending, and the sum of the counts of each."""
    if not len(keys):
        return keys, counts
    order = np.argsort(keys)
    keys = keys[order]
    first = np.flatnonzero(np.concatenate(([True], keys[1:] != keys[:-1])))
    return keys[first], np.add.reduceat(counts[order], first)


def _with_folders(paths: Paths, size: int, keys: np.ndarray, counts: np.ndarray) -> list[tuple[np.ndarray, np.ndarray]]:
    """Keys and counts by depth; what is counted on a node is counted on its folder too."""
    depths = len(paths.levels) - 1
    bounds = np.searchsorted(keys, paths.levels * size)
    found = [(keys[:0], counts[:0])] * depths
    for depth in range(depths - 1, -1, -1):
        own = slice(bounds[depth], bounds[depth + 1])
        level = keys[own], counts[own]
        if depth + 1 < depths:
            below, below_counts = found[depth + 1]
            nodes, tokens = np.divmod(below, max(size, 1))
            lifted = paths.parents[nodes].astype(np.int64) * size + tokens
            level = np.concatenate((level[0], lifted)), np.concatenate((level[1], below_counts))
        found[depth] = _summed(*level)
    return found


def _gains(
    paths: Paths, size: int, levels: list[tuple[np.ndarray, np.ndarray]], totals: np.ndarray
) -> tuple[np.ndarray, np.ndarray, np.ndarray]:
    """Starts by token, nodes and gains: ln(1 + count/(μ·P(token | parent))), without those of the root."""
    above, probabilities = levels[0][0], levels[0][1] / max(totals[0], 1e-9)
    tokens, nodes, gains = [np.empty(0, np.int64)], [np.empty(0, np.int64)], [np.empty(0)]
    for keys, counts in levels[1:]:
        level_nodes, level_tokens = np.divmod(keys, max(size, 1))
        # What is counted on a node is counted on its parent, so that the parent's key is there.
        parents = paths.parents[level_nodes].astype(np.int64) * size + level_tokens
        smoothed = MU * probabilities[np.searchsorted(above, parents)]
        tokens.append(level_tokens)
        nodes.append(level_nodes)
        gains.append(np.log1p(counts / smoothed))
        above, probabilities = keys, (counts + smoothed) / (totals[level_nodes] + MU)
    all_tokens = np.concatenate(tokens)
    order = np.argsort(all_tokens, kind="stable")
    starts = np.concatenate(([0], np.cumsum(np.bincount(all_tokens, minlength=size)))).astype(np.int64)
    return starts, np.concatenate(nodes)[order].astype(np.int32), np.concatenate(gains)[order].astype(np.float32)
