"""The queries of a repository and what is measured on each kind of them."""

from __future__ import annotations

import json
from collections.abc import Sequence
from dataclasses import dataclass, field
from pathlib import Path

from bench.metrics import Place, file_at, file_rank, first_rank, overlap_at, range_share_at, reciprocal_rank, with_lines

KINDS = {
    "questions": ("range@3", "share@5", "file@3"),
    "tasks": ("MRR", "R@5"),
    "docstrings": ("MRR",),
    "tracebacks": ("first",),
}
"""The figures of each kind. Questions: a named range is overlapped by one of the first three places; the share of named
ranges overlapped by the first five; a named file is among the first three. Tasks: over distinct files. Docstrings: the
place of the right function. Tracebacks: the frame at fault comes first."""


@dataclass(frozen=True, slots=True)
class Query:
    """A query of some kind, the places that answer it, and the files it is about where more are known than places."""

    kind: str
    text: str
    gold: Sequence[Place]
    files: Sequence[Place]


@dataclass(frozen=True, slots=True)
class Found:
    """What a program found: places, best first, and files where it ranks them apart from its places."""

    places: Sequence[Place]
    files: Sequence[str] = field(default=())

    @property
    def ranked_files(self) -> Sequence[Place]:
        """The files as places, best first."""
        return [(path, 0, 0) for path in self.files] or self.places


def queries_of(folder: Path, kind: str, most: int | None = None) -> tuple[str, str, list[Query]]:
    """The queries of one kind.

    Args:
        folder: of the repository.
        kind: one of KINDS.
        most: how many at most, evenly spread; None for all.

    Returns:
        The name of the tree they are asked of, that of the file of its history, and the queries.
    """
    file = folder / f"{kind}.jsonl"
    rows = [json.loads(line) for line in file.read_text("utf-8").splitlines()] if file.exists() else []
    found = [_query(kind, row) for row in rows]
    found = [query for query in found if query.gold or query.files]
    if most and len(found) > most:
        found = [found[number * len(found) // most] for number in range(most)]
    if kind == "docstrings":
        return "tree-nodoc", "history.jsonl", found
    if kind == "tasks" and (folder / "tree-tasks").is_dir():
        return "tree-tasks", "history-tasks.jsonl", found
    return "tree", "history.jsonl", found


def _query(kind: str, row: dict) -> Query:
    files = [(path, 0, 0) for path in row.get("files", ())]
    return Query(kind, row["query"], row["gold"], files or row["gold"])


def figures_of(query: Query, found: Found) -> dict[str, float]:
    """The figures of one query by their names; those that it has no gold for are left out."""
    if query.kind == "tasks":
        rank = file_rank(found.ranked_files, query.files)
        return {"MRR": reciprocal_rank(rank), "R@5": float(rank is not None and rank <= 5)}
    if query.kind == "docstrings":
        return {"MRR": reciprocal_rank(first_rank(found.places, query.gold))}
    if query.kind == "tracebacks":
        return {"first": float(overlap_at(found.places, query.gold, 1))}
    figures = {"file@3": float(file_at(found.ranked_files, query.files, 3))}
    if ranges := with_lines(query.gold):
        figures["range@3"] = float(overlap_at(found.places, ranges, 3))
        figures["share@5"] = range_share_at(found.places, ranges, 5)
    return figures
