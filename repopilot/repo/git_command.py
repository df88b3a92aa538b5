"""Runs git through GitPython so that no configuration, of the machine or of the repository, can start a program.

Only the environment that `fetching` creates allows network access; reading never fetches.
"""

from __future__ import annotations

import os
import re
import signal
import subprocess
import sys
import threading
import time
from collections.abc import Callable, Generator, Mapping, Sequence
from contextlib import suppress
from dataclasses import dataclass
from io import BufferedReader
from pathlib import Path
from typing import IO, TYPE_CHECKING

from repopilot import i18n
from repopilot.errors import Cancelled, SourceError

if TYPE_CHECKING:
    from git import Git

_MAX_ERROR_LINES = 200
LONGEST_RECORD = 1 << 16
_CONFIG = {
    "core.hooksPath": os.devnull,
    "core.fsmonitor": "false",
    "core.symlinks": "false",
    "core.quotePath": "false",
    "core.attributesFile": os.devnull,
    "credential.helper": "",
    "safe.directory": "*",
    "submodule.recurse": "false",
    "gc.auto": "0",
    "maintenance.auto": "false",
    "diff.external": "",
    "diff.renames": "true",
    "protocol.version": "2",
}
_FETCH_CONFIG = {
    "http.followRedirects": "false",
    "http.lowSpeedLimit": "1",
    "http.lowSpeedTime": "60",
    "transfer.fsckObjects": "true",
    # Harmless flaws of real, old histories that a strict check would refuse.
    "fetch.fsck.zeroPaddedFilemode": "ignore",
    "fetch.fsck.missingSpaceBeforeDate": "ignore",
    "fetch.fsck.badTimezone": "ignore",
    "fetch.fsck.missingEmail": "ignore",
    "fetch.fsck.badEmail": "ignore",
    "fetch.fsck.missingNameBeforeEmail": "ignore",
}

_CREDENTIALS = ("REPOPILOT_GIT_USER", "REPOPILOT_GIT_PASSWORD")
_CREDENTIAL_HELPER = (
    '!answer() { test "$1" != get || '
    + "printf 'username=%s\\npassword=%s\\n' "
    + " ".join(f'"${name}"' for name in _CREDENTIALS)
    + "; }; answer"
)
"""A credential helper as a shell function. The token is in the environment: other accounts could read an argument."""

_ENDS_WITH_US = """
exec 3<&0
"$@" </dev/null 3<&- & git=$!
exec >/dev/null 2>&1
{ read -r line <&3; kill -9 0; } & watch=$!
exec 3<&-
wait $git; status=$?
kill -9 $watch; wait $watch
exit $status
"""
"""Runs a command, and kills its process group when our end of its standard input is closed. Otherwise a fetch would go
on for minutes, without its limits, after RepoPilot was killed."""

OTHERS_OFF = {"GIT_CONFIG_NOSYSTEM": "1", "GIT_CONFIG_GLOBAL": os.devnull}
"""No configuration but the repository's own."""
_NO_NETRC = {"HOME": os.devnull, "NETRC": os.devnull}
"""Keeps libcurl from sending credentials of `.netrc`, whose `default` entry is for every host, and over http, too."""


@dataclass(frozen=True, slots=True)
class Remote:
    """A checked address to fetch from.

    Attributes:
        url: without credentials.
        pins: its addresses, as `host:port:address`.
        token: sent only to this host, if it asks; never stored.
        confidential: whether nobody else can read the connection; otherwise no token is sent.
    """

    url: str
    pins: tuple[str, ...] = ()
    token: str = ""
    confidential: bool = True

    def __repr__(self) -> str:
        return f"Remote({self.url!r})"


class GitFailed(Exception):
    """git ended with an error. `stderr` is its standard error, without secrets; callers translate it."""

    def __init__(self, status: int, stderr: str) -> None:
        super().__init__(stderr.strip()[-400:])
        self.status = status
        self.stderr = stderr


class GitTimeout(Exception):
    """git ran longer than allowed."""

    def __init__(self, seconds: float) -> None:
        super().__init__(f"git took longer than {seconds:g} s")
        self.seconds = seconds


@dataclass(frozen=True, slots=True)
class Supervision:
    """Limits of a git command, and what is called while it runs.

    Attributes:
        timeout_s: seconds of wall time.
        cancel: ends the command once set.
        on_line: gets each line of standard error (progress included), from another thread.
        check: called about five times a second; ends the command by raising.
        ends_with_us: as in `start`.
    """

    timeout_s: float = 120.0
    cancel: threading.Event | None = None
    on_line: Callable[[str], None] | None = None
    check: Callable[[], None] | None = None
    ends_with_us: bool = False


