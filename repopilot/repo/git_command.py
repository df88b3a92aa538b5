"""Running git, locked down, through GitPython: no configuration of the machine or of the repository can run a program.

Nothing here reaches the network unless `fetching` made the environment; reading never fetches.
"""

from __future__ import annotations

import base64
import os
import re
import signal
import subprocess
import sys
import threading
import time
from collections.abc import Callable, Mapping, Sequence
from contextlib import suppress
from dataclasses import dataclass
from pathlib import Path
from typing import IO

from repopilot.errors import Cancelled, SourceError

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


@dataclass(frozen=True, slots=True)
class Remote:
    """Where to fetch from. `pins` are the checked addresses, as `host:port:address`; `token` is never stored."""

    url: str
    pins: tuple[str, ...] = ()
    token: str = ""

    def __repr__(self) -> str:
        return f"Remote({self.url!r})"


class GitFailed(Exception):
    """git ended with an error. `stderr` holds its words, without secrets; callers turn it into our errors."""

    def __init__(self, status: int, stderr: str) -> None:
        super().__init__(stderr.strip()[-400:])
        self.status = status
        self.stderr = stderr


class Stalled(Exception):
    """The wall clock ran out, or `watch` asked for an end. `str()` says which."""


def reading(extra: Mapping[str, str] | None = None) -> dict[str, str]:
    """The environment for commands that read a repository: no protocol is allowed, so nothing can be fetched."""
    return _environment({**_CONFIG, **(extra or {})}, protocols="none")


def fetching(remote: Remote) -> dict[str, str]:
    """The environment for one conversation with `remote`. The token lives only in it."""
    config = [*_CONFIG.items(), *_FETCH_CONFIG.items(), *(("http.curloptResolve", pin) for pin in remote.pins)]
    if remote.token:
        config.append(("http.extraHeader", _authorization(remote.token)))
    return _environment(config, protocols=remote.url.partition(":")[0])


def _authorization(token: str) -> str:
    pair = token if ":" in token else f"x-access-token:{token}"
    return "Authorization: Basic " + base64.b64encode(pair.encode()).decode()


def _environment(config: Mapping[str, str] | Sequence[tuple[str, str]], protocols: str) -> dict[str, str]:
    pairs = list(config.items()) if isinstance(config, Mapping) else list(config)
    env = {
        "GIT_ALLOW_PROTOCOL": protocols, "GIT_TERMINAL_PROMPT": "0", "GIT_ASKPASS": "/bin/false",
        "SSH_ASKPASS": "/bin/false", "GIT_CONFIG_NOSYSTEM": "1", "GIT_CONFIG_GLOBAL": os.devnull,
        "GIT_ATTR_NOSYSTEM": "1", "GIT_LFS_SKIP_SMUDGE": "1", "GIT_NO_LAZY_FETCH": "1", "GIT_OPTIONAL_LOCKS": "0",
        "GIT_TRACE": "0", "GIT_TRACE_CURL": "0", "GIT_TRACE_PACKET": "0", "GIT_NO_REPLACE_OBJECTS": "1",
        "GIT_CONFIG_COUNT": str(len(pairs)),
    }  # fmt: skip
    for number, (key, value) in enumerate(pairs):
        env[f"GIT_CONFIG_KEY_{number}"] = key
        env[f"GIT_CONFIG_VALUE_{number}"] = value
    return env


def start(where: Path, args: Sequence[str], env: Mapping[str, str], *, stdin: bool = False, bare: bool = True):
    """Start `git args` on a git directory (`bare`) or inside a folder; returns the process with its pipes.

    Raises SourceError when git itself is missing.
    """
    try:
        import git
    except ImportError as error:
        raise SourceError("git could not be started.", "Install git 2.30 or newer and try again.") from error
    command = ["git", f"--git-dir={where}", *args] if bare else ["git", "-C", str(where), *args]
    options = {"start_new_session": True} if sys.platform != "win32" else {}
    try:
        return git.Git(str(where)).execute(
            command, as_process=True, env=dict(env), istream=subprocess.PIPE if stdin else None, **options
        )
    except git.GitCommandNotFound as error:
        raise SourceError("git could not be started.", "Install git 2.30 or newer and try again.") from error


def run(
    where: Path,
    args: Sequence[str],
    env: Mapping[str, str],
    *,
    bare: bool = True,
    stdin: bytes | None = None,
    timeout_s: float = 120.0,
    cancel: threading.Event | None = None,
    on_line: Callable[[str], None] | None = None,
    watch: Callable[[], None] | None = None,
    ok: Sequence[int] = (0,),
) -> bytes:
    """Run git to its end and return its output.

    `on_line` gets each line git says on stderr (progress included), from another thread; `watch` is called about
    five times a second and ends the run by raising. Raises GitFailed, Stalled, Cancelled, and what `watch` raises.
    """
    process = start(where, args, env, stdin=stdin is not None, bare=bare)
    output: list[bytes] = []
    errors: list[str] = []
    threads = [
        threading.Thread(target=_drain, args=(process.stdout, output), daemon=True),
        threading.Thread(target=_lines, args=(process.stderr, errors, on_line), daemon=True),
    ]
    if stdin is not None:
        threads.append(threading.Thread(target=_feed, args=(process.stdin, stdin), daemon=True))
    for thread in threads:
        thread.start()
    try:
        _supervise(threads, timeout_s, cancel, watch)
    finally:
        status = stop(process, finished=not any(t.is_alive() for t in threads))
        for thread in threads:
            thread.join(timeout=5)
    if status not in ok:
        raise GitFailed(status, "\n".join(errors))
    return b"".join(output)


def _supervise(
    threads: Sequence[threading.Thread],
    timeout_s: float,
    cancel: threading.Event | None,
    watch: Callable[[], None] | None,
) -> None:
    deadline = time.monotonic() + timeout_s
    for thread in threads:
        while thread.is_alive():
            thread.join(timeout=0.1 if cancel else 0.2)
            if cancel is not None and cancel.is_set():
                raise Cancelled("Stopped.")
            if time.monotonic() > deadline:
                raise Stalled(f"It took longer than {timeout_s:.0f} s.")
            if watch is not None and thread.is_alive():
                watch()


def stop(process, finished: bool = False) -> int:
    """End a process from `start` with everything it started, and return its exit status."""
    child = process.proc
    if not finished:
        with suppress(ProcessLookupError, PermissionError):
            if sys.platform == "win32":
                child.terminate()
            else:
                os.killpg(child.pid, signal.SIGKILL)
    return child.wait()


def _drain(pipe: IO[bytes], into: list[bytes]) -> None:
    while piece := pipe.read(1 << 16):
        into.append(piece)


def _feed(pipe: IO[bytes], data: bytes) -> None:
    with suppress(BrokenPipeError):
        pipe.write(data)
        pipe.close()


def _lines(pipe: IO[bytes], into: list[str], on_line: Callable[[str], None] | None) -> None:
    """Collect stderr line by line; progress lines end in a carriage return and are not kept."""
    rest = b""
    while piece := pipe.read1(1 << 14):
        *lines, rest = re.split(rb"(?<=[\r\n])", rest + piece)
        for line in lines:
            _take(line, into, on_line)
    _take(rest, into, on_line)


def _take(line: bytes, into: list[str], on_line: Callable[[str], None] | None) -> None:
    text = line.decode("utf-8", "replace").strip()
    if not text:
        return
    if not line.endswith(b"\r") and len(into) < 200:
        into.append(text)
    if on_line is not None:
        on_line(text)
