"""A repository at other commits: its past, its other revisions, and the differences between them.

The history of a clone is a second bare repository beside it, with commits and trees but no file contents. So deepening
it can neither break nor slow down reading, and it can be deleted on its own.
"""

from __future__ import annotations

import hashlib
import os
import re
import threading
from collections.abc import Iterable, Iterator, Sequence
from contextlib import closing, suppress
from dataclasses import dataclass, replace
from functools import lru_cache
from pathlib import Path

from repopilot import i18n
from repopilot.errors import Cancelled, SourceError, UsageError
from repopilot.redaction.redact import redacted
from repopilot.repo import git_command, local
from repopilot.repo.clone import (
    clone_lock,
    explained_by,
    fetch_limits,
    fetch_ref,
    in_place_of,
    init_bare,
    is_clone,
    origin,
    remote_of,
)
from repopilot.repo.clone_check import damaged_file
from repopilot.repo.git_command import GitFailed, Remote
from repopilot.repo.left_out import diff_without_left_out
from repopilot.repo.patches.patch import FileDiff, Hunk, read_diff, safe_lines
from repopilot.repo.paths.path_rules import largest_read
from repopilot.repo.remote.credentials import HostToken
from repopilot.repo.remote.fetch import FetchLimits, fetch, list_refs
from repopilot.repo.source import check_ref
from repopilot.settings import Settings
from repopilot.types import OnProgress, Progress, Snapshot

_REVISION = re.compile(r"(?P<base>.+?)(?P<steps>[~^][~^0-9]*)?")
_SHA = re.compile(r"[0-9a-f]{40}")
_TRAILER = re.compile(r"^(?:[\w-]+-by|Change-Id|Reviewed-on|git-svn-id|cc): .*$", re.MULTILINE | re.IGNORECASE)
_MIN_DEPTH = 50
MOST_PATHS = 30
"""A commit that changed more files than this says nothing about any one of them."""
MOST_RENAMES = 20_000
"""Most renames of one commit that are followed: moving a folder renames many files."""
LONGEST_BODY = 2000
_LATEST = 253_402_300_799
"""The end of the year 9999, the last that dates can represent."""
_DIFF = (
    "diff",
    "--no-ext-diff",
    "--no-textconv",
    "--no-color",
    "-M",
    "--ignore-submodules=all",
    "--src-prefix=a/",
    "--dst-prefix=b/",
)
_LOOKED_AT = 8192
"""How many bytes of a file tell whether it is binary, as for git."""
_WORD = re.compile(r"[\w./~^-]+")
_REVISIONS = re.compile(r"(?P<base>\w[\w/~^-]*(?:\.[\w/~^-]+)*)(?P<dots>\.\.\.?)(?P<head>\w[\w./~^-]*)?")
_RANGE = re.compile(r"(?P<base>.+?)(?:(?P<dots>\.\.\.?)(?P<head>.*))?")


@dataclass(frozen=True, slots=True)
class Commit:
    """A commit that isn't a merge.

    Attributes:
        sha: its id.
        subject: the first paragraph of its message. Secrets are redacted here, in the body and in the paths.
        paths: the files it changed, a renamed one by its new path; () if they are more than MOST_PATHS.
        at: the committer's clock, in seconds since the epoch.
        body: the rest of the message without trailers, at most LONGEST_BODY characters.
        renames: (old path, new path) of each file that was renamed without a change.
    """

    sha: str
    subject: str
    paths: tuple[str, ...]
    at: int
    body: str = ""
    renames: tuple[tuple[str, str], ...] = ()


@dataclass(frozen=True, slots=True)
class CommitRange:
    """A range of commits as git writes it.

    Attributes:
        base: the revision that it starts from.
        head: the revision that it ends with, None for the open snapshot.
        branched_off: whether the head is compared with the commit where it branched off from the base (BASE...HEAD),
            so that later changes to the base don't count.
    """

    base: str
    head: str | None = None
    branched_off: bool = False

    def __str__(self) -> str:
        return f"{self.base}{'...' if self.branched_off else '..'}{self.head or ''}"


