"""Worker processes, seen from the parent: started, given work, timed, killed, and reused by the next job.

They are plain child processes of the interpreter and not `multiprocessing`, which would import the parent's main
module (chainlit, four seconds) in each, or fork a process full of threads.
"""

from __future__ import annotations

import itertools
import os
import queue
import subprocess
import sys
import threading
import time
from collections.abc import Generator, Iterable, Iterator, Sequence
from contextlib import suppress
from dataclasses import dataclass
from pathlib import Path

from repopilot import i18n
from repopilot.errors import Cancelled, IndexFailed, RepoPilotError, StorageError
from repopilot.index.workers import main

_ROOT = str(Path(__file__).resolve().parents[3])
_PARSER_MODULE = "repopilot.index.build.parse_batch"
_PRELOAD_MODULE = "repopilot.code.preload"
_START_LIMIT_S = 120.0
_POLL_S = 0.05
_IDLE_LIFETIME_S = 120.0
_STARVED_FACTOR = 10
"""How much longer an item may take while its process gets little CPU time."""


@dataclass(frozen=True, slots=True)
class Call:
    """What worker processes are to do with batches of items: `function(*arguments, batch)`.

    `function` is `module:name` of a generator that yields exactly one value per item of its batch, in order.
    `limit_s` is the longest time for one item, in seconds. `behind` marks background work: it takes the least recently
    used process, and if that is stopped during the work, a new one is started. `renew` always replaces the process, for
    work that leaves it with much memory.
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
    """One child process. `since` is when its current work began (monotonic seconds), None while it is idle; `overdue`
    says that it was killed for taking too long."""

    process: subprocess.Popen
    ready: bool = False
    since: float | None = None
    cpu_at: float | None = None
    overdue: bool = False

    def begin(self) -> None:
        """Record the start of a piece of work."""
        self.since = time.monotonic()
        self.cpu_at = cpu_seconds(self.process.pid)

    def cpu_since_start(self) -> float | None:
        """CPU seconds spent on the current work; None where the system doesn't tell."""
        now = cpu_seconds(self.process.pid)
        return None if now is None or self.cpu_at is None else now - self.cpu_at

    def close(self) -> None:
        """Kill the process and wait for its end."""
        self.process.kill()
        for stream in (self.process.stdin, self.process.stdout):
            if stream is not None:
                with suppress(BrokenPipeError):  # closing flushes what was buffered for a dead process
                    stream.close()
        self.process.wait()


class WorkerPool:
    """The worker processes of this program. Thread-safe.

    Idle processes wait two minutes for the next call and then end.
    """

    def __init__(self) -> None:
        self._lock = threading.Lock()
        self._idle: list[Worker] = []
        self._timer: threading.Timer | None = None

    def prewarm(self, count: int) -> None:
        """Have `count` processes ready, with everything imported, for a job that comes soon. Returns at once.

        Those that are ready already are used before the new ones.
        """
        with self._lock:
            missing = count - len(self._idle)
        self._start_ahead(_PRELOAD_MODULE, missing)

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
        values = self._run(call, batches, count, cancel)
        next(values)
        return values

    def _run(
        self, call: Call, batches: Iterable[Sequence], count: int, cancel: threading.Event
    ) -> Generator[object, None, None]:
        """Start the processes, yield once, then yield the results."""
        results: queue.SimpleQueue = queue.SimpleQueue()
        feed = _Feed(iter(batches))
        lanes = [_Lane(self, call, feed, results) for _ in range(count)]
        for lane in lanes:
            lane.thread.start()
        done = False
        try:
            yield None
            yield from _collect(lanes, results, call.limit_s, cancel)
            done = True
        finally:
            feed.stop()
            # A lane that has delivered its last value may need a moment to end.
            unfinished = not done and any(lane.thread.is_alive() for lane in lanes)
            for lane in lanes:
                lane.end(kill=unfinished or call.renew)
            if call.renew or (call.behind and unfinished):
                self._start_ahead(_PARSER_MODULE, count)

    def take(self, last: bool = False) -> Worker:
        """An idle worker, the most recently used or, with `last`, the least recently used; else a new one. Raises
        OSError."""
        with self._lock:
            while self._idle:
                waiting = self._idle.pop(0 if last else -1)
                if waiting.process.poll() is None:
                    return waiting
        return _start()

    def _start_ahead(self, preload: str, count: int) -> None:
        with suppress(OSError):  # if the fault lasts, the job itself reports it
            self.give_back([_start(preload) for _ in range(count)], last=True)

    def give_back(self, workers: Sequence[Worker], last: bool = False) -> None:
        """Keep idle workers for the next calls, to be taken first or `last`."""
        with self._lock:
            self._idle = [*workers, *self._idle] if last else [*self._idle, *workers]
            if self._timer is not None:
                self._timer.cancel()
            self._timer = threading.Timer(_IDLE_LIFETIME_S, self.close)
            self._timer.daemon = True
            self._timer.start()

    def close(self) -> None:
        """End the idle processes. A later call starts new ones."""
        with self._lock:
            workers = self._idle
            self._idle = []
            if self._timer is not None:
                self._timer.cancel()
                self._timer = None
        for waiting in workers:
            waiting.close()


