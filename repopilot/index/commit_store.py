"""Past commits, kept beside the index: fetched in the background, read when a search wants them."""

from __future__ import annotations

import threading
from dataclasses import asdict
from pathlib import Path
from typing import TYPE_CHECKING

from repopilot.errors import SourceError
from repopilot.index import layout
from repopilot.index.build.progress import Listener
from repopilot.index.database import storage_errors
from repopilot.settings import Settings
from repopilot.types import Snapshot

if TYPE_CHECKING:
    from repopilot.repo.history import Commit


def update(
    snapshot: Snapshot,
    settings: Settings,
    folder: Path,
    listener: Listener,
    cancel: threading.Event,
    token: str = "",
) -> None:
    """Deepen the clone and keep its commits in `folder`. Raises SourceError, StorageError, Cancelled.

    What the clone holds already is kept first: it is there although the remote doesn't answer. Does nothing when the
    history of this commit is complete.
    """
    from repopilot.repo import history

    state = {"commit": snapshot.commit.removesuffix("+dirty"), "limit": settings.history_commits, "complete": True}
    found = layout.read_json(folder / layout.HISTORY)
    if not settings.history_commits or (isinstance(found, dict) and state.items() <= found.items()):
        return
    complete = snapshot.git_dir is None
    _keep(folder, {**state, "complete": complete}, history.commits(snapshot, settings.history_commits))
    if complete:
        return
    try:
        history.deepen(snapshot, settings, progress=listener, cancel=cancel, token=token)
    except SourceError as error:
        raise SourceError(f"The history could not be fetched, ranking works without it. {error}") from error
    _keep(folder, state, history.commits(snapshot, settings.history_commits))


def read_commits(folder: Path) -> tuple[Commit, ...]:
    """The commits kept in `folder`, newest first; () when there are none."""
    from repopilot.repo.history import Commit

    found = layout.read_json(folder / layout.HISTORY)
    if not isinstance(found, dict):
        return ()
    return tuple(Commit(**{**entry, "paths": tuple(entry["paths"])}) for entry in found["commits"])


def _keep(folder: Path, state: dict, commits: list[Commit]) -> None:
    with storage_errors():
        layout.write_json(folder / layout.HISTORY, {**state, "commits": [asdict(commit) for commit in commits]})
