"""The job that indexes a repository in the background: instant index, then history, code graph and vectors.

One job per repository in a process, whoever asks; a lock on disk between processes (see instant.py).
"""

from __future__ import annotations

import logging
import threading
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass, field
from pathlib import Path

from repopilot.errors import Cancelled, IndexFailed, RepoPilotError
from repopilot.index import code_graph, commit_store
from repopilot.index.build.instant import Pass, build_instant, worker_count
from repopilot.index.build.progress import Listener
from repopilot.index.build_report import BuildReport
from repopilot.index.embed import Embedder
from repopilot.index.store import Index, open_index
from repopilot.index.workers import pool
from repopilot.settings import Settings
from repopilot.types import Progress, Snapshot

__all__ = ["IndexJob", "build", "held", "open_index", "prewarm", "running", "start"]

_log = logging.getLogger(__name__)


@dataclass(slots=True)
class _Registry:
    """The running jobs of this process by the folder they write; `free` is set while vectors may be computed."""

    lock: threading.Lock = field(default_factory=threading.Lock)
    jobs: dict[Path, IndexJob] = field(default_factory=dict)
    holders: int = 0
    free: threading.Event = field(default_factory=threading.Event)


_registry = _Registry()
_registry.free.set()


@contextmanager
def held() -> Iterator[None]:
    """No job of this process computes vectors while the block runs; may be nested, from any thread.

    On two cores a local model answers about four times slower beside them.
    """
    _hold(1)
    try:
        yield
    finally:
        _hold(-1)


def _hold(change: int) -> None:
    with _registry.lock:
        _registry.holders += change
        if _registry.holders:
            _registry.free.clear()
        else:
            _registry.free.set()


def start(
    snapshot: Snapshot,
    settings: Settings,
    embedder: Embedder | None,
    *,
    progress: Listener | None = None,
    full: bool = False,
    token: str = "",
) -> IndexJob:
    """Index a repository in the background. Returns at once.

    A job that is already running for it is returned instead, after being told to look again if that could change
    anything (another commit, a local folder, an embedder where there was none, `full`). `full` rebuilds from nothing.
    `token` serves to fetch history, and is kept in memory only.
    """
    folder = settings.indexes / snapshot.key
    with _registry.lock:
        job = _registry.jobs.get(folder)
        if job is None or not job.join(snapshot, embedder, full):
            job = _registry.jobs[folder] = IndexJob(snapshot, settings, embedder, full, token)
            fresh = True
        else:
            fresh = False
    if progress is not None:
        job.listen(progress)
    if fresh:
        job.launch()
    return job


def build(
    snapshot: Snapshot,
    settings: Settings,
    embedder: Embedder | None,
    *,
    progress: Listener | None = None,
    full: bool = False,
    token: str = "",
    wait: bool = True,
    history: bool = False,
) -> Index:
    """`start`, waited for: for everything if `wait`, else for the instant index, and with `history` for the past
    commits too. Raises what made the job fail."""
    job = start(snapshot, settings, embedder, progress=progress, full=full, token=token)
    try:
        (job.done if wait else job.history_ready if history else job.lexical_ready).wait()
    except BaseException:
        job.cancel()
        raise
    if job.index is None or (job.error is not None and wait):
        raise job.error or IndexFailed("Indexing ended without an index.")
    return job.index


def running(snapshot: Snapshot, settings: Settings) -> IndexJob | None:
    """The job that is indexing a repository in this process, if there is one."""
    with _registry.lock:
        return _registry.jobs.get(settings.indexes / snapshot.key)


def prewarm(settings: Settings) -> None:
    """Start the worker processes ahead of a job that comes soon (a clone has begun). Returns at once."""
    pool.prewarm(worker_count(settings))


