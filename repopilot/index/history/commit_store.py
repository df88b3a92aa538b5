"""Past commits on disk: one file beside the index, of which they are no part, see column_file.py.

The columns are those of the commit index, which searches map into memory; the rest is the commits as deflated JSON,
which only the next build and impact analysis read.
"""

from __future__ import annotations

import json
import zlib
from collections.abc import Mapping, Sequence
from dataclasses import asdict, astuple, dataclass, fields
from pathlib import Path
from typing import TYPE_CHECKING

import numpy as np

from repopilot.index.history import commit_index
from repopilot.index.history.commit_index import CommitIndex
from repopilot.index.history.path_tree import PathTree
from repopilot.index.storage import column_file, layout
from repopilot.redaction import redact

if TYPE_CHECKING:
    from repopilot.repo.history import Commit

_FORMAT = 1
_TREE = "tree."


@dataclass(frozen=True, slots=True)
class HistoryState:
    """Which history is stored: of which commit, at most how many commits, and whether all of these are there."""

    commit: str
    limit: int
    complete: bool


def version() -> str:
    """The version of the format, of what is counted, and of what is redacted."""
    return f"{_FORMAT}.{commit_index.VERSION}.{redact.version()}"


def stored_state(folder: Path) -> HistoryState | None:
    """The state of the history stored in `folder`; None when there is none."""
    try:
        with (folder / layout.HISTORY).open("rb") as file:
            return HistoryState(**column_file.read_whole_head(file, version())["state"])
    except (OSError, ValueError):
        return None


def write_commits(folder: Path, state: HistoryState, commits: Sequence[Commit], index: CommitIndex) -> None:
    """Replace the stored commits.

    Args:
        folder: the folder of the repository's index.
        state: which history the commits are.
        commits: the commits, newest first, with the paths they had then.
        index: the same commits made searchable.

    Raises:
        StorageError: they can't be written.
    """
    texts = zlib.compress(json.dumps([astuple(commit) for commit in commits], separators=(",", ":")).encode())
    head = {"version": version(), "state": asdict(state)}
    column_file.save(folder / layout.HISTORY, head, _columns(index), texts)


def read_commits(folder: Path) -> tuple[Commit, ...]:
    """The commits stored in `folder`, newest first, with the paths they had then; () when there are none."""
    from repopilot.repo.history import Commit

    try:
        with (folder / layout.HISTORY).open("rb") as file:
            head = column_file.read_head(file, version())
            entries = json.loads(zlib.decompress(column_file.read_rest(file, head)))
    except (OSError, ValueError, zlib.error):
        return ()
    return tuple(
        Commit(sha, subject, tuple(paths), at, body, tuple((old, new) for old, new in renames))
        for sha, subject, paths, at, body, renames in entries
    )


def stamp(folder: Path) -> tuple[int, int] | None:
    """What differs once the stored commits are replaced; None when there are none."""
    try:
        found = (folder / layout.HISTORY).stat()
    except OSError:
        return None
    return found.st_ino, found.st_mtime_ns


def open_index(folder: Path) -> CommitIndex | None:
    """The stored commits, searchable, their columns mapped into memory; None when there are none."""
    try:
        with (folder / layout.HISTORY).open("rb") as file:
            return _index(column_file.map_columns(file, column_file.read_head(file, version())))
    except (OSError, ValueError):
        return None


def _columns(index: CommitIndex) -> dict[str, np.ndarray]:
    own = {field.name: getattr(index, field.name) for field in fields(CommitIndex) if field.name != "tree"}
    return own | {_TREE + field.name: getattr(index.tree, field.name) for field in fields(PathTree)}


def _index(columns: Mapping[str, np.ndarray]) -> CommitIndex:
    tree = {name.removeprefix(_TREE): column for name, column in columns.items() if name.startswith(_TREE)}
    own = {name: column for name, column in columns.items() if not name.startswith(_TREE)}
    return CommitIndex(**own, tree=PathTree(**tree))
