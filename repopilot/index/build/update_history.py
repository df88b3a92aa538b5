"""Update the commits stored beside an index: those in the clone, then those fetched from the remote."""

from __future__ import annotations

import threading
from pathlib import Path

from repopilot import i18n
from repopilot.errors import SourceError
from repopilot.index.commit_store import HistoryState, is_stored, write_commits
from repopilot.settings import Settings
from repopilot.types import OnProgress, Snapshot


def update_history(
    snapshot: Snapshot,
    settings: Settings,
    folder: Path,
    progress: OnProgress,
    cancel: threading.Event,
    token: str = "",
) -> None:
    """Deepen the clone and store its commits, unless the history of this commit is complete already.

    The commits in the clone are stored first, so that they are available even when the remote doesn't answer.

    Args:
        snapshot: the repository at one commit.
        settings: `history_commits` says how many commits are stored, 0 for none.
        folder: the folder of the repository's index.
        progress: receives the progress of the fetch.
        cancel: stops the fetch.
        token: for a private repository.

    Raises:
        SourceError: the history can't be fetched.
        StorageError: it can't be written.
        Cancelled: `cancel` was set.
    """
    from repopilot.repo import history

    limit = settings.history_commits
    complete = HistoryState(snapshot.commit.removesuffix("+dirty"), limit, complete=True)
    if not limit or is_stored(folder, complete):
        return
    local = snapshot.git_dir is None
    write_commits(folder, HistoryState(complete.commit, limit, complete=local), history.commits(snapshot, limit))
    if local:
        return
    try:
        history.deepen(snapshot, settings, progress=progress, cancel=cancel, token=token)
    except SourceError as error:
        raise SourceError(i18n.message("index.history_not_fetched", error=error.message), error.hint) from error
    write_commits(folder, complete, history.commits(snapshot, limit))
