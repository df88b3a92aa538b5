"""Ranges of different lengths, one after the other. Pure."""

from __future__ import annotations

import numpy as np


def ragged(starts: np.ndarray, sizes: np.ndarray) -> np.ndarray:
    """The numbers from each start on, as many as its size says: [3, 7], [2, 3] → [3, 4, 7, 8, 9]."""
    ends = np.cumsum(sizes)
    return np.repeat(starts - ends + sizes, sizes) + np.arange(ends[-1] if len(ends) else 0)
