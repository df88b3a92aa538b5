"""Train the router's weights (repopilot/routing/weights.npz): `python -m bench.train_router FILE.jsonl… [--check]`.

Each line is {"query", "intent"}. `bench/data/routing_train.jsonl` is always read, and with less weight the sentences of
`bench/data/edit_intents`: edits in the words of many, and what is said beside them. `--check` only prints the accuracy
of an eight-fold cross-validation, for choosing between recipes without touching held-out data, and of leaving out one
author of these sentences after the other.
"""

from __future__ import annotations

import argparse
import json
from collections.abc import Iterator
from pathlib import Path

import numpy as np
from sklearn.linear_model import LogisticRegression
from sklearn.model_selection import StratifiedKFold

from bench.train_intents import DATA, parts
from repopilot.index.embed import Embedders
from repopilot.intents import ids
from repopilot.routing.classifier import RULES_WEIGHT, features
from repopilot.routing.features import evidence, scores
from repopilot.routing.normalize import read
from repopilot.settings import Settings

OWN = Path(__file__).parent / "data" / "routing_train.jsonl"
OUT = Path(__file__).parents[1] / "repopilot" / "routing" / "weights.npz"
EDIT_WEIGHT = 0.1
"""Weight of a sentence of `edit_intents` beside a question's: nine of ten are edits, which would outweigh the rest."""


def main() -> None:
    arguments = argparse.ArgumentParser(description=__doc__)
    arguments.add_argument("files", nargs="*", type=Path)
    arguments.add_argument("--check", action="store_true", help="cross-validate, write nothing")
    options = arguments.parse_args()
    examples = [e for path in (OWN, *options.files) for e in load(path)] + edits()
    embedder = Embedders().choose(Settings())
    if embedder is None:
        raise SystemExit("The embedding model is needed: repopilot models pull minilm")
    readings = [read(e["query"]) for e in examples]
    found = [evidence(r) for r in readings]
    trained = [intent for intent in ids() if any(e["intent"] == intent for e in examples)]
    labels = np.array([trained.index(e["intent"]) for e in examples])
    rules = np.array([[scores(f)[intent] for intent in trained] for f in found])
    weights = np.array([EDIT_WEIGHT if "author" in e else 1.0 for e in examples])
    stored: dict[str, np.ndarray] = {"names": np.array(list(found[0])), "intents": np.array(trained)}
    for kind, vectors in (("dense", embedder), ("lexical", None)):
        matrix = np.stack([features(r, f, vectors) for r, f in zip(readings, found, strict=True)])
        if options.check:
            print(kind, check(splits(examples, labels), matrix, labels, rules, weights))
            continue
        fitted = regression().fit(matrix, labels, weights)
        stored[f"{kind}_matrix"] = fitted.coef_.astype(np.float16)
        stored[f"{kind}_bias"] = fitted.intercept_.astype(np.float32)
    if not options.check:
        np.savez_compressed(OUT, **stored)
        print(f"{len(examples)} examples -> {OUT.name}, {OUT.stat().st_size // 1024} KB")


def load(path: Path) -> list[dict]:
    return [json.loads(line) for line in path.read_text("utf-8").splitlines() if line.strip()]


def edits() -> list[dict]:
    """The sentences of `edit_intents` without their tags; what isn't an edit says its intent, '' where two fit."""
    found = [
        {"intent": "GENERATE", **e, "author": path.stem} for path in sorted(DATA.glob("*.jsonl")) for e in load(path)
    ]
    return [
        {"query": "".join(text for _, text in parts(e["text"])), "intent": e["intent"], "author": e["author"]}
        for e in found
        if e["intent"]
    ]


def regression() -> LogisticRegression:
    return LogisticRegression(C=1.0, max_iter=500)


def splits(examples: list[dict], labels: np.ndarray) -> Iterator[tuple[str, np.ndarray, np.ndarray]]:
    """What is measured, the rows to train on and the rows to measure it on."""
    authors = np.array([e.get("author", "") for e in examples])
    of_questions, of_edits = np.flatnonzero(authors == ""), np.flatnonzero(authors != "")
    for train, test in StratifiedKFold(8, shuffle=True, random_state=0).split(of_questions, labels[of_questions]):
        yield "questions", np.concatenate([of_questions[train], of_edits]), of_questions[test]
    for author in sorted(set(authors[of_edits])):
        yield "authors", np.flatnonzero(authors != author), np.flatnonzero(authors == author)


def check(
    folds: Iterator[tuple[str, np.ndarray, np.ndarray]],
    matrix: np.ndarray,
    labels: np.ndarray,
    rules: np.ndarray,
    weights: np.ndarray,
) -> dict[str, float]:
    """Accuracy of the fused decision by what is measured. `rules` are the rules' scores, a row an example."""
    right: dict[str, list[np.ndarray]] = {}
    for name, train, test in folds:
        fitted = regression().fit(matrix[train], labels[train], weights[train])
        chances = fitted.predict_log_proba(matrix[test]) + RULES_WEIGHT * rules[test]
        right.setdefault(name, []).append(chances.argmax(1) == labels[test])
    return {name: round(float(np.concatenate(hits).mean()), 3) for name, hits in right.items()}


if __name__ == "__main__":
    main()
