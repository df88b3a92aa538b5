"""A repository with the drafts of finished work in it: a folder of its own, with an index of its own.

Whoever edits, searches or tests works on it as on any repository, and sees what was done before. The user's files and
index are only read.
"""

from __future__ import annotations

import asyncio
import os
import shutil
import tempfile
import threading
from collections.abc import AsyncIterator, Iterable, Iterator
from contextlib import asynccontextmanager
from dataclasses import replace
from pathlib import Path

from repopilot import i18n
from repopilot.errors import StorageError
from repopilot.index import layout
from repopilot.index.build.instant import BuildRun, build_instant
from repopilot.index.store import IndexStore
from repopilot.index.workers.pool import WorkerPool
from repopilot.repo.apply import write_files
from repopilot.repo.local import list_paths
from repopilot.repo.read import read_bytes
from repopilot.repo.walk import walk
from repopilot.tools.file_change import change, deletion
from repopilot.tools.stored_text import stored_text
from repopilot.types import FileChange, Snapshot
from repopilot.workspace import Workspace

MOST_BYTES = 512 << 20
"""A larger local repository is copied without what is no text."""


class WorkingCopy:
    """A repository with drafts. Nothing is copied before the first draft.

    Args:
        original: the repository as it is.
        folder: an empty folder for the copy and its index.
        workers: lends the processes that parse.
    """

    def __init__(self, original: Workspace, folder: Path, workers: WorkerPool) -> None:
        self.workspace = original
        self.cancel = threading.Event()
        self._original, self._folder, self._workers = original, folder, workers
        self._drafts: dict[str, str | None] = {}

    def write(self, files: Iterable[FileChange]) -> None:
        """Put drafts into the copy, and bring its index up to date. Blocking.

        Args:
            files: the changes, their contents whole.

        Raises:
            RepoPilotError: the repository can't be copied or indexed.
        """
        given = tuple(files)
        if not given:
            return
        tree = self._folder / "tree"
        if self.workspace is self._original:
            tree.mkdir()
            _copy_files(self._original, tree)
            _seed_index(self._original, self._folder / "index" / _KEY)
        write_files(tree, given)
        self._drafts |= {f.path: None if f.change == "deleted" else f.content for f in given}
        original = self._original.snapshot
        snapshot = Snapshot(_KEY, original.name, original.commit, root=tree, subdir=original.subdir)
        settings = self._original.settings.model_copy(update={"home": self._folder / "home"})
        store = IndexStore(self._folder / "index")
        index = build_instant(BuildRun(snapshot, settings, store, self._workers, lambda _: None, self.cancel))
        # Vectors are kept by repository: the copy has none of its own.
        self.workspace = replace(self._original, snapshot=snapshot, index=index, embedder=None)

    def changes(self) -> tuple[FileChange, ...]:
        """All drafts as one change of the repository as it is."""
        found = []
        for path, text in sorted(self._drafts.items()):
            stored = stored_text(path, self._original)
            if text is not None:
                found.append(change(path, text, stored))
            elif stored is not None:
                found.append(deletion(path, stored))
        return tuple(c for c in found if c.diff)


_KEY = "drafts"


@asynccontextmanager
async def working_copy(original: Workspace) -> AsyncIterator[WorkingCopy]:
    """A working copy of a repository, removed afterwards.

    Args:
        original: the repository.

    Yields:
        The copy, without drafts.

    Raises:
        StorageError: there is no room for it.
    """
    try:
        folder = Path(tempfile.mkdtemp(prefix="repopilot-drafts-")).resolve()
    except OSError as error:
        raise StorageError(i18n.message("planning.no_copy", error=error), i18n.message("sandbox.free_space")) from error
    workers = WorkerPool()
    copy = WorkingCopy(original, folder, workers)
    try:
        yield copy
    finally:
        copy.cancel.set()
        await asyncio.to_thread(workers.close)
        await asyncio.to_thread(shutil.rmtree, folder, ignore_errors=True)


def _copy_files(original: Workspace, tree: Path) -> None:
    """Write the files of a repository below a folder, as they are stored."""
    try:
        for path, data in _contents(original):
            target = tree / path
            target.parent.mkdir(parents=True, exist_ok=True)
            target.write_bytes(data)
    except OSError as error:
        raise StorageError(i18n.message("planning.no_copy", error=error), i18n.message("sandbox.free_space")) from error


def _contents(original: Workspace) -> Iterator[tuple[str, bytes]]:
    root = original.snapshot.root
    if root is not None and (paths := _regular_files(root)):
        yield from ((path, (root / path).read_bytes()) for path in paths)
        return
    files, _ = walk(original.snapshot, original.settings)
    yield from ((file.path, data) for file, data in read_bytes(original.snapshot, files) if data is not None)


def _regular_files(root: Path) -> list[str]:
    """The files of a local repository that git would not ignore; none where they are too large to be copied."""
    names = (os.fsdecode(name) for name in list_paths(root))
    files = [name for name in names if (root / name).is_file() and not (root / name).is_symlink()]
    return files if sum((root / name).stat().st_size for name in files) <= MOST_BYTES else []


def _seed_index(original: Workspace, folder: Path) -> None:
    """Begin an index with that of the repository, so that only what differs is parsed. Its files never change."""
    generation = original.index.folder
    sources = [p for p in generation.rglob("*") if p.is_file()]
    kept = [generation.parent / name for name in (layout.GRAPH, layout.HISTORY)]
    for source in (*sources, *(p for p in kept if p.is_file())):
        target = folder / source.relative_to(generation.parent)
        target.parent.mkdir(parents=True, exist_ok=True)
        try:
            os.link(source, target)
        except OSError:
            shutil.copyfile(source, target)
