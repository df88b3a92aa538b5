"""Indexes in a folder or object store that machines share: a worker publishes them, the machine that asked imports
them.

Each file there is an exported index, replaced as a whole; its first bytes name its commit.
"""

from __future__ import annotations

import threading
import time
from collections.abc import Callable
from functools import cache

from repopilot.documents import index_document
from repopilot.errors import IndexFailed, RepoPilotError, SourceError
from repopilot.i18n import message
from repopilot.index.object_store import fetched, stored
from repopilot.index.transfer import export_index, import_index, is_newest, read_manifest
from repopilot.index.workers.pool import WorkerPool
from repopilot.repo.snapshot import current_commit, source_key
from repopilot.repo.source import parse_source, split_token
from repopilot.runtime import Runtime
from repopilot.settings import Settings

REPOSITORY_OPTIONS = set(
    "git_token allow_private_hosts allow_http clone_timeout_s clone_max_mb history_commits include exclude "
    "max_file_kb".split()
)
"""Settings of the asking machine that apply on the worker, too; each machine keeps its own data directory."""


def row_of(source: str, work: Callable[[], dict]) -> dict:
    """The result row of a repository: source, ok, the fields from `work` or the error, took_s."""
    began = time.monotonic()
    try:
        found = {"ok": True, **work()}
    except RepoPilotError as error:
        found = {"ok": False, "error": str(error)}
    return {"source": split_token(source)[0], **found, "took_s": round(time.monotonic() - began, 2)}


def publish(source: str, shared: str, options: dict, full: bool) -> dict:
    """Index a repository in this machine's data directory, with one process, and publish the index.

    Args:
        source: as the user wrote it.
        shared: the folder, or the URL of a folder in an object store.
        options: the REPOSITORY_OPTIONS of the asking machine.
        full: rebuild and publish an index that exists already.

    Returns:
        A row with key, file and commit; `unchanged` if the published index already is of that commit.
    """
    settings = Settings().model_copy(update={**options, "workers": 1})
    return row_of(source, lambda: _published(source, shared, settings, full))


def _published(text: str, shared: str, settings: Settings, full: bool) -> dict:
    from repopilot.openings import open_index, open_snapshot

    address, token = split_token(text)
    source = parse_source(address)
    file = f"{shared.rstrip('/')}/{source_key(source, settings)}.index"
    known = {} if full else read_manifest(file)
    there = {"file": file, "unchanged": True}
    if known.get("key") and known["commit"] == current_commit(source, settings, token):
        return {"repo": known["name"], "commit": known["commit"], "key": known["key"], **there}
    with Runtime(settings, workers=_workers()) as runtime:
        snapshot = open_snapshot(text, runtime, None, lambda progress: None, threading.Event())
        if snapshot.stale:
            raise SourceError(snapshot.stale)
        built = open_index(snapshot, runtime, lambda progress: None, full=full)
    folder = settings.indexes / snapshot.key
    same = known.get("commit") == built.commit and is_newest(known, folder)
    facts: dict = there
    if not same:
        with stored(file) as target:
            facts = {**export_index(folder, target), "file": file, "unchanged": False}
    return {**index_document(snapshot.name, built.commit, built.report), "key": snapshot.key, **facts}


@cache
def _workers() -> WorkerPool:
    """The parsing process, kept for the next repository that this process indexes."""
    return WorkerPool()


def take_over(source: str, outcome: dict | RepoPilotError, settings: Settings) -> dict:
    """Import the index published for a repository, unless this machine has it already.

    Args:
        source: as the user wrote it.
        outcome: the row of `publish`, or the error raised instead.
        settings: name the data directory.

    Returns:
        The row, with the error if the import fails.
    """
    if isinstance(outcome, RepoPilotError):
        return {"source": split_token(source)[0], "ok": False, "error": str(outcome)}
    try:
        return _imported(outcome, settings) if outcome["ok"] else outcome
    except RepoPilotError as error:
        return {**outcome, "ok": False, "error": str(error)}


def _imported(row: dict, settings: Settings) -> dict:
    folder = settings.indexes / row["key"]
    file = row["file"]
    if folder.resolve().parent != settings.indexes.resolve():
        raise IndexFailed(message("index.import.damaged", file=file))
    if not is_newest(read_manifest(file), folder):
        with fetched(file) as archive:
            import_index(archive, folder, row.get("sha256", ""), row["commit"])
    return row
