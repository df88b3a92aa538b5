"""The code graph of an index: made behind the instant index in a worker process, kept, and loaded by who asks for it.

Whoever finds none that fits makes it: from the one before where few files have changed.
"""

from __future__ import annotations

import gc
import logging
import sqlite3
import threading
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from hashlib import blake2b
from pathlib import Path

from filelock import FileLock, Timeout

from repopilot.code.graph.build import link_graph
from repopilot.code.graph.graph import Graph
from repopilot.code.graph.link_state import Linked
from repopilot.code.manifest import Manifest, is_manifest, read_manifest
from repopilot.errors import IndexFailed, StorageError
from repopilot.index import graph_file
from repopilot.index.build.progress import Listener, Meter
from repopilot.index.codec import FileInfo
from repopilot.index.store import Index
from repopilot.index.workers import pool

PHASE = "graph"
_LINK = "repopilot.index.code_graph:link"
_LIMIT_S = 1800.0
_WAIT_S = 120.0
_log = logging.getLogger(__name__)


def update(index: Index, listener: Listener, cancel: threading.Event) -> None:
    """Make and keep the graph of an index in a worker process; nothing is done when it is there.

    Raises Cancelled within 0.1 s, StorageError, IndexFailed.
    """
    if graph_file.key_of(index.folder.parent) == _content(index):
        return
    meter = Meter(listener, PHASE, 1, "parts")
    for done in pool.run(_LINK, (), [[index.folder]], count=1, limit_s=_LIMIT_S, cancel=cancel):
        if isinstance(done, pool.Failed):
            raise IndexFailed(f"The process that makes the code graph {done.how}.", "The first impact report tries it.")
    meter.end()


def link(folders: Sequence[Path]) -> Iterator[Path]:
    """Make and keep the graphs of the generations in `folders`, yielding each when it is done. For worker processes.

    Nothing is done for a generation that a newer one has replaced. Raises StorageError, IndexFailed.
    """
    for folder in folders:
        index = _opened(folder)
        if index is not None:
            with _alone(folder.parent):
                _link_anew(index)
        yield folder


def graph_of(index: Index) -> Graph:
    """The graph of an index: the one that is kept, else made now and kept for who asks next. Raises IndexFailed."""
    folder, key = index.folder.parent, _content(index)
    found = graph_file.load(folder, key)
    if found is not None:
        return found
    with _alone(folder):
        found = graph_file.load(folder, key)
        if found is not None:
            return found
        linked = _linked(index)
        try:
            _keep(index, linked)
        except StorageError as error:
            _log.warning("the code graph is not kept: %s", error)
        return linked.graph


def _opened(generation: Path) -> Index | None:
    try:
        return Index(generation)
    except (OSError, ValueError, KeyError, TypeError, IndexFailed, sqlite3.Error):
        return None


def _link_anew(index: Index) -> None:
    if graph_file.key_of(index.folder.parent) != _content(index):
        _keep(index, _linked(index))


def _keep(index: Index, linked: Linked) -> None:
    """Unless a newer generation has come: its graph is not to be replaced by an old one."""
    if index.folder.exists():
        graph_file.save(index.folder.parent, _content(index), linked)


def _linked(index: Index) -> Linked:
    with _without_collection():
        return _linked_to(index, graph_file.load_linked(index.folder.parent))


def _linked_to(index: Index, before: Linked | None) -> Linked:
    files = list(index.analyses())
    return link_graph(files, [_key(index.files[file.path]) for file in files], _manifests(index), before)


def _content(index: Index) -> str:
    """What tells the contents of two indexes apart, in the order of their files."""
    parts = (f"{path}\0{_key(info)}\0" for path, info in index.files.items())
    return blake2b("".join(parts).encode("utf-8", "surrogatepass"), digest_size=16).hexdigest()


def _key(info: FileInfo) -> str:
    # The same text may be read in parts once, when the machine is slow, and whole another time.
    return f"{info.hash}{info.parsed:d}"


def _manifests(index: Index) -> Iterator[Manifest]:
    for path in index.files:
        found = read_manifest(path, index.text(path) or "") if is_manifest(path) else None
        if found is not None:
            yield found


@contextmanager
def _alone(folder: Path) -> Iterator[None]:
    """One process at a time makes the graph; who has waited finds it made. Rather twice than never: a lock that can't
    be had is done without."""
    lock = FileLock(folder / "graph.lock")
    try:
        lock.acquire(timeout=_WAIT_S)
    except (Timeout, OSError) as error:
        _log.warning("the code graph is made without a lock: %s", error)
    try:
        yield
    finally:
        lock.release()


@contextmanager
def _without_collection() -> Iterator[None]:
    """A million values are made and soon dropped; looking for garbage among them again and again takes most of the
    time."""
    enabled = gc.isenabled()
    gc.disable()
    try:
        yield
    finally:
        if enabled:
            gc.enable()
