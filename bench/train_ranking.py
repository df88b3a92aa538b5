"""Fits the weights of the ranking anew: a linear, listwise model for each kind of query.

    python -m bench.train_ranking DATA_DIR --only NAME … [--most N] [--home DIR] [--cache DIR] [--write]

DATA_DIR is what `bench.datasets` makes. The loss of a query is −ln of the probability, by a softmax over candidates,
that a right one is chosen (SHARE of it), and of the mean over the right places (the rest); for tasks the candidates are
files, each with its best passage. Repositories weigh equally. A ridge pulls every weight towards its START, in
units of the signal's standard deviation. It prints figures by the weights in use and by fitted ones, each repository
measured with weights fitted on the others; `--write` then fits on all of them and replaces weights.json.
"""

from __future__ import annotations

import argparse
import json
import tempfile
from collections import Counter, defaultdict
from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass, replace
from pathlib import Path

import numpy as np
from scipy.optimize import minimize

import repopilot.retrieval.ranking
from bench.metrics import file_at, file_rank, first_rank, overlap_at, range_share_at, reciprocal_rank, with_lines
from bench.ranking_cases import Case, Key, cases_of, keys_of, matrix
from repopilot.retrieval.places.ranked_places import Passages, joined
from repopilot.retrieval.rank import spread
from repopilot.retrieval.ranking.weights import FILE, RankingWeights, all_weights
from repopilot.settings import Settings

FOLDS = 6
SHARE: Mapping[str, float] = {"task": 1.0, "description": 1.0, "question": 0.5}
RIDGE: Mapping[str, float] = {"task": 0.1, "description": 0.01, "question": 0.1}
TRAINED_ON: Mapping[str, tuple[str, ...]] = {
    "task": ("tasks",),
    "description": ("docstrings",),
    "question": ("questions",),
}
"""The sets of queries that the weights of a kind are fitted on."""
START: Mapping[Key, float] = {
    ("files", "history"): 2.0,
    ("files", "history, absolute"): 6.0,
    ("files", "history, scopes"): 2.0,
}
"""Where the ridge pulls signals that have no weight yet."""
NEVER_NEGATIVE = frozenset(
    (
        *("named", "path named", "path words", "file name", "scope", "words", "symbol name", "whole name", "coverage"),
        *("definition words", "body words", "outer words", "outer coverage", "whole file", "more passages"),
    )
)
"""Signals of words and names of the query: they speak for a place, whatever the queries at hand say."""
ITERATIONS, ROUNDS = 60, 2


@dataclass(frozen=True, slots=True)
class Table:
    """Cases as arrays: n queries of at most m candidates with k signals and at most g right places.

    `signals` is float32 (n, m, k) in standard deviations, `offsets` float32 (n, m) (−1e9 for no candidate), `right`
    float32 (n, g, m), `importance` float32 (n,).
    """

    signals: np.ndarray
    offsets: np.ndarray
    right: np.ndarray
    importance: np.ndarray


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("data", type=Path)
    parser.add_argument("--only", nargs="+", required=True)
    parser.add_argument("--most", type=int, default=60)
    parser.add_argument("--home", type=Path)
    parser.add_argument("--cache", type=Path)
    parser.add_argument("--write", action="store_true")
    arguments = parser.parse_args()
    with tempfile.TemporaryDirectory() as scratch:
        settings = Settings(_env_file=None, home=arguments.home or Path(scratch))  # type: ignore[call-arg]
        cases: list[Case] = []
        for name in arguments.only:
            cases += cases_of(arguments.data, name, arguments.most, settings, arguments.cache)
            print(f"{name}: {len(cases)} queries so far", flush=True)
    sets = dict(all_weights())
    for kind, trained_on in TRAINED_ON.items():
        own = [case for case in cases if case.set in trained_on and case.weights != "lookup"]
        sets[kind] = trained(kind, own, sets[kind])
    if arguments.write:
        write(sets)


