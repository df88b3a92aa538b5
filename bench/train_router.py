"""Train a classifier of questions: `python -m bench.train_router intent|asked|audience|edit [FILE.jsonl…] [--check]`.

`intent` is the router's (repopilot/routing/weights.npz). Each line of its examples is {"query", "intent"}; the intent
may be a kind of follow-up (`classifier.PROCEED`, `classifier.SAME`). `asked` is what a question asks for
(repopilot/retrieval/query/weights.npz): {"query", "asked"}. It learns from the router's examples too: those of a
change or a plan are tasks, the others ask for nothing that is computed. `audience` is for whom an answer is
(repopilot/routing/audience/weights.npz): {"query", "audience"}; the router's examples are for developers. `edit` is
the kind of edit that a task asks for (repopilot/agents/coding/edit_kinds/weights.npz), learnt from the tasks of
bench/data/edits that are not closed; its chances are those of equally frequent kinds. `--check` only prints the
accuracy of a five-fold cross-validation, for choosing between recipes without touching held-out data. Takes ten
seconds.
"""

from __future__ import annotations

import argparse
import json
from pathlib import Path

import numpy as np
from scipy.sparse import csr_matrix, diags
from sklearn.linear_model import LogisticRegression
from sklearn.model_selection import StratifiedKFold, cross_val_score

from repopilot.retrieval.query.reading import BUCKETS, masked, ngrams
from repopilot.routing.classifier import FRAGMENT

DATA = Path(__file__).parent / "data"
PACKAGE = Path(__file__).parents[1] / "repopilot"
OUT = {
    "intent": PACKAGE / "routing",
    "asked": PACKAGE / "retrieval" / "query",
    "audience": PACKAGE / "routing" / "audience",
    "edit": PACKAGE / "agents" / "coding" / "edit_kinds",
}
TASKS = ("GENERATE", "DECOMPOSE")
EDITS = ("open", "everyday", "worded", "colleagues", "callers", "wishes")
"""The folders of bench/data/edits that are not closed."""
KINDS = {
    "add_member": "add",
    "add_definition": "add",
    "change_function": "other",
    "imports": "other",
    "history": "other",
}
"""The kinds of tasks that are one kind of edit, or none that a tool makes."""
SCALE = 14.0
"""Of the inputs: the larger, the less the weights are held back."""


def main() -> None:
    arguments = argparse.ArgumentParser(description=__doc__)
    arguments.add_argument("label", choices=OUT)
    arguments.add_argument("files", nargs="*", type=Path)
    arguments.add_argument("--check", action="store_true", help="cross-validate, write nothing")
    options = arguments.parse_args()
    examples = list(examples_of(options.label, options.files).items())
    labels = np.array([label for _, label in examples])
    counted = features([query for query, _ in examples])
    rarity = np.log(len(examples) / (1 + counted.getnnz(axis=0)))
    rarity *= SCALE / rarity.mean()
    matrix = counted @ diags(rarity)
    if options.check:
        folds = StratifiedKFold(5, shuffle=True, random_state=0)
        print(round(cross_val_score(regression(labels), matrix, labels, cv=folds).mean(), 3))
        return
    fitted = regression(labels).fit(matrix, labels)
    two = len(fitted.classes_) == 2
    often = np.unique(labels, return_counts=True)[1] / len(labels) if options.label == "edit" else 1
    weights = (np.vstack([-fitted.coef_, fitted.coef_]) / 2 if two else fitted.coef_) * rarity
    bias = (np.append(-fitted.intercept_, fitted.intercept_) / 2 if two else fitted.intercept_) - np.log(often)
    scale = np.abs(weights).max(axis=1, keepdims=True) / 127
    out = OUT[options.label] / "weights.npz"
    np.savez_compressed(
        out,
        matrix=np.round(weights / scale).astype(np.int8),
        scale=scale.astype(np.float32),
        bias=bias.astype(np.float32),
        labels=fitted.classes_,
    )
    print(f"{len(examples)} examples -> {out.relative_to(PACKAGE)}, {out.stat().st_size // 1024} KB")


def examples_of(label: str, files: list[Path]) -> dict[str, str]:
    """The label of each question."""
    routed = {line["query"]: line["intent"] for line in load(DATA / "routing_train.jsonl")}
    own = {line["query"]: line[label] for path in files for line in load(path)}
    if label == "intent":
        return routed | own
    if label == "edit":
        tasks = [
            task
            for folder in EDITS
            for path in sorted((DATA / "edits" / folder).glob("*.jsonl"))
            for task in load(path)
        ]
        return {task["task"]: KINDS.get(task["kind"], task["kind"]) for task in tasks} | own
    if label == "audience":
        said = {line["query"]: line["audience"] for line in load(DATA / "audience_train.jsonl")}
        return dict.fromkeys(routed, "developer") | said | own
    whole = {query: intent for query, intent in routed.items() if intent != FRAGMENT}
    others = {query: "task" if intent in TASKS else "none" for query, intent in whole.items()}
    return others | {line["query"]: line["asked"] for line in load(DATA / "asked_train.jsonl")} | own


def features(queries: list[str]) -> csr_matrix:
    """The hashed n-grams of questions, a row each."""
    counted = [ngrams(masked(query)) for query in queries]
    rows = [number for number, grams in enumerate(counted) for _ in grams]
    columns = [bucket for grams in counted for bucket in grams]
    values = np.array([value for grams in counted for value in grams.values()], np.float32)
    return csr_matrix((values, (rows, columns)), (len(queries), BUCKETS))


def load(path: Path) -> list[dict]:
    return [json.loads(line) for line in path.read_text("utf-8").splitlines() if line.strip()]


def regression(labels: np.ndarray) -> LogisticRegression:
    """Rare labels count more, by the root of how rare they are."""
    names, counts = np.unique(labels, return_counts=True)
    weights = dict(zip(names.tolist(), np.sqrt(counts.mean() / counts).tolist(), strict=True))
    return LogisticRegression(C=1.0, max_iter=120, class_weight=weights)


if __name__ == "__main__":
    main()
