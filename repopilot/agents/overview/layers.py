"""Which uses between components lead down from layer to layer, and which close cycles. Pure."""

from __future__ import annotations

from collections import Counter
from collections.abc import Collection, Iterable, Mapping
from itertools import product

import numpy as np

from repopilot.agents.overview.overview_values import ComponentUse

MOST = 0.7
FEWEST_USERS = 3


def cycles(size: int, uses: Iterable[ComponentUse]) -> tuple[tuple[int, ...], ...]:
    """Groups of components that reach each other, by their numbers."""
    reaches = np.eye(size, dtype=bool)
    for use in uses:
        reaches[use.source, use.target] = True
    for middle in range(size):  # Warshall's transitive closure
        reaches |= np.outer(reaches[:, middle], reaches[middle])
    mutual = reaches & reaches.T
    found = {tuple(np.flatnonzero(row).tolist()) for row in mutual}
    return tuple(sorted(group for group in found if len(group) > 1))


def shared(size: int, uses: Collection[ComponentUse]) -> set[int]:
    """The components that at least MOST of the others use, such as errors and utilities."""
    users = Counter(use.target for use in uses)
    return {number for number, by in users.items() if by >= max(FEWEST_USERS, MOST * (size - 1))}


def layered(uses: Mapping[tuple[int, int], int]) -> tuple[list[tuple[int, int]], set[tuple[int, int]]]:
    """Choose the uses that lead down a picture of layers.

    Args:
        uses: how often one component uses another, by (user, used).

    Returns:
        The uses that close no cycle, the heaviest chosen first; and the pairs that a longer path along them connects.
    """
    kept: list[tuple[int, int]] = []
    ways: set[tuple[int, int]] = set()
    for source, target in sorted(uses, key=lambda pair: -uses[pair]):
        if (target, source) not in ways:
            kept.append((source, target))
            above = {source, *(a for a, b in ways if b == source)}
            below = {target, *(b for a, b in ways if a == target)}
            ways.update(product(above, below))
    return kept, {(source, end) for source, target in kept for start, end in ways if start == target}
