"""Indexes the repositories of a list: one after the other on this machine, or one task each on a Ray cluster."""

from __future__ import annotations

import argparse
import sys
import threading
from collections.abc import Iterator
from pathlib import Path

from repopilot import i18n
from repopilot.cli.output import emit, live_progress, say
from repopilot.cli.published_index import REPOSITORY_OPTIONS, publish, row_of, take_over
from repopilot.documents import index_document
from repopilot.errors import StorageError
from repopilot.i18n import message
from repopilot.index.object_store import is_url
from repopilot.runtime import Runtime


def index_many(listed: str, arguments: argparse.Namespace, runtime: Runtime) -> int:
    """Index the repositories of a list.

    Args:
        listed: one source per line.
        arguments: of the command line.
        runtime: the state of the process.

    Returns:
        The exit status: 1 if a repository failed; the others are indexed all the same.

    Raises:
        UsageError: Ray isn't installed.
        ClusterError: the cluster can't be reached, or is lost.
        StorageError: the shared folder can't be made.
    """
    sources = [line.strip() for line in listed.splitlines() if line.strip() and not line.startswith("#")]
    rows: dict[int, dict] = {}
    failed = 0
    for number, row in (_on_ray if arguments.ray else _one_after_the_other)(sources, arguments, runtime):
        rows[number] = row
        failed += not row["ok"]
        unchanged = i18n.text("cli.many_unchanged", arguments.language) if row.get("unchanged") else ""
        done = f"✓ {unchanged}".rstrip() if row["ok"] else f"✗ {row['error']}"
        counts = {"done": len(rows) - failed, "failed": failed, "left": len(sources) - len(rows)}
        progress = i18n.text("cli.many_progress", arguments.language, **counts)
        say(f"{len(rows)}/{len(sources)} {row['source']} {done}  ({progress})", file=sys.stderr)
    facts = {"repositories": [rows[number] for number in sorted(rows)], "failed": failed}
    counts = {"count": len(rows), "failed": failed}
    emit(facts, arguments.json, lambda: say(i18n.text("cli.indexed_many", arguments.language, **counts)))
    return 1 if failed else 0


def _one_after_the_other(
    sources: list[str], arguments: argparse.Namespace, runtime: Runtime
) -> Iterator[tuple[int, dict]]:
    from repopilot.openings import open_index, open_snapshot

    def indexed(source: str) -> dict:
        with live_progress(arguments.language) as report:
            snapshot = open_snapshot(source, runtime, None, report, threading.Event())
            built = open_index(snapshot, runtime, report, full=arguments.full)
        return index_document(snapshot.name, built.commit, built.report)

    for number, source in enumerate(sources):
        yield number, row_of(source, lambda source=source: indexed(source))  # type: ignore[misc]


def _on_ray(sources: list[str], arguments: argparse.Namespace, runtime: Runtime) -> Iterator[tuple[int, dict]]:
    """Index each repository in a task of its own; import each published index while the other tasks run."""
    from repopilot.cli.ray_cluster import run_tasks

    shared = arguments.to if is_url(arguments.to) else _folder(arguments.to)
    options = runtime.settings.model_dump(include=REPOSITORY_OPTIONS)
    calls = [(source, shared, options, arguments.full) for source in sources]
    for number, outcome in run_tasks(arguments.ray, publish, calls):
        yield number, take_over(sources[number], outcome, runtime.settings)


def _folder(text: str) -> str:
    folder = Path(text).expanduser().resolve()
    try:
        folder.mkdir(parents=True, exist_ok=True)
    except OSError as error:
        raise StorageError(message("repo.not_written", path=folder, error=error)) from error
    return str(folder)
