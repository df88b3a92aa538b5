"""Past commits on disk: one file beside the index, not part of it, with the commits and their search index, which would
take .06 s for 2,000 commits whenever they are opened."""

from __future__ import annotations

import json
from collections.abc import Sequence
from dataclasses import asdict, astuple, dataclass
from pathlib import Path
from typing import TYPE_CHECKING

import numpy as np

from repopilot.index.history import commit_index
from repopilot.index.history.commit_index import CommitIndex
from repopilot.index.lexical import VERSION
from repopilot.index.storage import column_file, layout
from repopilot.redaction import redact

if TYPE_CHECKING:
    from repopilot.repo.history import Commit

_FORMAT = 3
_COLUMNS = ("starts", "commits", "subject", "body", "at", "file_starts", "files")
"""The arrays of a `CommitIndex`."""


@dataclass(frozen=True, slots=True)
class HistoryState:
    """Which history is stored: its newest commit, the most commits to store, and whether all of them are stored."""

    commit: str
    limit: int
    complete: bool


def version() -> str:
    """The version of the format, of what is redacted, and of how texts are split into tokens."""
    return f"{_FORMAT}.{redact.version()}.{VERSION}"


def stored_state(folder: Path) -> HistoryState | None:
    """The state of the history stored in `folder`; None when there is none."""
    found = column_file.load(folder / layout.HISTORY, version())
    return HistoryState(**found.head["state"]) if found else None


def write_commits(folder: Path, state: HistoryState, commits: Sequence[Commit]) -> None:
    """Replace the stored commits.

    Args:
        folder: the folder of the repository's index.
        state: which history the commits are.
        commits: the commits, newest first, with the paths they had then.

    Raises:
        StorageError: they can't be written.
    """
    from repopilot.repo.history import follow_renames

    index = commit_index.build(follow_renames(commits))
    head = {"version": version(), "state": asdict(state), "tokens": list(index.tokens), "paths": index.paths}
    columns = {name: getattr(index, name) for name in _COLUMNS}
    # Apart from the head: a search doesn't read it.
    columns["messages"] = np.frombuffer(json.dumps([astuple(commit) for commit in commits]).encode(), np.uint8)
    column_file.save(folder / layout.HISTORY, head, columns)


def read_commits(folder: Path) -> tuple[Commit, ...]:
    """The commits stored in `folder`, newest first, with the paths they had then; () when there are none."""
    from repopilot.repo.history import Commit

    found = column_file.load(folder / layout.HISTORY, version())
    return tuple(
        Commit(sha, subject, tuple(paths), at, body, tuple((old, new) for old, new in renames))
        for sha, subject, paths, at, body, renames in (json.loads(found.columns["messages"].tobytes()) if found else ())
    )


def stamp(folder: Path) -> tuple[int, int] | None:
    """A value that changes when the stored commits are replaced; None when there are none."""
    try:
        found = (folder / layout.HISTORY).stat()
    except OSError:
        return None
    return found.st_ino, found.st_mtime_ns


def open_index(folder: Path) -> CommitIndex | None:
    """The stored commits, searchable; None when there are none."""
    found = column_file.load(folder / layout.HISTORY, version())
    if found is None:
        return None
    tokens = {token: number for number, token in enumerate(found.head["tokens"])}
    arrays = {name: found.columns[name] for name in _COLUMNS}
    return CommitIndex(tokens=tokens, paths=tuple(found.head["paths"]), **arrays)