def commits(snapshot: Snapshot, limit: int, *, since: str = "", cancel: threading.Event | None = None) -> list[Commit]:
    """The newest commits that lead to the snapshot, without merges. Reads only what is on disk: see `deepen`.

    Args:
        snapshot: a clone or a local folder.
        limit: the largest number of commits.
        since: a commit to leave out, with all its ancestors.
        cancel: ends the call once set.

    Returns:
        The commits, newest first; empty where no history is known.

    Raises:
        Cancelled: `cancel` was set.
    """
    if limit <= 0 or snapshot.commit == local.UNVERSIONED:
        return []
    repository, bare = _history_of(snapshot)
    # -M100%: renames of unchanged files are found by blob ids, without file contents.
    args = ["log", "-z", "--no-merges", "-M100%", "--name-status", f"--max-count={limit}"]
    args += ["--format=%x1e%H%x1f%ct%x1f%s%x1f%b", *([] if bare else ["--relative"])]
    args += [_head(snapshot), *([f"^{since}"] if since else []), "--", *([] if bare else ["."])]
    try:
        with closing(git_command.records(repository, args, bare=bare)) as records:
            found = list(_parse_log(records, cancel))
        boundary = _boundary(repository if bare else _git_dir(snapshot))
    except GitFailed:
        return []
    return [commit for commit in found if commit.sha not in boundary]


@lru_cache(maxsize=16)
def committed_at(snapshot: Snapshot) -> str:
    """When the snapshot's commit was made, in RFC 3339 format; '' if unknown."""
    return (_told(snapshot, "log", "-1", "--format=%cI", _head(snapshot)) or "").strip()


def leads_to(snapshot: Snapshot, commit: str) -> bool:
    """Whether a commit is known to be the snapshot's own or one of its ancestors."""
    return _told(snapshot, "merge-base", "--is-ancestor", commit, _head(snapshot)) is not None


def commit_authors(snapshot: Snapshot, shas: Sequence[str]) -> dict[str, str]:
    """The names of the authors of commits.

    Args:
        snapshot: a clone or a local folder.
        shas: ids of commits that lead to it.

    Returns:
        The names by id; empty where git can't tell.
    """
    # Not `show`: it compares each commit with its parent, whose trees a clone may lack.
    said = _told(snapshot, "log", "--no-walk=unsorted", "--no-notes", "--format=%H%x1f%aN", *shas) if shas else None
    pairs = (line.partition("\x1f") for line in (said or "").split("\n") if line)
    return {sha: name for sha, _, name in pairs}


def _told(snapshot: Snapshot, *args: str) -> str | None:
    """The output of a git command where the snapshot's history is known; None for no history, or if the command
    fails."""
    if snapshot.commit == local.UNVERSIONED:
        return None
    repository, bare = _history_of(snapshot)
    try:
        return git_command.run(repository, args, bare=bare).decode("utf-8", "replace")
    except GitFailed:
        return None


def follow_renames(commits: Iterable[Commit]) -> list[Commit]:
    """The commits with the present paths of their files, as far as exact renames tell.

    Args:
        commits: newest first.

    Returns:
        The same commits, in the same order.
    """
    present: dict[str, str] = {}
    found = []
    for commit in commits:
        paths = tuple(dict.fromkeys(present.get(path, path) for path in commit.paths))
        found.append(commit if paths == commit.paths else replace(commit, paths=paths))
        # All at once: two files may have swapped names.
        present |= {old: present.get(new, new) for old, new in commit.renames}
    return found


def _head(snapshot: Snapshot) -> str:
    return snapshot.commit.removesuffix("+dirty")


