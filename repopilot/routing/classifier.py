"""The router's classifier: logistic regression over hashed n-grams.

Learnt from the examples in `bench/data/routing_train.jsonl` by `bench/train_router.py`. Beside the intents it knows two
kinds of follow-ups: `PROCEED` ("go ahead") and `SAME` ("and the other one?"). Vectors of MiniLM beside the n-grams
were measured: they cost 5 ms and change nothing that isn't noise. Pure but for reading weights.
"""

from __future__ import annotations

from dataclasses import dataclass
from functools import cache
from importlib.resources import files

import numpy as np

from repopilot.routing.reading import BUCKETS, masked, ngrams

PROCEED = "PROCEED"
SAME = "SAME"


@dataclass(frozen=True, slots=True)
class Weights:
    """One row of the matrix for each of the labels."""

    matrix: np.ndarray
    bias: np.ndarray
    labels: tuple[str, ...]


def chances(question: str) -> dict[str, float]:
    """The chance of each intent, and of the follow-ups.

    Args:
        question: as the user wrote it.

    Returns:
        The chances by label; their sum is 1.
    """
    weights = load()
    logits = weights.matrix @ features(question) + weights.bias
    raised = np.exp(logits - logits.max())
    return dict(zip(weights.labels, (raised / raised.sum()).tolist(), strict=True))


def features(question: str) -> np.ndarray:
    """The input of the classifier for one question."""
    counted = np.zeros(BUCKETS, np.float32)
    for bucket, value in ngrams(masked(question)).items():
        counted[bucket] = value
    return counted


@cache
def load() -> Weights:
    """The shipped weights: small integers with a scale for each row."""
    with (files(__package__) / "weights.npz").open("rb") as file, np.load(file) as stored:
        return Weights(stored["matrix"] * stored["scale"], stored["bias"], tuple(stored["labels"].tolist()))
