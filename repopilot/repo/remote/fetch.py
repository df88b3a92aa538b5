"""Talks to a remote: lists its refs, fetches one of them, and explains in plain words what went wrong."""

from __future__ import annotations

import re
import shutil
import threading
import time
from collections.abc import Iterator
from contextlib import contextmanager, suppress
from dataclasses import dataclass
from pathlib import Path
from urllib.parse import urlsplit

from repopilot import disk, i18n
from repopilot.errors import (
    CredentialsNeeded,
    RepoPilotError,
    SourceError,
    SourceRefused,
    SourceUnreachable,
    StorageError,
)
from repopilot.repo import git_command
from repopilot.repo.git_command import GitFailed, GitTimeout, Remote, Supervision
from repopilot.repo.remote.credentials import host_of
from repopilot.types import OnProgress, Progress

MIN_FREE_BYTES = 50 * 1024 * 1024


@dataclass(frozen=True, slots=True)
class FetchLimits:
    """Limits, cancellation and progress of one conversation with a remote.

    Attributes:
        timeout_s: seconds of wall time.
        max_bytes: size of the clone's packs on disk.
        cancel: ends the conversation once set.
        progress: called with what git reports, at most ten times a second.
    """

    timeout_s: float
    max_bytes: int
    cancel: threading.Event | None = None
    progress: OnProgress = lambda _: None


@dataclass(frozen=True, slots=True)
class Refs:
    """What a remote advertises: the default branch's full name ('' when unborn or detached), and ref → commit."""

    head: str
    commits: dict[str, str]


def list_refs(git_dir: Path, remote: Remote, limits: FetchLimits) -> Refs:
    """Ask the remote for its refs.

    Args:
        git_dir: any bare repository, to run git in.
        remote: the checked address.
        limits: time, size, cancellation and progress.

    Raises:
        SourceError: it can't be reached or is no repository.
        CredentialsNeeded: it asks for credentials.
        Cancelled: stopped.
    """
    limits.progress(Progress(i18n.message("repo.progress.listing_refs"), 0, 0, "refs"))
    try:
        output = _run_remote(git_dir, ["ls-remote", "--symref", "--", remote.url], remote, limits)
    except GitFailed as error:
        raise translate_error(error, remote) from None
    head = ""
    commits = {}
    for line in output.decode("utf-8", "replace").splitlines():
        value, _, name = line.partition("\t")
        if value.startswith("ref: ") and name == "HEAD":
            head = value.removeprefix("ref: ")
        elif name and not name.endswith("^{}"):
            commits[name] = value
    return Refs(head if head in commits else "", commits)


def fetch(
    git_dir: Path,
    remote: Remote,
    refspec: str,
    limits: FetchLimits,
    *,
    depth: int = 1,
    blob_filter: str = "",
    fall_back: bool = True,
) -> None:
    """Fetch one refspec, shallow and filtered. The clone never becomes a partial clone in git's sense, which would
    fetch while it is read.

    Args:
        git_dir: the bare repository to fetch into.
        remote: the checked address.
        refspec: as git takes it.
        limits: time, size, cancellation and progress.
        depth: commits from the tip; 0 for all.
        blob_filter: as `git fetch --filter` takes it; '' for none.
        fall_back: if the server refuses the filter or the depth, try again without it (reported as progress).

    Raises:
        SourceError: the remote can't be reached, or has no such ref.
        CredentialsNeeded: it asks for credentials.
        StorageError: the repository is too large, or the disk full.
        Cancelled: stopped.
    """
    _check_space(git_dir)
    attempts = [(depth, blob_filter), (depth, ""), (0, "")][: None if fall_back else 1]
    for number, (deep, wanted) in enumerate(attempts):
        args = ["fetch", "--progress", "--no-tags", "--no-write-fetch-head", "--update-head-ok", "--no-auto-gc"]
        args += ["--no-recurse-submodules", *[f"--depth={deep}"] * bool(deep), *[f"--filter={wanted}"] * bool(wanted)]
        try:
            _run_remote(git_dir, [*args, "--", "origin", refspec], remote, limits)
            return
        except GitFailed as error:
            if number == len(attempts) - 1 or not _LESS_MAY_HELP.search(error.stderr):
                raise translate_error(error, remote) from None
            refused = "repo.progress.no_filter" if wanted else "repo.progress.no_depth"
            limits.progress(Progress(i18n.message(refused), 0, 0, "objects"))
        finally:
            unset_promisor(git_dir)


def unset_promisor(git_dir: Path) -> None:
    """Undo what a filtered fetch writes into the configuration, so that git never fetches on its own."""
    for key in ("remote.origin.promisor", "remote.origin.partialclonefilter", "extensions.partialclone"):
        git_command.run(git_dir, ["config", "--local", "--unset-all", key], ok=(0, 5))


def _run_remote(git_dir: Path, args: list[str], remote: Remote, limits: FetchLimits) -> bytes:
    supervision = Supervision(
        timeout_s=limits.timeout_s,
        cancel=limits.cancel,
        on_line=_ProgressLines(limits.progress).feed,
        check=lambda: _check_size(git_dir, limits.max_bytes),
        ends_with_us=True,
    )
    try:
        return git_command.run(git_dir, args, git_command.fetching(remote), supervision=supervision)
    except GitTimeout as error:
        raise SourceUnreachable(
            i18n.message("repo.too_slow", host=_host(remote), seconds=error.seconds),
            i18n.message("repo.too_slow_hint"),
        ) from error


def _check_size(git_dir: Path, max_bytes: int) -> None:
    """Raises StorageError when the clone grows too large or the disk is nearly full."""
    size = 0
    for file in (git_dir / "objects" / "pack").glob("*"):
        with suppress(FileNotFoundError):
            size += file.stat().st_size
    if size > max_bytes:
        raise StorageError(
            i18n.message("repo.too_large", megabytes=max_bytes >> 20), i18n.message("repo.too_large_hint")
        )
    _check_space(git_dir)