def reading(extra: Mapping[str, str] | None = None) -> dict[str, str]:
    """The environment for commands that read a repository: no protocol is allowed, so nothing can be fetched."""
    return _environment({**_CONFIG, **(extra or {})}, protocols="none")


def fetching(remote: Remote) -> dict[str, str]:
    """The environment for one conversation with `remote`.

    The token is held only there. git asks a credential helper after a server has answered 401, and only the helper for
    the server's own scheme, host and port; an Authorization header would be sent with the first request, to any server.
    """
    config = [*_CONFIG.items(), *_FETCH_CONFIG.items(), *(("http.curloptResolve", pin) for pin in remote.pins)]
    scheme, _, rest = remote.url.partition("://")
    credentials: dict[str, str] = {}
    if remote.token:
        config.append((f"credential.{scheme}://{rest.partition('/')[0]}.helper", _CREDENTIAL_HELPER))
        user, colon, password = remote.token.partition(":")
        credentials = dict(zip(_CREDENTIALS, (user, password) if colon else ("x-access-token", user), strict=True))
    return {**_environment(config, protocols=scheme), **_NO_NETRC, **credentials}


def _environment(config: Mapping[str, str] | Sequence[tuple[str, str]], protocols: str) -> dict[str, str]:
    pairs = list(config.items()) if isinstance(config, Mapping) else list(config)
    env = {
        "GIT_ALLOW_PROTOCOL": protocols,
        "GIT_TERMINAL_PROMPT": "0",
        "GIT_ASKPASS": "/bin/false",
        "SSH_ASKPASS": "/bin/false",
        **OTHERS_OFF,
        "GIT_ATTR_NOSYSTEM": "1",
        "GIT_LFS_SKIP_SMUDGE": "1",
        "GIT_NO_LAZY_FETCH": "1",
        "GIT_OPTIONAL_LOCKS": "0",
        "GIT_TRACE": "0",
        "GIT_TRACE_CURL": "0",
        "GIT_TRACE_PACKET": "0",
        "GIT_NO_REPLACE_OBJECTS": "1",
        "GIT_CONFIG_COUNT": str(len(pairs)),
    }
    for number, (key, value) in enumerate(pairs):
        env[f"GIT_CONFIG_KEY_{number}"] = key
        env[f"GIT_CONFIG_VALUE_{number}"] = value
    return env


def start(
    where: Path,
    args: Sequence[str],
    env: Mapping[str, str] | None = None,
    *,
    stdin: bool = False,
    bare: bool = True,
    ends_with_us: bool = False,
) -> Git.AutoInterrupt:
    """Start `git args` and return the process with its pipes; end it with `stop`.

    Args:
        where: a git directory (`bare`) or a folder of a work tree.
        args: the command and its options.
        env: from `reading`, the default, or from `fetching`.
        stdin: whether the process gets a standard input.
        bare: what `where` is.
        ends_with_us: whether git also ends when this process is killed; git then gets no standard input.

    Raises:
        SourceError: git itself is missing.
    """
    try:
        import git
    except ImportError as error:
        raise _git_missing() from error
    command = ["git", f"--git-dir={where}", *args] if bare else ["git", "-C", str(where), *args]
    options = {"start_new_session": True} if sys.platform != "win32" else {}
    if ends_with_us and sys.platform != "win32":
        command = ["sh", "-c", _ENDS_WITH_US, "sh", *command]
        stdin = True
    try:
        return git.Git(str(where)).execute(
            command, as_process=True, env=dict(env or reading()), istream=subprocess.PIPE if stdin else None, **options
        )
    except git.GitCommandNotFound as error:
        raise _git_missing() from error


def _git_missing() -> SourceError:
    return SourceError(i18n.message("repo.no_git"), i18n.message("repo.no_git_hint"))


def resolve(where: Path, revision: str, *, bare: bool = True) -> str | None:
    """The commit id that a revision names, None if it names none or the commit is missing.

    Args:
        where: as in `start`.
        revision: a ref, an id or an expression of git.
        bare: as in `start`.
    """
    args = ["rev-parse", "--verify", "--quiet", "--end-of-options", f"{revision}^{{commit}}"]
    try:
        return run(where, args, bare=bare).decode().strip() or None
    except GitFailed:
        return None


