"""Past commits, kept beside the index: fetched in the background, read when a search wants them."""

from __future__ import annotations

import threading
from dataclasses import asdict
from pathlib import Path
from typing import TYPE_CHECKING

from repopilot.errors import SourceError
from repopilot.index import layout
from repopilot.index.database import storage_errors
from repopilot.index.meter import Listener
from repopilot.settings import Settings
from repopilot.types import Snapshot

if TYPE_CHECKING:
    from repopilot.repo.history import Commit


def update(snapshot: Snapshot, settings: Settings, folder: Path, listener: Listener, cancel: threading.Event) -> None:
    """Deepen the clone and keep its commits in `folder`. Raises SourceError, StorageError, Cancelled.

    What the clone holds already is kept first: it is there although the remote doesn't answer.
    """
    from repopilot.repo import history

    if not settings.history_commits:
        return
    _keep(folder, history.commits(snapshot, settings.history_commits))
    if snapshot.git_dir is None:
        return
    try:
        history.deepen(snapshot, settings, progress=listener, cancel=cancel)
    except SourceError as error:
        raise SourceError(f"The history could not be fetched, ranking works without it. {error.message}") from error
    _keep(folder, history.commits(snapshot, settings.history_commits))


def read_commits(folder: Path) -> tuple[Commit, ...]:
    """The commits kept in `folder`, newest first; () when there are none."""
    from repopilot.repo.history import Commit

    found = layout.read_json(folder / layout.HISTORY)
    if not isinstance(found, list):
        return ()
    return tuple(Commit(**{**entry, "paths": tuple(entry["paths"])}) for entry in found)


def _keep(folder: Path, commits: list[Commit]) -> None:
    with storage_errors():
        layout.write_json(folder / layout.HISTORY, [asdict(commit) for commit in commits])
