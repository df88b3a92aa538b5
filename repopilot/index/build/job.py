"""Index a repository in the background: the instant index first, then history, code graph and vectors.

A process has one job per repository; a lock on disk excludes other processes (see instant.py).
"""

from __future__ import annotations

import logging
import math
import threading
import time
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from dataclasses import dataclass, replace
from pathlib import Path
from typing import TYPE_CHECKING, Literal, get_args

from repopilot import i18n
from repopilot.errors import Cancelled, IndexFailed, RepoPilotError
from repopilot.index.build.embedding_pause import EmbeddingPause
from repopilot.index.build.instant import BuildRun, build_instant, worker_count
from repopilot.index.build.update_history import update_history
from repopilot.index.build_report import BuildReport
from repopilot.index.store import Index, IndexStore
from repopilot.index.workers.pool import WorkerPool
from repopilot.settings import Settings
from repopilot.types import OnProgress, Progress, Snapshot

if TYPE_CHECKING:
    from repopilot.index.embed import Embedder
    from repopilot.repo.remote.credentials import HostToken

Milestone = Literal["instant", "history", "complete"]
"""What a caller waits for: the instant index; the past commits too; the code graph and vectors as well."""

_POLL_S = 0.1
_log = logging.getLogger(__name__)


@dataclass(frozen=True, slots=True)
class IndexRequest:
    """What to index, and how.

    `embedder` is None for no vectors; `full` rebuilds from nothing; `token` serves to fetch the history of a private
    repository and is never stored. Above `most_embedded` passages no vectors are computed. The job does no work for
    what comes after the milestone `last`.
    """

    snapshot: Snapshot
    settings: Settings
    embedder: Embedder | None = None
    full: bool = False
    token: HostToken | None = None
    most_embedded: float = math.inf
    last: Milestone = "complete"


class IndexJobs:
    """The running jobs of this process. Thread-safe.

    Args:
        indexes: where the indexes are.
        workers: lends the processes that parse.
    """

    def __init__(self, indexes: IndexStore, workers: WorkerPool) -> None:
        self._indexes = indexes
        self._workers = workers
        self._pause = EmbeddingPause()
        self._lock = threading.Lock()
        self._running: dict[Path, IndexJob] = {}

    def start(self, request: IndexRequest, progress: OnProgress | None = None) -> IndexJob:
        """Index a repository in the background. Returns at once.

        A job that is already running for it is returned instead, after taking on the request if that could change
        anything (another commit, a local folder, an embedder or a token where there was none, `full`, a later `last`).

        Args:
            request: what to index.
            progress: receives the progress, also of a job that was already running.

        Returns:
            The job.
        """
        folder = self._indexes.folder_of(request.snapshot)
        with self._lock:
            job = self._running.get(folder)
            new = job is None or not job.take_on(request)
            if job is None or new:
                job = IndexJob(request, self._indexes, self._workers, self._pause, self._remove)
                self._running[folder] = job
            job.users += 1
        if progress is not None:
            job.listen(progress)
        if new:
            job.launch()
        return job

    def build(
        self,
        request: IndexRequest,
        progress: OnProgress | None = None,
        *,
        until: Milestone = "complete",
        cancel: threading.Event | None = None,
    ) -> Index:
        """`start` a job and wait until it has reached a milestone.

        Args:
            request: what to index.
            progress: receives the progress.
            until: the milestone.
            cancel: ends the waiting once set, and cancels the job unless others have started it, too.

        Returns:
            The index. An error after the milestone is not raised.

        Raises:
            RepoPilotError: the job failed.
            Cancelled: `cancel` was set.
        """
        job = self.start(request, progress)
        try:
            job.wait(until, cancel)
        except BaseException:
            self.leave(job)
            raise
        if job.index is None or (job.error is not None and until == "complete"):
            raise job.error or IndexFailed(i18n.message("index.no_index"))
        return job.index

    def leave(self, job: IndexJob) -> bool:
        """Release a job; cancels it after the last release. Returns whether it was cancelled."""
        with self._lock:
            job.users -= 1
            if job.users <= 0:
                job.cancel()
            return job.users <= 0

    def running(self, snapshot: Snapshot) -> IndexJob | None:
        """The job that is indexing this repository, if there is one."""
        with self._lock:
            return self._running.get(self._indexes.folder_of(snapshot))

    def prewarm(self, settings: Settings) -> None:
        """Start the worker processes for a job that comes soon (a clone has begun). Returns at once."""
        self._workers.prewarm(worker_count(settings))

    @contextmanager
    def embedding_paused(self) -> Iterator[None]:
        """Pause the embedding of all jobs, including those that start meanwhile, while a question is answered.

        Several questions may be answered at once. The jobs say in their progress that they are paused.
        """
        self._pause.request()
        try:
            yield
        finally:
            self._pause.release()

    def close(self, timeout_s: float) -> None:
        """Cancel the running jobs and wait for their end, at most `timeout_s` seconds in all."""
        with self._lock:
            jobs = list(self._running.values())
        for job in jobs:
            job.cancel()
        deadline = time.monotonic() + timeout_s
        for job in jobs:
            job.done.wait(max(0.0, deadline - time.monotonic()))

    def _remove(self, job: IndexJob) -> None:
        with self._lock:
            folder = self._indexes.folder_of(job.snapshot)
            if self._running.get(folder) is job:
                del self._running[folder]