def run(
    where: Path,
    args: Sequence[str],
    env: Mapping[str, str] | None = None,
    *,
    bare: bool = True,
    ok: Sequence[int] = (0,),
    supervision: Supervision = Supervision(),
    given: bytes | None = None,
) -> bytes:
    """Run git to its end.

    Args:
        where: as in `start`.
        args: as in `start`.
        env: as in `start`.
        bare: as in `start`.
        ok: exit statuses that are no error.
        supervision: limits, and what is called while it runs.
        given: its standard input, None for none.

    Returns:
        Its standard output.

    Raises:
        GitFailed: another exit status.
        GitTimeout: it took too long.
        Cancelled: `supervision.cancel` was set.
        SourceError: git itself is missing.
        Exception: what `supervision.check` raises.
    """
    process = start(where, args, env, stdin=given is not None, bare=bare, ends_with_us=supervision.ends_with_us)
    output: list[bytes] = []
    errors: list[str] = []
    threads = [
        threading.Thread(target=lambda: output.append(process.stdout.read()), daemon=True),
        threading.Thread(target=_read_lines, args=(process.stderr, errors, supervision.on_line), daemon=True),
    ]
    if given is not None:
        threads.append(threading.Thread(target=write_all, args=(process.stdin, given), daemon=True))
    for thread in threads:
        thread.start()
    try:
        _supervise(threads, supervision)
    finally:
        status = stop(process, finished=not any(t.is_alive() for t in threads))
        for thread in threads:
            thread.join(timeout=5)
        if supervision.ends_with_us and process.stdin:
            process.stdin.close()
    if status not in ok:
        raise GitFailed(status, "\n".join(errors))
    return b"".join(output)


def records(where: Path, args: Sequence[str], *, bare: bool = True) -> Generator[bytes]:
    """Run git and stream its NUL-separated output, so that a huge one costs no memory.

    Args:
        where: as in `start`.
        args: as in `start`.
        bare: as in `start`.

    Yields:
        The records; of a record longer than LONGEST_RECORD bytes only the beginning and the end.

    Raises:
        GitFailed: it ended with an error.
        SourceError: git itself is missing.
    """
    process = start(where, args, bare=bare)
    rest = b""
    finished = False
    try:
        while piece := process.stdout.read(1 << 16):
            *complete, rest = (rest + piece).split(b"\0")
            yield from complete
            rest = rest[:LONGEST_RECORD]
        finished = True
    finally:
        message = process.stderr.read().decode("utf-8", "replace") if finished else ""
        status = stop(process, finished=finished)
    if status:
        raise GitFailed(status, message)
    if rest:
        yield rest


def _supervise(threads: Sequence[threading.Thread], supervision: Supervision) -> None:
    cancel = supervision.cancel
    check = supervision.check
    deadline = time.monotonic() + supervision.timeout_s
    for thread in threads:
        while thread.is_alive():
            thread.join(timeout=0.1 if cancel else 0.2)
            if cancel is not None and cancel.is_set():
                raise Cancelled(i18n.message("repo.stopped"))
            if time.monotonic() > deadline:
                raise GitTimeout(supervision.timeout_s)
            if check is not None and thread.is_alive():
                check()


def stop(process: Git.AutoInterrupt, finished: bool = False) -> int:
    """End a process from `start` with everything it started, and return its exit status.

    `finished`: the process has closed its pipes, so it is only waited for.
    """
    child = process.proc
    assert child is not None
    if not finished:
        with suppress(ProcessLookupError, PermissionError):
            if sys.platform == "win32":
                child.terminate()
            else:
                os.killpg(child.pid, signal.SIGKILL)
    return child.wait()


def write_all(pipe: IO[bytes], data: bytes) -> None:
    """Write to a process and close its standard input; it may end before it has read everything."""
    with suppress(BrokenPipeError, ValueError), pipe:
        pipe.write(data)


def _read_lines(pipe: BufferedReader, into: list[str], on_line: Callable[[str], None] | None) -> None:
    """Collect standard error line by line; progress lines end in a carriage return and are not collected."""
    rest = b""
    while piece := pipe.read1(1 << 14):
        *lines, rest = re.split(rb"(?<=[\r\n])", rest + piece)
        for line in lines:
            _add_line(line, into, on_line)
    _add_line(rest, into, on_line)


def _add_line(line: bytes, into: list[str], on_line: Callable[[str], None] | None) -> None:
    text = line.decode("utf-8", "replace").strip()
    if not text:
        return
    if not line.endswith(b"\r") and len(into) < _MAX_ERROR_LINES:
        into.append(text)
    if on_line is not None:
        on_line(text)
