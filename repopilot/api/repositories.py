"""The repositories that the API's clients work on: opened once, kept up to date."""

from __future__ import annotations

import asyncio
import time
from dataclasses import dataclass, field
from functools import partial

from repopilot.api.jobs import RepositoryJob, RepositoryJobs, repository_id
from repopilot.index.embed import Embedder
from repopilot.index.store import Index, IndexStore
from repopilot.logins.ownership import may_see, opened_for, visible
from repopilot.openings import SharedOpenings
from repopilot.repo.clone import FRESH_S
from repopilot.repo.paths.wide_folders import require_narrow
from repopilot.repo.source import parse_source, split_token
from repopilot.runtime import Runtime
from repopilot.types import OnProgress, Snapshot
from repopilot.workspace import Workspace, open_workspace


@dataclass(frozen=True, slots=True)
class OpenedRepository:
    """A repository with its index, and when it was fetched, by the monotonic clock."""

    snapshot: Snapshot
    index: Index
    fetched_at: float


@dataclass(frozen=True, slots=True)
class Repositories:
    """Opens repositories; all requests share `opened` and `openings`.

    Attributes:
        runtime: the state of the process.
        openings: the openings under way.
        progress: receives the progress of cloning and indexing, from any thread.
        opened: the open repositories, by source, without its token, and ref.
        jobs: the state of each opening, for clients.
        owner: the login that asks, '' if it may open everything.
    """

    runtime: Runtime
    openings: SharedOpenings
    progress: OnProgress = lambda progress: None
    opened: dict[tuple[str, str], OpenedRepository] = field(default_factory=dict)
    jobs: RepositoryJobs = field(default_factory=RepositoryJobs)
    owner: str = ""

    @property
    def indexes(self) -> IndexStore:
        """The indexes that may be searched. Blocking."""
        return visible(self.runtime.indexes, self.runtime.database, self.runtime.settings, self.owner)

    def job(self, id: str) -> RepositoryJob:
        """An opening that a client asked for. Raises UnknownRepository."""
        return self.jobs.of(self.owner, id)

    def listed(self) -> list[dict]:
        """{id, source, ref, name, commit} of each open repository that the login may see. Blocking."""
        return [
            {
                "id": repository_id(source, ref),
                "source": source,
                "ref": ref,
                "name": each.snapshot.name,
                "commit": each.index.commit,
            }
            for (source, ref), each in list(self.opened.items())
            if may_see(source, self.runtime.database, self.owner)
        ]

    def check(self, source: str) -> None:
        """Check a source. Raises UsageError if it is malformed, SourceRefused if it holds a whole home folder."""
        folder = parse_source(split_token(source)[0]).path
        if folder is not None:
            require_narrow(folder)

    async def open(self, source: str, ref: str = "") -> OpenedRepository:
        """Open a repository or bring it up to date. Raises RepoPilotError; SourceRefused as `check`."""
        self.check(source)
        with self.jobs.follow(self.owner, source, ref, self.progress) as progress:
            return await opened_for(self.owner, source, self.runtime, partial(self._opened, source, ref, progress))

    async def _opened(self, source: str, ref: str, progress: OnProgress) -> OpenedRepository:
        key = split_token(source)[0], ref
        known = self.opened.get(key)
        fresh = known is not None and time.monotonic() - known.fetched_at < FRESH_S
        if known is None or known.snapshot.root is not None or not (fresh and known.index.folder.exists()):
            snapshot, index = await self.openings.opened(source, ref, progress)
            known = self.opened[key] = OpenedRepository(snapshot, index, time.monotonic())
        return known

    async def embedder(self) -> Embedder | None:
        """The current embedder, if any."""
        return await asyncio.to_thread(self.runtime.embedders.choose, self.runtime.settings)

    async def workspace(self, source: str, ref: str = "") -> Workspace:
        """A repository with the current models. Raises RepoPilotError."""
        opened = await self.open(source, ref)
        return await open_workspace(opened.index, opened.snapshot, self.runtime)
