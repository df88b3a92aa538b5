"""Vectors of length 1, as the search compares them."""

from __future__ import annotations

import numpy as np


def normalise(vectors: np.ndarray) -> np.ndarray:
    """Scale vectors to length 1.

    Args:
        vectors: (…, dimension).

    Returns:
        float32 of the same shape; a vector of zeros stays one.
    """
    length = np.linalg.norm(vectors, axis=-1, keepdims=True)
    return (vectors / np.maximum(length, 1e-12)).astype(np.float32)
