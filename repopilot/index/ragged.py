"""Arrays of parts of different lengths: the places where the parts begin, and the numbers of some parts. Pure."""

from __future__ import annotations

import numpy as np


def starts_of(sizes: np.ndarray) -> np.ndarray:
    """int64 (n + 1,): where parts of these sizes begin one after the other, and where the last one ends."""
    return np.concatenate(([0], np.cumsum(sizes))).astype(np.int64)


def parts(starts: np.ndarray, numbers: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
    """The places of some parts, one part after the other, and the size of each.

    The parts 1 and 2 of [0, 3, 5, 9] have the places [3, 4, 5, 6, 7, 8] and the sizes [2, 4].

    Args:
        starts: as `starts_of` gives them.
        numbers: int (k,), which parts.
    """
    sizes = starts[numbers + 1] - starts[numbers]
    before = np.cumsum(sizes) - sizes
    return np.repeat(starts[numbers] - before, sizes) + np.arange(sizes.sum()), sizes
