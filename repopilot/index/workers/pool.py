"""Worker processes, seen from the parent: started, fed, timed, killed, kept warm for the next job.

They are plain child processes of the interpreter and not `multiprocessing`, which would import the parent's main
module (chainlit, four seconds) in each, or fork a process full of threads.
"""

from __future__ import annotations

import itertools
import queue
import subprocess
import sys
import threading
import time
from collections.abc import Iterable, Iterator, Sequence
from contextlib import suppress
from dataclasses import dataclass, field
from pathlib import Path

from repopilot.errors import Cancelled, IndexFailed, RepoPilotError, StorageError
from repopilot.index.workers import main

_ROOT = str(Path(__file__).resolve().parents[3])
_LEAST = "repopilot.index.build.parse_batch"
_ALL = "repopilot.code.preload"
_START_S = 120.0
_POLL_S = 0.05
_KEEP_S = 120.0


@dataclass(frozen=True, slots=True)
class Failed:
    """The item a worker did not survive, and how: `timed out` or `crashed`."""

    item: object
    how: str


@dataclass(slots=True, eq=False)
class Worker:
    """One child process. `since` is when it began what it is busy with (monotonic seconds), None while it is idle."""

    process: subprocess.Popen
    ready: bool = False
    since: float | None = None
    late: bool = False

    def kill(self) -> None:
        self.process.kill()

    def close(self) -> None:
        """End the process and take it off the process table."""
        self.process.kill()
        for stream in (self.process.stdin, self.process.stdout):
            with suppress(BrokenPipeError):  # what was still buffered for a dead process
                stream.close()  # type: ignore[union-attr]
        self.process.wait()


@dataclass(slots=True)
class _Idle:
    """Workers waiting for work, with the timer that ends them."""

    lock: threading.Lock = field(default_factory=threading.Lock)
    workers: list[Worker] = field(default_factory=list)
    timer: threading.Timer | None = None


_idle = _Idle()


def prewarm(count: int) -> None:
    """Have `count` workers waiting with everything imported, for a job that comes soon. Returns at once."""
    with _idle.lock:
        missing = count - len(_idle.workers)
    with suppress(OSError):  # said by the job itself, should it still be so then
        _give_back([_start(_ALL) for _ in range(missing)])


def run(
    function: str,
    common: tuple,
    batches: Iterable[Sequence],
    *,
    count: int,
    limit_s: float,
    cancel: threading.Event,
) -> Iterator[object]:
    """Call `function(*common, batch)` for every batch in `count` processes and yield what the calls yield, as it comes.

    The function must yield exactly one value per item of its batch, in order. An item that takes longer than
    `limit_s` seconds, or takes its process down, gives a `Failed`; the rest of its batch is done by a new process.
    Raises Cancelled within 0.1 s of `cancel`, and what the function raises of ours.
    """
    results: queue.SimpleQueue = queue.SimpleQueue()
    feed = _Feed(iter(batches))
    lanes = [_Lane(function, common, feed, results) for _ in range(count)]
    for lane in lanes:
        lane.thread.start()
    try:
        yield from _collect(lanes, results, limit_s, cancel)
    finally:
        feed.stop()
        unfinished = any(lane.thread.is_alive() for lane in lanes)
        for lane in lanes:
            lane.end(kill=unfinished)


def _collect(
    lanes: list[_Lane], results: queue.SimpleQueue, limit_s: float, cancel: threading.Event
) -> Iterator[object]:
    running, looked = len(lanes), time.monotonic()
    while running:
        if cancel.is_set():
            raise Cancelled("Indexing was stopped.", "What is indexed so far is kept.")
        if time.monotonic() - looked > _POLL_S:
            looked = time.monotonic()
            for lane in lanes:
                lane.kill_if_late(limit_s)
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
    """One thread of the parent with its worker process, replaced when it dies."""

    def __init__(self, function: str, common: tuple, feed: _Feed, results: queue.SimpleQueue) -> None:
        self._function, self._common, self._feed, self._results = function, common, feed, results
        self._worker: Worker | None = None
        self._ended = False
        self._lock = threading.Lock()
        self.thread = threading.Thread(target=self._run, name="index-lane", daemon=True)

    def kill_if_late(self, limit_s: float) -> None:
        with self._lock:
            busy = self._worker
            if busy is None or busy.since is None:
                return
            if time.monotonic() - busy.since > (limit_s if busy.ready else _START_S):
                busy.late = True
                busy.kill()

    def end(self, kill: bool) -> None:
        """Stop working. The worker is kept for the next job unless it has to be killed."""
        with self._lock:
            self._ended = True
            if kill and self._worker is not None:
                self._worker.kill()
        self.thread.join()
        if self._worker is not None:
            self._worker.close() if kill else _give_back([self._worker])

    def _run(self) -> None:
        try:
            while not self._ended and (batch := self._feed.next()) is not None:
                self._work_off(batch)
        except RepoPilotError as error:
            self._results.put(("error", error))
        except OSError as error:
            self._results.put(("error", StorageError(f"A worker process could not be started: {error}.")))
        self._results.put(("end", None))

    def _work_off(self, batch: Sequence) -> None:
        rest = batch
        while rest and not self._ended:
            done = self._call(rest)
            if done < len(rest) and not self._ended:
                self._results.put(("item", Failed(rest[done], self._bury())))
                done += 1
            rest = rest[done:]

    def _call(self, batch: Sequence) -> int:
        """How many items of the batch the worker has answered; fewer than all when it died."""
        busy = self._hire()
        busy.since = time.monotonic()
        done = 0
        try:
            main.send(busy.process.stdin, (self._function, (*self._common, batch)))  # type: ignore[arg-type]
        except OSError:
            return done
        while (message := main.receive(busy.process.stdout)) is not None:  # type: ignore[arg-type]
            busy.since = time.monotonic()
            kind, value = message  # type: ignore[misc]
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

    def _hire(self) -> Worker:
        with self._lock:
            if self._worker is None:
                if self._ended:
                    raise Cancelled("Indexing was stopped.")
                self._worker = _take()
            return self._worker

    def _bury(self) -> str:
        """Remove the dead worker; how it died."""
        with self._lock:
            dead, self._worker = self._worker, None
        assert dead is not None
        dead.close()
        if not dead.ready:
            raise IndexFailed(
                "The worker processes can't start.", "`python -m repopilot doctor` checks the installation."
            )
        return "timed out" if dead.late else "crashed"


def _start(preload: str = _LEAST) -> Worker:
    """A new child. Raises OSError."""
    start = "from repopilot.index.workers.main import main"
    code = f"import sys; sys.path[:] = {[_ROOT, *sys.path]}; {start}; main({preload!r})"
    command = [sys.executable, "-c", code]
    return Worker(subprocess.Popen(command, stdin=subprocess.PIPE, stdout=subprocess.PIPE))


def _take() -> Worker:
    with _idle.lock:
        while _idle.workers:
            waiting = _idle.workers.pop()
            if waiting.process.poll() is None:
                return waiting
    return _start()


def _give_back(workers: list[Worker]) -> None:
    with _idle.lock:
        _idle.workers += workers
        if _idle.timer is not None:
            _idle.timer.cancel()
        _idle.timer = threading.Timer(_KEEP_S, dismiss)
        _idle.timer.daemon = True
        _idle.timer.start()


def dismiss() -> None:
    """End the waiting workers."""
    with _idle.lock:
        workers, _idle.workers = _idle.workers, []
    for waiting in workers:
        waiting.close()
