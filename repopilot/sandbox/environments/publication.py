"""Builds an environment in a folder that no other process uses, and publishes it by one rename."""

from __future__ import annotations

import os
import shutil
import stat
import threading
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from pathlib import Path

from filelock import FileLock, Timeout

from repopilot import disk, i18n
from repopilot.errors import EnvironmentFailed, StorageError
from repopilot.sandbox.environments.installer_run import disk_full, too_large
from repopilot.sandbox.job_spec import MB
from repopilot.settings import Settings

_POLL_S = 0.3
_READ_AND_SEARCH = 0o055


@contextmanager
def building(key: str, settings: Settings) -> Iterator[Path]:
    """An empty folder for one build, which no other process uses; removed afterwards unless it was published."""
    top = settings.environments_folder
    folder = top / f"building-{key}"
    try:
        top.mkdir(parents=True, exist_ok=True)
        with FileLock(top / f"{key}.lock", timeout=0):
            shutil.rmtree(folder, ignore_errors=True)
            folder.mkdir()
            try:
                yield folder
            finally:
                shutil.rmtree(folder, ignore_errors=True)
    except Timeout as error:
        raise EnvironmentFailed(i18n.message("environments.being_built")) from error
    except OSError as error:
        if disk.is_full(error):
            raise disk_full() from error
        raise StorageError(i18n.message("environments.not_stored", error=error)) from error


def is_being_built(key: str, settings: Settings) -> bool:
    """Whether this or another process builds an environment now."""
    lock = settings.environments_folder / f"{key}.lock"
    if not lock.exists():
        return False
    try:
        with FileLock(lock, timeout=0):
            return False
    except Timeout:
        return True


@contextmanager
def watched(report: Callable[[], None]) -> Iterator[None]:
    """Call `report` several times a second, in a thread, while the block runs."""
    ended = threading.Event()

    def watch() -> None:
        while not ended.wait(_POLL_S):
            report()

    thread = threading.Thread(target=watch, daemon=True)
    thread.start()
    try:
        yield
    finally:
        ended.set()
        thread.join()


def check_size(packages: Path, limit: int) -> None:
    """Raises EnvironmentFailed where the installed packages are larger than `limit`, in MB.

    The supervisor measures at intervals, so it may miss how an installation grew just before it ended.
    """
    # By length: with delayed allocation, a file just written occupies no blocks yet.
    size = sum(path.lstat().st_size for path in packages.rglob("*") if not path.is_dir())
    if size > limit * MB:
        raise too_large(limit)


def open_to_readers(site: Path) -> None:
    """Let the sandbox's user read the packages, whatever this process's umask is."""
    for place, folders, names in os.walk(site):
        for name in (*folders, *names):
            path = os.path.join(place, name)
            if not os.path.islink(path):
                mode = os.stat(path).st_mode
                runs = name in folders or mode & stat.S_IXUSR
                wanted = mode | (_READ_AND_SEARCH if runs else _READ_AND_SEARCH & 0o044)
                if wanted != mode:
                    os.chmod(path, wanted)
    os.chmod(site, 0o755)


def publish(folder: Path, target: Path) -> None:
    """Rename a built folder to its final name, replacing a folder of that name. Raises OSError."""
    folder.chmod(0o755)
    if target.exists():
        replaced = folder.with_name(f"replaced-{folder.name}")
        shutil.rmtree(replaced, ignore_errors=True)
        os.rename(target, replaced)
        os.rename(folder, target)
        shutil.rmtree(replaced, ignore_errors=True)
    else:
        os.rename(folder, target)
