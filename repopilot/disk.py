"""Replaces files atomically: a failure leaves the earlier file and nothing else. Deletes whole folders."""

from __future__ import annotations

import errno
import os
import re
import shutil
import stat
import sys
import tempfile
from collections.abc import Callable
from pathlib import Path
from typing import Any

_FULL = (errno.ENOSPC, errno.EDQUOT, errno.EFBIG)
_SAYS_FULL = re.compile(r"no space left|disk quota exceeded|not enough space on the disk|file too large", re.IGNORECASE)
_LONGEST_NAME = 60


def is_full(error: BaseException) -> bool:
    """Whether an error says that the disk, a quota, or the size a file may have is exhausted."""
    return isinstance(error, OSError) and error.errno in _FULL


def says_full(words: str) -> bool:
    """Whether a program's output says that the disk, a quota, or the size a file may have is exhausted."""
    return _SAYS_FULL.search(words) is not None


def replace_file(target: Path, content: bytes, mode: int = 0o600) -> None:
    """Create or replace a file. A concurrent reader sees either all of the earlier content or all of the new content.

    Args:
        target: the file, in an existing folder.
        content: all of it.
        mode: the permissions.

    Raises:
        OSError: it can't be written; its `filename` is the target.
    """
    os.replace(draft(target, content, mode), target)


def write_private(file: Path, text: str) -> None:
    """Replace a file by one that only this account can read. Raises OSError."""
    file.parent.mkdir(parents=True, exist_ok=True)
    replace_file(file, text.encode())


def draft(target: Path, content: bytes, mode: int = 0o600) -> Path:
    """Write a file beside the target, ready to replace it by `os.replace`. Arguments and errors as `replace_file`.

    Returns:
        Its path.
    """
    handle, name = tempfile.mkstemp(dir=target.parent, prefix=f".{target.name[:_LONGEST_NAME]}.", suffix=".new")
    try:
        with os.fdopen(handle, "wb") as out:
            out.write(content)
        os.chmod(name, mode)
    except OSError as error:
        os.unlink(name)
        error.filename = str(target)
        raise
    return Path(name)


def remove_tree(folder: Path) -> OSError | None:
    """Delete a folder with its contents, even read-only files: git makes such files, and Windows refuses to delete
    them.

    Args:
        folder: it need not exist.

    Returns:
        The first error by which something is left, None where nothing is.
    """
    failures: list[OSError] = []

    def again(work: Callable[[str], object], path: str, failure: OSError | tuple) -> None:
        error = failure if isinstance(failure, OSError) else failure[1]
        # Not raised again: error and frame would refer to each other, and keep alive everything that the callers hold.
        if isinstance(error, FileNotFoundError):
            return
        if work not in (os.unlink, os.rmdir) or os.path.islink(path):
            failures.append(error)
            return
        try:
            os.chmod(path, stat.S_IRWXU)
            work(path)
        except FileNotFoundError:
            return
        except OSError as kept:
            failures.append(kept)

    handler: dict[str, Any] = {"onexc" if sys.version_info >= (3, 12) else "onerror": again}
    shutil.rmtree(folder, **handler)
    return failures[0] if failures else None
