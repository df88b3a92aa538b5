"""Update the code graph of an index in a worker process."""

from __future__ import annotations

import threading
from collections import deque
from collections.abc import Iterator

from repopilot.index.build.progress import PhaseProgress
from repopilot.index.graph import graph_file
from repopilot.index.graph.code_graph import content_key, link_in_worker
from repopilot.index.store import Index
from repopilot.index.workers.pool import WorkerPool
from repopilot.types import OnProgress


def update_graph(
    index: Index, workers: WorkerPool, linking: Iterator[object], progress: OnProgress, cancel: threading.Event
) -> None:
    """Link and store the code graph of an index, unless it is stored already.

    Args:
        index: the index whose files are linked.
        workers: lends the process that does it.
        linking: the linking that was begun before the index was published.
        progress: receives the progress of the phase `graph`.
        cancel: stops the work within 0.1 s.

    Raises:
        Cancelled: `cancel` was set.
        IndexFailed: the worker process died or took half an hour.
        StorageError: the graph can't be written.
    """
    folder = index.folder.parent
    key = content_key(index)
    if graph_file.load(folder, key) is not None:
        return
    phase = PhaseProgress(progress, "graph", 1, "parts")
    deque(linking, maxlen=0)
    if graph_file.load(folder, key) is None:
        link_in_worker(index, workers, cancel)
    phase.finish()
