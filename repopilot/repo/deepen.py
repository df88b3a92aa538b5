"""The history of a clone: a second bare repository beside it, with commits and trees but no file contents, so that
deepening can neither break nor slow down reading, and can be deleted on its own."""

from __future__ import annotations

import threading
from pathlib import Path

from repopilot.repo import git_command, network
from repopilot.repo.clone import limits_of, locked, prepare, resolve
from repopilot.repo.fetch import FetchLimits, OnProgress, fetch
from repopilot.repo.git_command import Remote
from repopilot.settings import Settings
from repopilot.types import Progress, Snapshot


def history_dir(git_dir: Path) -> Path:
    """Where the history of a clone lies."""
    return git_dir.with_suffix(".history")


def resolve_in(git_dir: Path, revision: str) -> str | None:
    """`clone.resolve`, None also where there is no repository."""
    return resolve(git_dir, revision) if (git_dir / "HEAD").is_file() else None


def fetch_history(
    snapshot: Snapshot,
    settings: Settings,
    *,
    progress: OnProgress | None = None,
    cancel: threading.Event | None = None,
    token: str = "",
) -> None:
    """Have the commits and trees that lead to the snapshot, as many as the settings say. Nothing for local ones.

    Raises SourceError, StorageError, Cancelled.
    """
    if is_clone(snapshot, settings) and settings.history_commits:
        assert snapshot.git_dir is not None
        limits = limits_of(settings, progress, cancel)
        history_to(snapshot.git_dir, snapshot.commit, settings, token, limits)


def history_to(git_dir: Path, name: str, settings: Settings, token: str, limits: FetchLimits) -> str | None:
    """Have the history that leads to a commit id or full remote ref; returns its commit id."""
    deep = history_dir(git_dir)
    place = f"refs/repopilot/{name}"
    with locked(deep, limits):
        if (commit := resolve_in(deep, place)) is not None:
            return commit
        remote = remote_of(git_dir, settings, token)
        if not (deep / "HEAD").is_file():
            prepare(deep, remote.url)
        limits.progress(Progress("Fetching the history", 0, 0, "objects"))
        fetch(deep, remote, f"+{name}:{place}", limits, depth=max(settings.history_commits, 50) + 1,
              blob_filter="blob:none", plainer=False)  # fmt: skip
        return resolve_in(deep, place)


def is_clone(snapshot: Snapshot, settings: Settings) -> bool:
    """Whether the snapshot lies in a clone of ours, which alone may be fetched into."""
    return snapshot.git_dir is not None and snapshot.git_dir.parent == settings.repos


def remote_of(git_dir: Path, settings: Settings, token: str) -> Remote:
    url = git_command.run(git_dir, ["config", "--local", "remote.origin.url"], git_command.reading()).decode().strip()
    return network.check(url, settings, token or settings.git_token)
