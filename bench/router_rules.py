"""The contribution of each rule of the router: `python -m bench.router_rules FILE.jsonl…` ({"query", "intent"} a line).

Prints for every rule the change of accuracy, missed and false refusals without it, in a five-fold cross-validation of
the fused decision, repeated with two seeds; `bench/data/routing_train.jsonl` is always read. N-grams and vectors are
reduced to their main components, so that it takes minutes. A rule whose removal costs nothing can be deleted: the
classifier knows it already. Retrain after that (`python -m bench.train_router`).
"""

from __future__ import annotations

import sys
from pathlib import Path

import numpy as np
from sklearn.decomposition import TruncatedSVD
from sklearn.linear_model import LogisticRegression
from sklearn.model_selection import StratifiedKFold

from bench.train_router import OWN, load
from repopilot.index.embed import Embedders
from repopilot.intents import ids
from repopilot.routing.classifier import RULES_WEIGHT, features
from repopilot.routing.features import evidence, scores
from repopilot.routing.normalize import LEXICAL_BUCKETS, read
from repopilot.routing.patterns import RULES
from repopilot.settings import Settings

COMPONENTS = 300


def main() -> None:
    examples = [e for path in (OWN, *map(Path, sys.argv[1:])) for e in load(path)]
    embedder = Embedders().choose(Settings())
    if embedder is None:
        raise SystemExit("The embedding model is needed: repopilot models pull minilm")
    readings = [read(e["query"]) for e in examples]
    found = [evidence(reading) for reading in readings]
    rows = np.stack([features(r, f, embedder) for r, f in zip(readings, found, strict=True)])
    labels = np.array([ids().index(e["intent"]) for e in examples])
    ngrams = reduced(rows[:, -LEXICAL_BUCKETS:])
    vectors = reduced(rows[:, : -LEXICAL_BUCKETS - len(found[0])])
    bases = {"dense": np.hstack([ngrams, vectors]), "lexical": ngrams}
    all_rules = {kind: measured(base, labels, found) for kind, base in bases.items()}
    print("all", {kind: values.round(4).tolist() for kind, values in all_rules.items()})
    for name in RULES:
        rest = [without(f, name) for f in found]
        change = {kind: measured(base, labels, rest) - all_rules[kind] for kind, base in bases.items()}
        print(f"{name:16}", {kind: values.round(4).tolist() for kind, values in change.items()}, flush=True)


def reduced(matrix: np.ndarray) -> np.ndarray:
    """The main components of a matrix, float (rows, COMPONENTS)."""
    return TruncatedSVD(COMPONENTS, random_state=0).fit_transform(matrix)


def without(found: dict[str, float], name: str) -> dict[str, float]:
    """The evidence without one rule."""
    rest = found | {name: 0.0}
    return rest | {"change_and_wide": rest["change_verb"] * max(rest["wide"], rest["migrate"])}


def measured(base: np.ndarray, labels: np.ndarray, found: list[dict[str, float]]) -> np.ndarray:
    """Accuracy, missed refusals and false refusals, the latter two as counts, averaged over the seeds."""
    matrix = np.hstack([base, np.array([list(f.values()) for f in found])])
    rules = np.array([[scores(f)[intent] for intent in ids()] for f in found])
    refuse = ids().index("REFUSE")
    total = np.zeros(3)
    for seed in (0, 1):
        predicted = np.empty_like(labels)
        for train, test in StratifiedKFold(5, shuffle=True, random_state=seed).split(matrix, labels):
            fitted = LogisticRegression(C=1.0, max_iter=1000).fit(matrix[train], labels[train])
            predicted[test] = (fitted.predict_log_proba(matrix[test]) + RULES_WEIGHT * rules[test]).argmax(1)
        gold, refused = labels == refuse, predicted == refuse
        total += (predicted == labels).mean(), (gold & ~refused).sum(), (refused & ~gold).sum()
    return total / 2


if __name__ == "__main__":
    main()
