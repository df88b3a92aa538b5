"""The router's classifier: logistic regression over MiniLM vectors, rule evidence and hashed n-grams.

Two sets of weights are shipped, both trained by `bench/train_router.py`: `dense` with the vectors of the raw and of
the stripped question, `lexical` without any, for machines that have no embedding model. Pure but for reading weights.
"""

from __future__ import annotations

import math
from collections.abc import Mapping
from dataclasses import dataclass
from functools import cache
from importlib.resources import files
from typing import TYPE_CHECKING

import numpy as np

from repopilot import intents
from repopilot.routing.features import scores
from repopilot.routing.normalize import LEXICAL_BUCKETS, NormalizedQuestion, fold, lexical_features
from repopilot.types import Intent

if TYPE_CHECKING:
    from repopilot.index.embed import Embedder

VECTOR_SCALE, LEXICAL_SCALE = 4.0, 5.0
RULES_WEIGHT = 0.5
RULES_ONLY_WEIGHT = 1.5
"""The same where the rules alone decide."""
UNTRAINED_CHANCE = 0.05
"""Assumed for an intent of the registry that the weights weren't trained for."""
_WEIGHTS = "weights.npz"
_DIMENSION = 384


@dataclass(frozen=True, slots=True)
class Weights:
    """One row for each of `intents`, those they were trained for; `names` are the rule features they expect."""

    matrix: np.ndarray
    bias: np.ndarray
    names: tuple[str, ...]
    intents: tuple[Intent, ...]


def suits(embedder: Embedder | None) -> bool:
    """The dense weights hold for vectors of all-MiniLM-L6-v2 only, whatever its numeric precision."""
    return embedder is not None and "minilm" in embedder.name.lower() and embedder.dimension == _DIMENSION


def probabilities(
    reading: NormalizedQuestion, found: dict[str, float], embedder: Embedder | None
) -> dict[Intent, float]:
    """The chance of each intent: log-probability of the classifier + RULES_WEIGHT × the rules' score, fused.

    An intent of the registry that the weights weren't trained for counts where rules speak for it.

    Args:
        reading: the normalized question.
        found: its evidence, as `features.evidence` gives it.
        embedder: for the dense weights; without a suitable one the lexical weights are used.

    Returns:
        The chances by intent, highest first; their sum is 1.

    Raises:
        ModelError: the embedder fails.
        ValueError: the shipped weights were trained with rules that no longer exist.
    """
    weights = load("dense" if suits(embedder) else "lexical")
    if not found.keys() >= set(weights.names):
        raise ValueError("weights.npz belongs to other rules: run bench/train_router.py")
    known = {name: found[name] for name in weights.names}
    logits = weights.matrix @ features(reading, known, embedder) + weights.bias
    total = scores(found)
    trained = zip(weights.intents, _log_softmax(logits).tolist(), strict=True)
    fused = {intent: value + RULES_WEIGHT * total[intent] for intent, value in trained if intent in total}
    for intent, score in total.items():
        if intent not in fused and score > 0:
            fused[intent] = math.log(UNTRAINED_CHANCE) + RULES_ONLY_WEIGHT * score
    return _ranked(fused)


def untrained() -> list[Intent]:
    """The intents of the registry that the shipped weights don't know."""
    return [intent for intent in intents.routed() if intent not in load("lexical").intents]


def features(reading: NormalizedQuestion, found: dict[str, float], embedder: Embedder | None) -> np.ndarray:
    """The input of the classifier for one question.

    Args:
        reading: the normalized question.
        found: its evidence, as `features.evidence` gives it.
        embedder: for vectors of the question; None, or another than the classifier was trained with, for none.

    Returns:
        float32, in the order: vectors of raw and core text (when the embedder suits), rule evidence, n-grams.
    """
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
        return Weights(
            matrix,
            stored[f"{kind}_bias"].astype(np.float32),
            tuple(stored["names"].tolist()),
            tuple(stored["intents"].tolist()),
        )


def rules_only(found: dict[str, float]) -> dict[Intent, float]:
    """The chances by the additive scores alone, highest first."""
    return _ranked({intent: RULES_ONLY_WEIGHT * total for intent, total in scores(found).items()})


def _ranked(fused: Mapping[Intent, float]) -> dict[Intent, float]:
    """Log-probabilities as chances that add up to 1, highest first."""
    chances = np.exp(_log_softmax(np.fromiter(fused.values(), np.float64, len(fused)))).tolist()
    return dict(sorted(zip(fused, chances, strict=True), key=lambda pair: -pair[1]))


def _log_softmax(values: np.ndarray) -> np.ndarray:
    shifted = values - values.max()
    return shifted - np.log(np.exp(shifted).sum())
