"""Clones: bare, shallow, filtered repositories in the data directory, never checked out."""

from __future__ import annotations

import hashlib
import re
import tempfile
import threading
import time
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import replace
from pathlib import Path

from filelock import FileLock, Timeout

from repopilot import disk, i18n
from repopilot.errors import Cancelled, CredentialsNeeded, SourceError, StorageError
from repopilot.repo import git_command
from repopilot.repo.clone_check import damaged_file
from repopilot.repo.git_command import Remote
from repopilot.repo.remote import network
from repopilot.repo.remote.credentials import HostToken
from repopilot.repo.remote.fetch import (
    FetchLimits,
    Redirected,
    Refs,
    fetch,
    list_refs,
    storing,
    unset_promisor,
)
from repopilot.settings import Settings
from repopilot.types import OnProgress, Progress, Snapshot, Source

FRESH_S = 60.0
"""A clone that was fetched less than this ago isn't fetched again when it is opened."""
_SHA = re.compile(r"[0-9a-f]{40}")
_SHORT_SHA = re.compile(r"[0-9a-f]{7,39}")
_LISTED_BRANCHES = 8


def open_clone(source: Source, settings: Settings, token: HostToken | None, limits: FetchLimits) -> Snapshot:
    """Clone `source.url`, or fetch new commits into its existing clone.

    Args:
        source: a remote source.
        settings: data directory and allowed hosts.
        token: for this repository; None to use the settings' token for its host, if any.
        limits: time, size, cancellation and progress.

    Returns:
        The snapshot; if fetching fails, an earlier one whose `stale` says why.

    Raises:
        SourceError: unreachable, not a repository, no such ref.
        CredentialsNeeded: the remote asks for credentials.
        StorageError: the clone can't be stored.
        Cancelled: stopped.
    """
    assert source.url is not None
    try:
        return _clone_or_update(source, settings, token, limits)
    except Redirected:
        if source.url.endswith(".git"):
            raise
        # GitLab and others serve a repository only at its address with `.git`, and redirect the one without it.
        return _clone_or_update(replace(source, url=f"{source.url}.git"), settings, token, limits)


def _clone_or_update(source: Source, settings: Settings, token: HostToken | None, limits: FetchLimits) -> Snapshot:
    assert source.url is not None
    git_dir = clone_dir(source.url, settings)
    damaged = None
    try:
        with clone_lock(git_dir, limits):
            damaged = damaged_file(git_dir, source.url) if git_dir.exists() else None
            if damaged or not git_dir.exists():
                with explained_by(damaged, git_dir, limits):
                    return _clone(source, git_dir, settings, token, limits)
            unset_promisor(git_dir)
            remote = network.check(source.url, settings, token)
            return _fetch_wanted(source, git_dir, remote, settings, limits)
    except (SourceError, StorageError) as error:
        known = _last_known(source, git_dir) if git_dir.exists() and not damaged else None
        if known is None:
            raise
        return replace(known, stale=i18n.reason(error))


def remote_commit(source: Source, settings: Settings, token: HostToken | None, limits: FetchLimits) -> str:
    """The commit that a remote source points to now, without cloning it. Arguments and errors as `open_clone`."""
    assert source.url is not None
    remote = network.check(source.url, settings, token)
    try:
        with tempfile.TemporaryDirectory(ignore_cleanup_errors=True) as folder:
            git_dir = Path(folder) / "empty.git"
            init_bare(git_dir, source.url)
            advertised = list_refs(git_dir, remote, limits)
    except Redirected:
        if source.url.endswith(".git"):
            raise
        return remote_commit(replace(source, url=f"{source.url}.git"), settings, token, limits)
    name, _ = _resolve_remote(source, advertised)
    return advertised.commits.get(name, name)


def fetch_limits(
    settings: Settings, progress: OnProgress | None = None, cancel: threading.Event | None = None
) -> FetchLimits:
    """The limits that the settings give one conversation with a remote.

    Args:
        settings: `clone_timeout_s` and `clone_max_mb`.
        progress: called with what git reports.
        cancel: ends the conversation once set.
    """
    return FetchLimits(settings.clone_timeout_s, settings.clone_max_mb << 20, cancel, progress or (lambda _: None))


def clone_dir(url: str, settings: Settings) -> Path:
    """The folder of the clone of an address: readable, and unique by a hash."""
    readable = re.sub(r"[^A-Za-z0-9]+", "-", url.partition("://")[2].removesuffix(".git")).strip("-")[-60:]
    return settings.repos / f"{readable}-{hashlib.sha256(url.encode()).hexdigest()[:10]}.git"


def clone_key(source: Source, git_dir: Path) -> str:
    """The key that a source's data is stored under; `git_dir` is the source's clone."""
    narrowing = "-".join(filter(None, (source.ref, source.subdir)))
    return git_dir.stem + (f"-{hashlib.sha256(narrowing.encode()).hexdigest()[:8]}" if narrowing else "")


def is_clone(snapshot: Snapshot, settings: Settings) -> bool:
    """Whether the snapshot is a clone that RepoPilot made; commits are never fetched into any other repository."""
    return snapshot.git_dir is not None and snapshot.git_dir.parent == settings.repos


