"""The code graph of an index: stored beside it by the build, loaded on demand.

If no graph is stored for the content of the index, it is linked on demand.
"""

from __future__ import annotations

import gc
import logging
import sqlite3
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from hashlib import blake2b
from pathlib import Path
from typing import TYPE_CHECKING

from filelock import FileLock, Timeout

from repopilot.code.graph.graph import Graph
from repopilot.errors import IndexFailed, StorageError
from repopilot.index.graph import graph_file
from repopilot.index.storage.codec import FileInfo
from repopilot.index.store import Index

if TYPE_CHECKING:
    from repopilot.code.graph.linker import Linker

_LOCK_TIMEOUT_S = 120.0
_log = logging.getLogger(__name__)


def link(folders: Sequence[Path]) -> Iterator[Path]:
    """Link and store the graphs of generations. Runs in worker processes.

    Nothing is done for a generation that a newer one has replaced.

    Args:
        folders: the folders of the generations.

    Yields:
        Each folder when it is done.

    Raises:
        StorageError: the graph can't be written.
        IndexFailed: the index is broken.
    """
    for folder in folders:
        index = _open(folder)
        if index is not None:
            with _lock(folder.parent):
                _link_if_missing(index)
        yield folder


def graph_of(index: Index) -> Graph:
    """The code graph of an index: the stored one, else linked now and stored.

    Raises:
        IndexFailed: the index is broken.
    """
    folder = index.folder.parent
    key = content_key(index)
    found = graph_file.load(folder, key)
    if found is not None:
        return found
    with _lock(folder):
        found = graph_file.load(folder, key)
        if found is not None:
            return found
        graph = _link(index)
        try:
            _store(index, graph)
        except StorageError as error:
            _log.warning("The code graph could not be stored: %s", error)
        return graph


def _open(generation: Path) -> Index | None:
    try:
        return Index(generation, searchable=False)
    except (OSError, ValueError, KeyError, TypeError, IndexFailed, sqlite3.Error):
        return None


def _link_if_missing(index: Index) -> None:
    if graph_file.stored_key(index.folder.parent) != content_key(index):
        _store(index, _link(index))


def _store(index: Index, graph: Graph) -> None:
    """Store a graph, unless a newer generation has replaced the index: an old graph must not overwrite a newer one."""
    if index.folder.exists():
        graph_file.save(index.folder.parent, content_key(index), graph)


def linker_of(index: Index) -> Linker:
    """The linker, which resolves single uses of names by the graph's rules; made on first use and kept as long as the
    index."""
    return index.derived(_linker)


def _linker(index: Index) -> Linker:
    from repopilot.code.graph.import_resolver import file_lookup, resolve
    from repopilot.code.graph.linker import Linker, names
    from repopilot.index.manifests import every_manifest

    files = list(index.analyses())
    lookup = file_lookup(files, every_manifest(index))
    return Linker(lookup, names(files), [resolve(lookup, number) for number in range(len(files))])


def _link(index: Index) -> Graph:
    from repopilot.code.graph.build import link_graph
    from repopilot.index.manifests import every_manifest

    with _garbage_collection_disabled():
        return link_graph(list(index.analyses()), every_manifest(index))


def content_key(index: Index) -> str:
    """Identifies the content of an index: a hash of its files in order, 32 hex digits."""
    parts = (f"{path}\0{_file_key(info)}\0" for path, info in index.files.items())
    return blake2b("".join(parts).encode("utf-8", "surrogatepass"), digest_size=16).hexdigest()


def _file_key(info: FileInfo) -> str:
    # Whether a text was parsed in full may depend on how busy the machine was.
    return f"{info.hash}{info.parsed:d}"


@contextmanager
def _lock(folder: Path) -> Iterator[None]:
    """Let one process at a time link the graph; those that waited find it stored.

    If the lock can't be acquired, the graph is linked without it: linking twice is better than never.
    """
    lock = FileLock(folder / "graph.lock")
    try:
        lock.acquire(timeout=_LOCK_TIMEOUT_S)
    except (Timeout, OSError) as error:
        _log.warning("The code graph is linked without a lock: %s", error)
    try:
        yield
    finally:
        lock.release()


@contextmanager
def _garbage_collection_disabled() -> Iterator[None]:
    """Disable garbage collection, which takes most of the time when linking makes a million short-lived values."""
    enabled = gc.isenabled()
    gc.disable()
    try:
        yield
    finally:
        if enabled:
            gc.enable()
