"""Train the classifier of edit intents (repopilot/agents/editing/exact/intents/intent_weights.npz).

    python -m bench.train_intents [--check]

Each line of `bench/data/edit_intents/*.jsonl` is {"kind", "lang", "text"}, with names and values of code in tags by
what they are; "intent", of what isn't an edit, is for the router (`bench.train_router`). Every file is of one author:
`--check` prints the accuracy of leaving out one author after the other, and writes nothing.
"""

from __future__ import annotations

import argparse
import json
import re
from collections.abc import Iterator
from pathlib import Path

import numpy as np
from scipy.sparse import csr_matrix
from sklearn.linear_model import LogisticRegression

from repopilot.agents.editing.exact.intents.intent_classifier import BUCKETS, features, words_of

DATA = Path(__file__).parent / "data" / "edit_intents"
OUT = Path(__file__).parents[1] / "repopilot" / "agents" / "editing" / "exact" / "intents" / "intent_weights.npz"
SURE = 0.8
_TAG = re.compile(r"<(def|param|new|file|newfile|lit)>(.*?)</\1>", re.S)


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--check", action="store_true", help="cross-validate, write nothing")
    options = parser.parse_args()
    authors = {path.stem: load(path) for path in sorted(DATA.glob("*.jsonl"))}
    if options.check:
        check(authors)
        return
    examples = [example for found in authors.values() for example in found]
    kinds, fitted = fit(examples)
    np.savez_compressed(
        OUT, kinds=np.array(kinds), matrix=fitted.coef_.astype(np.float16), bias=fitted.intercept_.astype(np.float32)
    )
    print(f"{len(examples)} examples -> {OUT.name}, {OUT.stat().st_size // 1024} KB")


def load(path: Path) -> list[dict]:
    return [json.loads(line) for line in path.read_text("utf-8").splitlines() if line.strip()]


def parts(text: str) -> Iterator[tuple[str, str]]:
    """The parts of a text with tags, as `words_of` takes them."""
    at = 0
    for match in _TAG.finditer(text):
        yield "", text[at : match.start()]
        yield match[1].upper(), match[2]
        at = match.end()
    yield "", text[at:]


def matrix_of(examples: list[dict]) -> csr_matrix:
    rows = [features(words_of(parts(example["text"]))) for example in examples]
    pointers = np.cumsum([0, *(len(columns) for columns, _ in rows)])
    columns, values = (np.concatenate(found) for found in zip(*rows, strict=True))
    return csr_matrix((values, columns, pointers), shape=(len(rows), BUCKETS))


def fit(examples: list[dict]) -> tuple[list[str], LogisticRegression]:
    kinds = sorted({example["kind"] for example in examples})
    labels = [kinds.index(example["kind"]) for example in examples]
    return kinds, LogisticRegression(C=30.0, max_iter=2000, class_weight="balanced").fit(matrix_of(examples), labels)


def check(authors: dict[str, list[dict]]) -> None:
    for author, held in authors.items():
        kinds, fitted = fit([e for other, found in authors.items() if other != author for e in found])
        chances = fitted.predict_proba(matrix_of(held))
        best, sure = chances.argmax(1), chances.max(1) >= SURE
        right = np.array([kinds[b] == e["kind"] for b, e in zip(best, held, strict=True)])
        edits = np.array([kinds[b] != "other" for b in best])
        certain = sure & edits
        print(f"{author}: {len(held)}, right {right.mean():.3f}")
        print(f"    sure of an edit {certain.mean():.2f}, of these right {right[certain].mean():.3f}")


if __name__ == "__main__":
    main()
