"""Build the instant index: everything that needs no model. Worker processes parse the files that changed."""

from __future__ import annotations

import os
import threading
import time
from collections import Counter
from collections.abc import Generator, Iterator, Sequence
from contextlib import ExitStack, contextmanager, suppress
from dataclasses import dataclass, field, replace
from pathlib import Path

from filelock import FileLock, Timeout

from repopilot import disk, i18n
from repopilot.code.languages import file_kind, language_of
from repopilot.errors import Cancelled, IndexFailed, RepoPilotError, StorageError
from repopilot.i18n.format import commit_words
from repopilot.index.build.progress import PhaseProgress
from repopilot.index.build_report import REMOVED, BuildReport, read_report, write_report
from repopilot.index.storage import layout
from repopilot.index.storage.codec import Row
from repopilot.index.storage.database import BrokenDatabase, Draft, open_draft, storage_errors
from repopilot.index.storage.layout import version
from repopilot.index.store import BROKEN_NOTE, Index, IndexStore, recorded
from repopilot.index.workers.pool import Call, ItemFailure, WorkerPool
from repopilot.repo.project_file import NAME, project_file
from repopilot.repo.walk import walk
from repopilot.settings import Settings
from repopilot.types import OnProgress, Skip, Snapshot, SourceFile

FILE_LIMIT_S = 20.0
_FINISH_LIMIT_S = 3600.0
_PARSE = "repopilot.index.build.parse_batch:parse"
_FINISH = "repopilot.index.build.finish:finish"
_COMMIT_INTERVAL_S = 2.0
_LEAST_BATCH_BYTES = 16 << 10
_MOST_BATCH_BYTES = 256 << 10
_BATCH_FILES = 200
_REDACTED_SHOWN = 50
_ROWS_AT_ONCE = 64
_ONE_WORKER_BYTES = 256 << 10


@dataclass(slots=True)
class BuildRun:
    """One build of an index: the request, the duration of its phases, and why the previous index is unusable.

    `full` rebuilds from nothing. With `interrupt`, which stops it, the code graph is linked while the arrays are
    written (`linking`). `parse` is the function the workers call, with at most `file_limit_s` for a file.
    """

    snapshot: Snapshot
    settings: Settings
    indexes: IndexStore
    workers: WorkerPool
    progress: OnProgress
    cancel: threading.Event
    full: bool = False
    interrupt: threading.Event | None = None
    linking: Generator[object, None, None] | None = None
    parse: str = _PARSE
    file_limit_s: float = FILE_LIMIT_S
    rebuild_note: str = ""
    seconds: dict[str, float] = field(default_factory=dict)

    @property
    def folder(self) -> Path:
        """The folder of the repository's index."""
        return self.indexes.folder_of(self.snapshot)

    @contextmanager
    def phase(self, name: str, total: int = 0, unit: str = "files") -> Iterator[PhaseProgress]:
        """Time a phase and report its progress.

        Args:
            name: the phase, as shown in the progress.
            total: how many units it has, 0 where that is unknown.
            unit: what is counted.

        Yields:
            The progress, to be advanced.
        """
        started = time.monotonic()
        progress = PhaseProgress(self.progress, name, total, unit)
        yield progress
        progress.finish()
        self.seconds[name] = round(self.seconds.get(name, 0.0) + time.monotonic() - started, 3)


def build_instant(run: BuildRun) -> Index:
    """Bring the index of a snapshot up to date and publish it.

    One process at a time builds an index; others wait here and then find little left to do.

    Args:
        run: what to index, and how.

    Returns:
        The published index; its report is that of this run.

    Raises:
        SourceError: the repository can't be read.
        StorageError: the index can't be written.
        Cancelled: `run.cancel` was set; what is parsed by then is used by the next run.
        IndexFailed: the repository holds nothing to read, or a worker failed.
    """
    with ExitStack() as held:
        try:
            held.enter_context(_build_lock(run))
        except StorageError as error:
            return _published_before(run, error)
        with run.phase("listing"):
            files, skips = _list_files(run)
        if not files:
            raise _nothing_to_read(run.snapshot, skips)
        layout.sweep(run.folder)
        try:
            return _update(run, files, skips)
        except BrokenDatabase:
            run.rebuild_note = i18n.message(BROKEN_NOTE)
            run.full = True
            return _update(run, files, skips)


def _published_before(run: BuildRun, error: StorageError) -> Index:
    """The published index, with a note, when none can be written; raises the error if there is no index."""
    index = run.indexes.open(run.snapshot)
    if index is None:
        raise error
    commit = commit_words(index.commit)
    note = i18n.message("index.only_read", reason=i18n.reason(error), commit=commit)
    index.report = replace(index.report, reused=index.report.files, notes=(note, *index.report.notes))
    return index


