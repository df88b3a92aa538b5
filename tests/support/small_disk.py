"""A disk that is really full: a small file system in memory, which a child process mounts for itself alone.

`on_small_disk` runs a script on it; the script imports the other functions.
"""

from __future__ import annotations

import os
import shutil
import subprocess
import sys
import traceback
from collections.abc import Callable, Iterable
from pathlib import Path

import pytest
from support.waiting import PATIENCE_S

NAMESPACE = ["unshare", "--map-root-user", "--mount"]
_BLOCK = 4096


def _has_namespaces() -> bool:
    return shutil.which("unshare") is not None and not subprocess.run([*NAMESPACE, "true"], check=False).returncode


own_mounts = pytest.mark.skipif(not _has_namespaces(), reason="no user namespaces to mount file systems in")


def mounted(mount: str) -> list[str]:
    """The beginning of a command that runs where something else is mounted."""
    return [*NAMESPACE, "sh", "-ec", f'{mount}; exec "$@"', "sh"]


def on_small_disk(script: str, disk: Path, size: str, *arguments: object) -> str:
    """Run a Python script where a file system of `size` is mounted at `disk`, and return what it prints.

    In the script `disk` is that folder and `arguments` are the others, as texts. Raises AssertionError where it fails.
    """
    disk.mkdir(exist_ok=True)
    start = f"import sys\nsys.path[:] = {sys.path}\nfrom pathlib import Path\n"
    start += "disk, arguments = Path(sys.argv[1]), sys.argv[2:]\n"
    within = mounted(f"mount -t tmpfs -o size={size} small {disk}")
    ended = subprocess.run(
        [*within, sys.executable, "-c", start + script, str(disk), *map(str, arguments)],
        capture_output=True,
        text=True,
        timeout=PATIENCE_S,
        check=False,
    )
    assert ended.returncode == 0 and "Traceback" not in ended.stderr, ended.stdout + ended.stderr
    return ended.stdout


def fill(disk: Path, free_kb: int) -> None:
    """Leave only so much free space."""
    block = os.open(disk / "fill", os.O_WRONLY | os.O_CREAT | os.O_APPEND)
    try:
        while os.write(block, bytes(_BLOCK)) == _BLOCK:
            pass
    except OSError:
        pass  # that is what is wanted
    os.truncate(block, max(0, os.fstat(block).st_size - (free_kb << 10)))
    os.close(block)


def free(disk: Path) -> None:
    """Undo `fill`."""
    (disk / "fill").unlink(missing_ok=True)


def limit_files(disk: Path, more: int) -> None:
    """Allow only so many more files and folders, in a file system that otherwise has space."""
    used = os.statvfs(disk)
    count = used.f_files - used.f_ffree + more
    subprocess.run(["mount", "-o", f"remount,nr_inodes={count}", str(disk)], check=True)


def in_forks(step: Callable[[int], object], amounts: Iterable[int]) -> None:
    """Call `step` with each amount in a process of its own: nothing that one leaves open takes space from the next.

    Prints what it returns, a line each.
    """
    for amount in amounts:
        child = os.fork()
        if child == 0:
            status = 1
            try:
                print(step(amount), flush=True)
                status = 0
            except BaseException:
                traceback.print_exc()
            finally:
                sys.stderr.flush()
                os._exit(status)
        assert os.waitpid(child, 0)[1] == 0, amount
