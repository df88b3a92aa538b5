"""One conversation with a remote: list its refs, fetch one of them, and say in plain words what went wrong."""

from __future__ import annotations

import re
import shutil
import threading
import time
from collections.abc import Callable
from contextlib import suppress
from dataclasses import dataclass
from pathlib import Path
from urllib.parse import urlsplit

from repopilot.errors import CredentialsNeeded, RepoPilotError, SourceError, StorageError
from repopilot.repo import git_command
from repopilot.repo.git_command import GitFailed, Remote, Stalled
from repopilot.types import Progress

OnProgress = Callable[[Progress], None]
SPARE_BYTES = 50 * 1024 * 1024


@dataclass(frozen=True, slots=True)
class FetchLimits:
    """What one conversation may cost: seconds of wall time, bytes on disk."""

    timeout_s: float
    max_bytes: int
    cancel: threading.Event | None = None
    progress: OnProgress = lambda _: None


@dataclass(frozen=True, slots=True)
class Refs:
    """What a remote advertises: the default branch's full name ('' when unborn or detached), and ref → commit."""

    head: str
    commits: dict[str, str]


def refs(git_dir: Path, remote: Remote, limits: FetchLimits) -> Refs:
    """Ask the remote for its refs. Raises as `explain` says."""
    limits.progress(Progress("Asking the server for its branches", 0, 0, "refs"))
    try:
        output = _talk(git_dir, ["ls-remote", "--symref", "--", remote.url], remote, limits)
    except GitFailed as error:
        raise explain(error, remote) from None
    head, commits = "", {}
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
    plainer: bool = True,
) -> None:
    """Fetch one refspec, shallow and filtered; a server that can't do one of them is asked without (which is said),
    unless `plainer` is False.

    The clone is never left a partial clone in git's sense: reading it must not fetch. Raises as `explain` says.
    """
    attempts = [(depth, blob_filter), (depth, ""), (0, "")][: None if plainer else 1]
    for number, (deep, wanted) in enumerate(attempts):
        options = [f"--depth={deep}"] * bool(deep) + [f"--filter={wanted}"] * bool(wanted)
        args = ["fetch", "--progress", "--no-tags", "--no-write-fetch-head", "--update-head-ok", "--no-auto-gc",
                "--no-recurse-submodules", *options, "--", "origin", refspec]  # fmt: skip
        try:
            _talk(git_dir, args, remote, limits)
            return
        except GitFailed as error:
            if number == len(attempts) - 1 or not _PLAINER_MAY_HELP.search(error.stderr):
                raise explain(error, remote) from None
            without = "a filtered" if wanted else "a shallow"
            limits.progress(Progress(f"The server refuses {without} clone, fetching more", 0, 0, "objects"))
        finally:
            forget_promise(git_dir)


def forget_promise(git_dir: Path) -> None:
    """Undo what a filtered fetch writes into the configuration, so that git never fetches by itself."""
    for key in ("remote.origin.promisor", "remote.origin.partialclonefilter", "extensions.partialclone"):
        git_command.run(git_dir, ["config", "--local", "--unset-all", key], git_command.reading(), ok=(0, 5))


def _talk(git_dir: Path, args: list[str], remote: Remote, limits: FetchLimits) -> bytes:
    lines = _ProgressLines(limits.progress)
    try:
        return git_command.run(
            git_dir,
            args,
            git_command.fetching(remote),
            timeout_s=limits.timeout_s,
            cancel=limits.cancel,
            on_line=lines.take,
            watch=lambda: _watch(git_dir, limits.max_bytes),
        )
    except Stalled as error:
        raise SourceError(
            f"{_host(remote)} did not finish in time. {error}", "Try again later, or raise REPOPILOT_CLONE_TIMEOUT_S."
        ) from error


def _watch(git_dir: Path, max_bytes: int) -> None:
    """Raises StorageError when the clone grows too large or the disk is nearly full."""
    size = 0
    for file in (git_dir / "objects" / "pack").glob("*"):
        with suppress(FileNotFoundError):
            size += file.stat().st_size
    if size > max_bytes:
        raise StorageError(
            f"The repository is larger than {max_bytes >> 20} MB.", "Raise REPOPILOT_CLONE_MAX_MB if that is wanted."
        )
    if shutil.disk_usage(git_dir).free < SPARE_BYTES:
        raise disk_full(git_dir)