class IndexJob:
    """Indexing in progress. Thread-safe.

    `lexical_ready` is set when `index` covers the requested snapshot, `history_ready` when its past commits are stored
    (or unavailable), `settled` when only vectors are left, `done` at the
    end; a job that fails or is cancelled sets all of them, and `error`. `index` may be set although `error` is.
    `progress` is the latest report; it says so while the vectors wait for a question to be answered. `users` counts the
    callers that have started the job, see `IndexJobs.leave`.
    """

    def __init__(
        self,
        request: IndexRequest,
        indexes: IndexStore,
        workers: WorkerPool,
        pause: EmbeddingPause,
        on_end: Callable[[IndexJob], None],
    ) -> None:
        self.lexical_ready = threading.Event()
        self.history_ready = threading.Event()
        self.settled = threading.Event()
        self.done = threading.Event()
        self.index: Index | None = None
        self.error: RepoPilotError | None = None
        self.notes: list[str] = []
        self.progress = Progress("waiting", 0, 0)
        self.users = 0
        self._request = request
        self._indexes = indexes
        self._workers = workers
        self._pause = pause
        self._on_end = on_end
        self._round_pending = True
        self._ended = False
        self._lock = threading.Lock()
        self._listeners: list[OnProgress] = []
        self._cancel = threading.Event()
        self._interrupt = threading.Event()
        self._thread = threading.Thread(target=self._run, name=f"index-{request.snapshot.name}", daemon=True)

    @property
    def snapshot(self) -> Snapshot:
        """The snapshot that is being indexed, or was last."""
        return self._request.snapshot

    @property
    def report(self) -> BuildReport | None:
        """The figures of the instant index; None until it is built."""
        return None if self.index is None else self.index.report

    @property
    def embedding_paused(self) -> bool:
        """Whether the embedding waits, or will wait once it begins, until a question is answered."""
        return self._pause.active and not self.done.is_set()

    def launch(self) -> None:
        """Begin. To be called once, by `IndexJobs.start`."""
        self._thread.start()

    def listen(self, progress: OnProgress) -> None:
        """Also report progress to this listener."""
        self._listeners.append(progress)

    def wait(self, until: Milestone, cancel: threading.Event | None = None) -> None:
        """Wait until the job has reached a milestone or ended. Raises Cancelled once `cancel` is set."""
        reached = {"instant": self.lexical_ready, "history": self.history_ready, "complete": self.done}[until]
        while not reached.wait(None if cancel is None else _POLL_S):
            if cancel is not None and cancel.is_set():
                raise Cancelled(i18n.message("index.stopped"), i18n.message("index.stopped_hint"))

    def cancel(self) -> None:
        """Stop within half a second. What is indexed so far is saved for the next job."""
        self._cancel.set()
        self._interrupt.set()

    def take_on(self, request: IndexRequest) -> bool:
        """Take on another request for the same repository. False when the job has ended or is being stopped."""
        with self._lock:
            if self._ended or self._cancel.is_set():
                return False
            snapshot = request.snapshot
            known = self._request.embedder
            embedder = request.embedder if known is None else known
            most = (request if known is None else self._request).most_embedded
            token = request.token or self._request.token
            last = max(request.last, self._request.last, key=get_args(Milestone).index)
            unchanged = snapshot == self.snapshot and snapshot.root is None and not request.full
            new_token = token and not self._request.token
            if not unchanged or embedder is not known or new_token or last != self._request.last:
                # Work that an earlier request waits for and that no round has begun yet is done for both.
                full = request.full or (self._round_pending and self._request.full)
                self._request = replace(
                    self._request,
                    snapshot=snapshot,
                    full=full,
                    token=token,
                    embedder=embedder,
                    most_embedded=most,
                    last=last,
                )
                self._round_pending = True
                for reached in (self.lexical_ready, self.history_ready, self.settled):
                    reached.clear()
                self._interrupt.set()
            return True

    def _run(self) -> None:
        try:
            while (request := self._begin_round()) is not None:
                self._run_round(request)
        except RepoPilotError as error:
            self.error = error
        except Exception as error:
            # The boundary of the thread: an exception would be lost.
            _log.exception("Indexing %s failed", self.snapshot.name)
            self.error = IndexFailed(
                i18n.message("index.failed", error=f"{type(error).__name__}: {error}"),
                i18n.message("index.failed_hint"),
            )
        finally:
            self._end()

    def _begin_round(self) -> IndexRequest | None:
        """The request whose round is pending; where none is, ends the job under the same lock."""
        with self._lock:
            pending = self._round_pending
            self._round_pending = False
            self._ended = not pending
            if not self._cancel.is_set():
                self._interrupt.clear()
            return self._request if pending else None

    def _end(self) -> None:
        with self._lock:
            self._ended = True
        self._on_end(self)
        for reached in (self.lexical_ready, self.history_ready, self.settled, self.done):
            reached.set()

    def _run_round(self, request: IndexRequest) -> None:
        run = BuildRun(
            request.snapshot,
            request.settings,
            self._indexes,
            self._workers,
            self._report,
            self._cancel,
            request.full,
            self._interrupt if request.last == "complete" else None,
        )
        try:
            self.index = build_instant(run)
            self._linking: Iterator[object] = run.linking or iter(())
            self._complete(request, self.index)
        finally:
            if run.linking is not None:
                run.linking.close()

    def _complete(self, request: IndexRequest, index: Index) -> None:
        """Do what follows the instant index: graph, history and vectors."""
        self.notes = list(index.notes)
        self._set_unless_pending(self.lexical_ready)
        # The history of a local folder is read quickly; a clone's has to be fetched.
        first = (self._history, self._graph) if request.snapshot.root else (self._graph, self._history)
        steps = {"instant": (), "history": (self._history,), "complete": (*first, self._vectors)}
        for step in steps[request.last]:
            if step == self._vectors:
                self._set_unless_pending(self.settled)
            try:
                step(request, index)
            except Cancelled:
                if self._cancel.is_set():
                    raise
                return
            except RepoPilotError as error:
                self.notes.append(i18n.reason(error))
            if step == self._history:
                self._set_unless_pending(self.history_ready)

    def _set_unless_pending(self, event: threading.Event) -> None:
        """Set an event, unless another round is asked for meanwhile: then that round sets it."""
        with self._lock:
            if not self._round_pending:
                event.set()

    def _history(self, request: IndexRequest, index: Index) -> None:
        folder = index.folder.parent
        update_history(request.snapshot, request.settings, folder, self._report, self._interrupt, request.token)

    def _graph(self, request: IndexRequest, index: Index) -> None:
        from repopilot.index.build.update_graph import update_graph

        update_graph(index, self._workers, self._linking, self._report, self._interrupt)

    def _vectors(self, request: IndexRequest, index: Index) -> None:
        embedder = self._request.embedder
        if embedder is None or len(index.chunks) > self._request.most_embedded:
            return
        from repopilot.index.build.fill_vectors import fill_vectors

        self.notes += fill_vectors(index, embedder, self._report, self._interrupt, self._pause)

    def _report(self, progress: Progress) -> None:
        self.progress = progress
        for listener in self._listeners:
            listener(progress)
