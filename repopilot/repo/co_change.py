"""Files that changed together with others in past commits (co-change, also called logical coupling).

Co-change as a predictor of what else must change: Zimmermann, Weißgerber, Diehl, Zeller, "Mining Version Histories to
Guide Software Changes" (ICSE 2004).
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Collection, Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from repopilot.repo.history import Commit

_LARGEST = 30  # files: a larger commit is a move or a reformatting, which says nothing about pairs of files
_FEW_FILES = 3  # in a tiny repository an ordinary commit touches most of the files too
LEAST_TOGETHER = 2
"""Fewest common commits for two files to count as co-changed: one may be chance."""


@dataclass(frozen=True, slots=True)
class CoChangeCount:
    """`together` of the `of` commits to the changed files touched this file too; `weight` counts a commit of n files
    as 1/(n - 1)."""

    path: str
    together: int
    of: int
    weight: float


def changed_together(commits: Sequence[Commit], paths: Collection[str], files: int = 0) -> list[CoChangeCount]:
    """Count how often other files changed together with some files.

    Args:
        commits: past commits.
        paths: the changed files.
        files: the number of files in the repository, 0 when it isn't known. A commit that touches most of them, such
            as the initial one, doesn't count.

    Returns:
        The other files, the most strongly coupled first.
    """
    largest = min(_LARGEST, max(_FEW_FILES, files // 2)) if files else _LARGEST
    counts: Counter[str] = Counter()
    weights: dict[str, float] = {}
    total = 0
    for commit in commits:
        if len(commit.paths) > largest or not any(path in paths for path in commit.paths):
            continue
        total += 1
        for path in commit.paths:
            if path not in paths:
                counts[path] += 1
                weights[path] = weights.get(path, 0.0) + 1 / (len(commit.paths) - 1)
    found = [CoChangeCount(path, count, total, round(weights[path], 4)) for path, count in counts.items()]
    return sorted(found, key=lambda counted: (-counted.weight, counted.path))
