"""The past of a repository: commits as evidence, and the differences between revisions."""

from __future__ import annotations

import threading
from contextlib import suppress
from dataclasses import dataclass
from pathlib import Path

from repopilot.repo import git_command, local
from repopilot.repo.deepen import fetch_history, history_dir, resolve_in
from repopilot.repo.fetch import OnProgress
from repopilot.repo.git_command import GitFailed
from repopilot.repo.patch import (
    FileDiff,
    Hunk,
    Status,
    added_lines,
    check_patch,
    parse_patch,
    touched_lines,
    with_names,
)
from repopilot.repo.revisions import at, default_branch, merge_base
from repopilot.settings import Settings, settings
from repopilot.types import Snapshot

__all__ = [
    "Commit",
    "FileDiff",
    "Hunk",
    "added_lines",
    "at",
    "check_patch",
    "commits",
    "deepen",
    "default_branch",
    "diff",
    "merge_base",
    "parse_patch",
    "touched_lines",
]  # fmt: skip

_STATUS: dict[str, Status] = {"A": "added", "D": "deleted", "R": "renamed", "C": "added"}


@dataclass(frozen=True, slots=True)
class Commit:
    """A commit without its merges: `paths` it changed, `at` in seconds since the epoch (committer's clock)."""

    sha: str
    subject: str
    paths: tuple[str, ...]
    at: int


def commits(snapshot: Snapshot, limit: int) -> list[Commit]:
    """The newest commits that lead to the snapshot, merges left out; empty where no history is known.

    Reads only what is on disk: see `deepen` for clones.
    """
    if limit <= 0 or snapshot.commit == local.UNVERSIONED:
        return []
    where, bare = _history_of(snapshot)
    head = snapshot.commit.removesuffix("+dirty")
    args = ["log", "-z", "--no-merges", "--no-renames", "--name-only", f"--max-count={limit}",
            "--format=%x1e%H%x1f%ct%x1f%s%x1f", *([] if bare else ["--relative"]), head,
            *([] if bare else ["--", "."])]  # fmt: skip
    try:
        output = git_command.run(where, args, git_command.reading(), bare=bare).decode("utf-8", "replace")
    except GitFailed:
        return []
    cut = _boundary(where, bare)
    found = (_commit(record) for record in output.split("\x1e")[1:])
    return [commit for commit in found if commit.sha not in cut]


def _commit(record: str) -> Commit:
    sha, at, subject, rest = record.split("\x1f", 3)
    return Commit(sha, subject, tuple(path for path in rest.strip("\0\n").split("\0") if path), int(at))


def _boundary(where: Path, bare: bool) -> frozenset[str]:
    """The oldest commits of a shallow repository: they seem to add every file, and say nothing."""
    shallow = where / "shallow" if bare else where / ".git" / "shallow"
    with suppress(OSError):
        return frozenset(shallow.read_text().split())
    return frozenset()


def _history_of(snapshot: Snapshot) -> tuple[Path, bool]:
    """The repository that knows the snapshot's history, and whether it is bare."""
    if snapshot.git_dir is None:
        assert snapshot.root is not None
        return snapshot.root, False
    deep = history_dir(snapshot.git_dir)
    return (deep if resolve_in(deep, snapshot.commit) else snapshot.git_dir), True


def deepen(
    snapshot: Snapshot,
    settings: Settings,
    *,
    progress: OnProgress | None = None,
    cancel: threading.Event | None = None,
    token: str = "",
) -> int:
    """Fetch the history that leads to a clone's snapshot (bounded, without file contents); returns how many commits
    are known now. For local repositories it only counts. Raises SourceError, StorageError, Cancelled."""
    fetch_history(snapshot, settings, progress=progress, cancel=cancel, token=token)
    return len(commits(snapshot, settings.history_commits))


def diff(snapshot: Snapshot, base: str, head: str | None = None, options: Settings | None = None, *,
         token: str = "") -> list[FileDiff]:  # fmt: skip
    """What changed from `base` to `head`; without `head` to the snapshot itself, a local folder's uncommitted and
    untracked files included. Refs a clone lacks are fetched. Renames are found by git's default likeness of 50 %.

    Raises SourceError on an unknown ref.
    """
    options = options or settings()
    old = at(snapshot, base, options, token=token)
    if head is None and snapshot.root is not None:
        return _against_disk(snapshot, old.commit)
    new = at(snapshot, head or "HEAD", options, token=token)
    assert new.git_dir is not None
    narrow = ["--", f"{new.subdir}/"] if new.subdir else []
    shown = ["diff", "--no-ext-diff", "--no-textconv", "--no-color", "-M", "--ignore-submodules=all"]

    def run(*args: str) -> bytes:
        return git_command.run(new.git_dir, [*shown, *args, old.commit, new.commit, *narrow], git_command.reading())

    return with_names(run("-p").decode("utf-8", "replace"), _names(run("--raw", "-z")))


def _against_disk(snapshot: Snapshot, base: str) -> list[FileDiff]:
    assert snapshot.root is not None
    root = snapshot.root
    shown = ["diff", "--no-ext-diff", "--no-textconv", "--no-color", "-M", "--relative", "--ignore-submodules=all"]
    text = local.git(root, *shown, "-p", base, "--", ".").decode("utf-8", "replace")
    found = with_names(text, _names(local.git(root, *shown, "--raw", "-z", base, "--", ".")))
    listed = local.git(root, "ls-files", "-z", "--others", "--exclude-standard", "--", ".").split(b"\0")
    return found + [_untracked(root, name.decode("utf-8", "replace")) for name in listed if name]


def _untracked(root: Path, path: str) -> FileDiff:
    try:
        data = b"" if (root / path).is_symlink() else (root / path).read_bytes()
    except OSError:
        data = b""
    if b"\0" in data[:8192]:
        return FileDiff(path, path, "added", (), binary=True)
    lines = tuple(
        "+" + line for line in data.decode("utf-8", "replace").replace("\r\n", "\n").removesuffix("\n").split("\n")
    )
    return FileDiff(path, path, "added", (Hunk(0, 0, 1, len(lines), lines),) if data else ())


def _names(raw: bytes) -> list[tuple[Status, str, str]]:
    """(status, old path, path) of each record of `git diff --raw -z`."""
    fields = iter(raw.decode("utf-8", "replace").split("\0"))
    found: list[tuple[Status, str, str]] = []
    for meta in fields:
        if not meta:
            continue
        letter = meta.rsplit(" ", 1)[1][0]
        old_path = next(fields)
        path = next(fields) if letter in "RC" else old_path
        found.append((_STATUS.get(letter, "modified"), old_path, path))
    return found
