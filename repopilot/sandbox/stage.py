"""Prepares the folders of a run: the repository's files with the files under test, and a copy of them for each run."""

from __future__ import annotations

import os
import shutil
import stat
import tempfile
import zlib
from collections.abc import Callable, Iterator, Mapping
from contextlib import contextmanager
from pathlib import Path, PurePosixPath

from filelock import FileLock

from repopilot import i18n
from repopilot.errors import SandboxError, StorageError

LEFT_OUT = {".git", ".hg", "node_modules", ".venv", "venv", "__pycache__", ".tox", ".mypy_cache", ".ruff_cache"}
_TIME = 1_600_000_000
"""Time stamp of every file of a run."""
_MAX_INPUT_BYTES = 512 * 1024 * 1024


@contextmanager
def stage(
    files: Mapping[str, str | bytes],
    inputs: Path | None,
    built: Mapping[str, str] | None = None,
    left_out: Callable[[str], bool] = lambda path: False,
) -> Iterator[Path]:
    """Make a temporary folder with `repo` inside, removed afterwards.

    Args:
        files: the files under test, texts by path relative to `repo`.
        inputs: a folder with the rest of the repository, copied below them; None for none.
        built: texts by path of files that a build would write; only missing ones are added.
        left_out: whether to skip a path of `inputs`.

    Yields:
        The folder.

    Raises:
        SandboxError: a path leaves the folder, or `inputs` is too large.
        StorageError: the folder can't be written.
    """
    try:
        folder = Path(tempfile.mkdtemp(prefix="repopilot-")).resolve()
    except OSError as error:
        raise StorageError(
            i18n.message("sandbox.no_temporary_folder", error=error), i18n.message("sandbox.free_space")
        ) from error
    try:
        root = folder / "repo"
        root.mkdir()
        if inputs is not None:
            _copy(inputs, root, left_out)
        for path, text in (built or {}).items():
            if not (root / path).exists():
                write(root, path, text)
        for path, content in files.items():
            write(root, path, content)
        yield folder
    except OSError as error:
        raise StorageError(
            i18n.message("sandbox.not_prepared", error=error), i18n.message("sandbox.free_space")
        ) from error
    finally:
        shutil.rmtree(folder, ignore_errors=True)


def write(root: Path, path: str, content: str | bytes) -> None:
    """Write one file, replacing a symbolic link and creating missing folders.

    Args:
        root: the folder to write below.
        path: the POSIX path of the file, relative to `root`.
        content: text or bytes.

    Raises:
        SandboxError: the path leads out of `root`.
    """
    pure = PurePosixPath(path)
    if pure.is_absolute() or ".." in pure.parts or not pure.parts:
        raise SandboxError(i18n.message("sandbox.path_outside", path=path), i18n.message("sandbox.path_outside_hint"))
    target = root / pure
    target.parent.mkdir(parents=True, exist_ok=True)
    target.unlink(missing_ok=True)
    target.write_bytes(content.encode("utf-8", "surrogateescape") if isinstance(content, str) else content)


def text_of(path: str, files: Mapping[str, str | bytes], inputs: Path | None) -> str | None:
    """The text of a file that a run's report names; None where it can't be read, or is a link that leads out.

    Args:
        path: of the file, as in the repository.
        files: texts by path, which replace those of the inputs.
        inputs: a folder with the repository.
    """
    if path in files:
        content = files[path]
        return content if isinstance(content, str) else content.decode("utf-8", "replace")
    if inputs is None:
        return None
    try:
        place = (inputs / path).resolve()
        return place.read_text("utf-8", "replace") if place.is_relative_to(inputs.resolve()) else None
    except (OSError, ValueError):
        return None


@contextmanager
def run_folder(root: Path, texts: Mapping[str, str]) -> Iterator[Path]:
    """Make a temporary folder with a copy of a staged folder as `repo`, and an empty `work`, removed afterwards. Copies
    can't be told apart: every file has the same times.

    Args:
        root: the staged folder.
        texts: texts by path, which replace those in the copy.

    Yields:
        The folder.
    """
    folder = Path(tempfile.mkdtemp(prefix="repopilot-")).resolve()
    try:
        shutil.copytree(root, folder / "repo", symlinks=True)
        for path, text in texts.items():
            write(folder / "repo", path, text)
        for place, folders, names in os.walk(folder / "repo"):
            for name in (*folders, *names, "."):
                os.utime(os.path.join(place, name), (_TIME, _TIME), follow_symlinks=False)
        (folder / "work").mkdir()
        yield folder
    finally:
        shutil.rmtree(folder, ignore_errors=True)


def restore(kept: Path, folder: Path) -> None:
    """Make a run's folder with the files that an earlier run left, writable for the user that the program runs as.
    Files keep their times: mypy discards a cache whose times differ."""
    folder.mkdir()
    kept.parent.mkdir(parents=True, exist_ok=True)
    with FileLock(f"{kept}.lock"):
        _copy(kept, folder, dated=True)
    for place, _, names in os.walk(folder):
        os.chmod(place, 0o777)
        for name in names:
            os.chmod(os.path.join(place, name), 0o666)


def keep(folder: Path, kept: Path) -> None:
    """Keep a run's folder for later runs, in place of the one kept before. Does nothing if the program replaced the
    folder, for example by a link that could lead anywhere."""
    if folder.is_symlink() or not folder.is_dir():
        return
    with FileLock(f"{kept}.lock"), tempfile.TemporaryDirectory(dir=kept.parent) as fresh:
        _copy(folder, Path(fresh, kept.name), dated=True)
        shutil.rmtree(kept, ignore_errors=True)
        os.rename(Path(fresh, kept.name), kept)


def date_by_content(root: Path) -> None:
    """Derive every file's time from its content: programs take a file with the same time and size for unchanged, and
    two runs may begin within one second."""
    for place, _, names in os.walk(root):
        for name in names:
            path = Path(place, name)
            seconds = zlib.crc32(path.read_bytes())
            os.utime(path, (seconds, seconds))


def _is_cache(folder: Path) -> bool:
    """Whether a folder is marked as a cache, as cargo's `target` is."""
    return (folder / "CACHEDIR.TAG").is_file()


def _copy(
    inputs: Path, root: Path, left_out: Callable[[str], bool] = lambda path: False, *, dated: bool = False
) -> None:
    """Copy regular files only, as a link could lead outside; with their times if `dated`. Raises SandboxError when the
    files are too large together."""
    copied = 0
    for place, folders, names in os.walk(inputs):
        folders[:] = [name for name in folders if name not in LEFT_OUT and not _is_cache(Path(place, name))]
        target = root / os.path.relpath(place, inputs)
        target.mkdir(exist_ok=True)
        for name in names:
            source = Path(place, name)
            status = source.lstat()
            if not stat.S_ISREG(status.st_mode) or left_out(source.relative_to(inputs).as_posix()):
                continue
            copied += status.st_size
            if copied > _MAX_INPUT_BYTES:
                raise SandboxError(
                    i18n.message("sandbox.repository_too_large"), i18n.message("sandbox.repository_too_large_hint")
                )
            shutil.copyfile(source, target / name)
            if dated:
                os.utime(target / name, ns=(status.st_atime_ns, status.st_mtime_ns))
            if status.st_mode & stat.S_IXUSR:  # programs that tests start
                (target / name).chmod(0o755)