def trained(kind: str, cases: Sequence[Case], present: RankingWeights) -> RankingWeights:
    """Print the figures of one kind of query, and fit its weights on all repositories.

    Args:
        kind: the kind of query.
        cases: its cases.
        present: the weights in use.

    Returns:
        The fitted weights.
    """
    keys = keys_of(cases)
    start = vector(present, keys, START)
    print(f"\n{kind}: {len(cases)} queries of {len({case.repository for case in cases})} repositories")
    show("weights in use", cases, lambda case: present)
    folds = {name: number % FOLDS for number, name in enumerate(sorted({case.repository for case in cases}))}
    by_fold = {
        fold: weights_of(fit(kind, [c for c in cases if folds[c.repository] != fold], keys, start), keys, present)
        for fold in set(folds.values())
    }
    show("fitted on other repositories", cases, lambda case: by_fold[folds[case.repository]])
    return weights_of(fit(kind, cases, keys, start), keys, present)


def vector(weights: RankingWeights, keys: Iterable[Key], missing: Mapping[Key, float]) -> np.ndarray:
    """float (keys,): the weights of signals; for those without, what is in `missing`, else 0."""
    own = {"passages": weights.passages, "files": weights.files}
    return np.array([own[part].get(name, missing.get((part, name), 0.0)) for part, name in keys])


def weights_of(values: np.ndarray, keys: Sequence[Key], present: RankingWeights) -> RankingWeights:
    """Fitted weights, and those in use for signals that no case had."""
    parts: dict[str, dict[str, float]] = {"passages": dict(present.passages), "files": dict(present.files)}
    for (part, name), value in zip(keys, values.tolist(), strict=True):
        parts[part][name] = round(value, 3)
    return replace(present, passages=parts["passages"], files=parts["files"])


def fit(kind: str, cases: Sequence[Case], keys: Sequence[Key], start: np.ndarray) -> np.ndarray:
    """Fit weights.

    Args:
        kind: the kind of query.
        cases: the queries to fit on.
        keys: k signals.
        start: float (k,), the weights that the ridge pulls towards.

    Returns:
        float (k,).
    """
    prepared = [(case, matrix(case, keys), case.right()) for case in cases]
    prepared = [item for item in prepared if item[2].any() and not item[2].all()]
    deviations = np.concatenate([signals[::5] for _, signals, _ in prepared]).std(0) + 0.02
    weights = start
    for _ in range(ROUNDS):
        chosen = [(case, *_files_only(case, *rest, weights)) for case, *rest in prepared]
        bounds = [(0.0, None) if name in NEVER_NEGATIVE else (None, None) for _, name in keys]
        weights = _minimized(_table(chosen, deviations), _Scale(start, deviations, bounds), weights, kind)
    return weights


def _files_only(
    case: Case, signals: np.ndarray, right: np.ndarray, weights: np.ndarray
) -> tuple[np.ndarray, np.ndarray, np.ndarray]:
    """Of a task only the best candidate of each file by these weights, of others all: signals, right, exact matches."""
    if case.set != "tasks":
        return signals, right, case.exact
    scores = signals @ weights + case.exact
    order = np.lexsort((-scores, case.files))
    files = case.files[order]
    best = order[np.concatenate(([True], files[1:] != files[:-1]))]
    return signals[best], right[:, best], case.exact[best]


def _table(chosen: Sequence[tuple[Case, np.ndarray, np.ndarray, np.ndarray]], deviations: np.ndarray) -> Table:
    size, most = len(chosen), max(len(exact) for *_, exact in chosen)
    places = min(6, max(len(right) for _, _, right, _ in chosen))
    table = Table(
        np.zeros((size, most, len(deviations)), np.float32),
        np.full((size, most), -1e9, np.float32),
        np.zeros((size, places, most), np.float32),
        np.zeros(size, np.float32),
    )
    groups = Counter((case.repository, case.set) for case, *_ in chosen)
    for number, (case, signals, right, exact) in enumerate(chosen):
        found = right[right.any(1)][:places]
        table.signals[number, : len(exact)] = signals / deviations
        table.offsets[number, : len(exact)] = exact
        table.right[number, : len(found), : len(exact)] = found
        table.importance[number] = 1 / groups[case.repository, case.set] / len(groups)
    return table


