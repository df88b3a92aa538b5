"""Functions for the real worker processes, some of which misbehave. Quick to import: that counts for their time."""

from __future__ import annotations

import os
import time
from collections.abc import Iterator, Sequence
from pathlib import Path

from repopilot.errors import SourceError
from repopilot.index.build.parse_batch import parse
from repopilot.types import Snapshot, SourceFile

MODULE = "support.worker_calls"


def _spin() -> None:
    """Never end, and use the processor: an item that waits for it has longer."""
    while True:
        pass


def misbehaving(snapshot: Snapshot, files: Sequence[SourceFile]) -> Iterator[object]:
    """The real parser, except on files whose name asks for something else."""
    for file in files:
        if "hang" in file.path:
            _spin()
        if "crash" in file.path:
            os._exit(11)
        yield from parse(snapshot, [file])


def slow(snapshot: Snapshot, files: Sequence[SourceFile]) -> Iterator[object]:
    """The real parser, ten minutes a file after the first three of each batch."""
    for number, file in enumerate(files):
        time.sleep(0.2 if number < 3 else 600)
        yield from parse(snapshot, [file])


def unsteady(snapshot: Snapshot, files: Sequence[SourceFile]) -> Iterator[object]:
    """The real parser, but files disappear or turn binary between being listed and being read."""
    assert snapshot.root is not None
    for file in files:
        if "gone" in file.path:
            (snapshot.root / file.path).unlink()
        if "binary" in file.path:
            (snapshot.root / file.path).write_bytes(b"\0\1\2" * 100)
        yield from parse(snapshot, [file])


def count_up(limit: int, numbers: Sequence[int]) -> Iterator[int]:
    """Squares; a number of 1000 more than `limit` never ends, one of 2000 more ends the process."""
    for number in numbers:
        if number == limit + 1000:
            _spin()
        if number == limit + 2000:
            os._exit(3)
        yield number * number


def waiting(items: Sequence[float]) -> Iterator[float]:
    """Each item is a time to wait, in seconds, without using the processor."""
    for seconds in items:
        time.sleep(seconds)
        yield seconds


def computing(items: Sequence[float]) -> Iterator[float]:
    """Each item is the processor time that it takes, in seconds."""
    for seconds in items:
        end = time.process_time() + seconds
        while time.process_time() < end:
            pass
        yield seconds


def dying_at_the_end(items: Sequence[object]) -> Iterator[object]:
    """Answers every item and then ends the process."""
    yield from items
    os._exit(11)


def defective(items: Sequence[object]) -> Iterator[object]:
    """Raises what nobody expects."""
    raise IndexError("a defect")
    yield


def process_ids(items: Sequence[object]) -> Iterator[int]:
    """The process that works, once per item."""
    for _ in items:
        yield os.getpid()


def refused(items: Sequence[object]) -> Iterator[object]:
    """Fails in our own way at once."""
    raise SourceError("The repository is gone.", "Open it again.")
    yield


def sleeping(items: Sequence[object]) -> Iterator[object]:
    """Never ends."""
    time.sleep(600)
    yield from items


def crashing(items: Sequence[object]) -> Iterator[object]:
    """Ends the process."""
    os._exit(11)
    yield from items


def reading(steps: Sequence[object]) -> Iterator[object]:
    """Does the first step and never ends the second."""
    yield steps[0]
    time.sleep(600)
    yield from steps[1:]


def touching(files: Sequence[Path]) -> Iterator[object]:
    """Creates the first file, then never the others."""
    files[0].touch()
    yield files[0]
    time.sleep(600)
    files[1].touch()
