"""Worker processes, seen from the parent: started, given work, killed, and reused by the next job.

They are plain child processes of the interpreter and not `multiprocessing`, which would import the parent's main
module in each, whatever that does, or fork a process full of threads. Decision 20 says why no library keeps them.
"""

from __future__ import annotations

import queue
import subprocess
import sys
import threading
from collections import deque
from collections.abc import Generator, Iterable, Sequence
from contextlib import suppress
from dataclasses import dataclass
from pathlib import Path
from typing import IO

from repopilot import i18n
from repopilot.errors import Cancelled, IndexFailed, StorageError
from repopilot.index.workers import main

_ROOT = str(Path(__file__).resolve().parents[3])
_PARSER_MODULE = "repopilot.index.build.parse_batch"
_PRELOAD_MODULE = "repopilot.code.preload"
_POLL_S = 0.05
_IDLE_LIFETIME_S = 120.0


@dataclass(frozen=True, slots=True)
class Call:
    """What worker processes are to do with batches of items: `function(*arguments, batch)`.

    `function` is `module:name` of a generator that yields exactly one value per item of its batch, in order.
    `limit_s` is the longest time for one item, in seconds of the processor (of the clock on Windows). `behind` marks
    background work: it takes the least recently used process, and if that is stopped during the work, a new one is
    started. `renew` always replaces the process, for work that leaves it with much memory.
    """

    function: str
    arguments: tuple
    limit_s: float
    behind: bool = False
    renew: bool = False


@dataclass(frozen=True, slots=True)
class ItemFailure:
    """An item whose worker process did not survive it. `reason` says how: `timed out` or `crashed`."""

    item: object
    reason: str


@dataclass(slots=True, eq=False)
class Worker:
    """One child process. `ready` says that it has imported what it needs."""

    process: subprocess.Popen
    calls: IO[bytes]
    replies: IO[bytes]
    ready: bool = False

    def close(self) -> None:
        """Kill the process, close its pipes and wait for its end."""
        self.process.kill()
        self.process.communicate()


class WorkerPool:
    """The worker processes of this program. Thread-safe.

    Idle processes wait two minutes for the next call and then end.
    """

    def __init__(self) -> None:
        self._lock = threading.Lock()
        self._idle: deque[Worker] = deque()
        self._timer: threading.Timer | None = None

    def prewarm(self, count: int) -> None:
        """Have `count` processes ready, with everything imported, for a job that comes soon. Returns at once.

        Those that are ready already are used before the new ones.
        """
        for _ in range(count - len(self._idle)):
            self.start_ahead(_PRELOAD_MODULE)

    def run(
        self, call: Call, batches: Iterable[Sequence], *, count: int, cancel: threading.Event
    ) -> Generator[object, None, None]:
        """Make the call for every batch in `count` processes.

        Args:
            call: what to do.
            batches: the items, in batches; the iterable may do I/O and raise.
            count: how many processes work.
            cancel: stops the work within 0.1 s.

        Returns:
            What the calls yield, as it arrives; they are begun at once. For an item that exceeds the limit or crashes
            its process, an `ItemFailure`; a new process does the rest of its batch. Closing it stops the work. It
            raises Cancelled when `cancel` is set, IndexFailed when the processes can't be started, and what the
            function raises.
        """
        values = _Work(self, call, batches, count).results(cancel)
        next(values)  # a generator that has not begun would not stop anything when it is closed
        return values

    def take(self, last: bool = False) -> Worker:
        """An idle worker, the most recently used or, with `last`, the least recently used; else a new one. Raises
        OSError."""
        with self._lock:
            while self._idle:
                waiting = self._idle.popleft() if last else self._idle.pop()
                if waiting.process.poll() is None:
                    return waiting
        return _start(_PARSER_MODULE)

    def give_back(self, worker: Worker, last: bool = False) -> None:
        """Keep an idle worker for the next calls, to be taken first or `last`."""
        with self._lock:
            if last:
                self._idle.appendleft(worker)
            else:
                self._idle.append(worker)
            if self._timer is not None:
                self._timer.cancel()
            self._timer = threading.Timer(_IDLE_LIFETIME_S, self.close)
            self._timer.daemon = True
            self._timer.start()

    def start_ahead(self, preload: str = _PARSER_MODULE) -> None:
        """Start a process for a later call, to be used after those that are ready."""
        with suppress(OSError):  # if the fault lasts, the job itself reports it
            self.give_back(_start(preload), last=True)

    def close(self) -> None:
        """End the idle processes. A later call starts new ones."""
        with self._lock:
            workers = list(self._idle)
            self._idle.clear()
            if self._timer is not None:
                self._timer.cancel()
                self._timer = None
        for waiting in workers:
            waiting.close()


