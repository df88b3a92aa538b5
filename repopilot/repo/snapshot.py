"""Opens a repository: clones or updates a remote one, or takes a local folder as it is on disk."""

from __future__ import annotations

import threading
from pathlib import Path

from repopilot.repo.clone import clone_dir, clone_key, fetch_limits, open_clone, remote_commit
from repopilot.repo.history import at
from repopilot.repo.local import UNVERSIONED, folder_key, open_folder
from repopilot.repo.remote.credentials import HostToken
from repopilot.repo.submodules import fetch_submodules
from repopilot.settings import Settings
from repopilot.types import OnProgress, Snapshot, Source


def open_source(
    source: Source,
    settings: Settings,
    *,
    token: HostToken | None = None,
    progress: OnProgress | None = None,
    cancel: threading.Event | None = None,
) -> Snapshot:
    """Clone a repository, fetch what is new in a known clone, or open a local folder.

    Safe against another process that opens the same repository. Blocking.

    Args:
        source: the parsed address or path.
        settings: data directory, time and size limits, allowed hosts.
        token: for this repository, sent when its host asks; None to use the settings' token for its host, if any.
        progress: called with what git reports, at most ten times a second.
        cancel: ends the call once set.

    Returns:
        The snapshot. `stale` says why, when only an earlier state of a clone could be returned.

    Raises:
        SourceError: the repository can't be reached or read, or has no such ref.
        CredentialsNeeded: the remote asks for credentials.
        StorageError: the clone can't be stored.
        Cancelled: `cancel` was set.
    """
    if source.path is not None:
        return _open_local(source, settings)
    limits = fetch_limits(settings, progress, cancel)
    snapshot = open_clone(source, settings, token, limits)
    if not snapshot.stale:
        fetch_submodules(snapshot, settings, limits)
    return snapshot


def source_key(source: Source, settings: Settings) -> str:
    """A name for a source that is the same on every machine: the key of its snapshot, unless its remote redirects."""
    return clone_key(source, clone_dir(source.url, settings)) if source.url else folder_key(source.path or Path())


def current_commit(source: Source, settings: Settings, token: HostToken | None) -> str:
    """The commit that a source is at, without cloning it; '' for a folder that differs from its commit or has none.

    Args and errors as `open_source`.
    """
    if source.url:
        return remote_commit(source, settings, token, fetch_limits(settings))
    commit = open_folder(source).commit
    return "" if commit == UNVERSIONED or "+" in commit else commit


def _open_local(source: Source, settings: Settings) -> Snapshot:
    """A folder as it is on disk; with a ref, that commit of its repository."""
    folder = open_folder(source)
    return folder if not source.ref or folder.root is None else at(folder, source.ref, settings)