def remote_of(git_dir: Path, settings: Settings, token: HostToken | None) -> Remote:
    """The checked origin of a clone.

    Args:
        git_dir: the clone.
        settings: which hosts are allowed.
        token: as in `open_clone`.

    Raises:
        SourceError: as `network.check`.
    """
    return network.check(origin(git_dir), settings, token)


def origin(git_dir: Path) -> str:
    """The address that a clone was made from."""
    return git_command.run(git_dir, ["config", "--local", "remote.origin.url"]).decode().strip()


@contextmanager
def clone_lock(git_dir: Path, limits: FetchLimits) -> Iterator[None]:
    """Acquire the lock of a clone, against other threads and processes, and undo a replacement that was interrupted.
    Waiting for the lock can be cancelled.

    Raises:
        StorageError: the data directory can't be written to, by us or by the block.
        Cancelled: stopped while waiting.
    """
    with storing(), _acquired(git_dir, limits):
        _put_back(git_dir)
        yield


@contextmanager
def _acquired(git_dir: Path, limits: FetchLimits) -> Iterator[None]:
    try:
        git_dir.parent.mkdir(parents=True, exist_ok=True)
    except OSError as error:
        if disk.is_full(error):
            raise
        raise StorageError(
            i18n.message("repo.data_directory_unusable", error=error), i18n.message("repo.check_home")
        ) from error
    lock = FileLock(git_dir.with_suffix(".lock"), is_singleton=False)
    while True:
        try:
            lock.acquire(timeout=0.2)
            break
        except Timeout:
            if limits.cancel is not None and limits.cancel.is_set():
                raise Cancelled(i18n.message("repo.stopped")) from None
            limits.progress(Progress(i18n.message("repo.progress.waiting"), 0, 0))
    try:
        yield
    finally:
        lock.release()


def init_bare(git_dir: Path, url: str) -> None:
    """Make an empty bare repository whose origin is `url`. Its configuration holds no credentials.

    Raises:
        StorageError: it can't be written.
    """
    disk.remove_tree(git_dir)
    with storing():
        git_dir.mkdir(parents=True)
        git_command.run(git_dir, ["init", "--quiet", "--bare", "--template=", "--initial-branch=repopilot-none"])
        git_command.run(git_dir, ["remote", "add", "--", "origin", url])


@contextmanager
def explained_by(damaged: str | None, git_dir: Path, limits: FetchLimits) -> Iterator[None]:
    """Report that a repository is made anew because one of its files is damaged; an error of the block says so, too.

    Args:
        damaged: the file; None where the repository is made for the first time.
        git_dir: the repository.
        limits: its `progress` gets the report.

    Raises:
        SourceError: as the block.
        StorageError: as the block.
    """
    if damaged is not None:
        limits.progress(Progress(i18n.message("repo.progress.damaged", file=damaged), 0, 0, "repository"))
    try:
        yield
    except (SourceError, StorageError) as error:
        if damaged is None or isinstance(error, CredentialsNeeded | Redirected):
            raise
        message = i18n.message("repo.damaged_clone", folder=git_dir, file=damaged, error=error.message)
        raise type(error)(message, error.hint) from error


@contextmanager
def in_place_of(git_dir: Path) -> Iterator[Path]:
    """A folder to make a repository in. When the block ends without an error, the folder replaces `git_dir`.

    Its name has the stem of `git_dir`, by which snapshots are identified. Until the block ends, `git_dir` stays: it may
    be the only copy if the network or the remote is gone.

    Raises:
        StorageError: it can't be moved there.
    """
    partial = git_dir.with_suffix(f"{git_dir.suffix}-partial")
    aside = _aside(git_dir)
    try:
        with storing():
            yield partial
            disk.remove_tree(aside)
            if git_dir.exists():
                git_dir.rename(aside)
            partial.rename(git_dir)
        disk.remove_tree(aside)
    finally:
        _put_back(git_dir)
        disk.remove_tree(partial)


def _put_back(git_dir: Path) -> None:
    """Undo a replacement by `in_place_of` that a kill or a failure interrupted between its two steps."""
    aside = _aside(git_dir)
    if aside.exists() and not git_dir.exists():
        aside.rename(git_dir)


def _aside(git_dir: Path) -> Path:
    return git_dir.with_suffix(f"{git_dir.suffix}-damaged")


def _clone(source: Source, git_dir: Path, settings: Settings, token: HostToken | None, limits: FetchLimits) -> Snapshot:
    assert source.url is not None
    remote = network.check(source.url, settings, token)
    started = time.monotonic()
    with in_place_of(git_dir) as partial:
        init_bare(partial, source.url)
        snapshot = _fetch_wanted(source, partial, remote, settings, limits)
    elapsed = f"{time.monotonic() - started:.1f} s"
    limits.progress(Progress(i18n.message("repo.progress.cloned"), 1, 1, "repository", detail=elapsed))
    return replace(snapshot, git_dir=git_dir)


