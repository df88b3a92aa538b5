"""Computes the vectors of all chunks of a repository in the background, most useful files first."""

from __future__ import annotations

import os
import sys
import threading
import time
from dataclasses import dataclass

import numpy as np

from repopilot import i18n
from repopilot.errors import Cancelled
from repopilot.index.build.embedding_pause import EmbeddingPause
from repopilot.index.build.progress import PhaseProgress
from repopilot.index.embed import Embedder
from repopilot.index.storage import layout
from repopilot.index.storage.database import storage_errors
from repopilot.index.store import Index
from repopilot.index.vectors import Vectors, vectors_of
from repopilot.types import OnProgress

_BATCH = 64
_EMBED_AT_ONCE = 4
_RECORD_INTERVAL_S = 2.0
_STALE_SHARE = 0.1
_NICENESS = 10
_PAUSE_POLL_S = 0.2


@dataclass(frozen=True, slots=True)
class _Filling:
    """One run of `fill_vectors`."""

    index: Index
    vectors: Vectors
    progress: PhaseProgress
    cancel: threading.Event
    pause: EmbeddingPause


def fill_vectors(
    index: Index, embedder: Embedder, progress: OnProgress, cancel: threading.Event, pause: EmbeddingPause
) -> list[str]:
    """Compute and store the missing vectors, continuing where an earlier run was stopped or killed.

    While another process owns the vectors, or their server fails, nothing is computed and the notes say so.

    Args:
        index: the index whose chunks are embedded.
        embedder: the embedding model.
        progress: receives the progress of the phase `vectors`, also while it is paused.
        cancel: stops the work within a few texts; what is computed by then is stored.
        pause: nothing is computed while it is active.

    Returns:
        Notes on what is degraded.

    Raises:
        Cancelled: `cancel` was set.
        ModelError: the embedder failed.
        StorageError: the vectors can't be written.
    """
    vectors = vectors_of(index, embedder)
    known = np.fromiter(vectors.known(), np.uint64)
    if not vectors.persistent:
        return list(vectors.notes)
    wanted, first = np.unique(index.digests, return_index=True)
    missing = np.sort(first[~np.isin(wanted, known)])
    done = len(wanted) - len(missing)
    filling = _Filling(index, vectors, PhaseProgress(progress, "vectors", len(wanted), "chunks", done), cancel, pause)
    _lower_priority()
    recorded_at = 0.0
    for start in range(0, len(missing), _BATCH):
        batch = missing[start : start + _BATCH]
        _embed_batch(filling, batch)
        if not vectors.persistent:  # the server was lost: further vectors could not be saved
            return list(vectors.notes)
        done += len(batch)
        if time.monotonic() - recorded_at > _RECORD_INTERVAL_S:
            _record(index, embedder, done, len(wanted))
            recorded_at = time.monotonic()
    _record(index, embedder, done, len(wanted))
    _remove_stale(vectors, np.setdiff1d(known, wanted), len(wanted))
    filling.progress.finish()
    return list(vectors.notes)


def _embed_batch(filling: _Filling, numbers: np.ndarray) -> None:
    """Embed chunks a few at a time, so that stopping is quick; store them together, which is cheaper."""
    index = filling.index
    vectors = filling.vectors
    parts: list[np.ndarray] = []
    try:
        for start in range(0, len(numbers), _EMBED_AT_ONCE):
            _wait_while_paused(filling)
            if filling.cancel.is_set():
                raise Cancelled(i18n.message("index.vectors_stopped"), i18n.message("index.vectors_stopped_hint"))
            chunks = [index.chunks[int(number)] for number in numbers[start : start + _EMBED_AT_ONCE]]
            parts.append(vectors.embedder.embed([chunk.text for chunk in chunks], background=True))
            filling.progress.advance(len(chunks), chunks[-1].path)
    finally:
        if parts:
            computed = np.concatenate(parts)
            vectors.put(index.digests[numbers[: len(computed)]].tolist(), computed)


def _wait_while_paused(filling: _Filling) -> None:
    if not filling.pause.active:
        return
    filling.progress.pause(i18n.message("index.embedding_paused"))
    while not filling.cancel.is_set() and not filling.pause.wait(_PAUSE_POLL_S):
        continue
    filling.progress.resume()


@storage_errors()
def _record(index: Index, embedder: Embedder, done: int, total: int) -> None:
    layout.write_json(index.folder.parent / layout.DENSE, {"embedder": embedder.name, "done": done, "total": total})


def _remove_stale(vectors: Vectors, stale: np.ndarray, size: int) -> None:
    """Delete the vectors of texts that no longer occur, once there are many of them; searches ignore a few."""
    if len(stale) > _STALE_SHARE * size:
        vectors.remove(stale.tolist())


def _lower_priority() -> None:
    # On Linux this lowers the priority of the calling thread alone; elsewhere it would lower that of the process.
    if sys.platform == "linux":
        os.setpriority(os.PRIO_PROCESS, threading.get_native_id(), _NICENESS)
