"""Stores past commits beside the index: they belong to no generation."""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import asdict, dataclass
from pathlib import Path
from typing import TYPE_CHECKING

from repopilot.index import layout
from repopilot.index.database import storage_errors

if TYPE_CHECKING:
    from repopilot.repo.history import Commit


@dataclass(frozen=True, slots=True)
class HistoryState:
    """Which history is stored: of which commit, at most how many commits, and whether all of these are there."""

    commit: str
    limit: int
    complete: bool


def is_stored(folder: Path, state: HistoryState) -> bool:
    """Whether the history stored in `folder` is in this state."""
    found = layout.read_json(folder / layout.HISTORY)
    return isinstance(found, dict) and asdict(state).items() <= found.items()


def write_commits(folder: Path, state: HistoryState, commits: Iterable[Commit]) -> None:
    """Replace the stored commits.

    Args:
        folder: the folder of the repository's index.
        state: which history the commits are.
        commits: the commits, newest first.

    Raises:
        StorageError: they can't be written.
    """
    with storage_errors():
        layout.write_json(folder / layout.HISTORY, {**asdict(state), "commits": [asdict(commit) for commit in commits]})


def read_commits(folder: Path) -> tuple[Commit, ...]:
    """The commits stored in `folder`, newest first; () when there are none."""
    from repopilot.repo.history import Commit

    found = layout.read_json(folder / layout.HISTORY)
    if not isinstance(found, dict):
        return ()
    return tuple(Commit(**{**entry, "paths": tuple(entry["paths"])}) for entry in found["commits"])
