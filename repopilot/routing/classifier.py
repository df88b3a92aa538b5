"""The router's classifier: logistic regression over MiniLM vectors, rule evidence and hashed n-grams.

Two sets of weights are shipped, both trained by `bench/train_router.py`: `dense` with the vectors of the raw and of
the stripped question, `lexical` without any, for machines that have no embedding model. Pure but for reading weights.
"""

from __future__ import annotations

from dataclasses import dataclass
from functools import cache
from importlib.resources import files
from typing import TYPE_CHECKING

import numpy as np

from repopilot.routing.features import INTENTS, scores
from repopilot.routing.normalize import LEXICAL_BUCKETS, NormalizedQuestion, fold, lexical_features
from repopilot.types import Intent

if TYPE_CHECKING:
    from repopilot.index.embed import Embedder

VECTOR_SCALE, LEXICAL_SCALE = 4.0, 5.0
RULES_WEIGHT = 0.5
_WEIGHTS = "weights.npz"
_DIMENSION = 384


@dataclass(frozen=True, slots=True)
class Weights:
    """One row an intent, in the order of INTENTS; `names` are the rule features they were trained on."""

    matrix: np.ndarray
    bias: np.ndarray
    names: tuple[str, ...]


def suits(embedder: Embedder | None) -> bool:
    """The dense weights hold for vectors of all-MiniLM-L6-v2 only, whatever its numeric precision."""
    return embedder is not None and "minilm" in embedder.name.lower() and embedder.dimension == _DIMENSION


def probabilities(
    reading: NormalizedQuestion, found: dict[str, float], embedder: Embedder | None
) -> dict[Intent, float]:
    """The chance of each intent, highest first: log-probability of the classifier + RULES_WEIGHT × the rules' score.

    Raises ModelError when the embedder fails, ValueError when the shipped weights don't belong to these rules.
    """
    weights = load("dense" if suits(embedder) else "lexical")
    if weights.names != tuple(found):
        raise ValueError("weights.npz belongs to other rules: run bench/train_router.py")
    logits = weights.matrix @ features(reading, found, embedder) + weights.bias
    fused = _log_softmax(logits) + RULES_WEIGHT * np.array([scores(found)[intent] for intent in INTENTS])
    chances = np.exp(_log_softmax(fused))
    order = np.argsort(-chances)
    return {INTENTS[at]: float(chances[at]) for at in order}


def features(reading: NormalizedQuestion, found: dict[str, float], embedder: Embedder | None) -> np.ndarray:
    """float32, in the order: vectors of raw and core text (when the embedder suits), rule evidence, n-grams."""
    lexical = np.zeros(LEXICAL_BUCKETS, np.float32)
    for bucket, value in lexical_features(reading).items():
        lexical[bucket] = value * LEXICAL_SCALE
    parts = [np.fromiter(found.values(), np.float32), lexical]
    if embedder is not None and suits(embedder):
        same = fold(" ".join(reading.raw.split())) == reading.core  # the model folds case and accents too
        vectors = embedder.embed([reading.raw or " "] if same else [reading.raw or " ", reading.core or " "])
        parts.insert(0, np.concatenate([vectors[0], vectors[-1]]).astype(np.float32) * VECTOR_SCALE)
    return np.concatenate(parts)


@cache
def load(kind: str) -> Weights:
    """The shipped weights `dense` or `lexical`."""
    with (files(__package__) / _WEIGHTS).open("rb") as file, np.load(file) as stored:
        matrix = stored[f"{kind}_matrix"].astype(np.float32)
        return Weights(matrix, stored[f"{kind}_bias"].astype(np.float32), tuple(stored["names"].tolist()))


def rules_only(found: dict[str, float]) -> dict[Intent, float]:
    """The chances by the additive scores alone, highest first."""
    total = scores(found)
    chances = np.exp(_log_softmax(np.array([1.5 * total[intent] for intent in INTENTS])))
    return dict(sorted(zip(INTENTS, chances.tolist(), strict=True), key=lambda pair: -pair[1]))


def _log_softmax(values: np.ndarray) -> np.ndarray:
    shifted = values - values.max()
    return shifted - np.log(np.exp(shifted).sum())
