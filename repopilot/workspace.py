"""Opens a workspace from a URL or path, blocking, as the command line needs it.

The browser performs the same steps one by one, each with its own progress and buttons (ui/repository/registry.py).
"""

from __future__ import annotations

import asyncio
import logging
import threading
from collections.abc import Awaitable, Callable
from dataclasses import dataclass, field, replace
from pathlib import PurePosixPath
from typing import TYPE_CHECKING, Literal

from repopilot.background import in_background
from repopilot.errors import ModelError, RepoPilotError
from repopilot.index.build.job import IndexJobs, IndexRequest
from repopilot.index.store import Index
from repopilot.index.workers.pool import WorkerPool
from repopilot.repo.clone import clone_dir
from repopilot.repo.remote.credentials import HostToken
from repopilot.repo.snapshot import open_source
from repopilot.repo.source import parse_source, split_token
from repopilot.resolve.lookups import Lookups
from repopilot.results import Turn
from repopilot.runtime import CLOSE_TIMEOUT_S, Runtime
from repopilot.settings import Settings
from repopilot.types import Environment, ImportedPackages, OnProgress, Progress, Snapshot, Source

if TYPE_CHECKING:
    from repopilot.index.embed import Embedder
    from repopilot.llm.model import Model
    from repopilot.resolve.names import Resolver

PREWARM_FROM_OBJECTS = 1_000
"""A repository of fewer is parsed before the processes would be warm."""
log = logging.getLogger(__name__)


@dataclass(frozen=True, slots=True)
class Workspace:
    """One repository at one commit, with everything that agents need.

    `model` is None when no language model answers (answers are extractive then); `reviewer` is a second model where
    there is one; `embedder` None means lexical search only. `turns` is the conversation so far. `environment` has what
    the repository's tests need, None where none was built when it was opened; `fetch_problems` says why some of it
    could not be had. `ask` puts a question with choices (() for a free answer) to the user, `agree` whether a command
    may be run; None where nobody can be asked. `lookups` keeps the resolver of names. `workers` are the processes that
    parse what changes.
    """

    snapshot: Snapshot
    index: Index
    settings: Settings
    model: Model | None = None
    reviewer: Model | None = None
    embedder: Embedder | None = None
    turns: tuple[Turn, ...] = ()
    environment: Environment | None = None
    fetch_problems: tuple[str, ...] = ()
    ask: Callable[[str, tuple[str, ...]], Awaitable[str]] | None = None
    agree: Callable[[str], Awaitable[bool]] | None = None
    lookups: Lookups = field(default_factory=Lookups, compare=False, repr=False)
    workers: WorkerPool = field(default_factory=WorkerPool, compare=False, repr=False)

    @property
    def resolver(self) -> Resolver:
        """Resolves the repository's names. Blocking."""
        return self.lookups.resolver(self.snapshot, self.index, self.settings, self.packages)

    def packages(self, language: str) -> ImportedPackages:
        """What code of a language imports from outside, where it is on this machine. Blocking."""
        return imported_packages(self.snapshot, self.index, self.settings, language)

    def current_environment(self) -> Environment | None:
        """The environment of the repository's tests, also one that was built meanwhile. Blocking."""
        return self.environment or usable_environment(self.snapshot, self.settings)

    @property
    def uses_tools(self) -> bool:
        """Whether the model works with tools in a loop."""
        return self.model is not None and self.model.way == "agent"


@dataclass(frozen=True, slots=True)
class SourceRequest:
    """A repository to open: its source, the options that apply, and a token for a private one (never stored)."""

    source: Source
    settings: Settings
    token: HostToken | None = None


def open_snapshot(
    text: str, runtime: Runtime, ref: str | None, progress: OnProgress, cancel: threading.Event
) -> Snapshot:
    """Clone, fetch or locate the repository a user named.

    Args:
        text: an https URL, which may carry a token, or a local path.
        runtime: the state of the process.
        ref: a branch, tag or commit; None for what `text` says.
        progress: receives the progress of the clone.
        cancel: stops it.

    Returns:
        The repository at one commit.

    Raises:
        SourceError: it can't be named, reached or read.
        CredentialsNeeded: the remote asks for credentials.
        StorageError: the clone can't be written.
        UsageError: `text` is neither a URL nor a path.
        Cancelled: `cancel` was set.
    """
    text, token = split_token(text)
    source = parse_source(text)
    if ref:
        source = replace(source, ref=ref)
    return fetch_source(SourceRequest(source, runtime.settings, token), runtime.index_jobs, progress, cancel)