def _check_space(folder: Path) -> None:
    """Raises StorageError when the disk is nearly full."""
    if shutil.disk_usage(folder).free < MIN_FREE_BYTES:
        raise StorageError(i18n.message("repo.disk_full_at", folder=folder), i18n.message("repo.free_space"))


@contextmanager
def storing() -> Iterator[None]:
    """Turn errors of the disk or of git in the block into StorageError."""
    try:
        yield
    except (OSError, GitFailed) as error:
        if disk.is_full(error) or disk.says_full(str(error)):
            message = i18n.message("repo.disk_full")
            hint = i18n.message("repo.free_space")
        else:
            message = i18n.message("repo.clone_not_stored", error=error)
            hint = i18n.message("repo.check_home")
        raise StorageError(message, hint) from error


class Redirected(SourceRefused):
    """The server redirects to another address, which is not followed, since it wasn't checked."""


_CAUSES: tuple[tuple[str, type[RepoPilotError], str, str], ...] = (
    (r"no space left|disk quota exceeded", StorageError, "disk_full", "free_space"),
    (
        r"could not read (username|password)|authentication failed|terminal prompts disabled|"
        r"returned error: 40[13]\b|access denied|invalid credentials",
        CredentialsNeeded,
        "credentials",
        "credentials_hint",
    ),
    (r"returned error: 404|repository .*not found|not found: did you run", SourceError, "not_found", "not_found_hint"),
    (r"returned error: 30\d|unable to update url base|redirect", Redirected, "redirected", "redirected_hint"),
    (r"returned error: 5\d\d", SourceUnreachable, "server_error", "try_later"),
    (
        r"couldn't find remote ref|unadvertised object|not our ref|no such remote ref",
        SourceError,
        "no_such_remote_ref",
        "check_spelling",
    ),
    (
        r"operation too slow|timed? ?out|transfer closed|early eof|hung up unexpectedly|unexpected disconnect",
        SourceUnreachable,
        "stopped_answering",
        "check_network",
    ),
    (
        r"failed to connect|connection refused|couldn't connect|could not resolve|network is unreachable|"
        r"connection reset|empty reply",
        SourceUnreachable,
        "unreachable",
        "check_address_and_network",
    ),
    (r"certificate|ssl|gnutls|tls", SourceUnreachable, "untrusted_certificate", "untrusted_certificate_hint"),
    (
        r"is this a git repository|does not appear to be a git|invalid server response|bad line length|"
        r"protocol error|unknown capability|expected flush",
        SourceUnreachable,
        "not_git",
        "not_git_hint",
    ),
    (r"transport .* not allowed", SourceRefused, "transport_refused", "use_https"),
    (r"fsck|bad object|corrupt", SourceUnreachable, "damaged", "nothing_stored"),
)
"""Meanings of git's messages: (pattern, kind of error, key of the message, key of the hint); the first match counts."""

_LESS_MAY_HELP = re.compile(r"returned error: 5\d\d|filter|shallow|dumb http|hung up|early eof", re.IGNORECASE)


def translate_error(error: GitFailed, remote: Remote) -> RepoPilotError:
    """The StorageError, CredentialsNeeded or SourceError for git's error message."""
    text = "\n".join(line for line in error.stderr.splitlines() if not line.startswith("hint:"))
    for pattern, kind, message, hint in _CAUSES:
        if re.search(pattern, text, re.IGNORECASE):
            if kind is CredentialsNeeded and not remote.confidential:
                kind = SourceRefused
                message = "credentials_unencrypted"
                hint = "use_https"
            explanation = i18n.message(f"repo.{message}", host=_host(remote), url=remote.url)
            return kind(explanation, i18n.message(f"repo.{hint}", host=host_of(remote.url)))
    words = [line for line in text.splitlines() if line.startswith(("fatal:", "error:"))] or text.splitlines()[-1:]
    reason = " ".join(words)[:300] or i18n.message("repo.no_reason_from_git")
    return SourceUnreachable(i18n.message("repo.unreadable", host=_host(remote), reason=reason))


def _host(remote: Remote) -> str:
    return urlsplit(remote.url).hostname or remote.url


_PHASES = {
    "Enumerating objects": "enumerating",
    "Counting objects": "counting",
    "Compressing objects": "compressing",
    "Receiving objects": "receiving",
    "Resolving deltas": "resolving",
}


class _ProgressLines:
    """Turns git's progress lines into Progress, at most ten a second."""

    def __init__(self, report: OnProgress) -> None:
        from git import RemoteProgress

        self._parse = RemoteProgress.re_op_relative
        self._report = report
        self._phase = ""
        self._started = 0.0
        self._last = 0.0

    def feed(self, line: str) -> None:
        """Take one line of git's standard error."""
        match = self._parse.match(line)
        if not match:
            return
        remote, name, _, done, total, rest = match.groups()
        now = time.monotonic()
        if name != self._phase:
            self._phase = name
            self._started = now
        elif now - self._last < 0.1 and done != total:
            return
        self._last = now
        rate = int(done) / max(now - self._started, 0.001)
        left = (int(total) - int(done)) / rate if rate else None
        detail = rest.strip(" ,").removesuffix(", done.")
        self._report(Progress(_phase(name, bool(remote)), int(done), int(total), "objects", rate, left, detail))


def _phase(name: str, on_server: bool) -> str:
    """The name of one of git's phases, from the catalogue if it has that phase."""
    phase = i18n.message(f"repo.progress.{_PHASES[name]}") if name in _PHASES else name
    return i18n.message("repo.progress.on_server", phase=phase) if on_server else phase