def _update(run: BuildRun, files: Sequence[SourceFile], skips: Sequence[Skip]) -> Index:
    base = None if run.full else _base(run)
    index = None if base is None else _unchanged(run, base, files, skips)
    if index is None:
        index = _rebuild(run, base, files, skips)
    # They concern this run, not the index itself.
    notes = tuple(filter(None, (run.rebuild_note, project_file(run.snapshot).note)))
    if notes:
        index.report = replace(index.report, notes=(*notes, *index.report.notes))
    return index


def worker_count(settings: Settings) -> int:
    """How many processes parse code."""
    return settings.workers or os.cpu_count() or 1


def _list_files(run: BuildRun) -> tuple[list[SourceFile], list[Skip]]:
    """The files with their hashes; local files are hashed again only if they were touched since the last listing."""
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
def _build_lock(run: BuildRun) -> Iterator[None]:
    """Acquire the inter-process lock; report waiting while another process has it. Raises Cancelled, StorageError."""
    lock = FileLock(run.folder / "build.lock")
    waiting = False
    with storage_errors():
        run.folder.mkdir(parents=True, exist_ok=True)
        while True:
            try:
                lock.acquire(timeout=0.2)
                break
            except Timeout:
                if not waiting:
                    waiting = True
                    PhaseProgress(run.progress, "waiting").pause(i18n.message("index.another_process"))
            if run.cancel.is_set():
                raise Cancelled(i18n.message("index.waiting_stopped"))
    try:
        yield
    finally:
        lock.release()


def _base(run: BuildRun) -> Path | None:
    """The generation to start from; None when there is none, or it can't be used (then `rebuild_note` says why)."""
    newest = layout.generations(run.folder)[:1]
    if not newest:
        return None
    run.rebuild_note = run.indexes.unusable(newest[0])
    return None if run.rebuild_note else newest[0]


def _unchanged(run: BuildRun, base: Path, files: Sequence[SourceFile], skips: Sequence[Skip]) -> Index | None:
    """The published index with the report of this run; None when something has changed."""
    if (run.folder / layout.BUILDING).exists():
        return None
    hashes, unread = recorded(base)
    index = run.indexes.open(run.snapshot) if hashes == {file.path: file.hash for file in files} else None
    if index is None or index.commit != run.snapshot.commit:
        return None
    skipped = _by_path([*skips, *unread])
    stored = read_report(index.folder)
    index.report = replace(stored, reused=stored.files, skipped=skipped, seconds=dict(run.seconds))
    return index


def _rebuild(run: BuildRun, base: Path | None, files: Sequence[SourceFile], skips: Sequence[Skip]) -> Index:
    if run.full:
        _delete_draft(run)
    draft = open_draft(run.folder, version(), base)
    try:
        parsed, unreadable = _parse_changes(run, draft, files)
        report = _report(run, draft, parsed, [*skips, *draft.skipped(), *unreadable])
        draft.set_order(file.path for file in files)
        draft.set_meta({"commit": run.snapshot.commit, "name": run.snapshot.name})
        draft.finish()
    except StorageError:
        draft.close()
        _delete_draft(run)
        raise
    except BaseException:
        draft.save()
        raise
    return _publish(run, report)


def _parse_changes(run: BuildRun, draft: Draft, files: Sequence[SourceFile]) -> tuple[int, list[Skip]]:
    """Parse what is new or changed, drop what was removed.

    Returns:
        The number of files parsed, and the files that could not be read this time.
    """
    known = draft.hashes()
    wanted = {file.path: file for file in files}
    draft.drop(known.keys() - wanted.keys())
    changed = [file for file in files if known.get(file.path) != file.hash]
    unreadable: list[Skip] = []
    removed = i18n.text(REMOVED)
    parsed = len(changed)
    with run.phase("parsing", len(files)) as progress:
        progress.advance(len(files) - len(changed))
        for skip in _parse(run, draft, changed, progress):
            parsed -= 1
            if skip.reason == removed:
                draft.drop([skip.path])
                unreadable.append(skip)
            else:
                draft.skip(wanted[skip.path], skip.reason)
    return parsed, unreadable


def _parse(run: BuildRun, draft: Draft, files: Sequence[SourceFile], progress: PhaseProgress) -> Iterator[Skip]:
    """Parse files into the draft; yields the files without a row, and why."""
    size = sum(file.size for file in files)
    count = 1 if size < _ONE_WORKER_BYTES else worker_count(run.settings)
    rows: list[Row] = []
    committed_at = time.monotonic()
    call = Call(run.parse, (run.snapshot,), run.file_limit_s)
    values = run.workers.run(call, _batches(files, size, count), count=count, cancel=run.cancel)
    try:
        for value in values:
            if isinstance(value, Row):
                rows.append(value)
                progress.advance(1, value.path)
            else:
                progress.advance(1)
                yield _skip_of(value)
            if len(rows) >= _ROWS_AT_ONCE:
                draft.put(rows)
                rows = []
            if time.monotonic() - committed_at > _COMMIT_INTERVAL_S:
                draft.commit()
                committed_at = time.monotonic()
    finally:
        values.close()
        draft.put(rows)