def fetch_source(request: SourceRequest, jobs: IndexJobs, progress: OnProgress, cancel: threading.Event) -> Snapshot:
    """Clone, fetch or locate the source; the worker processes start during the first clone of a large repository.

    Args:
        request: the source, the options and a token.
        jobs: starts the worker processes.
        progress: receives the progress of the clone.
        cancel: stops it.

    Returns:
        The repository at one commit.

    Raises:
        RepoPilotError: as `open_snapshot`.
    """
    source = request.source
    settings = request.settings
    is_cold = source.url is not None and not clone_dir(source.url, settings).exists()

    def tell(so_far: Progress) -> None:
        nonlocal is_cold
        if is_cold and so_far.unit == "objects" and so_far.total >= PREWARM_FROM_OBJECTS:
            is_cold = False
            jobs.prewarm(settings)
        progress(so_far)

    return open_source(source, settings, token=request.token, progress=tell, cancel=cancel)


def fetch_embedder(runtime: Runtime, progress: OnProgress) -> None:
    """Download the built-in embedding model where vectors are wanted and it isn't installed.

    Being offline is no failure here: the index then says that it is lexical only.
    """
    from repopilot.llm.weights import models

    settings = runtime.settings
    wanted = settings.dense and settings.auto_download and not settings.embed_model
    if not wanted or models.installed(models.EMBEDDING_MODEL, settings):
        return
    try:
        hosts = runtime.models.unreachable_hosts
        models.ensure(models.EMBEDDING_MODEL, settings, progress=progress, unreachable_hosts=hosts)
    except ModelError as error:
        log.warning("The embedding model could not be downloaded: %s", error)


def open_index(
    snapshot: Snapshot,
    runtime: Runtime,
    progress: OnProgress,
    *,
    full: bool = False,
    wait: bool | Literal["history"] = False,
    token: HostToken | None = None,
    cancel: threading.Event | None = None,
) -> Index:
    """Bring the index of a snapshot up to date: lexical index and symbols, and the history of a local folder.

    Args:
        snapshot: the repository at one commit.
        runtime: the state of the process.
        progress: receives the progress of the build.
        full: rebuild from nothing.
        wait: wait for history, code graph and vectors too; or for the history alone, also that of a clone.
        token: for the history of a private repository.
        cancel: stops it.

    Returns:
        The index.

    Raises:
        IndexFailed: there is nothing to index, or the build failed.
        StorageError: the index can't be written.
        SourceError: the repository can't be read.
        Cancelled: `cancel` was set.
    """
    settings = runtime.settings
    jobs = runtime.index_jobs
    embedder = runtime.embedders.choose(settings) if wait is True else None
    # The history of a local folder is read quickly and improves the ranking; that of a clone would have to be fetched.
    index = jobs.build(
        IndexRequest(snapshot, settings, embedder, full, token),
        progress,
        until="complete" if wait is True else "history" if wait or snapshot.root is not None else "instant",
        cancel=cancel,
    )
    running = jobs.running(snapshot)
    # A command doesn't wait for the rest of a clone's index; the browser and `--wait` do.
    if running is not None and wait is not True and jobs.leave(running):
        running.done.wait(CLOSE_TIMEOUT_S)
    return index


@dataclass(frozen=True, slots=True)
class _Opening:
    work: asyncio.Task[tuple[Snapshot, Index]]
    cancel: threading.Event
    listeners: list[OnProgress]