def disk_full(where: Path) -> StorageError:
    return StorageError(f"The disk that holds {where} is full.", "Free some space, or move REPOPILOT_HOME.")


class Redirected(SourceError):
    """The server wants another address; it is not followed, since nobody checked it."""


_CAUSES: tuple[tuple[str, type[RepoPilotError], str, str], ...] = (
    (r"no space left|disk quota exceeded", StorageError, "The disk is full.",
     "Free some space, or move REPOPILOT_HOME."),
    (r"could not read (username|password)|authentication failed|terminal prompts disabled|returned error: 40[13]\b|"
     r"access denied|invalid credentials", CredentialsNeeded,
     "{host} asks for credentials: the repository is private, does not exist, or the token was refused.",
     "Check the address; for a private repository give a token that may read it."),
    (r"returned error: 404|repository .*not found|not found: did you run", SourceError,
     "There is no repository at {url}.", "Check the spelling; a private repository needs a token."),
    (r"returned error: 30\d|unable to update url base|redirect", Redirected,
     "{host} sends this address on to another one.",
     "Open the repository in a browser and paste the address shown there."),
    (r"returned error: 5\d\d", SourceError, "{host} answered with an internal error.", "Try again later."),
    (r"couldn't find remote ref|unadvertised object|not our ref|no such remote ref", SourceError,
     "{host} has no such branch, tag or commit.", "Check the spelling."),
    (r"operation too slow|timed? ?out|transfer closed|early eof|hung up unexpectedly|unexpected disconnect",
     SourceError, "{host} stopped answering.", "Check the network connection and try again."),
    (r"failed to connect|connection refused|couldn't connect|could not resolve|network is unreachable|connection reset|"
     r"empty reply", SourceError, "{host} can't be reached.", "Check the address and the network connection."),
    (r"certificate|ssl|gnutls|tls", SourceError, "The certificate of {host} can't be trusted.",
     "Check the address, and the clock of this machine."),
    (r"is this a git repository|does not appear to be a git|invalid server response|bad line length|protocol error|"
     r"unknown capability|expected flush", SourceError, "{url} is not a git repository.",
     "Paste the address of the repository itself."),
    (r"transport .* not allowed", SourceError, "This kind of address is not allowed.", "Use an https address."),
    (r"fsck|bad object|corrupt", SourceError, "{host} sent a damaged repository.", "Nothing was kept."),
)  # fmt: skip


_PLAINER_MAY_HELP = re.compile(r"returned error: 5\d\d|filter|shallow|dumb http|hung up|early eof", re.IGNORECASE)


def explain(error: GitFailed, remote: Remote) -> RepoPilotError:
    """git's words turned into ours: StorageError, CredentialsNeeded or SourceError."""
    text = "\n".join(line for line in error.stderr.splitlines() if not line.startswith("hint:"))
    for pattern, kind, message, hint in _CAUSES:
        if re.search(pattern, text, re.IGNORECASE):
            return kind(message.format(host=_host(remote), url=remote.url), hint)
    words = [line for line in text.splitlines() if line.startswith(("fatal:", "error:"))] or text.splitlines()[-1:]
    return SourceError(f"{_host(remote)} could not be read: {' '.join(words)[:300] or 'git said nothing'}.")


def _host(remote: Remote) -> str:
    return urlsplit(remote.url).hostname or remote.url


class _ProgressLines:
    """git's progress lines turned into Progress, at most ten a second."""

    def __init__(self, report: OnProgress) -> None:
        from git import RemoteProgress

        self._parse = RemoteProgress.re_op_relative
        self._report = report
        self._phase, self._began, self._last = "", 0.0, 0.0

    def take(self, line: str) -> None:
        match = self._parse.match(line)
        if not match:
            return
        remote, name, _, done, total, rest = match.groups()
        now = time.monotonic()
        if name != self._phase:
            self._phase, self._began = name, now
        elif now - self._last < 0.1 and done != total:
            return
        self._last = now
        phase = f"{name} (server)" if remote else name
        rate = int(done) / max(now - self._began, 0.001)
        left = (int(total) - int(done)) / rate if rate else None
        self._report(
            Progress(phase, int(done), int(total), "objects", rate, left, rest.strip(" ,").removesuffix(", done."))
        )
