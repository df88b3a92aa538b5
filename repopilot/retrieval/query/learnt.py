"""Classifiers of questions: logistic regression over hashed n-grams, trained by bench/train_router.py.

MiniLM vectors in addition to the n-grams were measured: they cost 5 ms and change nothing beyond noise. Pure except for
reading the shipped weights.
"""

from __future__ import annotations

from dataclasses import dataclass
from functools import cache
from importlib.resources import files

import numpy as np

from repopilot.retrieval.query.reading import masked, ngrams


@dataclass(frozen=True, slots=True)
class Weights:
    """The weights of a classifier: one row of the matrix for each label."""

    matrix: np.ndarray
    bias: np.ndarray
    labels: tuple[str, ...]


def chances(question: str, package: str) -> dict[str, float]:
    """The probability of each label.

    Args:
        question: as the user wrote it.
        package: whose weights to use.

    Returns:
        The probabilities by label; their sum is 1.
    """
    weights = load(package)
    counted = ngrams(masked(question))
    logits = weights.matrix[:, list(counted)] @ np.array(list(counted.values()), np.float32) + weights.bias
    raised = np.exp(logits - logits.max())
    return dict(zip(weights.labels, (raised / raised.sum()).tolist(), strict=True))


@cache
def load(package: str) -> Weights:
    """The shipped weights of a package: small integers with a scale for each row."""
    with (files(package) / "weights.npz").open("rb") as file, np.load(file) as stored:
        return Weights(stored["matrix"] * stored["scale"], stored["bias"], tuple(stored["labels"].tolist()))