class _Work:
    """The threads that make one call for many batches, each with a process of its own at a time."""

    def __init__(self, pool: WorkerPool, call: Call, batches: Iterable[Sequence], count: int) -> None:
        self._pool = pool
        self._call = call
        self._batches = iter(batches)
        self._results: queue.SimpleQueue = queue.SimpleQueue()
        self._lock = threading.Lock()
        self._busy: set[Worker] = set()
        self._stopped = False
        self._threads = [threading.Thread(target=self._serve, name="index-lane", daemon=True) for _ in range(count)]
        for thread in self._threads:
            thread.start()

    def results(self, cancel: threading.Event) -> Generator[object, None, None]:
        """Yield once, then what the processes yield, until all threads have ended; closing it stops them.

        Raises:
            Cancelled: `cancel` is set.
            RepoPilotError: a thread raised it.
        """
        running = len(self._threads)
        try:
            yield None
            while running:
                if cancel.is_set():
                    raise Cancelled(i18n.message("index.stopped"), i18n.message("index.stopped_hint"))
                try:
                    kind, value = self._results.get(timeout=_POLL_S)
                except queue.Empty:
                    continue
                if kind == "item":
                    yield value
                elif kind == "error":
                    raise value
                else:
                    running -= 1
        finally:
            self._stop()

    def _stop(self) -> None:
        """Kill the processes that are still busy, and wait for the threads."""
        with self._lock:
            self._stopped = True
            for worker in self._busy:
                worker.process.kill()
        for thread in self._threads:
            thread.join()

    def _serve(self) -> None:
        """Have one process after the other do the batches that are left."""
        try:
            batch = self._next_batch()
            while batch is not None:
                batch = self._serve_with(self._take(), batch)
        except OSError as error:
            self._results.put(("error", StorageError(i18n.message("index.worker_not_started", error=str(error)))))
        except Exception as error:
            self._results.put(("error", error))
        self._results.put(("end", None))

    def _next_batch(self) -> Sequence | None:
        with self._lock:
            return None if self._stopped else next(self._batches, None)

    def _take(self) -> Worker:
        with self._lock:
            if self._stopped:
                raise Cancelled(i18n.message("index.stopped"))
            worker = self._pool.take(last=self._call.behind)
            self._busy.add(worker)
            return worker

    def _serve_with(self, worker: Worker, batch: Sequence) -> Sequence | None:
        """Have a process do batches until none is left or it dies. Returns the items that another is to do."""
        left: Sequence | None = batch
        try:
            while left is not None and worker.process.returncode is None:
                left = self._serve_batch(worker, left)
            return left
        finally:
            self._release(worker)

    def _serve_batch(self, worker: Worker, batch: Sequence) -> Sequence | None:
        """Have a process do a batch. Returns the items to be done next, None when there are none."""
        done = 0
        with suppress(OSError):  # it is dead, as the missing reply will show
            main.send(worker.calls, (self._call.function, (*self._call.arguments, batch), self._call.limit_s))
        while (message := main.receive(worker.replies)) is not None:
            kind, value = message
            if kind == "ready":
                worker.ready = True
            elif kind == "item":
                done += 1
                self._results.put(message)
            elif kind == "error":
                raise value
            else:
                return self._next_batch()
        worker.close()
        if done < len(batch):
            self._results.put(("item", ItemFailure(batch[done], _how_it_died(worker))))
        return batch[done + 1 :] or self._next_batch()

    def _release(self, worker: Worker) -> None:
        """Give a process back to the pool, unless it is dead or has to be replaced."""
        with self._lock:
            self._busy.discard(worker)
            stopped = self._stopped
        if worker.process.returncode is None:
            if stopped or self._call.renew:
                worker.close()
            else:
                self._pool.give_back(worker, last=self._call.behind)
        if self._call.renew or (self._call.behind and stopped):
            self._pool.start_ahead()


def _how_it_died(worker: Worker) -> str:
    """How a process died. Raises IndexFailed if it could not even start."""
    if not worker.ready:
        raise IndexFailed(i18n.message("index.workers_not_started"), i18n.message("index.workers_not_started_hint"))
    return i18n.message("index.timed_out" if main.has_timed_out(worker.process.returncode) else "index.crashed")


def _start(preload: str) -> Worker:
    """A new child process. Raises OSError."""
    start = "from repopilot.index.workers.main import main"
    code = f"import sys; sys.path[:] = {[_ROOT, *sys.path]}; {start}; main({preload!r})"
    process = subprocess.Popen([sys.executable, "-c", code], stdin=subprocess.PIPE, stdout=subprocess.PIPE)
    assert process.stdin is not None and process.stdout is not None
    return Worker(process, process.stdin, process.stdout)
