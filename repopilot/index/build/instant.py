"""The instant index: everything that needs no model. Files are parsed in worker processes, only those that changed."""

from __future__ import annotations

import os
import shutil
import threading
import time
from collections import Counter
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from dataclasses import dataclass, field, replace
from pathlib import Path

from filelock import FileLock, Timeout

from repopilot.errors import Cancelled, IndexFailed, StorageError
from repopilot.index import layout
from repopilot.index.build.parse_batch import GONE
from repopilot.index.build.progress import Listener, Meter
from repopilot.index.build_report import BuildReport, read_report, write_report
from repopilot.index.codec import Row
from repopilot.index.database import BrokenDatabase, Draft, open_draft, storage_errors
from repopilot.index.layout import version
from repopilot.index.store import BROKEN_NOTE, Index, open_index, recorded, usable
from repopilot.index.workers import pool
from repopilot.repo.walk import walk
from repopilot.settings import Settings
from repopilot.types import Skip, Snapshot, SourceFile

FILE_LIMIT_S = 20.0
_FINISH_LIMIT_S = 3600.0
_PARSE = "repopilot.index.build.parse_batch:parse"
_FINISH = "repopilot.index.build.finish:finish"
_COMMIT_S = 2.0
_BATCH_BYTES = (16 << 10, 256 << 10)
_BATCH_FILES = 200
_FEW_BYTES = 256 << 10


@dataclass(slots=True)
class Pass:
    """One run over a repository: what it is asked to do, and meanwhile how long its phases took and why the index
    before it could not be used."""

    snapshot: Snapshot
    settings: Settings
    listener: Listener
    cancel: threading.Event
    full: bool = False
    parse: str = _PARSE
    file_limit_s: float = FILE_LIMIT_S
    rebuilt: str = ""
    seconds: dict[str, float] = field(default_factory=dict)

    @property
    def folder(self) -> Path:
        return self.settings.indexes / self.snapshot.key

    @property
    def count(self) -> int:
        return worker_count(self.settings)

    @contextmanager
    def phase(self, name: str, total: int = 0, unit: str = "files") -> Iterator[Meter]:
        """A named phase, timed and shown."""
        started = time.monotonic()
        meter = Meter(self.listener, name, total, unit)
        yield meter
        meter.end()
        self.seconds[name] = round(self.seconds.get(name, 0.0) + time.monotonic() - started, 3)


def build_instant(run: Pass) -> Index:
    """Bring the index of a snapshot up to date and publish it.

    Only one process at a time builds an index; another one waits here and then finds little left to do. Raises
    SourceError, StorageError, Cancelled, and IndexFailed when the repository holds nothing to read.
    """
    with storage_errors():
        run.folder.mkdir(parents=True, exist_ok=True)
    with _only_builder(run):
        with run.phase("listing"):
            files, skips = _walk(run)
        if not files:
            raise _nothing(run.snapshot, skips)
        layout.sweep(run.folder)
        try:
            return _update(run, files, skips)
        except BrokenDatabase:
            run.rebuilt, run.full = BROKEN_NOTE, True
            return _update(run, files, skips)


def _update(run: Pass, files: Sequence[SourceFile], skips: Sequence[Skip]) -> Index:
    base = None if run.full else _base(run)
    index = None if base is None else _unchanged(run, base, files, skips)
    if index is None:
        index = _rebuild(run, base, files, skips)
    if run.rebuilt:  # news of this run, not a lasting property of the index
        index.report = replace(index.report, notes=(run.rebuilt, *index.report.notes))
    return index


def worker_count(settings: Settings) -> int:
    """How many processes parse code."""
    return settings.workers or os.cpu_count() or 1


def _walk(run: Pass) -> tuple[list[SourceFile], list[Skip]]:
    """The files, hashed: local ones only where they were touched since the last time."""
    memory = run.folder / layout.STAMPS
    known = layout.read_json(memory) if run.snapshot.root else None
    hashes = {path: tuple(stamp) for path, stamp in known.items()} if isinstance(known, dict) else {}
    before = dict(hashes)
    result = walk(run.snapshot, run.settings, cancel=run.cancel, hashes=hashes)
    if hashes != before:
        with storage_errors():
            layout.write_json(memory, hashes)
    return result


@contextmanager
def _only_builder(run: Pass) -> Iterator[None]:
    """Hold the lock between processes; says so while another one has it. Raises Cancelled, StorageError."""
    lock = FileLock(run.folder / "build.lock")
    waiting = None
    with storage_errors():
        while True:
            try:
                lock.acquire(timeout=0.2)
                break
            except Timeout:
                waiting = waiting or Meter(run.listener, "waiting")
                waiting.add(0, "another process is indexing this repository")
            if run.cancel.is_set():
                raise Cancelled("Waiting for another process was stopped.")
    try:
        yield
    finally:
        lock.release()


def _base(run: Pass) -> Path | None:
    """The generation to start from. One that can't be used is said and left."""
    newest = layout.generations(run.folder)[:1]
    if not newest:
        return None
    run.rebuilt = usable(newest[0])
    return None if run.rebuilt else newest[0]


def _unchanged(run: Pass, base: Path, files: Sequence[SourceFile], skips: Sequence[Skip]) -> Index | None:
    """The published index when nothing has to be done, its report that of this run."""
    if (run.folder / layout.BUILDING).exists():
        return None
    hashes, unread = recorded(base)
    index = open_index(run.snapshot, run.settings) if hashes == {file.path: file.hash for file in files} else None
    if index is None or index.commit != run.snapshot.commit:
        return None
    skipped = _ordered([*skips, *unread])
    kept = read_report(index.folder)
    index.report = replace(kept, reused=kept.files, skipped=skipped, seconds=dict(run.seconds))
    return index


