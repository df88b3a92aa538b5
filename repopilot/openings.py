"""Opens a repository from a URL or path: blocking for the command line, shared by the callers of a server.

The browser performs the same steps one by one, each with its own progress and buttons (ui/repository/registry.py).
"""

from __future__ import annotations

import logging
import threading
from dataclasses import dataclass, replace
from typing import TYPE_CHECKING, Literal

from repopilot.errors import ModelError
from repopilot.index.build.job import IndexJobs, IndexRequest, Milestone
from repopilot.index.store import Index
from repopilot.repo.local import open_folder
from repopilot.repo.source import parse_source, split_token
from repopilot.runtime import CLOSE_TIMEOUT_S, Runtime
from repopilot.settings import Settings
from repopilot.types import OnProgress, Progress, Snapshot, Source

if TYPE_CHECKING:
    import asyncio

    from repopilot.repo.remote.credentials import HostToken

PREWARM_FROM_OBJECTS = 1_000
"""A repository with fewer objects is parsed before the processes would be warm."""
log = logging.getLogger(__name__)


def open_snapshot(
    text: str, runtime: Runtime, ref: str | None, progress: OnProgress, cancel: threading.Event
) -> Snapshot:
    """Clone, fetch or locate the repository a user named.

    Args:
        text: an https URL, which may carry a token, or a local path.
        runtime: the state of the process.
        ref: a branch, tag or commit; None for what `text` says.
        progress: receives the progress of the clone.
        cancel: stops it.

    Returns:
        The repository at one commit.

    Raises:
        SourceError: it can't be named, reached or read.
        CredentialsNeeded: the remote asks for credentials.
        StorageError: the clone can't be written.
        UsageError: `text` is neither a URL nor a path.
        Cancelled: `cancel` was set.
    """
    text, token = split_token(text)
    source = parse_source(text)
    if ref:
        source = replace(source, ref=ref)
    return fetch_source(source, runtime.settings, token, runtime.index_jobs, progress, cancel)


def fetch_source(
    source: Source,
    settings: Settings,
    token: HostToken | None,
    jobs: IndexJobs,
    progress: OnProgress,
    cancel: threading.Event,
) -> Snapshot:
    """Clone, fetch or locate the source; the worker processes start during the first clone of a large repository.

    Args:
        source: the repository.
        settings: the options that apply.
        token: for a private repository, None for none; never stored.
        jobs: starts the worker processes.
        progress: receives the progress of the clone.
        cancel: stops it.

    Returns:
        The repository at one commit.

    Raises:
        RepoPilotError: as `open_snapshot`.
    """
    if source.path is not None and not source.ref:
        return open_folder(source)
    from repopilot.repo.clone import clone_dir  # a folder as it is needs neither a network nor commits
    from repopilot.repo.snapshot import open_source

    is_cold = source.url is not None and not clone_dir(source.url, settings).exists()

    def tell(so_far: Progress) -> None:
        nonlocal is_cold
        if is_cold and so_far.unit == "objects" and so_far.total >= PREWARM_FROM_OBJECTS:
            is_cold = False
            jobs.prewarm(settings)
        progress(so_far)

    return open_source(source, settings, token=token, progress=tell, cancel=cancel)


def fetch_embedder(runtime: Runtime, progress: OnProgress) -> None:
    """Download the built-in embedding model where vectors are wanted and it isn't installed.

    Being offline is no failure here: the index then says that it is lexical only.
    """
    from repopilot.llm.weights import models

    settings = runtime.settings
    wanted = settings.dense and settings.auto_download and not settings.embed_model
    if not wanted or models.installed(models.EMBEDDING_MODEL, settings):
        return
    try:
        hosts = runtime.models.unreachable_hosts
        models.ensure(models.EMBEDDING_MODEL, settings, progress=progress, unreachable_hosts=hosts)
    except ModelError as error:
        log.warning("The embedding model could not be downloaded: %s", error)