class IndexJob:
    """Indexing in progress. Everything may be used from any thread.

    `lexical_ready` is set when `index` answers for the snapshot asked for, `history_ready` when its past commits are
    there (or can't be had), `done` when there is nothing left to do; a job that fails or is cancelled sets all, with
    `error`. `index` may be there although `error` is set.
    """

    def __init__(
        self, snapshot: Snapshot, settings: Settings, embedder: Embedder | None, full: bool, token: str
    ) -> None:
        self.settings = settings
        self.embedder = embedder
        self.lexical_ready = threading.Event()
        self.history_ready = threading.Event()
        self.done = threading.Event()
        self.index: Index | None = None
        self.error: RepoPilotError | None = None
        self.notes: list[str] = []
        self.progress = Progress("waiting", 0, 0)
        self._wanted = (snapshot, full)
        self._token = token
        self._again = True
        self._ended = False
        self._lock = threading.Lock()
        self._listeners: list[Listener] = []
        self._cancel = threading.Event()
        self._pause = threading.Event()
        self._thread = threading.Thread(target=self._run, name=f"index-{snapshot.name}", daemon=True)

    @property
    def snapshot(self) -> Snapshot:
        """What is being indexed, or was last."""
        return self._wanted[0]

    @property
    def report(self) -> BuildReport | None:
        """The figures of the instant index; None until it is there."""
        return None if self.index is None else self.index.report

    def launch(self) -> None:
        """Begin. To be called once, by `start`."""
        self._thread.start()

    def listen(self, progress: Listener) -> None:
        """Also tell this listener of progress. It must not raise nor block."""
        self._listeners.append(progress)

    def cancel(self) -> None:
        """Stop within half a second. What is indexed so far is kept for the next time."""
        self._cancel.set()
        self._pause.set()

    def join(self, snapshot: Snapshot, embedder: Embedder | None, full: bool) -> bool:
        """Take on another request for the same repository. False when the job has ended or is being stopped."""
        with self._lock:
            if self._ended or self._cancel.is_set():
                return False
            same = snapshot == self.snapshot and snapshot.root is None and not full
            if self.embedder is None and embedder is not None:
                self.embedder, same = embedder, False
            if not same:
                self._wanted, self._again = (snapshot, full), True
                self.lexical_ready.clear()
                self.history_ready.clear()
                self._pause.set()
            return True

    def _run(self) -> None:
        try:
            while self._next_round():
                self._round()
        except RepoPilotError as error:
            self.error = error
        except Exception as error:
            # The boundary of the thread: nobody above could see it.
            _log.exception("indexing failed")
            self.error = IndexFailed(f"Indexing failed: {type(error).__name__}: {error}.", "Try again with `--full`.")
        finally:
            self._end()

    def _next_round(self) -> bool:
        """Whether somebody wants (another) look; ends the job in the same moment if not."""
        with self._lock:
            again, self._again = self._again, False
            self._ended = not again
            if not self._cancel.is_set():
                self._pause.clear()
            return again

    def _end(self) -> None:
        with self._lock:
            self._ended = True
        with _registry.lock:
            folder = self.settings.indexes / self.snapshot.key
            if _registry.jobs.get(folder) is self:
                del _registry.jobs[folder]
        self.lexical_ready.set()
        self.history_ready.set()
        self.done.set()

    def _round(self) -> None:
        snapshot, full = self._wanted
        run = Pass(snapshot, self.settings, self._tell, self._cancel, full)
        self.index = build_instant(run)
        self.notes = list(self.index.notes)
        self._reached(self.lexical_ready)
        # A folder's own history is read in a moment, a clone's has to be fetched.
        first = (self._history, self._graph) if snapshot.root else (self._graph, self._history)
        for step in (*first, self._vectors):
            try:
                step(snapshot, self.index)
            except Cancelled:
                if self._cancel.is_set():
                    raise
                return
            except RepoPilotError as error:
                self.notes.append(str(error))
            if step == self._history:
                self._reached(self.history_ready)

    def _reached(self, event: threading.Event) -> None:
        """Set an event, unless somebody wants another look meanwhile: then it is the next round's to set."""
        with self._lock:
            if not self._again:
                event.set()

    def _history(self, snapshot: Snapshot, index: Index) -> None:
        commit_store.update(snapshot, self.settings, index.folder.parent, self._tell, self._pause, self._token)

    def _graph(self, snapshot: Snapshot, index: Index) -> None:
        code_graph.update(index, self._tell, self._pause)

    def _vectors(self, snapshot: Snapshot, index: Index) -> None:
        if self.embedder is None:
            return
        from repopilot.index.build.fill_vectors import fill

        self.notes += fill(index, self.embedder, self._tell, self._pause, _registry.free)

    def _tell(self, progress: Progress) -> None:
        self.progress = progress
        for listener in self._listeners:
            listener(progress)
