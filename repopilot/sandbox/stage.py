"""The folder a run sees: the repository's files, the files under test over them, and the tests under random names."""

from __future__ import annotations

import os
import secrets
import shutil
import stat
import tempfile
from collections.abc import Iterator, Mapping, Sequence
from contextlib import contextmanager
from pathlib import Path, PurePosixPath

from repopilot.errors import SandboxError, StorageError

_LEFT_OUT = {".git", ".hg", "node_modules", ".venv", "venv", "__pycache__", ".tox", ".mypy_cache", ".ruff_cache"}
_MAX_INPUT_BYTES = 512 * 1024 * 1024


@contextmanager
def stage(files: Mapping[str, str | bytes], inputs: Path | None) -> Iterator[Path]:
    """A new temporary folder with `repo` inside, removed afterwards. Raises SandboxError on a path that leaves it,
    StorageError when it can't be written."""
    try:
        folder = Path(tempfile.mkdtemp(prefix="repopilot-")).resolve()
    except OSError as error:
        raise StorageError(f"No temporary folder for the test run: {error}.", "Free some disk space.") from error
    try:
        root = folder / "repo"
        root.mkdir()
        if inputs is not None:
            _copy(inputs, root)
        for path, content in files.items():
            write(root, path, content)
        yield folder
    except OSError as error:
        raise StorageError(f"The test run could not be prepared: {error}.", "Free some disk space.") from error
    finally:
        shutil.rmtree(folder, ignore_errors=True)


def write(root: Path, path: str, content: str | bytes) -> None:
    """Write one file below `root`, also over a symbolic link or in a folder that isn't there yet."""
    pure = PurePosixPath(path)
    if pure.is_absolute() or ".." in pure.parts or not pure.parts:
        raise SandboxError(f"{path!r} is no path inside the project.", "Use paths relative to its top folder.")
    target = root / pure
    target.parent.mkdir(parents=True, exist_ok=True)
    target.unlink(missing_ok=True)
    target.write_bytes(content.encode("utf-8", "surrogateescape") if isinstance(content, str) else content)


def aliases(tests: Sequence[str]) -> dict[str, str]:
    """A random name in the same folder for each test file, so that the code under test can't tell the run from its
    control by the name. Alias → path."""
    return {str(PurePosixPath(test).with_name(f"test_{secrets.token_hex(8)}.py")): test for test in tests}


def fresh_work(folder: Path, name: str) -> Path:
    """An empty folder the run may write to."""
    work = folder / name
    work.mkdir()
    return work


def _copy(inputs: Path, root: Path) -> None:
    """Regular files only: a link could lead out. Raises SandboxError when there is too much of it."""
    copied = 0
    for place, folders, names in os.walk(inputs):
        folders[:] = [name for name in folders if name not in _LEFT_OUT]
        target = root / os.path.relpath(place, inputs)
        target.mkdir(exist_ok=True)
        for name in names:
            source = Path(place, name)
            status = source.lstat()
            if not stat.S_ISREG(status.st_mode):
                continue
            copied += status.st_size
            if copied > _MAX_INPUT_BYTES:
                raise SandboxError(
                    "The repository is too large to be copied into the sandbox.",
                    "Run its own tests yourself, or open a part of it.",
                )
            shutil.copyfile(source, target / name)
