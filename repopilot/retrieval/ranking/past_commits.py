"""The past commits of an index, reopened when they are replaced, and the ones most similar to a text."""

from __future__ import annotations

import threading
from collections.abc import Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING

from repopilot.index.history import commit_store
from repopilot.retrieval.ranking import commit_votes

if TYPE_CHECKING:
    from repopilot.index.store import Index
    from repopilot.repo.history import Commit
    from repopilot.retrieval.query.parse import Query


@dataclass(frozen=True, slots=True)
class SimilarCommit:
    """A past commit with the paths its files have now. `share` is its similarity, 1 for the most similar one."""

    commit: Commit
    share: float


class CommitHistory:
    """The past commits of an index. Holds no reference to it."""

    def __init__(self, index: Index) -> None:
        self._lock = threading.Lock()
        self._stamp: tuple[int, int] | None = None
        self._history: commit_votes.History | None = None

    def current(self, index: Index) -> commit_votes.History | None:
        """The commits; None while there are none."""
        folder = index.folder.parent
        with self._lock:
            stamp = commit_store.stamp(folder)
            if stamp != self._stamp:
                opened = commit_store.open_index(folder)
                self._history = commit_votes.open_history(opened, index.lexical.file_numbers)
                self._stamp = stamp
            return self._history


def history_of(index: Index) -> commit_votes.History | None:
    """The searchable past commits of an index; None while there are none."""
    return index.derived(CommitHistory).current(index)


def similar_commits(index: Index, query: Query, commits: Sequence[Commit], count: int) -> tuple[SimilarCommit, ...]:
    """The past commits whose messages say what a query says, and that changed a file of the index.

    Args:
        index: the repository.
        query: the parsed text.
        commits: all past commits of the index, newest first, with the paths their files have now.
        count: how many at most.

    Returns:
        The most similar first; () without a history.
    """
    history = history_of(index)
    if history is None:
        return ()
    found = commit_votes.similar(history, query.terms, count)
    best = max((score for _, score in found), default=0.0)
    return tuple(SimilarCommit(commits[n], score / best) for n, score in found if n < len(commits))
