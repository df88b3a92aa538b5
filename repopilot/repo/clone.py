"""Opening a repository: a bare, shallow, filtered clone that is never checked out, or a local folder as it lies."""

from __future__ import annotations

import hashlib
import re
import shutil
import threading
import time
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import replace
from pathlib import Path

from filelock import FileLock, Timeout

from repopilot.errors import Cancelled, CredentialsNeeded, SourceError, StorageError
from repopilot.repo import git_command, network
from repopilot.repo.fetch import (
    SPARE_BYTES,
    FetchLimits,
    OnProgress,
    Redirected,
    Refs,
    disk_full,
    fetch,
    forget_promise,
    refs,
)
from repopilot.repo.local import open_folder
from repopilot.settings import Settings
from repopilot.types import Progress, Snapshot, Source

_SHA = re.compile(r"[0-9a-f]{40}")
_SHORT_SHA = re.compile(r"[0-9a-f]{7,39}")


def open_source(
    source: Source,
    settings: Settings,
    *,
    token: str = "",
    progress: OnProgress | None = None,
    cancel: threading.Event | None = None,
) -> Snapshot:
    """Clone, or fetch what is new, or look at a local folder.

    A clone known from before is returned with `stale` saying why when the fetch fails. `token` goes into this
    call's request header and nowhere else. Safe against another process opening the same repository.
    Raises SourceError, CredentialsNeeded, StorageError, Cancelled.
    """
    if source.path is not None:
        return _open_local(source, settings)
    assert source.url is not None
    limits = limits_of(settings, progress, cancel)
    try:
        return _open_remote(source, settings, token, limits)
    except Redirected:
        if source.url.endswith(".git"):
            raise
        # GitLab and others know a repository only by its address with `.git`, and send browsers' addresses there.
        return _open_remote(replace(source, url=f"{source.url}.git"), settings, token, limits)


def _open_local(source: Source, settings: Settings) -> Snapshot:
    """A folder as it lies on disk; with a ref, what its repository holds there."""
    folder = open_folder(source, settings)
    if not source.ref or folder.root is None:
        return folder
    from repopilot.repo.revisions import at

    return at(folder, source.ref, settings)


def _open_remote(source: Source, settings: Settings, token: str, limits: FetchLimits) -> Snapshot:
    assert source.url is not None
    git_dir = clone_dir(source.url, settings)
    with locked(git_dir, limits):
        if not git_dir.exists():
            return _first(source, git_dir, settings, token, limits)
        forget_promise(git_dir)
        try:
            return _update(source, git_dir, settings, token, limits)
        except (SourceError, StorageError) as error:
            known = _known(source, git_dir)
            if known is None:
                raise
            return replace(known, stale=str(error))


def limits_of(
    settings: Settings, progress: OnProgress | None = None, cancel: threading.Event | None = None
) -> FetchLimits:
    return FetchLimits(settings.clone_timeout_s, settings.clone_max_mb << 20, cancel, progress or (lambda _: None))


def clone_dir(url: str, settings: Settings) -> Path:
    """Where the clone of an address lies: readable, and unique by a hash."""
    readable = re.sub(r"[^A-Za-z0-9]+", "-", url.partition("://")[2].removesuffix(".git")).strip("-")[-60:]
    return settings.repos / f"{readable}-{hashlib.sha256(url.encode()).hexdigest()[:10]}.git"


@contextmanager
def locked(git_dir: Path, limits: FetchLimits) -> Iterator[None]:
    """The lock of one clone, between threads and processes; waiting can be cancelled."""
    try:
        git_dir.parent.mkdir(parents=True, exist_ok=True)
        if shutil.disk_usage(git_dir.parent).free < SPARE_BYTES:
            raise disk_full(git_dir.parent)
    except OSError as error:
        raise StorageError(f"The data directory can't be used: {error}.", "Check REPOPILOT_HOME.") from error
    lock = FileLock(git_dir.with_suffix(".lock"), is_singleton=False)
    while True:
        try:
            lock.acquire(timeout=0.2)
            break
        except Timeout:
            if limits.cancel is not None and limits.cancel.is_set():
                raise Cancelled("Stopped.") from None
            limits.progress(Progress("Waiting for another run that opens the same repository", 0, 0))
    try:
        yield
    finally:
        lock.release()


def prepare(git_dir: Path, url: str) -> None:
    """An empty bare repository whose origin is `url`. Its configuration holds no credentials."""
    shutil.rmtree(git_dir, ignore_errors=True)
    try:
        git_dir.mkdir(parents=True)
        _git(git_dir, "init", "--quiet", "--bare", "--template=", "--initial-branch=repopilot-none")
        _git(git_dir, "remote", "add", "--", "origin", url)
    except (git_command.GitFailed, OSError) as error:
        raise StorageError(f"No clone could be made in {git_dir.parent}: {error}.", "Check REPOPILOT_HOME.") from error


def _first(source: Source, git_dir: Path, settings: Settings, token: str, limits: FetchLimits) -> Snapshot:
    """Clone into a folder beside the final one and move it there when it is complete."""
    partial = git_dir.with_suffix(".partial")
    assert source.url is not None
    remote = network.check(source.url, settings, token or settings.git_token)
    try:
        prepare(partial, source.url)
        began = time.monotonic()
        snapshot = _fetch_wanted(source, partial, remote, settings, limits)
        partial.rename(git_dir)
        limits.progress(Progress("Cloned", 1, 1, "repository", detail=f"{time.monotonic() - began:.1f} s"))
        return replace(snapshot, git_dir=git_dir)
    except OSError as error:
        raise StorageError(f"The clone could not be stored: {error}.", "Check REPOPILOT_HOME.") from error
    finally:
        shutil.rmtree(partial, ignore_errors=True)


