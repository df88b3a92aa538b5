"""Submodules of a clone, as clones of their own: those on the clone's host that anybody may read.

Code and tests may need their files, such as configuration. An address in a repository is data: it is contacted without
any token, and only on the clone's own host.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import replace
from itertools import islice
from urllib.parse import urljoin, urlsplit

from repopilot import i18n
from repopilot.errors import RepoPilotError, SourceError, StorageError
from repopilot.repo import git_command
from repopilot.repo.clone import clone_dir, clone_key, is_clone, open_clone, origin
from repopilot.repo.paths.path_rules import is_inside
from repopilot.repo.remote.fetch import FetchLimits
from repopilot.repo.source import parse_source
from repopilot.settings import Settings
from repopilot.types import Progress, Snapshot, Source

_MOST = 4
_LITERAL = {"GIT_LITERAL_PATHSPECS": "1"}


def fetch_submodules(snapshot: Snapshot, settings: Settings, limits: FetchLimits) -> None:
    """Fetch the missing submodules of a clone. Those that can't be fetched are left out and reported as progress.

    Args:
        snapshot: the clone.
        settings: data directory and allowed hosts.
        limits: time, size, cancellation and progress.

    Raises:
        Cancelled: stopped.
    """
    public = settings.model_copy(update={"git_token": ""})
    there = fetched_submodules(snapshot, settings)
    for path, source in _declared(snapshot, settings):
        if path in there:
            continue
        try:
            open_clone(source, public, None, limits)
        except (SourceError, StorageError) as error:
            why = i18n.reason(error)
            limits.progress(
                Progress(i18n.message("repo.progress.no_submodule", path=path, why=why), 0, 0, "repository")
            )


def fetched_submodules(snapshot: Snapshot, settings: Settings) -> dict[str, Snapshot]:
    """The submodules of a clone that have been fetched, by their path in it."""
    found: dict[str, Snapshot] = {}
    for path, source in _declared(snapshot, settings):
        git_dir = clone_dir(source.url or "", settings)
        commit = source.ref or ""
        if git_dir.is_dir() and git_command.resolve(git_dir, commit):
            found[path] = Snapshot(clone_key(source, git_dir), source.name, commit, git_dir=git_dir, ref=commit)
    return found


def _declared(snapshot: Snapshot, settings: Settings) -> list[tuple[str, Source]]:
    """The paths and sources of the first _MOST submodules on the clone's host, each at the commit recorded for it."""
    if not is_clone(snapshot, settings):
        return []
    listed = _git(snapshot, "config", "--blob", f"{snapshot.commit}:.gitmodules", "-z", "--list")
    if not listed:
        return []
    values: dict[str, dict[str, str]] = {}
    for entry in listed.decode("utf-8", "replace").split("\0"):
        key, _, value = entry.partition("\n")
        name, _, field = key.rpartition(".")
        values.setdefault(name, {})[field] = value
    return [*islice(_on_host(snapshot, values), _MOST)]


def _on_host(snapshot: Snapshot, values: dict[str, dict[str, str]]) -> Iterator[tuple[str, Source]]:
    own = origin(snapshot.clone)
    here = urlsplit(own)
    for each in values.values():
        path = each.get("path", "")
        url = each.get("url", "")
        if not (path and url and is_inside(path)):
            continue
        try:
            source = parse_source(urljoin(f"{own}/", url) if url.startswith("../") else url)
        except RepoPilotError:  # a folder on the author's machine, or an unsupported protocol
            continue
        place = urlsplit(source.url or "")
        if (place.scheme, place.netloc) != (here.scheme, here.netloc):
            continue
        meta = _git(snapshot, "ls-tree", "-z", "--full-tree", snapshot.commit, "--", path).partition(b"\t")[0].split()
        if meta[1:2] == [b"commit"]:
            yield path, replace(source, ref=meta[2].decode(), subdir="", focus=None)


def _git(snapshot: Snapshot, *args: str) -> bytes:
    """The output of a git command in the clone; empty if it fails."""
    try:
        return git_command.run(snapshot.clone, args, git_command.reading() | _LITERAL)
    except git_command.GitFailed:
        return b""
