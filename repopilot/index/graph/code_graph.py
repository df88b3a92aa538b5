"""The code graph of an index: stored beside it by the build, loaded on demand.

If no graph is stored for the content of the index, it is linked on demand. That of a large index is linked ahead: while
the index is still being written.
"""

from __future__ import annotations

import gc
import logging
import sqlite3
import threading
from collections.abc import Generator, Iterator, Sequence
from contextlib import contextmanager
from hashlib import blake2b
from pathlib import Path
from typing import TYPE_CHECKING

from filelock import FileLock, Timeout

from repopilot import i18n
from repopilot.code.graph.graph import Graph
from repopilot.errors import IndexFailed, RepoPilotError, StorageError
from repopilot.index.graph import graph_file
from repopilot.index.storage import layout
from repopilot.index.store import Index
from repopilot.index.workers.pool import Call, ItemFailure, WorkerPool

if TYPE_CHECKING:
    from repopilot.code.file_analysis import FileAnalysis
    from repopilot.code.graph.linker import Linker
    from repopilot.project.manifest import Manifest

MANY_CHUNKS = 2_000
"""The graph of an index with more is linked ahead, and in a worker process if possible."""
_MUCH_MEMORY_CHUNKS = 10_000
_LINK = "repopilot.index.graph.code_graph:link"
_LINK_AHEAD = "repopilot.index.graph.code_graph:link_ahead"
_LIMIT_S = 1800.0
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


def link_ahead(steps: Sequence[Path]) -> Iterator[Path]:
    """Link the graph of a finished draft, and store it apart until the draft is published. Runs in worker processes.

    Nothing is done for a draft that is published meanwhile.

    Args:
        steps: the folder of the draft, once for each step: it is read, its graph is stored.

    Yields:
        The folder after each step. From the first on it may be renamed.

    Raises:
        StorageError: the graph can't be written.
        IndexFailed: the draft is broken.
    """
    from repopilot.code.graph.build import link_graph

    draft = steps[0]
    with _garbage_collection_disabled():
        index = _open(draft)
        content = None if index is None else (content_key(index), *_content(index))
        del index  # closes the database
        yield draft
        if content is not None:
            key, files, manifests = content
            with _lock(draft.parent):
                graph_file.save(draft.parent, key, link_graph(files, manifests), layout.GRAPH_AHEAD)
    yield from steps[1:]


def begin_linking(
    draft: Path, chunks: int, workers: WorkerPool, cancel: threading.Event
) -> Generator[object, None, None]:
    """Begin to link the graph of a finished draft in a worker process, where it takes long. Returns at once.

    Args:
        draft: the folder of the draft.
        chunks: how many chunks it has.
        workers: lends the process.
        cancel: stops the work.

    Returns:
        A generator whose first value comes when the draft is read and may be renamed, and which ends when the graph is
        stored. Closing it stops the work.
    """
    steps = [[draft, draft]] if chunks > MANY_CHUNKS else []
    return workers.run(_call(_LINK_AHEAD, chunks), steps, count=len(steps), cancel=cancel)


def link_in_worker(index: Index, workers: WorkerPool, cancel: threading.Event) -> None:
    """Link and store the graph of an index in a worker process, unless it is stored already.

    Args:
        index: the index.
        workers: lends the process.
        cancel: stops the work within 0.1 s.

    Raises:
        Cancelled: `cancel` was set.
        IndexFailed: the worker process died or took half an hour.
        StorageError: the graph can't be written.
    """
    for done in workers.run(_call(_LINK, len(index.chunks)), [[index.folder]], count=1, cancel=cancel):
        if isinstance(done, ItemFailure):
            raise IndexFailed(
                i18n.message("index.graph_failed", how=done.reason), i18n.message("index.graph_failed_hint")
            )


def _call(function: str, chunks: int) -> Call:
    return Call(function, (), _LIMIT_S, behind=True, renew=chunks > _MUCH_MEMORY_CHUNKS)


def graph_of(index: Index) -> Graph:
    """The code graph of an index: the stored one, else linked now and stored.

    That of a large index is linked by a worker process where there is one: linking slows down everything else in its
    process.

    Raises:
        IndexFailed: the index is broken.
    """
    folder = index.folder.parent
    key = content_key(index)
    workers = index.workers if len(index.chunks) > MANY_CHUNKS else None
    found = graph_file.load(folder, key)
    if found is None:
        with _lock(folder):
            found = graph_file.load(folder, key) or (None if workers else _linked(index))
    if found is None and workers:
        try:
            link_in_worker(index, workers, threading.Event())
        except RepoPilotError as error:
            _log.warning("The code graph could not be linked in a worker process: %s", error)
        found = graph_file.load(folder, key)
    return found or _linked(index)


def _linked(index: Index) -> Graph:
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
    folder = index.folder.parent
    if graph_file.load(folder, content_key(index)) is None:
        _store(index, _link(index))
        (folder / layout.GRAPH_AHEAD).unlink(missing_ok=True)  # of a build that was killed


def _store(index: Index, graph: Graph) -> None:
    """Store a graph, unless a newer generation has replaced the index: an old graph must not overwrite a newer one."""
    if index.folder.exists():
        graph_file.save(index.folder.parent, content_key(index), graph)


def linker_of(index: Index) -> Linker:
    """The linker, which resolves single uses of names by the graph's rules; made on first use and kept as long as the
    index."""
    return index.derived(_linker)


def _linker(index: Index) -> Linker:
    from repopilot.code.graph.linker import Linker

    return Linker(*_content(index))


def _link(index: Index) -> Graph:
    from repopilot.code.graph.build import link_graph

    with _garbage_collection_disabled():
        return link_graph(*_content(index))


def _content(index: Index) -> tuple[list[FileAnalysis], tuple[Manifest, ...]]:
    from repopilot.index.manifests import every_manifest

    return list(index.analyses()), every_manifest(index)


def content_key(index: Index) -> str:
    """Identifies the content of an index: a hash of its files in order, 32 hex digits."""
    # Whether a text was parsed in full may depend on how busy the machine was.
    parts = (f"{path}\0{info.hash}{info.parsed:d}\0" for path, info in index.files.items())
    return blake2b("".join(parts).encode("utf-8", "surrogatepass"), digest_size=16).hexdigest()


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