def open_index(
    snapshot: Snapshot,
    runtime: Runtime,
    progress: OnProgress,
    *,
    full: bool = False,
    wait: bool | Literal["history", "graph"] = False,
    token: HostToken | None = None,
    cancel: threading.Event | None = None,
) -> Index:
    """Bring the index of a snapshot up to date: lexical index and symbols, and the history of a local folder.

    Args:
        snapshot: the repository at one commit.
        runtime: the state of the process.
        progress: receives the progress of the build.
        full: rebuild from scratch.
        wait: True waits for history, code graph and vectors, too; "history" for the history alone, even that of a
            clone; "graph" for the code graph of a large index, which is begun before the index is ready.
        token: for the history of a private repository.
        cancel: stops it.

    Returns:
        The index.

    Raises:
        IndexFailed: there is nothing to index, or the build failed.
        StorageError: the index can't be written.
        SourceError: the repository can't be read.
        Cancelled: `cancel` was set.
    """
    settings = runtime.settings
    jobs = runtime.index_jobs
    embedder = runtime.embedders.choose(settings) if wait is True else None
    until: Milestone = "complete" if wait is True else "instant"
    # The history of a local folder is read quickly and improves the ranking; that of a clone would have to be fetched.
    if wait == "history" or (snapshot.root is not None and wait is not True):
        until = "history"
    last = "complete" if wait == "graph" else until
    request = IndexRequest(snapshot, settings, embedder, full, token, last=last)
    index = jobs.build(request, progress, until=until, cancel=cancel)
    if wait == "graph":
        from repopilot.index.graph.code_graph import MANY_CHUNKS, graph_of  # not needed for a search

        if len(index.chunks) > MANY_CHUNKS:
            graph_of(index)
    running = jobs.running(snapshot)
    # Nobody waits for the rest of an index that others have asked for, or that was begun for the graph.
    if running is not None and wait is not True and jobs.leave(running):
        running.done.wait(CLOSE_TIMEOUT_S)
    return index


@dataclass(frozen=True, slots=True)
class _Opening:
    work: asyncio.Task[tuple[Snapshot, Index]]
    cancel: threading.Event
    listeners: list[OnProgress]


class SharedOpenings:
    """Repositories being opened: each only once for all callers that wait, and stopped when nobody waits any more.

    Args:
        runtime: the state of the process.
    """

    def __init__(self, runtime: Runtime) -> None:
        self._runtime = runtime
        self._running: dict[tuple[str, str], _Opening] = {}

    async def opened(self, source: str, ref: str, progress: OnProgress) -> tuple[Snapshot, Index]:
        """A repository with its index, up to date.

        Args:
            source: as the user named it.
            ref: a branch, tag or commit; '' for what `source` says.
            progress: called with the progress of clone and index, from any thread.

        Raises:
            RepoPilotError: as `open_snapshot` and `open_index`.
        """
        import asyncio  # only servers share openings

        opening = self._running.get((source, ref)) or self._begin(source, ref)
        opening.listeners.append(progress)
        try:
            return await asyncio.shield(opening.work)
        finally:
            opening.listeners.remove(progress)
            if not opening.listeners:
                opening.cancel.set()
                if self._running.get((source, ref)) is opening:
                    del self._running[source, ref]

    def _begin(self, source: str, ref: str) -> _Opening:
        from repopilot.background import in_background

        listeners: list[OnProgress] = []
        cancel = threading.Event()

        def tell(progress: Progress) -> None:
            for listener in tuple(listeners):
                listener(progress)

        def work() -> tuple[Snapshot, Index]:
            snapshot = open_snapshot(source, self._runtime, ref or None, tell, cancel)
            return snapshot, open_index(snapshot, self._runtime, tell, cancel=cancel)

        opening = _Opening(in_background(work), cancel, listeners)
        self._running[source, ref] = opening
        return opening
