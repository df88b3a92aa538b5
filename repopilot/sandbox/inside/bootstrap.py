"""The first program in the sandbox: confines itself as standard input says, then runs pytest, a program or the probe,
or becomes a server.

Started as `python bootstrap.py` with a JSON document as the first line of standard input; see `document` in
sandbox/job_spec.py for its keys. The rest of standard input is for the server. Imports its neighbours as top-level
modules, since this folder is no package inside the sandbox.
"""

from __future__ import annotations

import contextlib
import gc
import json
import os
import shutil
import signal
import site
import subprocess
import sys
from typing import TYPE_CHECKING, Any

CONFINED = 99
"""Exit status of a probe that could reach nothing outside."""
NAMES_VISIBLE = 96
"""Exit status of a probe that could open nothing outside, but could find out whether a file exists there."""
NOT_CONFINED = 98
"""Exit status where the kernel, or this machine's settings, refused a part of the confinement."""
NOT_STARTED = 97
"""Exit status where the program of a job can't be started."""
_CHANNEL = 3
"""The report's file descriptor in every run. Its number outside depends on how many the caller has open, which would
let code tell runs apart."""
_SEND_S = 1.0
MAX_REPORT = 15 * 1024 * 1024
_ASYNC_PLUGINS = {"asyncio", "anyio", "trio", "tornado", "twisted", "aiohttp"}
"""Plugins that run `async def` tests their own way."""


def main() -> int:
    """Run the job on standard input; returns the exit status."""
    sys.path.insert(0, os.path.dirname(os.path.abspath(__file__)))
    with open(0, "rb", buffering=0, closefd=False) as pipe:
        job = json.loads(pipe.readline())
    serves = job["channel"] is None
    if not serves:
        _move(job["channel"])
        os.dup2(os.open(os.devnull, os.O_RDONLY), 0)
        os.nice(10)
    try:
        _confine(job)
    except (OSError, ImportError, ValueError) as error:
        print(f"{type(error).__name__}: {error}", file=sys.stderr)
        return NOT_CONFINED
    os.makedirs(os.environ["TMPDIR"], exist_ok=True)
    if job["copied"]:
        shutil.copytree(job["copied"], job["root"], symlinks=True)
    os.chdir(job["cwd"])
    if serves:
        return _server(**job["program"])
    if job["program"]:
        return _program(job["root"], **job["program"])
    return _probe(job["packages"], **job["probe"]) if job["probe"] else _pytest(job)


def _move(channel: int) -> None:
    """Give the report's pipe its number; programs that are started later don't inherit it."""
    if channel != _CHANNEL:
        os.dup2(channel, _CHANNEL, inheritable=False)
        os.close(channel)
    os.set_inheritable(_CHANNEL, False)


def _confine(job: dict[str, Any]) -> None:
    if TYPE_CHECKING:
        from repopilot.sandbox.inside import confine, own_root, seccomp
    else:
        import confine
        import own_root
        import seccomp

    level = job["level"]
    limits = job["limits"]
    if level in ("landlock", "limits") and sys.platform == "linux":
        confine.guard()
    if level == "landlock" and own_root.hide_other_files([*job["read"], *job["write"]]) and "nproc" in limits:
        limits["nproc"] -= job["others"]  # no other process is in its user namespace
    confine.limit(limits)
    if sys.platform != "linux":
        return
    abi = 0
    namespaces = level == "bwrap"
    confine.drop_privileges([] if namespaces else job["own"], keep_reading=not namespaces or job["channel"] is None)
    if level == "landlock":
        abi = confine.landlock(job["read"], job["write"])
    try:
        seccomp.install(namespaces=namespaces, landlock_abi=abi)
    except OSError:
        if level != "limits":  # the level `limits` promises no filter
            raise


def _probe(packages: list[str], secret: str, forbidden: str) -> int:
    """Try what the level must forbid (read a file outside, write one outside, start more processes than allowed) and
    what it must allow (read the packages)."""
    if not any(os.access(os.path.join(folder, "pytest", "__init__.py"), os.R_OK) for folder in packages):
        print("pytest can't be read inside", file=sys.stderr)
        return NOT_CONFINED
    for path, flags in ((secret, os.O_RDONLY), (forbidden, os.O_WRONLY | os.O_CREAT)):
        try:
            os.close(os.open(path, flags, 0o600))
        except OSError:
            continue
        print(f"{path} could be opened", file=sys.stderr)
        return NOT_CONFINED
    if not _processes_are_bounded():
        return NOT_CONFINED
    return NAMES_VISIBLE if os.path.lexists(secret) else CONFINED


def _processes_are_bounded() -> bool:
    if sys.platform != "linux":
        return True
    import resource

    resource.setrlimit(resource.RLIMIT_NPROC, (1, 1))
    try:
        child = os.fork()
    except BlockingIOError:
        return True
    if child == 0:
        os._exit(0)
    print("the number of processes is not bounded", file=sys.stderr)
    return False


