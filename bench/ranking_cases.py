"""Queries with the signals of their candidates, from which the weights of the ranking are fitted and measured.

DATA/NAME is what `bench.datasets` makes of a repository. The candidates of a query are the MOST best passages by the
weights in use; what is right and not among them counts as not found.
"""

from __future__ import annotations

import json
import pickle
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from pathlib import Path

import numpy as np

from bench.instant_index import instant_index
from bench.metrics import Place
from repopilot.index.history import commit_index
from repopilot.index.store import Index
from repopilot.repo.history import MOST_PATHS, Commit
from repopilot.retrieval.query.parse import parse
from repopilot.retrieval.rank import all_signals, ranking
from repopilot.retrieval.ranking import commit_votes
from repopilot.retrieval.ranking.weights import weight_set
from repopilot.settings import Settings

MOST = 200
SETS = ("tasks", "questions", "docstrings")
Key = tuple[str, str]
"""A signal: `passages` or `files`, and its name."""


@dataclass(frozen=True, slots=True)
class Case:
    """A query with n candidates.

    Attributes:
        repository: its name.
        set: of SETS.
        weights: the set of weights for the query.
        gold: the right places.
        signals: float16 (n,) by signal.
        exact: float16 (n,): contributions of exact matches, which have no learned weight.
        files: int32 (n,), the number of each candidate's file; paths: the names of these files by number.
        spans: int32 (n, 2), first and last lines; groups: int32 (n,), the outermost definitions.
    """

    repository: str
    set: str
    weights: str
    gold: list[Place]
    signals: dict[Key, np.ndarray]
    exact: np.ndarray
    files: np.ndarray
    paths: dict[int, str]
    spans: np.ndarray
    groups: np.ndarray

    def right(self) -> np.ndarray:
        """bool (places, n): which candidates overlap each of the right places."""
        found = np.zeros((len(self.gold), len(self.files)), bool)
        for number, (path, start, end) in enumerate(self.gold):
            inside = np.array([self.paths[file] == path for file in self.files.tolist()], bool)
            found[number] = inside & ((end == 0) | ((self.spans[:, 0] <= end) & (self.spans[:, 1] >= start)))
        return found


def cases_of(data: Path, name: str, most: int, settings: Settings, cache: Path | None) -> list[Case]:
    """The cases of a repository, from `cache` if they are there.

    Args:
        data: the folder of all repositories.
        name: the repository.
        most: queries of each set at most.
        settings: where indexes are built.
        cache: a folder, None for none. It holds what this code made before: delete it after a change of the signals.
    """
    kept = cache / f"{name}.pickle" if cache else None
    if kept is not None and kept.exists():
        return pickle.loads(kept.read_bytes())
    found = [case for kind in SETS for case in _cases(data / name, kind, most, settings)]
    if kept is not None:
        kept.parent.mkdir(parents=True, exist_ok=True)
        kept.write_bytes(pickle.dumps(found))
    return found


def _cases(folder: Path, kind: str, most: int, settings: Settings) -> Iterator[Case]:
    queries = folder / f"{kind}.jsonl"
    if not queries.exists():
        return
    tree, history = _tree(folder, kind)
    index = instant_index(f"{folder.name}-{tree.name}", tree, settings)
    past = _history(history, index) if kind != "docstrings" else None
    for line in read_lines(queries)[:most]:
        case = _case(index, past, line, folder.name, kind)
        if case is not None:
            yield case


def _tree(folder: Path, kind: str) -> tuple[Path, Path]:
    """The tree a set of queries is about, and the commits before it."""
    if kind == "docstrings":
        return folder / "tree-nodoc", folder / "history.jsonl"
    if kind == "tasks" and (folder / "tree-tasks").exists():
        return folder / "tree-tasks", folder / "history-tasks.jsonl"
    return folder / "tree", folder / "history.jsonl"


def _history(path: Path, index: Index) -> commit_votes.History | None:
    if not path.exists():
        return None
    limit = Settings.model_fields["history_commits"].default
    commits = [_commit(line) for line in read_lines(path)[:limit]]
    built = commit_index.build(commits)
    return commit_votes.open_history(built, index.lexical.file_numbers)


def _commit(line: dict) -> Commit:
    paths = tuple(line["paths"]) if len(line["paths"]) <= MOST_PATHS else ()
    return Commit(line["sha"], line["subject"], paths, line["at"], line["body"])


def _case(index: Index, past: commit_votes.History | None, line: dict, repository: str, kind: str) -> Case | None:
    lexical, query = index.lexical, parse(line["query"])
    found = ranking(lexical, index.chunks, query, np.ones(len(lexical), bool), past)
    if found is None:
        return None
    scores = found.scores
    rows = np.argsort(-scores, kind="stable")[:MOST]
    rows = rows[np.isfinite(scores[rows])]
    files = lexical.file_of[rows]
    raw = all_signals(lexical, query, found.past)
    signals = {("passages", name): values[rows].astype(np.float16) for name, values in raw.passages.items()}
    signals |= {("files", name): values[files].astype(np.float16) for name, values in raw.files.items()}
    exact = np.zeros(len(rows), np.float16)
    for name in found.passages.keys() - raw.passages.keys():
        exact += found.passages[name][rows].astype(np.float16)
    return Case(
        repository,
        kind,
        weight_set(query),
        [tuple(place) for place in line["gold"]],
        signals,
        exact,
        np.asarray(files, np.int32),
        {number: lexical.files[number] for number in np.unique(files).tolist()},
        lexical.spans[rows].astype(np.int32),
        lexical.group_of[rows],
    )


def read_lines(path: Path) -> list[dict]:
    """The values of a file of JSON lines."""
    return [json.loads(line) for line in path.read_text("utf-8").splitlines() if line.strip()]


def keys_of(cases: Sequence[Case]) -> list[Key]:
    """Every signal of any of the cases."""
    return sorted({key for case in cases for key in case.signals})


def matrix(case: Case, keys: Sequence[Key]) -> np.ndarray:
    """float32 (n, keys): the signals of a case; 0 for those it lacks."""
    missing = np.zeros(len(case.files), np.float32)
    return np.stack([case.signals.get(key, missing).astype(np.float32) for key in keys], axis=1)
