"""What agents work in: a repository with its index, its models and the conversation."""

from __future__ import annotations

import asyncio
import logging
from collections.abc import Awaitable, Callable
from dataclasses import dataclass, field, replace
from pathlib import PurePosixPath
from typing import TYPE_CHECKING

from repopilot.errors import RepoPilotError
from repopilot.index.store import Index
from repopilot.index.workers.pool import WorkerPool
from repopilot.resolve.lookups import Lookups
from repopilot.results import Turn
from repopilot.runtime import Runtime
from repopilot.settings import Settings
from repopilot.types import Environment, ImportedPackages, OnProgress, Snapshot

if TYPE_CHECKING:
    from repopilot.index.embed import Embedder
    from repopilot.llm.model import Model
    from repopilot.resolve.names import Resolver

log = logging.getLogger(__name__)


@dataclass(frozen=True, slots=True)
class Workspace:
    """One repository at one commit, with everything that agents need.

    `model` is None when no language model answers (answers are extractive then); `reviewer` is a second model where
    there is one; `embedder` None means lexical search only. `turns` is the conversation so far. `environment` is what
    the repository's tests need, None where none was built when it was opened; `fetch_problems` says why parts of it
    could not be fetched. `ask` asks the user a question with choices (() for a free answer), `agree` whether a command
    may be run; None where nobody can be asked. `reproduce` demands a failing test before the code is changed, as for an
    issue. `lookups` keeps the resolver of names. `workers` are the processes that parse changed files.
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
    reproduce: bool = False
    lookups: Lookups = field(default_factory=Lookups, compare=False, repr=False)
    workers: WorkerPool = field(default_factory=WorkerPool, compare=False, repr=False)

    @property
    def resolver(self) -> Resolver:
        """Resolves the repository's names. Blocking."""
        return self.lookups.resolver(self.snapshot, self.index, self.settings, self.packages)

    def packages(self, language: str) -> ImportedPackages:
        """The packages that code of a language imports from outside, on this machine. Blocking."""
        return imported_packages(self.snapshot, self.index, self.settings, language)

    def current_environment(self) -> Environment | None:
        """The environment of the repository's tests, including one built since the repository was opened. Blocking."""
        return self.environment or usable_environment(self.snapshot, self.settings)

    @property
    def uses_tools(self) -> bool:
        """Whether the model works with tools in a loop."""
        return self.model is not None and self.model.way == "agent"


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
    """The workspace with the packages that the repository's tests need, fetched where they are missing.

    Args:
        workspace: the repository; nothing is fetched where its settings say never.
        progress: called with the progress.
    """
    from repopilot.project_environment import fetch_for_tests

    snapshot = workspace.snapshot
    settings = workspace.settings
    problems = await fetch_for_tests(snapshot, workspace.index, settings, progress)
    environment = await asyncio.to_thread(workspace.current_environment)
    return replace(workspace, environment=environment, fetch_problems=problems)


def imported_packages(snapshot: Snapshot, index: Index, settings: Settings, language: str) -> ImportedPackages:
    """The packages that code of a language imports from outside a repository, on this machine. Blocking.

    Args:
        snapshot: the repository.
        index: its index.
        settings: the named interpreter, and the data directory.
        language: as in package declarations: Python, JavaScript, Go.
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
