"""Past commits on disk: one JSON file beside the index, not part of it. They are made searchable when they are opened,
which takes .06 s for 2,000 commits."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import asdict, astuple, dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Any

from repopilot.index.history import commit_index
from repopilot.index.history.commit_index import CommitIndex
from repopilot.index.storage import layout
from repopilot.index.storage.database import storage_errors
from repopilot.redaction import redact

if TYPE_CHECKING:
    from repopilot.repo.history import Commit

_FORMAT = 2


@dataclass(frozen=True, slots=True)
class HistoryState:
    """Which history is stored: its newest commit, the most commits to store, and whether all of them are stored."""

    commit: str
    limit: int
    complete: bool


def version() -> str:
    """The version of the format, and of what is redacted."""
    return f"{_FORMAT}.{redact.version()}"


def stored_state(folder: Path) -> HistoryState | None:
    """The state of the history stored in `folder`; None when there is none."""
    found = _stored(folder)
    return HistoryState(**found["state"]) if found else None


@storage_errors()
def write_commits(folder: Path, state: HistoryState, commits: Sequence[Commit]) -> None:
    """Replace the stored commits.

    Args:
        folder: the folder of the repository's index.
        state: which history the commits are.
        commits: the commits, newest first, with the paths they had then.

    Raises:
        StorageError: they can't be written.
    """
    stored = {"version": version(), "state": asdict(state), "commits": [astuple(commit) for commit in commits]}
    layout.write_json(folder / layout.HISTORY, stored)


def read_commits(folder: Path) -> tuple[Commit, ...]:
    """The commits stored in `folder`, newest first, with the paths they had then; () when there are none."""
    from repopilot.repo.history import Commit

    found = _stored(folder)
    return tuple(
        Commit(sha, subject, tuple(paths), at, body, tuple((old, new) for old, new in renames))
        for sha, subject, paths, at, body, renames in (found["commits"] if found else ())
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
    from repopilot.repo.history import follow_renames

    commits = read_commits(folder)
    return commit_index.build(follow_renames(commits)) if commits else None


def _stored(folder: Path) -> dict[str, Any] | None:
    found = layout.read_json(folder / layout.HISTORY)
    return found if isinstance(found, dict) and found.get("version") == version() else None