def _parse_log(records: Iterator[bytes], cancel: threading.Event | None) -> Iterator[Commit]:
    """The commits in the output of `git log --name-status -z`: a header, then status and paths of each file."""
    header: str | None = None
    files = _ChangedFiles()
    for record in records:
        if record.startswith(b"\x1e"):
            if cancel is not None and cancel.is_set():
                raise Cancelled(i18n.message("repo.stopped"))
            if header is not None:
                yield _commit(header, files)
            header = record.decode("utf-8", "replace")
            files = _ChangedFiles()
        elif status := record.strip():
            files.add([next(records, b"") for _ in range(2 if status[:1] in b"RC" else 1)], status)
    if header is not None:
        yield _commit(header, files)


class _ChangedFiles:
    """The files of one commit, up to MOST_PATHS paths and MOST_RENAMES renames."""

    def __init__(self) -> None:
        self.count = 0
        self.paths: list[str] = []
        self.renames: list[tuple[str, str]] = []

    def add(self, names: Sequence[bytes], status: bytes) -> None:
        """Add a file with its path, or with its old and its new path."""
        self.count += 1
        if self.count <= MOST_PATHS:
            self.paths.append(names[-1].decode("utf-8", "replace"))
        if status.startswith(b"R") and len(self.renames) < MOST_RENAMES:
            self.renames.append((names[0].decode("utf-8", "replace"), names[-1].decode("utf-8", "replace")))


def _commit(header: str, files: _ChangedFiles) -> Commit:
    sha, at, subject, body = header[1:].split("\x1f", 3)
    paths = tuple(files.paths) if files.count <= MOST_PATHS else ()
    body = redacted(_TRAILER.sub("", body[: 2 * LONGEST_BODY]).strip())[:LONGEST_BODY]
    return Commit(sha, redacted(subject)[:LONGEST_BODY], _redacted_each(paths), _seconds(at), body, _renames(files))


def _renames(files: _ChangedFiles) -> tuple[tuple[str, str], ...]:
    old, new = (_redacted_each([pair[side] for pair in files.renames]) for side in (0, 1))
    return tuple(zip(old, new, strict=True))


def _redacted_each(paths: Sequence[str]) -> tuple[str, ...]:
    """Paths without secrets; a single call of `redacted` if none has any."""
    joined = "\n".join(paths)
    return tuple(paths) if redacted(joined) == joined else tuple(map(redacted, paths))


def _seconds(clock: str) -> int:
    """The time of a commit; 0 if it is missing or isn't a plausible number."""
    return min(int(clock), _LATEST) if clock.isdecimal() and len(clock) < 20 else 0


def _boundary(git_dir: Path) -> frozenset[str]:
    """The oldest commits of a shallow repository: they seem to add every file, so they are no evidence."""
    with suppress(OSError):
        return frozenset((git_dir / "shallow").read_text().split())
    return frozenset()


def _history_of(snapshot: Snapshot) -> tuple[Path, bool]:
    """The repository that knows the snapshot's history, and whether it is bare."""
    if snapshot.git_dir is None:
        return snapshot.folder, False
    deep = history_dir(snapshot.git_dir)
    return (deep if _resolve_if_present(deep, snapshot.commit) else snapshot.git_dir), True


def history_dir(git_dir: Path) -> Path:
    """The folder of the history of a clone."""
    return git_dir.with_suffix(".history")


def _resolve_if_present(git_dir: Path, revision: str) -> str | None:
    """As `git_command.resolve`; None also if there is no repository."""
    return git_command.resolve(git_dir, revision) if (git_dir / "HEAD").is_file() else None


def deepen(
    snapshot: Snapshot,
    settings: Settings,
    *,
    progress: OnProgress | None = None,
    cancel: threading.Event | None = None,
    token: HostToken | None = None,
) -> None:
    """Fetch the history that leads to a clone's snapshot, without file contents. Fetches nothing for a local folder.

    Args:
        snapshot: the newest commit wanted.
        settings: `history_commits` bounds the number of commits.
        progress: called with what git reports.
        cancel: ends the call once set.
        token: as in `open_clone`.

    Raises:
        SourceError: the remote can't be reached, or can't fetch without file contents.
        StorageError: the history can't be stored.
        Cancelled: `cancel` was set.
    """
    if is_clone(snapshot, settings) and settings.history_commits:
        limits = fetch_limits(settings, progress, cancel)
        _fetch_history(snapshot.clone, snapshot.commit, settings, token, limits)