def cpu_seconds(pid: int) -> float | None:
    """The processor time of a process, None where the system doesn't tell."""
    if sys.platform == "win32":
        return None
    try:
        fields = Path(f"/proc/{pid}/stat").read_text("utf-8", "replace").rpartition(")")[2].split()
        return (int(fields[11]) + int(fields[12])) / os.sysconf("SC_CLK_TCK")
    except (OSError, ValueError, IndexError):
        return None


def is_overdue(waited_s: float, cpu_s: float | None, limit_s: float) -> bool:
    """Whether an item takes too long. On a busy machine a worker waits for its turn, which is not the item's fault."""
    starved = cpu_s is not None and cpu_s < limit_s / 2
    return waited_s > (limit_s * _STARVED_FACTOR if starved else limit_s)


def _collect(
    lanes: list[_Lane], results: queue.SimpleQueue, limit_s: float, cancel: threading.Event
) -> Iterator[object]:
    running = len(lanes)
    checked_at = time.monotonic()
    while running:
        if cancel.is_set():
            raise Cancelled(i18n.message("index.stopped"), i18n.message("index.stopped_hint"))
        if time.monotonic() - checked_at > _POLL_S:
            checked_at = time.monotonic()
            for lane in lanes:
                lane.kill_if_overdue(limit_s)
        try:
            kind, value = results.get(timeout=_POLL_S)
        except queue.Empty:
            continue
        if kind == "item":
            yield value
        elif kind == "error":
            raise value
        else:
            running -= 1


class _Feed:
    """Hands out the batches to several threads; the iterator may do I/O and raise."""

    def __init__(self, batches: Iterator[Sequence]) -> None:
        self._batches = batches
        self._lock = threading.Lock()

    def next(self) -> Sequence | None:
        with self._lock:
            return next(self._batches, None)

    def stop(self) -> None:
        self._batches = itertools.chain()


class _Lane:
    """One thread of the parent with its worker process, which is replaced when it dies."""

    def __init__(self, pool: WorkerPool, call: Call, feed: _Feed, results: queue.SimpleQueue) -> None:
        self._pool = pool
        self._call = call
        self._feed = feed
        self._results = results
        self._worker: Worker | None = None
        self._ended = False
        self._lock = threading.Lock()
        self.thread = threading.Thread(target=self._run, name="index-lane", daemon=True)

    def kill_if_overdue(self, limit_s: float) -> None:
        with self._lock:
            busy = self._worker
            if busy is None or busy.since is None:
                return
            waited = time.monotonic() - busy.since
            late = is_overdue(waited, busy.cpu_since_start(), limit_s) if busy.ready else waited > _START_LIMIT_S
            if late:
                busy.overdue = True
                busy.process.kill()

    def end(self, kill: bool) -> None:
        """Stop working. The worker goes back to the pool unless it has to be killed."""
        with self._lock:
            self._ended = True
            if kill and self._worker is not None:
                self._worker.process.kill()
        self.thread.join()
        if self._worker is not None:
            self._worker.close() if kill else self._pool.give_back([self._worker], last=self._call.behind)

    def _run(self) -> None:
        try:
            while not self._ended and (batch := self._feed.next()) is not None:
                self._process_batch(batch)
        except RepoPilotError as error:
            self._results.put(("error", error))
        except OSError as error:
            self._results.put(("error", StorageError(i18n.message("index.worker_not_started", error=str(error)))))
        self._results.put(("end", None))

    def _process_batch(self, batch: Sequence) -> None:
        rest = batch
        while rest and not self._ended:
            done = self._send_and_receive(rest)
            if done < len(rest) and not self._ended:
                self._results.put(("item", ItemFailure(rest[done], self._remove_dead_worker())))
                done += 1
            rest = rest[done:]

    def _send_and_receive(self, batch: Sequence) -> int:
        """How many items of the batch the worker has answered; fewer than all when it died."""
        busy = self._current_worker()
        calls = busy.process.stdin
        replies = busy.process.stdout
        assert calls is not None and replies is not None
        busy.begin()
        done = 0
        try:
            main.send(calls, (self._call.function, (*self._call.arguments, batch)))
        except OSError:
            return done
        while (message := main.receive(replies)) is not None:
            busy.begin()
            kind, value = message
            if kind == "ready":
                busy.ready = True
            elif kind == "item":
                done += 1
                self._results.put(message)
            elif kind == "error":
                raise value
            else:
                busy.since = None
                return len(batch)
        return done

    def _current_worker(self) -> Worker:
        with self._lock:
            if self._worker is None:
                if self._ended:
                    raise Cancelled(i18n.message("index.stopped"))
                self._worker = self._pool.take(last=self._call.behind)
            return self._worker

    def _remove_dead_worker(self) -> str:
        """Remove the dead worker and return how it died."""
        with self._lock:
            dead = self._worker
            self._worker = None
        assert dead is not None
        dead.close()
        if not dead.ready:
            raise IndexFailed(i18n.message("index.workers_not_started"), i18n.message("index.workers_not_started_hint"))
        return i18n.message("index.timed_out" if dead.overdue else "index.crashed")


def _start(preload: str = _PARSER_MODULE) -> Worker:
    """A new child process. Raises OSError."""
    start = "from repopilot.index.workers.main import main"
    code = f"import sys; sys.path[:] = {[_ROOT, *sys.path]}; {start}; main({preload!r})"
    command = [sys.executable, "-c", code]
    return Worker(subprocess.Popen(command, stdin=subprocess.PIPE, stdout=subprocess.PIPE))
