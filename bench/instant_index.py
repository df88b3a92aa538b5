"""The instant index of a folder, as the benchmarks search it."""

from __future__ import annotations

from pathlib import Path

from repopilot.index.build.job import IndexRequest
from repopilot.index.store import Index
from repopilot.runtime import Runtime
from repopilot.settings import Settings
from repopilot.types import Snapshot


def instant_index(name: str, root: Path, settings: Settings, *, full: bool = False) -> Index:
    """Build the instant index of a folder as it is on disk; the worker processes are ended.

    Args:
        name: the repository; an index of this name below `settings.home` is brought up to date.
        root: the folder.
        settings: where the index is kept, and how it is made.
        full: build from nothing.
    """
    snapshot = Snapshot(key=f"bench-{name}", name=name, commit="unversioned", root=root)
    return instant_index_of(snapshot, settings, full=full)


def instant_index_of(snapshot: Snapshot, settings: Settings, *, full: bool = False) -> Index:
    """The same for a snapshot."""
    runtime = Runtime(settings)
    try:
        return runtime.index_jobs.build(IndexRequest(snapshot, settings, full=full), until="instant")
    finally:
        runtime.close()