def _skip_of(value: object) -> Skip:
    if isinstance(value, ItemFailure):
        assert isinstance(value.item, SourceFile)
        return Skip(value.item.path, i18n.message("index.parser_failed", how=value.reason))
    assert isinstance(value, Skip)
    return value


def _batches(files: Sequence[SourceFile], size: int, count: int) -> Iterator[list[SourceFile]]:
    """Batches by bytes: large ones first, smaller ones towards the end, so that all processes end at about the same
    time."""
    batch: list[SourceFile] = []
    batch_size = 0
    left = size
    for file in files:
        batch.append(file)
        batch_size += file.size
        enough = min(_MOST_BATCH_BYTES, max(_LEAST_BATCH_BYTES, left // (4 * count)))
        if batch_size >= enough or len(batch) >= _BATCH_FILES:
            yield batch
            left -= batch_size
            batch = []
            batch_size = 0
    if batch:
        yield batch


def _report(run: BuildRun, draft: Draft, parsed: int, skips: Sequence[Skip]) -> BuildReport:
    files, chunks, lines, code = draft.counts()
    if not files:
        raise _nothing_to_read(run.snapshot, skips)
    notes = () if code else (_why_no_code(skips),)
    remarks = _redactions_remark(draft.redactions())
    return BuildReport(files, chunks, lines, files - parsed, _by_path(skips), run.seconds, notes, remarks)


def _why_no_code(skips: Sequence[Skip]) -> i18n.Message:
    """The note for an index without a file of code."""
    left_out = sum(skip.reason == i18n.message("repo.skip.project_file") for skip in skips)
    if left_out and any(language_of(skip.path) and file_kind(skip.path) == "code" for skip in skips):
        return i18n.message("index.no_code_left", count=left_out, name=NAME)
    return i18n.message("index.no_code")


def _redactions_remark(found: Sequence[tuple[str, int]]) -> tuple[i18n.Message, ...]:
    """How many secrets are redacted and where: users must be able to spot a wrong redaction."""
    if not found:
        return ()
    places = ", ".join(f"{path} ({count})" for path, count in found[:_REDACTED_SHOWN])
    more = ", …" if len(found) > _REDACTED_SHOWN else ""
    total = sum(count for _, count in found)
    return (i18n.message("index.redacted", count=total, files=len(found), places=places + more),)


def _by_path(skips: Sequence[Skip]) -> tuple[Skip, ...]:
    return tuple(sorted(skips, key=lambda skip: skip.path))


def _publish(run: BuildRun, report: BuildReport) -> Index:
    building = run.folder / layout.BUILDING
    if run.interrupt is not None:
        from repopilot.index.graph.code_graph import begin_linking  # not needed where the index is up to date

        run.linking = begin_linking(building, report.chunks, run.workers, run.interrupt)
    _write_arrays(run, building)
    if run.linking is not None:
        with suppress(RepoPilotError):  # the job links again, and tells what fails
            next(run.linking, None)  # it has read the draft
    with run.phase("lexical", 1, "parts"):
        with storage_errors():
            write_report(building, report)
            layout.publish(run.folder, building)
        index = run.indexes.open(run.snapshot)
    if index is None:
        raise IndexFailed(i18n.message("index.not_opened"), i18n.message("index.not_opened_hint"))
    index.report = replace(report, seconds=dict(run.seconds))
    return index


def _write_arrays(run: BuildRun, building: Path) -> None:
    call = Call(_FINISH, (), _FINISH_LIMIT_S)
    with run.phase("lexical", 1, "parts") as progress:
        for done in run.workers.run(call, [[building]], count=1, cancel=run.cancel):
            if isinstance(done, ItemFailure):
                raise IndexFailed(
                    i18n.message("index.finish_failed", how=done.reason), i18n.message("index.finish_failed_hint")
                )
            progress.advance(1)


def _delete_draft(run: BuildRun) -> None:
    """Free the space of a draft that could not be written; the published index stays."""
    disk.remove_tree(run.folder / layout.BUILDING)


def _nothing_to_read(snapshot: Snapshot, skips: Sequence[Skip]) -> IndexFailed:
    if not skips:
        return IndexFailed(i18n.message("index.empty", name=snapshot.name), i18n.message("index.empty_hint"))
    reason, count = Counter(skip.reason for skip in skips).most_common(1)[0]
    return IndexFailed(
        i18n.message("index.all_skipped", name=snapshot.name, count=len(skips), most=count, reason=reason),
        i18n.message("index.all_skipped_hint"),
    )