class SharedOpenings:
    """Repositories that are being opened: each once, for all who wait for it, and stopped when nobody waits any more.

    Args:
        runtime: the state of the process.
    """

    def __init__(self, runtime: Runtime) -> None:
        self._runtime = runtime
        self._running: dict[tuple[str, str], _Opening] = {}

    async def opened(self, source: str, ref: str, progress: OnProgress) -> tuple[Snapshot, Index]:
        """A repository with its index, up to date.

        Args:
            source: as the user named it.
            ref: a branch, tag or commit; '' for what `source` says.
            progress: is told how far clone and index are, from any thread.

        Raises:
            RepoPilotError: as `open_snapshot` and `open_index`.
        """
        opening = self._running.get((source, ref)) or self._begin(source, ref)
        opening.listeners.append(progress)
        try:
            return await asyncio.shield(opening.work)
        finally:
            opening.listeners.remove(progress)
            if not opening.listeners:
                opening.cancel.set()
                if self._running.get((source, ref)) is opening:
                    del self._running[source, ref]

    def _begin(self, source: str, ref: str) -> _Opening:
        listeners: list[OnProgress] = []
        cancel = threading.Event()

        def tell(progress: Progress) -> None:
            for listener in tuple(listeners):
                listener(progress)

        def work() -> tuple[Snapshot, Index]:
            snapshot = open_snapshot(source, self._runtime, ref or None, tell, cancel)
            return snapshot, open_index(snapshot, self._runtime, tell, cancel=cancel)

        opening = _Opening(in_background(work), cancel, listeners)
        self._running[source, ref] = opening
        return opening


async def open_workspace(index: Index, snapshot: Snapshot, runtime: Runtime) -> Workspace:
    """Create a workspace with the model and the embedder that are available now.

    Args:
        index: the index of the snapshot.
        snapshot: the repository at one commit.
        runtime: the state of the process.
    """
    from repopilot.llm.choice import choose

    settings = runtime.settings
    model = await choose.choose(settings, runtime.models)
    embedder = await asyncio.to_thread(runtime.embedders.choose, settings)
    reviewer = await choose.choose_reviewer(settings, model, runtime.models) if model else None
    if model and (note := choose.reviewer_missing(settings, model, reviewer)):
        log.warning("%s", note)
    environment = await asyncio.to_thread(usable_environment, snapshot, settings)
    return Workspace(
        snapshot,
        index,
        settings,
        model=model,
        reviewer=reviewer,
        embedder=embedder,
        environment=environment,
        lookups=runtime.lookups,
        workers=runtime.workers,
    )


async def with_test_packages(workspace: Workspace, progress: OnProgress) -> Workspace:
    """The workspace with what the repository's tests need, fetched where it is not there yet.

    Args:
        workspace: the repository; nothing is fetched where its settings say never.
        progress: receives how far it is.
    """
    from repopilot.project_environment import fetch_for_tests

    snapshot = workspace.snapshot
    settings = workspace.settings
    problems = await fetch_for_tests(snapshot, workspace.index, settings, progress)
    environment = await asyncio.to_thread(workspace.current_environment)
    return replace(workspace, environment=environment, fetch_problems=problems)


def imported_packages(snapshot: Snapshot, index: Index, settings: Settings, language: str) -> ImportedPackages:
    """What code of a language imports from outside of a repository, where it is on this machine. Blocking.

    Args:
        snapshot: the repository.
        index: its index.
        settings: the named interpreter, and the data directory.
        language: as packages are declared by: Python, JavaScript, Go.
    """
    from repopilot.project_environment import declaration_of, packages_for_tests

    if language == "python":
        environment = usable_environment(snapshot, settings)
        return ImportedPackages(environment.packages if environment else ())
    declaration = declaration_of(snapshot, language)
    if declaration is None:
        return ImportedPackages()
    found = packages_for_tests(snapshot, declaration, index, settings)
    top = PurePosixPath(snapshot.subdir)
    members = {name: str(top / place) for name, place in declaration.node.links.items()}
    return ImportedPackages((found.folder,) if found else (), members)


def usable_environment(snapshot: Snapshot, settings: Settings) -> Environment | None:
    """The environment of a repository's tests; None, with a warning in the log, where it can't be used."""
    from repopilot.project_environment import find_environment

    try:
        return find_environment(snapshot, settings)
    except RepoPilotError as error:
        log.warning("%s", error)
        return None
