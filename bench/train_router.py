"""Train the router's weights (repopilot/routing/weights.npz): `python -m bench.train_router FILE.jsonl… [--check]`.

Each line is {"query", "intent"}; the intent may be a kind of follow-up (`classifier.PROCEED`, `classifier.SAME`).
`bench/data/routing_train.jsonl` is always read. `--check` only prints the accuracy of a five-fold cross-validation, for
choosing between recipes without touching held-out data. Takes ten seconds.
"""

from __future__ import annotations

import argparse
import json
from pathlib import Path

import numpy as np
from scipy.sparse import csr_matrix, diags
from sklearn.linear_model import LogisticRegression
from sklearn.model_selection import StratifiedKFold, cross_val_score

from repopilot.routing.classifier import features

OWN = Path(__file__).parent / "data" / "routing_train.jsonl"
OUT = Path(__file__).parents[1] / "repopilot" / "routing" / "weights.npz"
SCALE = 14.0
"""Of the inputs: the larger, the less the weights are held back."""


def main() -> None:
    arguments = argparse.ArgumentParser(description=__doc__)
    arguments.add_argument("files", nargs="*", type=Path)
    arguments.add_argument("--check", action="store_true", help="cross-validate, write nothing")
    options = arguments.parse_args()
    examples = [e for path in (OWN, *options.files) for e in load(path)]
    labels = np.array([e["intent"] for e in examples])
    counted = csr_matrix(np.stack([features(e["query"]) for e in examples]))
    rarity = np.log(len(examples) / (1 + counted.getnnz(axis=0)))
    rarity *= SCALE / rarity.mean()
    matrix = counted @ diags(rarity)
    if options.check:
        folds = StratifiedKFold(5, shuffle=True, random_state=0)
        print(round(cross_val_score(regression(labels), matrix, labels, cv=folds).mean(), 3))
        return
    fitted = regression(labels).fit(matrix, labels)
    weights = fitted.coef_ * rarity
    scale = np.abs(weights).max(axis=1, keepdims=True) / 127
    np.savez_compressed(
        OUT,
        matrix=np.round(weights / scale).astype(np.int8),
        scale=scale.astype(np.float32),
        bias=fitted.intercept_.astype(np.float32),
        labels=fitted.classes_,
    )
    print(f"{len(examples)} examples -> {OUT.name}, {OUT.stat().st_size // 1024} KB")


def load(path: Path) -> list[dict]:
    return [json.loads(line) for line in path.read_text("utf-8").splitlines() if line.strip()]


def regression(labels: np.ndarray) -> LogisticRegression:
    """Rare labels count more, by the root of how rare they are."""
    names, counts = np.unique(labels, return_counts=True)
    weights = dict(zip(names.tolist(), np.sqrt(counts.mean() / counts).tolist(), strict=True))
    return LogisticRegression(C=1.0, max_iter=120, class_weight=weights)


if __name__ == "__main__":
    main()