def _rebuild(run: Pass, base: Path | None, files: Sequence[SourceFile], skips: Sequence[Skip]) -> Index:
    if run.full:
        shutil.rmtree(run.folder / layout.BUILDING, ignore_errors=True)
    draft = open_draft(run.folder, version(), base)
    try:
        fresh, passing = _bring_up_to_date(run, draft, files)
        report = _report(run, draft, fresh, [*skips, *draft.skipped(), *passing])
        draft.arrange(file.path for file in files)
        draft.describe({"commit": run.snapshot.commit, "name": run.snapshot.name})
        draft.finish()
    except StorageError:
        draft.close()
        _make_room(run)
        raise
    except BaseException:
        draft.keep()
        raise
    return _publish(run, report)


def _bring_up_to_date(run: Pass, draft: Draft, files: Sequence[SourceFile]) -> tuple[int, list[Skip]]:
    """Parse what is new or changed, forget what is gone. Returns the number of files parsed, and those that could not
    be read this time."""
    known = draft.hashes()
    wanted = {file.path: file for file in files}
    draft.drop(known.keys() - wanted.keys())
    todo = [file for file in files if known.get(file.path) != file.hash]
    passing: list[Skip] = []
    fresh = len(todo)
    with run.phase("parsing", len(files)) as meter:
        meter.add(len(files) - len(todo))
        for value in _parsed(run, draft, todo, meter):
            fresh -= 1
            path = value.item.path if isinstance(value, pool.Failed) else value.path
            reason = f"the parser {value.how}" if isinstance(value, pool.Failed) else value.reason
            if reason == GONE:
                draft.drop([path])
                passing.append(Skip(path, reason))
            else:
                draft.skip(wanted[path], reason)
    return fresh, passing


def _parsed(run: Pass, draft: Draft, todo: Sequence[SourceFile], meter: Meter) -> Iterator[Skip | pool.Failed]:
    """Parse `todo` into the draft; yields what gave no row."""
    size = sum(file.size for file in todo)
    count = 1 if size < _FEW_BYTES else run.count
    rows: list[Row] = []
    saved = time.monotonic()
    values = pool.run(
        run.parse, (run.snapshot,), _batches(todo, size, count), count=count, limit_s=run.file_limit_s,
        cancel=run.cancel,
    )  # fmt: skip
    try:
        for value in values:
            if isinstance(value, Row):
                rows.append(value)
                meter.add(1, value.path)
            else:
                meter.add(1)
                yield value
            if len(rows) >= 64:
                draft.put(rows)
                rows = []
            if time.monotonic() - saved > _COMMIT_S:
                draft.commit()
                saved = time.monotonic()
    finally:
        values.close()
        draft.put(rows)


def _batches(todo: Sequence[SourceFile], size: int, count: int) -> Iterator[list[SourceFile]]:
    """Batches by bytes: large ones first, smaller ones towards the end, so that no process is left alone at work."""
    batch: list[SourceFile] = []
    held, left = 0, size
    least, most = _BATCH_BYTES
    for file in todo:
        batch.append(file)
        held += file.size
        if held >= min(most, max(least, left // (4 * count))) or len(batch) >= _BATCH_FILES:
            yield batch
            left -= held
            batch, held = [], 0
    if batch:
        yield batch


def _report(run: Pass, draft: Draft, fresh: int, skips: Sequence[Skip]) -> BuildReport:
    files, chunks, lines, code = draft.counts()
    if not files:
        raise _nothing(run.snapshot, skips)
    notes = () if code else ("There is no source code here, only documents and configuration.",)
    return BuildReport(files, chunks, lines, files - fresh, _ordered(skips), run.seconds, notes)


def _ordered(skips: Sequence[Skip]) -> tuple[Skip, ...]:
    return tuple(sorted(skips, key=lambda skip: skip.path))


def _publish(run: Pass, report: BuildReport) -> Index:
    building = run.folder / layout.BUILDING
    with run.phase("lexical", 1, "parts") as meter:
        for done in pool.run(_FINISH, (), [[building]], count=1, limit_s=_FINISH_LIMIT_S, cancel=run.cancel):
            if isinstance(done, pool.Failed):
                raise IndexFailed(f"The process that writes the index {done.how}.", "There may be too little memory.")
            meter.add(1)
    with storage_errors():
        write_report(building, report)
        layout.publish(run.folder)
    index = open_index(run.snapshot, run.settings)
    if index is None:
        raise IndexFailed(
            "The index can't be opened after it was written.", "`python -m repopilot doctor` may say why."
        )
    return index


def _make_room(run: Pass) -> None:
    """Give back the space of a draft that could not be written; the published index stays."""
    shutil.rmtree(run.folder / layout.BUILDING, ignore_errors=True)


def _nothing(snapshot: Snapshot, skips: Sequence[Skip]) -> IndexFailed:
    if not skips:
        return IndexFailed(f"{snapshot.name} is empty: there is no file in it.", "Check the branch or the folder.")
    reason, count = Counter(skip.reason for skip in skips).most_common(1)[0]
    return IndexFailed(
        f"There is nothing to read in {snapshot.name}: all {len(skips):,} files are skipped ({count:,}: {reason}).",
        "Check the branch, the folder, and REPOPILOT_INCLUDE and REPOPILOT_EXCLUDE.",
    )
