"""Update the commits stored beside an index: those in the clone, then those fetched from the remote."""

from __future__ import annotations

import threading
from pathlib import Path

from repopilot import i18n
from repopilot.errors import SourceError
from repopilot.index.history import commit_store
from repopilot.index.history.commit_store import HistoryState
from repopilot.repo.remote.credentials import HostToken
from repopilot.settings import Settings
from repopilot.types import OnProgress, Snapshot


def update_history(
    snapshot: Snapshot,
    settings: Settings,
    folder: Path,
    progress: OnProgress,
    cancel: threading.Event,
    token: HostToken | None = None,
) -> None:
    """Deepen the clone and store its commits, unless the history of this commit is complete already.

    Commits that are stored are not read again. If none are stored, those in the clone are stored first, so that they
    are available even if the remote doesn't answer.

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
    limit = settings.history_commits
    wanted = HistoryState(snapshot.commit.removesuffix("+dirty"), limit, complete=True)
    stored = commit_store.stored_state(folder)
    if not limit or stored == wanted:
        return
    if snapshot.git_dir is not None:
        if stored is None:
            _store(snapshot, folder, HistoryState(wanted.commit, limit, complete=False), cancel)
        from repopilot.repo import history  # most searches find the history as it is

        try:
            history.deepen(snapshot, settings, progress=progress, cancel=cancel, token=token)
        except SourceError as error:
            raise SourceError(i18n.message("index.history_not_fetched", error=error.message), error.hint) from error
    _store(snapshot, folder, wanted, cancel)


def _store(snapshot: Snapshot, folder: Path, state: HistoryState, cancel: threading.Event) -> None:
    """Store the commits in the clone, the new ones before those already stored."""
    from repopilot.repo import history

    stored = commit_store.stored_state(folder)
    since = stored.commit if stored is not None and _goes_on(stored, state, snapshot) else ""
    commits = history.commits(snapshot, state.limit, since=since, cancel=cancel)
    older = commit_store.read_commits(folder) if since else ()
    commit_store.write_commits(folder, state, [*commits, *older][: state.limit])


def _goes_on(stored: HistoryState, wanted: HistoryState, snapshot: Snapshot) -> bool:
    """Whether the wanted history is the stored one plus newer commits."""
    from repopilot.repo.history import leads_to

    return stored.complete and stored.limit == wanted.limit and leads_to(snapshot, stored.commit)
