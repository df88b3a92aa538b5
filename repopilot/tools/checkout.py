"""A copy of the repository: what the sandbox sees of it, and what a working copy begins with."""

from __future__ import annotations

import os
import shutil
import stat
import tempfile
from collections.abc import AsyncIterator, Iterable, Iterator
from contextlib import asynccontextmanager
from pathlib import Path

from repopilot import i18n
from repopilot.background import run_in_thread
from repopilot.errors import StorageError
from repopilot.repo.kept_out import files_to_copy
from repopilot.repo.read import read_bytes
from repopilot.repo.submodules import fetched_submodules
from repopilot.repo.walk import copied_files, searched_files
from repopilot.workspace import Workspace

MOST_BYTES = 512 << 20
"""A larger repository is copied without files that aren't text."""


@asynccontextmanager
async def checked_out(workspace: Workspace) -> AsyncIterator[Path]:
    """A temporary folder with the repository's files as they are stored, removed afterwards.

    Args:
        workspace: the repository.

    Yields:
        The folder.

    Raises:
        SourceError: the repository can't be read.
        StorageError: there is no room for it.
    """
    with tempfile.TemporaryDirectory(prefix="repopilot-checkout-", ignore_cleanup_errors=True) as name:
        # A cancelled caller waits for the thread, which would create the removed folder again.
        await run_in_thread(lambda _: write_repository(workspace, Path(name)))
        yield Path(name)


def write_repository(original: Workspace, tree: Path) -> None:
    """Write the files of a repository below a folder, as they are stored: those of a clone as `copied_files` lists
    them; of a local folder those that git tracks, and untracked ones that are neither ignored nor kept out as secret.
    Blocking.

    Raises:
        SourceError: the repository can't be read.
        StorageError: there is no room for it.
    """
    try:
        made: set[str] = set()
        for path, source, executable in _sources(original):
            target = tree / path
            folder = path.rpartition("/")[0]
            if folder not in made:
                target.parent.mkdir(parents=True, exist_ok=True)
                made.add(folder)
            if isinstance(source, Path):
                shutil.copy(source, target)  # with its mode: tests may execute it
            else:
                target.write_bytes(source)
                target.chmod(0o755 if executable else 0o644)
    except OSError as error:
        raise StorageError(i18n.message("planning.no_copy", error=error), i18n.message("sandbox.free_space")) from error


def _sources(original: Workspace) -> Iterator[tuple[str, Path | bytes, bool]]:
    """Paths with the file or its content, and whether such content is executable."""
    root = original.snapshot.root
    settings = original.settings
    copied = original.snapshot.edited_from is not None
    if root is not None and (
        paths := _regular_files(root, _all_of(root) if copied else files_to_copy(root, settings.exclude))
    ):
        yield from ((path, root / path, False) for path in paths)
        return
    files = copied_files(original.snapshot, settings) if root is None else {}
    if not files or sum(file.size for file in files) > MOST_BYTES:
        files = dict.fromkeys(searched_files(original.snapshot, settings), False)
    for file, data in read_bytes(original.snapshot, list(files)):
        if data is not None:
            yield file.path, data, files[file]
    for path, submodule in fetched_submodules(original.snapshot, settings).items():
        inside = copied_files(submodule, settings)
        small = sum(file.size for file in inside) <= MOST_BYTES
        for file, data in read_bytes(submodule, list(inside) if small else []):
            if data is not None:
                yield f"{path}/{file.path}", data, inside[file]


def _all_of(root: Path) -> Iterator[str]:
    """All paths below the folder of a working copy. They were checked when the copy was made. Checked again without
    git, the ignore files would also leave out ignored files that git tracks."""
    for folder, _, names in os.walk(root):
        yield from (os.path.relpath(f"{folder}/{name}", root) for name in names)


def _regular_files(root: Path, paths: Iterable[str]) -> list[str]:
    """The paths of a local repository that are regular files; [] where they are too large."""
    files = []
    size = 0
    for path in paths:
        try:
            found = os.lstat(f"{root}/{path}")
        except OSError:  # gone since it was listed
            continue
        if stat.S_ISREG(found.st_mode):
            files.append(path)
            size += found.st_size
    return files if size <= MOST_BYTES else []
