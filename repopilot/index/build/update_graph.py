"""Update the code graph of an index in a worker process."""

from __future__ import annotations

import threading

from repopilot import i18n
from repopilot.errors import IndexFailed
from repopilot.index.build.progress import PhaseProgress
from repopilot.index.graph import graph_file
from repopilot.index.graph.code_graph import content_key
from repopilot.index.store import Index
from repopilot.index.workers.pool import Call, ItemFailure, WorkerPool
from repopilot.types import OnProgress

_LINK = "repopilot.index.graph.code_graph:link"
_LIMIT_S = 1800.0
_MANY_CHUNKS = 10_000


def update_graph(index: Index, workers: WorkerPool, progress: OnProgress, cancel: threading.Event) -> None:
    """Link and store the code graph of an index, unless it is stored already.

    Args:
        index: the index whose files are linked.
        workers: lends the process that does it.
        progress: receives the progress of the phase `graph`.
        cancel: stops the work within 0.1 s.

    Raises:
        Cancelled: `cancel` was set.
        IndexFailed: the worker process died or took half an hour.
        StorageError: the graph can't be written.
    """
    if graph_file.stored_key(index.folder.parent) == content_key(index):
        return
    phase = PhaseProgress(progress, "graph", 1, "parts")
    call = Call(_LINK, (), _LIMIT_S, behind=True, renew=len(index.chunks) > _MANY_CHUNKS)
    for done in workers.run(call, [[index.folder]], count=1, cancel=cancel):
        if isinstance(done, ItemFailure):
            raise IndexFailed(
                i18n.message("index.graph_failed", how=done.reason), i18n.message("index.graph_failed_hint")
            )
    phase.finish()