def _fetch_history(
    git_dir: Path, name: str, settings: Settings, token: HostToken | None, limits: FetchLimits
) -> str | None:
    """Fetch the history that leads to a commit id or full remote ref, unless it is here; returns its commit id."""
    deep = history_dir(git_dir)
    ref = f"refs/repopilot/{name}"
    with clone_lock(deep, limits):
        damaged = damaged_file(deep, origin(git_dir)) if deep.exists() else None
        if damaged is None and (commit := _resolve_if_present(deep, ref)) is not None:
            return commit
        with explained_by(damaged, deep, limits):
            remote = remote_of(git_dir, settings, token)
            if damaged is None and deep.exists():
                _fetch_commits(deep, remote, f"+{name}:{ref}", settings, limits)
            else:
                with in_place_of(deep) as partial:
                    init_bare(partial, remote.url)
                    _fetch_commits(partial, remote, f"+{name}:{ref}", settings, limits)
        return _resolve_if_present(deep, ref)


def _fetch_commits(git_dir: Path, remote: Remote, refspec: str, settings: Settings, limits: FetchLimits) -> None:
    """Raises as `fetch`."""
    limits.progress(Progress(i18n.message("repo.progress.history"), 0, 0, "objects"))
    depth = max(settings.history_commits, _MIN_DEPTH) + 1
    fetch(git_dir, remote, refspec, limits, depth=depth, blob_filter="blob:none", fall_back=False)


def at(
    snapshot: Snapshot,
    ref: str,
    settings: Settings,
    *,
    token: HostToken | None = None,
    progress: OnProgress | None = None,
    cancel: threading.Event | None = None,
) -> Snapshot:
    """The same repository at another revision. Objects that a clone lacks are fetched.

    A local folder at a commit is read from its git directory, not from disk; its paths are then relative to the
    repository's root.

    Args:
        snapshot: the repository; HEAD is its own commit.
        ref: a branch, tag, commit or `refs/pull/N/head`, or one of these with `~N` or `^`.
        settings: data directory, limits and allowed hosts.
        token: as in `open_clone`.
        progress: called with what git reports.
        cancel: ends the call once set.

    Returns:
        A snapshot with a key of its own.

    Raises:
        SourceError: there is no such ref, or the folder is no git repository.
        CredentialsNeeded: the remote asks for credentials.
        StorageError: what was fetched can't be stored.
        Cancelled: `cancel` was set.
    """
    check_ref(re.sub(r"[~^]", "", ref))
    if snapshot.commit == local.UNVERSIONED:
        raise SourceError(i18n.message("repo.unversioned", name=snapshot.name, ref=ref))
    git_dir = snapshot.git_dir or _git_dir(snapshot)
    own = snapshot.commit.removesuffix("+dirty")
    wanted = re.sub(r"^(HEAD|@)(?=$|[~^])", own, ref)
    commit = git_command.resolve(git_dir, wanted) or git_command.resolve(git_dir, f"refs/repopilot/{wanted}")
    if commit is None and is_clone(snapshot, settings):
        commit = _fetch_revision(snapshot, wanted, settings, token, fetch_limits(settings, progress, cancel))
    if commit is None:
        raise SourceError(
            i18n.message("repo.no_such_ref", name=snapshot.name, ref=ref), i18n.message("repo.check_spelling")
        )
    key = f"{snapshot.key}-{hashlib.sha256(commit.encode()).hexdigest()[:8]}"
    subdir = snapshot.subdir if snapshot.git_dir else _prefix(snapshot)
    return replace(snapshot, key=key, commit=commit, git_dir=git_dir, root=None, ref=ref, subdir=subdir)


def _git_dir(snapshot: Snapshot) -> Path:
    """The git directory of a local folder."""
    args = ["rev-parse", "--path-format=absolute", "--git-common-dir"]
    return Path(git_command.run(snapshot.folder, args, bare=False).decode().rstrip("\n"))


