"""Arrays of parts of different lengths: the places where the parts begin, and the numbers of some parts. Pure."""

from __future__ import annotations

import numpy as np


def starts_of(sizes: np.ndarray) -> np.ndarray:
    """int64 (n + 1,): where parts of these sizes begin one after the other, and where the last one ends."""
    return np.concatenate(([0], np.cumsum(sizes))).astype(np.int64)


def parts(starts: np.ndarray, numbers: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
    """The places of some parts, one part after the other, and the size of each.

    Args:
        starts: as `starts_of` gives them.
        numbers: int (k,), which parts.
    """
    sizes = starts[numbers + 1] - starts[numbers]
    return ragged(starts[numbers], sizes), sizes


def ragged(starts: np.ndarray, sizes: np.ndarray) -> np.ndarray:
    """The numbers from each start on, as many as its size says: [3, 7], [2, 3] → [3, 4, 7, 8, 9]."""
    ends = np.cumsum(sizes)
    return np.repeat(starts - ends + sizes, sizes) + np.arange(ends[-1] if len(ends) else 0)