@dataclass(frozen=True, slots=True)
class _Scale:
    """Where the ridge pulls k weights, the standard deviations of their signals, and the bounds of the weights."""

    start: np.ndarray
    deviations: np.ndarray
    bounds: list[tuple[float | None, float | None]]


def _minimized(table: Table, scale: _Scale, first: np.ndarray, kind: str) -> np.ndarray:
    signals = table.signals.reshape(-1, len(scale.deviations))
    any_right = table.right.max(1)
    per_place = (table.right.any(2) / np.maximum(table.right.any(2).sum(1, keepdims=True), 1)).astype(np.float32)
    share, ridge, centre = SHARE[kind], RIDGE[kind], scale.start * scale.deviations

    def loss(values: np.ndarray) -> tuple[float, np.ndarray]:
        scores = (signals @ values.astype(np.float32)).reshape(table.offsets.shape) + table.offsets
        exponents = np.exp(scores - scores.max(1, keepdims=True))
        total = exponents.sum(1)
        right = exponents * any_right
        found = right.sum(1) + 1e-30
        by_place = np.einsum("ngm,nm->ng", table.right, exponents) + 1e-30
        logs = share * np.log(found / total) + (1 - share) * (per_place * np.log(by_place / total[:, None])).sum(1)
        wanted = share * right / found[:, None]
        wanted += (1 - share) * np.einsum("ng,ngm->nm", per_place / by_place, table.right) * exponents
        gradient = (table.importance[:, None] * (wanted - exponents / total[:, None])).reshape(-1) @ signals
        away = values - centre
        return float(ridge * away @ away - table.importance @ logs), 2 * ridge * away - gradient.astype(float)

    options = {"maxiter": ITERATIONS}
    found = minimize(loss, first * scale.deviations, jac=True, method="L-BFGS-B", bounds=scale.bounds, options=options)
    return found.x / scale.deviations


def show(title: str, cases: Sequence[Case], weights: Callable[[Case], RankingWeights]) -> None:
    """Print the measures of each set of queries, as means over the repositories."""
    found: dict[tuple[str, str], dict[str, list[float]]] = defaultdict(lambda: defaultdict(list))
    for case in cases:
        for measure, value in measured(case, weights(case)).items():
            found[case.set, measure][case.repository].append(value)
    for (kind, measure), values in sorted(found.items()):
        print(
            f"  {title:30s} {kind:10s} {measure:32s} {np.mean([np.mean(v) for v in values.values()]):.3f}", flush=True
        )


def measured(case: Case, weights: RankingWeights) -> dict[str, float]:
    """The measures of one query by these weights."""
    keys = list(case.signals)
    scores = matrix(case, keys) @ vector(weights, keys, {}) + case.exact
    lowered = spread(scores, case.files, weights.same_file)
    order = np.argsort(-lowered, kind="stable").tolist()
    passages = Passages(case.files, case.spans, case.groups)
    found = [(case.paths[place.file], place.start, place.end) for place in joined(passages, order, 20, weights.joins)]
    if case.set == "tasks":
        rank = file_rank(found, case.gold)
        return {"MRR": reciprocal_rank(rank), "R@5": float(rank is not None and rank <= 5)}
    if case.set == "docstrings":
        return {"MRR": reciprocal_rank(first_rank(found, case.gold))}
    named = with_lines(case.gold)
    if not named:
        return {}
    return {
        "a named range in the first three": float(overlap_at(found, named, 3)),
        "named ranges in the first five": range_share_at(found, named, 5),
        "a named file in the first three": float(file_at(found, named, 3)),
    }


def write(sets: Mapping[str, RankingWeights]) -> None:
    """Replace weights.json."""
    path = Path(repopilot.retrieval.ranking.__file__).with_name(FILE)
    values = {
        name: {
            "passages": dict(sorted(found.passages.items())),
            "files": dict(sorted(found.files.items())),
            "same_file": found.same_file,
            "joins": found.joins,
            "meaning": found.meaning,
            "near": found.near,
        }
        for name, found in sets.items()
    }
    path.write_text(json.dumps(values, indent=1) + "\n", "utf-8")
    print(f"wrote {path.name}")


if __name__ == "__main__":
    main()