def _fetch_wanted(source: Source, git_dir: Path, remote: Remote, settings: Settings, limits: FetchLimits) -> Snapshot:
    advertised = list_refs(git_dir, remote, limits)
    if not advertised.commits:
        raise SourceError(i18n.message("repo.empty", name=source.name), i18n.message("repo.empty_hint"))
    name, source = _resolve_remote(source, advertised)
    local = name if name.startswith("refs/") else f"refs/repopilot/{name}"
    fetch_ref(git_dir, remote, name, local, settings, limits)
    if name == advertised.head:
        git_command.run(git_dir, ["symbolic-ref", "HEAD", local])
    return _snapshot(source, git_dir, local)


def fetch_ref(git_dir: Path, remote: Remote, name: str, local: str, settings: Settings, limits: FetchLimits) -> None:
    """Fetch one ref, one commit deep, without files that are too large to be read.

    If the server refuses to send a commit by its id, all its branches are fetched instead.

    Args:
        git_dir: the clone.
        remote: its checked origin.
        name: a full remote ref or a full commit id.
        local: the ref to store it as.
        settings: the largest file that is read.
        limits: time, size, cancellation and progress.

    Raises:
        SourceError: as `fetch`.
        StorageError: as `fetch`.
        Cancelled: stopped.
    """
    blobs = f"blob:limit={settings.max_file_kb * 1024 + 1}"
    try:
        fetch(git_dir, remote, f"+{name}:{local}", limits, blob_filter=blobs)
    except CredentialsNeeded:
        raise
    except SourceError:
        if not _SHA.fullmatch(name):
            raise
        limits.progress(Progress(i18n.message("repo.progress.all_branches"), 0, 0, "objects"))
        fetch(git_dir, remote, "+refs/heads/*:refs/repopilot/all/*", limits, depth=0, blob_filter=blobs)
        if git_command.resolve(git_dir, name) is None:
            raise
        git_command.run(git_dir, ["update-ref", local, name])


def _resolve_remote(source: Source, advertised: Refs) -> tuple[str, Source]:
    """The remote ref (or commit id) meant, and the source with branch and path separated.

    In a tree address `feature/x/src` the longest prefix that is a branch or tag wins.
    """
    if source.ref is None:
        if not advertised.head and "HEAD" not in advertised.commits:
            raise SourceError(
                i18n.message("repo.no_default_branch", name=source.name), i18n.message("repo.name_a_branch")
            )
        return advertised.head or "HEAD", source
    inside = source.focus or source.subdir
    parts = [source.ref, *(inside.split("/") if inside else [])]
    for length in range(len(parts), 0, -1):
        ref = "/".join(parts[:length])
        rest = "/".join(parts[length:])
        for candidate in (ref, f"refs/heads/{ref}", f"refs/tags/{ref}", f"refs/{ref}"):
            if candidate in advertised.commits and candidate != "HEAD":
                split = replace(source, focus=rest or None) if source.focus else replace(source, subdir=rest)
                return candidate, replace(split, ref=ref)
    return _as_commit(source, advertised), source


def _as_commit(source: Source, advertised: Refs) -> str:
    """The full commit id for a source's ref, which is an id or its beginning. Raises SourceError."""
    ref = (source.ref or "").lower()
    if _SHA.fullmatch(ref):
        return ref
    if _SHORT_SHA.fullmatch(ref):
        found = {commit for commit in advertised.commits.values() if commit.startswith(ref)}
        if len(found) == 1:
            return found.pop()
        raise SourceError(i18n.message("repo.short_commit", ref=ref), i18n.message("repo.short_commit_hint"))
    names = sorted(n.removeprefix("refs/heads/") for n in advertised.commits if n.startswith("refs/heads/"))
    raise SourceError(
        i18n.message("repo.no_such_ref", name=source.name, ref=source.ref),
        i18n.message("repo.branches", names=", ".join(names[:_LISTED_BRANCHES])),
    )


def _last_known(source: Source, git_dir: Path) -> Snapshot | None:
    """The wanted ref as an earlier fetch left it in the clone, None if it isn't there."""
    if source.ref is None:
        default = git_command.run(git_dir, ["symbolic-ref", "HEAD"]).decode().strip()
        names = [default, "refs/repopilot/HEAD"]
    else:
        names = [source.ref, f"refs/heads/{source.ref}", f"refs/tags/{source.ref}", f"refs/repopilot/{source.ref}"]
    for name in names:
        if git_command.resolve(git_dir, name):
            return _snapshot(source, git_dir, name)
    return None


def _snapshot(source: Source, git_dir: Path, ref: str) -> Snapshot:
    commit = git_command.resolve(git_dir, ref)
    if commit is None:
        raise SourceError(
            i18n.message("repo.not_a_commit", ref=ref.removeprefix("refs/heads/")), i18n.message("repo.name_a_ref")
        )
    branch = ref.removeprefix("refs/heads/").removeprefix("refs/tags/").removeprefix("refs/repopilot/")
    return Snapshot(
        key=clone_key(source, git_dir),
        name=source.name,
        commit=commit,
        git_dir=git_dir,
        ref=source.ref or branch,
        subdir=source.subdir.strip("/"),
    )