def _pytest(job: dict[str, Any]) -> int:
    for folder in job["packages"]:  # behind the standard library, as site does
        if folder not in sys.path:
            site.addsitedir(folder)
    gc.disable()  # a fifth of a run's time: each collection would scan the imported modules, which stay
    import pytest

    if TYPE_CHECKING:
        from repopilot.sandbox.inside import reporter
    else:
        import reporter

    gc.freeze()
    gc.enable()
    sys.path[:1] = job["import"]
    own = _forget([*job["import"], os.path.dirname(os.path.abspath(__file__))])
    if job["packages"]:
        os.environ["PYTHONPATH"] = os.pathsep.join([*job["import"], *job["packages"]])  # for programs that tests start
        os.environ["COVERAGE_FILE"] = os.path.join(os.environ["TMPDIR"], ".coverage")  # the repository is read-only
    outcomes = reporter.Reporter(_CHANNEL, job["nonce"], job["root"], job["left_out"])
    reporter.pass_over_missing_plugins(outcomes, own)
    return pytest.main(
        [
            *job["tests"],
            *job["options"],
            # A plugin can have the name of a module that is already imported, such as asyncio.
            *(("-W", "ignore::pytest.PytestAssertRewriteWarning") if job["plugins"] else ()),
            *(part for name in job["plugins"] for part in ("-p", name)),
            "--rootdir",
            job["root"],
            "--confcutdir",
            job["root"],
            "-c",
            os.devnull,
            "--continue-on-collection-errors",
            "--color=no",
            "--tb=short",
            "-q",
            "-rN",
            "-p",
            "no:cacheprovider",
            "-p",
            "no:faulthandler",
            "--override-ini",
            "pythonpath=",
            "--basetemp",
            job["scratch"],
        ],
        plugins=[outcomes] if _ASYNC_PLUGINS & set(job["plugins"]) else [outcomes, reporter],
    )


def _program(
    root: str,
    arguments: list[str],
    variables: dict[str, str],
    folder: str,
    report: str,
    links: dict[str, str],
    caches: list[str] | None,
) -> int:
    """Run a program in a writable copy of the code, and send its report: the file `report`, its output where that is
    '', or, unless `caches` is None, its changes to the copy."""
    try:
        shutil.copytree(root, folder, symlinks=True)
        for link, target in links.items():
            os.makedirs(os.path.dirname(link), exist_ok=True)
            os.symlink(target, link)
        sends_output = not report and caches is None
        started = subprocess.Popen(
            arguments,
            cwd=variables.get("PWD", folder),
            env={**os.environ, **variables},
            stdout=_CHANNEL if sends_output else None,
            stderr=subprocess.STDOUT if sends_output else None,
            start_new_session=caches is not None,
        )
        status = _awaited(started, report)
    except OSError as error:
        print(f"{arguments[0]}: {error}", file=sys.stderr)
        return NOT_STARTED
    if caches is not None:
        with contextlib.suppress(ProcessLookupError):
            os.killpg(started.pid, signal.SIGKILL)  # what it left running in the background
        _send_changes(root, folder, caches)
    return status if status >= 0 else 128 - status


def _awaited(started: subprocess.Popen[bytes], report: str) -> int:
    """Wait for a program; returns its exit status. The file `report`, '' for none, is sent while the program runs, so
    that nothing reported is lost if a limit stops the program."""
    sent = 0
    status = None
    while status is None:
        with contextlib.suppress(subprocess.TimeoutExpired):
            status = started.wait(_SEND_S)
        sent += _send(report, sent)
    return status


def _send(report: str, start: int) -> int:
    """Send a file's content from byte `start` on; returns the number of bytes sent."""
    if not os.path.isfile(report):
        return 0
    with open(report, "rb") as file, open(_CHANNEL, "wb", closefd=False) as pipe:
        file.seek(start)
        return pipe.write(file.read(max(0, MAX_REPORT - start)))


def _send_changes(root: str, folder: str, caches: list[str]) -> None:
    if TYPE_CHECKING:
        from repopilot.sandbox.inside import changed_files
    else:
        import changed_files

    try:
        found = changed_files.difference(root, folder, caches)
    except OSError as error:
        found = {"error": str(error)}
    with os.fdopen(_CHANNEL, "wb") as pipe:
        pipe.write(json.dumps(found).encode())


def _server(arguments: list[str], variables: dict[str, str], **_: object) -> int:
    """Become a server that talks over standard input and output."""
    try:
        os.execve(arguments[0], arguments, {**os.environ, **variables})
    except OSError as error:
        print(f"{arguments[0]}: {error}", file=sys.stderr)
    return NOT_STARTED


def _forget(folders: list[str]) -> set[str]:
    """Forget imported modules whose names occur in the folders, so that they are imported again: projects that pytest
    itself uses, such as pluggy, and our neighbours, whose names the code may use. Returns the names of all modules in
    the folders."""
    own = {entry.removesuffix(".py") for folder in folders if os.path.isdir(folder) for entry in os.listdir(folder)}
    kept = {*sys.stdlib_module_names, "pytest", "_pytest", "__main__"}
    for name in list(sys.modules):
        if (top := name.partition(".")[0]) in own and top not in kept:
            del sys.modules[name]
    return own


if __name__ == "__main__":
    sys.exit(main())