def _prefix(snapshot: Snapshot) -> str:
    """The path of a folder inside its work tree, with the snapshot's own narrowing."""
    output = git_command.run(snapshot.folder, ["rev-parse", "--show-prefix"], bare=False)
    return "/".join(filter(None, (output.decode().strip().rstrip("/"), snapshot.subdir)))


def _fetch_revision(
    snapshot: Snapshot, wanted: str, settings: Settings, token: HostToken | None, limits: FetchLimits
) -> str | None:
    """Fetch a revision into the clone and return its commit id, None when the remote doesn't have it."""
    git_dir = snapshot.clone
    match = _REVISION.fullmatch(wanted)
    assert match is not None
    remote = remote_of(git_dir, settings, token)
    name = match["base"]
    if not _SHA.fullmatch(name):
        name = _advertised(git_dir, remote, name, limits) or ""
    if name and match["steps"]:
        first = _fetch_history(git_dir, name, settings, token, limits)
        name = (first and git_command.resolve(history_dir(git_dir), first + match["steps"])) or ""
    if not name:
        return None
    ref = name if name.startswith("refs/") else f"refs/repopilot/{name}"
    with clone_lock(git_dir, limits):
        fetch_ref(git_dir, remote, name, ref, settings, limits)
    return git_command.resolve(git_dir, ref)


def _advertised(git_dir: Path, remote: Remote, name: str, limits: FetchLimits) -> str | None:
    """The full name of a remote branch, tag or ref, None when there is no such one."""
    offered = list_refs(git_dir, remote, limits).commits
    return next((n for n in (name, f"refs/heads/{name}", f"refs/tags/{name}", f"refs/{name}") if n in offered), None)


def default_branch(snapshot: Snapshot, settings: Settings) -> str:
    """The branch that changes are merged into: a clone's remote HEAD; for a folder origin's HEAD, main or master.

    Args:
        snapshot: the repository.
        settings: how remotes may be reached.

    Returns:
        The name of the branch, or of its ref.

    Raises:
        SourceError: there is none.
    """
    if is_clone(snapshot, settings):
        remote = remote_of(snapshot.clone, settings, None)
        head = list_refs(snapshot.clone, remote, fetch_limits(settings)).head
        if head:
            return head
    git_dir = snapshot.git_dir or _git_dir(snapshot)
    for name in ("refs/remotes/origin/HEAD", "refs/heads/main", "refs/heads/master"):
        if git_command.resolve(git_dir, name):
            return name
    raise SourceError(
        i18n.message("repo.no_default_branch", name=snapshot.name), i18n.message("repo.name_a_base_branch")
    )


def commit_range(written: str) -> CommitRange:
    """The range that is written as BASE..HEAD, BASE...HEAD or a single BASE. Raises UsageError."""
    found = _RANGE.fullmatch(written.strip())
    if found is None or found["base"].startswith("."):
        raise UsageError(i18n.message("repo.no_range", written=written), i18n.message("repo.no_range_hint"))
    return CommitRange(found["base"].strip(), (found["head"] or "").strip() or None, found["dots"] == "...")


def range_in(text: str) -> str:
    """The first range of commits in a sentence, written as BASE..HEAD, BASE...HEAD or HEAD~3..; '' for none."""
    for word in _WORD.findall(text):
        found = _REVISIONS.fullmatch(word)
        if found is not None and (found["head"] or (found["dots"] == ".." and "HEAD" in found["base"])):
            return word.rstrip(".") if found["head"] else word
    return ""


def start_of(snapshot: Snapshot, commits: CommitRange, settings: Settings) -> str:
    """The revision that the head of a range is compared with: the base, or where the head branched off from the base.

    Raises:
        SourceError: as `merge_base`, or the two have no common ancestor in the known history.
    """
    if not commits.branched_off:
        return commits.base
    found = merge_base(snapshot, commits.base, commits.head, settings)
    if found is None:
        facts = {"base": commits.base, "head": commits.head or "HEAD"}
        raise SourceError(i18n.message("repo.no_merge_base", **facts))
    return found


