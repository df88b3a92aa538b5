"""Train the router's weights (repopilot/routing/weights.npz): `python -m bench.train_router FILE.jsonl… [--check]`.

Each line is {"query", "intent"}. `bench/data/routing_train.jsonl` is always read. `--check` only prints the accuracy of
an eight-fold cross-validation, for choosing between recipes without touching held-out data.
"""

from __future__ import annotations

import argparse
import json
from pathlib import Path

import numpy as np
from sklearn.linear_model import LogisticRegression
from sklearn.model_selection import StratifiedKFold

from repopilot.index.embed import Embedders
from repopilot.intents import ids
from repopilot.routing.classifier import RULES_WEIGHT, features
from repopilot.routing.features import evidence, scores
from repopilot.routing.normalize import read
from repopilot.settings import Settings

OWN = Path(__file__).parent / "data" / "routing_train.jsonl"
OUT = Path(__file__).parents[1] / "repopilot" / "routing" / "weights.npz"


def main() -> None:
    arguments = argparse.ArgumentParser(description=__doc__)
    arguments.add_argument("files", nargs="*", type=Path)
    arguments.add_argument("--check", action="store_true", help="cross-validate, write nothing")
    options = arguments.parse_args()
    examples = [e for path in (OWN, *options.files) for e in load(path)]
    embedder = Embedders().choose(Settings())
    if embedder is None:
        raise SystemExit("The embedding model is needed: repopilot models pull minilm")
    readings = [read(e["query"]) for e in examples]
    found = [evidence(r) for r in readings]
    trained = [intent for intent in ids() if any(e["intent"] == intent for e in examples)]
    labels = np.array([trained.index(e["intent"]) for e in examples])
    rules = np.array([[scores(f)[intent] for intent in trained] for f in found])
    stored: dict[str, np.ndarray] = {"names": np.array(list(found[0])), "intents": np.array(trained)}
    for kind, vectors in (("dense", embedder), ("lexical", None)):
        matrix = np.stack([features(r, f, vectors) for r, f in zip(readings, found, strict=True)])
        if options.check:
            print(kind, check(matrix, labels, rules))
            continue
        fitted = regression().fit(matrix, labels)
        stored[f"{kind}_matrix"] = fitted.coef_.astype(np.float16)
        stored[f"{kind}_bias"] = fitted.intercept_.astype(np.float32)
    if not options.check:
        np.savez_compressed(OUT, **stored)
        print(f"{len(examples)} examples -> {OUT.name}, {OUT.stat().st_size // 1024} KB")


def load(path: Path) -> list[dict]:
    return [json.loads(line) for line in path.read_text("utf-8").splitlines() if line.strip()]


def regression() -> LogisticRegression:
    return LogisticRegression(C=1.0, max_iter=500)


def check(matrix: np.ndarray, labels: np.ndarray, rules: np.ndarray) -> float:
    """Accuracy of the fused decision. `rules` are the rules' scores, a row an example."""
    right = []
    for train, test in StratifiedKFold(8, shuffle=True, random_state=0).split(matrix, labels):
        fitted = regression().fit(matrix[train], labels[train])
        chances = fitted.predict_log_proba(matrix[test]) + RULES_WEIGHT * rules[test]
        right.append(chances.argmax(1) == labels[test])
    return round(float(np.concatenate(right).mean()), 3)


if __name__ == "__main__":
    main()
