"""Files that used to change together with others."""

from __future__ import annotations

from collections import Counter
from collections.abc import Collection, Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from repopilot.repo.history import Commit

_LARGEST = 30  # a commit of more files is a move or a reformatting and says nothing about two of them
_FEW_FILES = 3  # in a tiny repository an ordinary commit touches most of the files too
LEAST_TOGETHER = 2
"""Commits in common from which on two files are said to change together: once may be chance."""


@dataclass(frozen=True, slots=True)
class Together:
    """`together` commits out of `of` commits of the changed files touched this file too; `weight` counts a commit of
    n files as 1/(n − 1)."""

    path: str
    together: int
    of: int
    weight: float


def changed_together(commits: Sequence[Commit], paths: Collection[str], files: int = 0) -> list[Together]:
    """Files of past commits that also touched one of `paths`, those most tied to it first.

    `files` is the size of the repository, 0 when it isn't known: a commit that touches most of it, such as the one it
    began with, doesn't count.
    """
    largest = min(_LARGEST, max(_FEW_FILES, files // 2)) if files else _LARGEST
    counts: Counter[str] = Counter()
    weights: Counter[str] = Counter()
    total = 0
    for commit in commits:
        if len(commit.paths) > largest or not any(path in paths for path in commit.paths):
            continue
        total += 1
        for path in commit.paths:
            if path not in paths:
                counts[path] += 1
                weights[path] += 1 / (len(commit.paths) - 1)  # type: ignore[assignment]
    found = [Together(path, count, total, round(float(weights[path]), 4)) for path, count in counts.items()]
    return sorted(found, key=lambda t: (-t.weight, t.path))
