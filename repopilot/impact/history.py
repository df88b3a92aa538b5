"""Files that used to change together with others."""

from __future__ import annotations

from collections import Counter
from collections.abc import Collection, Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from repopilot.repo.history import Commit

_LARGEST = 30  # a commit of more files is a move or a reformatting and says nothing about two of them


@dataclass(frozen=True, slots=True)
class Together:
    """`together` commits out of `of` commits of the changed files touched this file too; `weight` counts a commit of
    n files as 1/(n − 1)."""

    path: str
    together: int
    of: int
    weight: float


def changed_together(commits: Sequence[Commit], paths: Collection[str]) -> list[Together]:
    """Files of past commits that also touched one of `paths`, those most tied to it first."""
    counts: Counter[str] = Counter()
    weights: Counter[str] = Counter()
    total = 0
    for commit in commits:
        if len(commit.paths) > _LARGEST or not any(path in paths for path in commit.paths):
            continue
        total += 1
        for path in commit.paths:
            if path not in paths:
                counts[path] += 1
                weights[path] += 1 / (len(commit.paths) - 1)  # type: ignore[assignment]
    found = [Together(path, count, total, round(float(weights[path]), 4)) for path, count in counts.items()]
    return sorted(found, key=lambda t: (-t.weight, t.path))
