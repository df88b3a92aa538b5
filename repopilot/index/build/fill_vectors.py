"""Filling in the vectors of a whole repository, most useful files first, behind everything else."""

from __future__ import annotations

import os
import threading
import time
from collections.abc import Iterator

import numpy as np

from repopilot.errors import Cancelled
from repopilot.index import layout
from repopilot.index.build.progress import Listener, Meter
from repopilot.index.database import storage_errors
from repopilot.index.embed import Embedder
from repopilot.index.store import Index
from repopilot.index.vectors import Vectors, vectors_of

PHASE = "vectors"
_BATCH = 64
_EMBED_AT_ONCE = 4
_SAY_S = 2.0
_STALE = 0.1
_NICENESS = 10
_HELD_S = 0.2


def fill(
    index: Index, embedder: Embedder, listener: Listener, cancel: threading.Event, free: threading.Event | None = None
) -> list[str]:
    """Compute and keep what is missing; returns notes. Goes on where an earlier run was stopped or killed.

    While `free` is given and not set, nothing is computed.

    Raises Cancelled within the time of a few texts, ModelError, StorageError. Does nothing but say so while another
    process owns the vectors.
    """
    vectors = vectors_of(index, embedder)
    if not vectors.persistent:
        return list(vectors.notes)
    wanted, first = np.unique(index.digests, return_index=True)
    known = np.fromiter(vectors.known(), np.uint64)
    missing = np.sort(first[~np.isin(wanted, known)])
    done = len(wanted) - len(missing)
    meter = Meter(listener, PHASE, len(wanted), "chunks", done)
    _yield_to_others()
    told = 0.0
    for batch in _batches(missing):
        _embed(index, vectors, batch, cancel, free, meter)
        done += len(batch)
        if time.monotonic() - told > _SAY_S:
            _record(index, embedder, done, len(wanted))
            told = time.monotonic()
    _record(index, embedder, done, len(wanted))
    _tidy(vectors, np.setdiff1d(known, wanted), len(wanted))
    meter.end()
    return list(vectors.notes)


def _embed(
    index: Index,
    vectors: Vectors,
    numbers: np.ndarray,
    cancel: threading.Event,
    free: threading.Event | None,
    meter: Meter,
) -> None:
    """Embed chunks a few at a time, so that stopping doesn't wait; keep them together, which is cheaper."""
    parts: list[np.ndarray] = []
    try:
        for start in range(0, len(numbers), _EMBED_AT_ONCE):
            while not cancel.is_set() and free is not None and not free.wait(_HELD_S):
                meter.add(0, "waiting: a question is being answered")
            if cancel.is_set():
                raise Cancelled("Computing vectors was stopped.", "It goes on with the next indexing.")
            chunks = [index.chunks[int(number)] for number in numbers[start : start + _EMBED_AT_ONCE]]
            parts.append(vectors.embedder.embed([chunk.text for chunk in chunks], background=True))
            meter.add(len(chunks), chunks[-1].path)
    finally:
        if parts:
            found = np.concatenate(parts)
            vectors.put(index.digests[numbers[: len(found)]].tolist(), found)


def _batches(missing: np.ndarray) -> Iterator[np.ndarray]:
    return (missing[start : start + _BATCH] for start in range(0, len(missing), _BATCH))


def _record(index: Index, embedder: Embedder, done: int, total: int) -> None:
    with storage_errors():
        layout.write_json(index.folder.parent / layout.DENSE, {"embedder": embedder.name, "done": done, "total": total})


def _tidy(vectors: Vectors, stale: np.ndarray, size: int) -> None:
    """Delete the vectors of texts that are gone, once they are many: searches step over the few."""
    if len(stale) > _STALE * size:
        vectors.remove(stale.tolist())


def _yield_to_others() -> None:
    # On Linux this lowers the priority of the calling thread alone; elsewhere it would lower the whole process.
    if hasattr(os, "setpriority") and os.uname().sysname == "Linux":
        os.setpriority(os.PRIO_PROCESS, threading.get_native_id(), _NICENESS)