def merge_base(snapshot: Snapshot, base: str, head: str | None, settings: Settings) -> str | None:
    """The commit at which `head` branched off from `base`.

    Args:
        snapshot: the repository.
        base: a ref as in `at`.
        head: a ref as in `at`; None for the snapshot itself.
        settings: as in `at`.

    Returns:
        The commit id, None when the known history doesn't reach it.

    Raises:
        SourceError: as `at`.
    """
    first = at(snapshot, base, settings)
    second = at(snapshot, head or "HEAD", settings)
    repository = first.clone
    if is_clone(first, settings):
        repository = history_dir(first.clone)
        for commit in (first.commit, second.commit):
            _fetch_history(first.clone, commit, settings, None, fetch_limits(settings))
    args = ["merge-base", first.commit, second.commit]
    return git_command.run(repository, args, ok=(0, 1)).decode().strip() or None


def diff(snapshot: Snapshot, base: str, head: str | None, settings: Settings) -> list[FileDiff]:
    """What changed from `base` to `head`. Refs a clone lacks are fetched; renames are found at git's default of 50 %.

    Files too large for the clone, and untracked ones too large to be read, are listed without their changes
    (`FileDiff.left_out`).

    Args:
        snapshot: the repository.
        base: a ref as in `at`.
        head: a ref as in `at`; None for the snapshot itself, a local folder's uncommitted and untracked files included.
        settings: as in `at`.

    Returns:
        One value for each changed file.

    Raises:
        SourceError: as `at`.
    """
    old = at(snapshot, base, settings)
    if head is None and snapshot.root is not None:
        return _diff_with_disk(snapshot, old.commit, settings)
    new = at(snapshot, head or "HEAD", settings)
    paths = ["--", f"{new.subdir}/"] if new.subdir else []
    try:
        text = git_command.run(new.clone, [*_DIFF, "-p", old.commit, new.commit, *paths])
    except GitFailed:  # a file is not in the clone
        return diff_without_left_out(new.clone, _DIFF, old.commit, new.commit, paths)
    return read_diff(text.decode("utf-8", "replace"))


def _diff_with_disk(snapshot: Snapshot, base: str, settings: Settings) -> list[FileDiff]:
    root = snapshot.folder
    try:
        text = local.run_git(root, *_DIFF, "--relative", "-p", base, "--", ".").decode("utf-8", "replace")
    except GitFailed as error:
        facts = {"name": snapshot.name, "base": base[:12], "error": error.stderr.strip()[-200:]}
        raise SourceError(i18n.message("repo.not_compared", **facts)) from error
    listed = local.run_git(root, "ls-files", "-z", "--others", "--exclude-standard", "--", ".").split(b"\0")
    return read_diff(text) + [_untracked(root, name, settings.max_file_kb << 10) for name in listed if name]


def _untracked(root: Path, name: bytes, max_bytes: int) -> FileDiff:
    """A file on disk as one that was added. Of one that is too large to be read only the beginning is looked at."""
    path = name.decode("utf-8", "replace")
    place = root / os.fsdecode(name)
    largest = largest_read(path, max_bytes)
    data = b""
    with suppress(OSError):
        if not place.is_symlink():
            with place.open("rb") as file:
                data = file.read(min(_LOOKED_AT, largest))
                data += file.read(largest + 1 - len(data)) if b"\0" not in data else b""
    if b"\0" in data[:_LOOKED_AT]:
        return FileDiff(path, path, "added", (), binary=True)
    if len(data) > largest:
        return FileDiff(path, path, "added", left_out=True)
    text = data.decode("utf-8", "replace").replace("\r\n", "\n").removesuffix("\n")
    lines = safe_lines(["+" + line for line in text.split("\n")])
    return FileDiff(path, path, "added", (Hunk(0, 1, len(lines), lines),) if data else ())
