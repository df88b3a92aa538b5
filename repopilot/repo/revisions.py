"""The same repository at another revision, and where two of them parted. What a clone lacks is fetched."""

from __future__ import annotations

import hashlib
import re
import threading
from dataclasses import replace
from pathlib import Path

from repopilot.errors import SourceError
from repopilot.repo import git_command, local
from repopilot.repo.clone import fetch_ref, limits_of, locked, resolve
from repopilot.repo.deepen import history_dir, history_to, is_clone, remote_of
from repopilot.repo.fetch import FetchLimits, OnProgress, refs
from repopilot.repo.git_command import Remote
from repopilot.repo.source import check_ref
from repopilot.settings import Settings, settings
from repopilot.types import Snapshot

_REVISION = re.compile(r"(?P<base>.+?)(?P<steps>[~^][~^0-9]*)?")
_SHA = re.compile(r"[0-9a-f]{40}")


def at(snapshot: Snapshot, ref: str, options: Settings | None = None, *, token: str = "",
       progress: OnProgress | None = None, cancel: threading.Event | None = None) -> Snapshot:  # fmt: skip
    """The same repository at another branch, tag, commit, `refs/pull/N/head`, or one of these with `~N` or `^`.

    HEAD is the snapshot's own commit. What a clone lacks is fetched. A local folder at a commit is read from its
    git directory, not from disk; its paths are relative to the repository's root.
    Raises SourceError on an unknown ref, and as `clone.open_source` does when something must be fetched.
    """
    options = options or settings()
    check_ref(re.sub(r"[~^]", "", ref))
    if snapshot.commit == local.UNVERSIONED:
        raise SourceError(f"{snapshot.name} is no git repository, so it has no {ref}.")
    git_dir = snapshot.git_dir or _git_dir(snapshot)
    own = snapshot.commit.removesuffix("+dirty")
    wanted = re.sub(r"^(HEAD|@)(?=$|[~^])", own, ref)
    commit = resolve(git_dir, wanted) or resolve(git_dir, f"refs/repopilot/{wanted}")
    if commit is None and is_clone(snapshot, options):
        commit = _fetched(snapshot, wanted, options, token, limits_of(options, progress, cancel))
    if commit is None:
        raise SourceError(f"{snapshot.name} has no branch, tag or commit “{ref}”.", "Check the spelling.")
    key = f"{snapshot.key}-{hashlib.sha256(commit.encode()).hexdigest()[:8]}"
    subdir = snapshot.subdir if snapshot.git_dir else _prefix(snapshot)
    return replace(snapshot, key=key, commit=commit, git_dir=git_dir, root=None, ref=ref, subdir=subdir)


def _git_dir(snapshot: Snapshot) -> Path:
    assert snapshot.root is not None
    found = git_command.run(
        snapshot.root, ["rev-parse", "--path-format=absolute", "--git-common-dir"], git_command.reading(), bare=False
    )
    return Path(found.decode().rstrip("\n"))


def _prefix(snapshot: Snapshot) -> str:
    """Where a folder lies inside its work tree, with the snapshot's own narrowing."""
    assert snapshot.root is not None
    prefix = (
        git_command.run(snapshot.root, ["rev-parse", "--show-prefix"], git_command.reading(), bare=False)
        .decode()
        .strip()
    )
    return "/".join(filter(None, (prefix.rstrip("/"), snapshot.subdir)))


def _fetched(snapshot: Snapshot, wanted: str, options: Settings, token: str, limits: FetchLimits) -> str | None:
    """Fetch a revision into the clone and return its commit id, None when the remote doesn't have it."""
    assert snapshot.git_dir is not None
    git_dir = snapshot.git_dir
    match = _REVISION.fullmatch(wanted)
    assert match is not None
    remote = remote_of(git_dir, options, token)
    name = match["base"]
    if not _SHA.fullmatch(name):
        name = _advertised(git_dir, remote, name, limits) or ""
    if name and match["steps"]:
        first = history_to(git_dir, name, options, token, limits)
        name = (first and resolve(history_dir(git_dir), first + match["steps"])) or ""
    if not name:
        return None
    place = name if name.startswith("refs/") else f"refs/repopilot/{name}"
    with locked(git_dir, limits):
        fetch_ref(git_dir, remote, name, place, options, limits)
    return resolve(git_dir, place)


def _advertised(git_dir: Path, remote: Remote, name: str, limits: FetchLimits) -> str | None:
    offered = refs(git_dir, remote, limits).commits
    return next((n for n in (name, f"refs/heads/{name}", f"refs/tags/{name}", f"refs/{name}") if n in offered), None)


def default_branch(snapshot: Snapshot, options: Settings | None = None, *, token: str = "") -> str:
    """The branch that changes go into: the remote's HEAD for a clone; for a folder main or master, whichever exists.

    Raises SourceError when there is none.
    """
    options = options or settings()
    if is_clone(snapshot, options):
        assert snapshot.git_dir is not None
        remote = remote_of(snapshot.git_dir, options, token)
        head = refs(snapshot.git_dir, remote, limits_of(options)).head
        if head:
            return head
    git_dir = snapshot.git_dir or _git_dir(snapshot)
    for name in ("refs/remotes/origin/HEAD", "refs/heads/main", "refs/heads/master"):
        if resolve(git_dir, name):
            return name
    raise SourceError(f"{snapshot.name} has no default branch.", "Name the branch to compare with.")


def merge_base(snapshot: Snapshot, base: str, head: str | None = None, options: Settings | None = None, *,
               token: str = "") -> str | None:  # fmt: skip
    """The commit where `head` (default: the snapshot) left `base`, None when the known history doesn't reach it."""
    options = options or settings()
    first = at(snapshot, base, options, token=token)
    second = at(snapshot, head or "HEAD", options, token=token)
    assert first.git_dir is not None
    where = first.git_dir
    if is_clone(first, options):
        where = history_dir(first.git_dir)
        for commit in (first.commit, second.commit):
            history_to(first.git_dir, commit, options, token, limits_of(options))
    found = git_command.run(where, ["merge-base", first.commit, second.commit], git_command.reading(), ok=(0, 1))
    return found.decode().strip() or None