def _update(source: Source, git_dir: Path, settings: Settings, token: str, limits: FetchLimits) -> Snapshot:
    assert source.url is not None
    remote = network.check(source.url, settings, token or settings.git_token)
    return _fetch_wanted(source, git_dir, remote, settings, limits)


def _fetch_wanted(
    source: Source, git_dir: Path, remote: git_command.Remote, settings: Settings, limits: FetchLimits
) -> Snapshot:
    advertised = refs(git_dir, remote, limits)
    if not advertised.commits:
        raise SourceError(f"{source.name} is empty: it has no commit yet.", "Push something to it first.")
    name, source = _resolve(source, advertised)
    if name == "HEAD":
        local = "refs/repopilot/HEAD"
    elif name.startswith("refs/"):
        local = name
    else:
        local = f"refs/repopilot/{name}"
    fetch_ref(git_dir, remote, name, local, settings, limits)
    if name == advertised.head:
        _git(git_dir, "symbolic-ref", "HEAD", local)
    return _snapshot(source, git_dir, local)


def fetch_ref(
    git_dir: Path, remote: git_command.Remote, name: str, local: str, settings: Settings, limits: FetchLimits
) -> None:
    """Fetch a remote ref or full commit id as `local`, one commit deep, without files too large to be read.

    A server that gives commits only by branch is asked for all its branches instead.
    """
    blobs = f"blob:limit={settings.max_file_kb * 1024 + 1}"
    try:
        fetch(git_dir, remote, f"+{name}:{local}", limits, blob_filter=blobs)
    except CredentialsNeeded:
        raise
    except SourceError:
        if not _SHA.fullmatch(name):
            raise
        limits.progress(Progress("The server gives no single commits, fetching all branches", 0, 0, "objects"))
        fetch(git_dir, remote, "+refs/heads/*:refs/repopilot/all/*", limits, depth=0, blob_filter=blobs)
        if resolve(git_dir, name) is None:
            raise
        _git(git_dir, "update-ref", local, name)


def _resolve(source: Source, advertised: Refs) -> tuple[str, Source]:
    """The remote ref (or commit id) meant, and the source with branch and path told apart.

    In a tree address `feature/x/src` the longest prefix that is a branch or tag wins.
    """
    if source.ref is None:
        if not advertised.head and "HEAD" not in advertised.commits:
            raise SourceError(f"{source.name} has no default branch.", "Name a branch.")
        return advertised.head or "HEAD", source
    inside = source.focus or source.subdir
    parts = [source.ref, *(inside.split("/") if inside else [])]
    for length in range(len(parts), 0, -1):
        ref, rest = "/".join(parts[:length]), "/".join(parts[length:])
        for candidate in (ref, f"refs/heads/{ref}", f"refs/tags/{ref}", f"refs/{ref}"):
            if candidate in advertised.commits and candidate != "HEAD":
                placed = replace(source, focus=rest or None) if source.focus else replace(source, subdir=rest)
                return candidate, replace(placed, ref=ref)
    return _as_commit(source, advertised), source


def _as_commit(source: Source, advertised: Refs) -> str:
    ref = (source.ref or "").lower()
    if _SHA.fullmatch(ref):
        return ref
    if _SHORT_SHA.fullmatch(ref):
        found = {commit for commit in advertised.commits.values() if commit.startswith(ref)}
        if len(found) == 1:
            return found.pop()
        raise SourceError(
            f"The short commit id {ref} is not the tip of a branch or tag.", "Give the full 40 characters."
        )
    names = sorted(n.removeprefix("refs/heads/") for n in advertised.commits if n.startswith("refs/heads/"))
    raise SourceError(
        f"{source.name} has no branch, tag or commit “{source.ref}”.", f"Branches: {', '.join(names[:8])}."
    )


def resolve(git_dir: Path, revision: str) -> str | None:
    """The commit id a revision names in a clone, None where it names none (or the commit isn't there)."""
    try:
        output = _git(git_dir, "rev-parse", "--verify", "--quiet", "--end-of-options", f"{revision}^{{commit}}")
    except git_command.GitFailed:
        return None
    return output.decode().strip() or None


def _git(git_dir: Path, *args: str) -> bytes:
    return git_command.run(git_dir, args, git_command.reading())


def _known(source: Source, git_dir: Path) -> Snapshot | None:
    """What the clone holds of the wanted ref from before."""
    if source.ref is None:
        names = [_default_branch(git_dir), "refs/repopilot/HEAD"]
    else:
        names = [source.ref, f"refs/heads/{source.ref}", f"refs/tags/{source.ref}", f"refs/repopilot/{source.ref}"]
    for name in names:
        if resolve(git_dir, name):
            return _snapshot(source, git_dir, name)
    return None


def _default_branch(git_dir: Path) -> str:
    return _git(git_dir, "symbolic-ref", "HEAD").decode().strip()


def _snapshot(source: Source, git_dir: Path, ref: str) -> Snapshot:
    commit = resolve(git_dir, ref)
    if commit is None:
        raise SourceError(f"{ref.removeprefix('refs/heads/')} is not a commit.", "Name a branch, tag or commit.")
    place = "-".join(filter(None, (source.ref, source.subdir)))
    key = git_dir.stem + (f"-{hashlib.sha256(place.encode()).hexdigest()[:8]}" if place else "")
    branch = ref.removeprefix("refs/heads/").removeprefix("refs/tags/").removeprefix("refs/repopilot/")
    return Snapshot(
        key=key,
        name=source.name,
        commit=commit,
        git_dir=git_dir,
        ref=source.ref or branch,
        subdir=source.subdir.strip("/"),
    )
