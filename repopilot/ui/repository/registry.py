"""Repositories that are being opened, or are open: one opening for each login and repository in the process.

An opening outlives the chat that began it: two tabs share it, and a reload finds it again. It runs as a task of the
event loop and belongs to no session; whoever shows it polls its attributes.
"""

from __future__ import annotations

import asyncio
import logging
import threading
import time
from collections.abc import Awaitable, Callable, Coroutine
from dataclasses import dataclass, field, replace
from typing import TYPE_CHECKING, Literal

from repopilot import i18n
from repopilot.errors import Cancelled, CredentialsNeeded, IndexFailed, RepoPilotError
from repopilot.repo.clone import FRESH_S
from repopilot.repo.remote.credentials import HostToken, host_of, token_for
from repopilot.runtime import Runtime
from repopilot.settings import Settings
from repopilot.types import Progress, Snapshot, Source
from repopilot.ui.repository.estimate import Estimate, estimate
from repopilot.ui.repository.known import Sizes, check_disk_limit

if TYPE_CHECKING:
    from repopilot.database.chat_database import Database
    from repopilot.index.build.job import IndexJob
    from repopilot.index.embed import Embedder
    from repopilot.index.store import Index
    from repopilot.index.watch import Watch

Phase = Literal["cloning", "asking", "credentials", "indexing", "ready", "stopped", "failed"]
POLL_S = 0.1
log = logging.getLogger(__name__)


@dataclass(slots=True, eq=False)
class Opening:
    """One repository on its way from an address to a complete index.

    Attributes:
        key: identifies it in the process, see `opening_key`.
        source: what to open.
        settings: how to read and index it.
        owner: the login that opened it, '' where nobody logs in.
        shared: whether the login may use it because another login shares it.
        phase: its state; `asking` waits for the user's answer to the estimate, `credentials` for a token.
        progress: the latest progress of the clone; that of the index is the job's own.
        snapshot: the repository once it is cloned or read.
        estimate: the expected work of indexing, for the phase `asking`.
        job: the index build, under way or done.
        index: the index that answers questions, None until there is one.
        error: in the phases `failed` and `credentials`.
        with_token: whether there is a token for its host.
        typed: the token that was typed; it stays in memory, for later fetches.
        fetched_at: when it was fetched last, by the monotonic clock.
        watch: watches a local folder for changes.
        changed_meanwhile: whether the folder changed while it was being indexed.
    """

    key: str
    source: Source
    settings: Settings
    owner: str = ""
    shared: bool = False
    phase: Phase = "cloning"
    progress: Progress | None = None
    snapshot: Snapshot | None = None
    estimate: Estimate | None = None
    job: IndexJob | None = None
    index: Index | None = None
    error: RepoPilotError | None = None
    with_token: bool = False
    typed: HostToken | None = None
    fetched_at: float = 0.0
    watch: Watch | None = None
    changed_meanwhile: bool = False
    _cancel: threading.Event = field(default_factory=threading.Event)
    _task: asyncio.Task | None = None

    @property
    def address(self) -> str:
        """The address of its source; typed into the message box, it opens the same repository again."""
        return self.source.address

    @property
    def answerable(self) -> bool:
        """Whether questions can be answered, possibly without vectors."""
        return self.index is not None

    @property
    def settled(self) -> bool:
        """Whether no work is under way and the user needn't answer anything."""
        return self.phase in ("ready", "stopped", "failed")

    @property
    def idle(self) -> bool:
        """Whether no task works on it."""
        return self._task is None or self._task.done()

    @property
    def current_progress(self) -> Progress | None:
        """The progress of the work under way: of the clone, or of the index build."""
        return self.job.progress if self.phase == "indexing" and self.job else self.progress

    def report_progress(self, progress: Progress) -> None:
        """Record the clone's progress. May be called from any thread."""
        self.progress = progress


class Openings:
    """The registry.

    Args:
        runtime: the state of the process.
        find_embedder: returns the current embedding model, None while there is none.
        sizes: the cache of folder sizes on disk.
        database: records who opened what.
    """

    def __init__(
        self,
        runtime: Runtime,
        find_embedder: Callable[[], Awaitable[Embedder | None]],
        sizes: Sizes,
        database: Database,
    ) -> None:
        self._runtime = runtime
        self._sizes = sizes
        self._find_embedder = find_embedder
        self._database = database
        self._open: dict[tuple[str, str], Opening] = {}

    def open(self, source: Source, settings: Settings, token: HostToken | None = None, owner: str = "") -> Opening:
        """Open a repository, or return its existing opening, fetching it again unless it was fetched just now.

        Nothing blocks: an index of an earlier state answers questions until the new state is indexed.

        Args:
            source: what to open.
            settings: how to read and index it.
            token: for a private repository; never stored.
            owner: the login that asks; the opening of another login, with its token, is never returned.

        Returns:
            The opening, which goes on by itself.
        """
        key = opening_key(source, settings)
        opening = self.get(key, owner)
        if opening is None:
            opening = self._open[owner, key] = Opening(key, source, settings, owner)
        stale = opening.phase == "ready" and time.monotonic() - opening.fetched_at > FRESH_S
        if opening.idle and (stale or opening.phase in ("cloning", "failed", "stopped", "credentials")):
            self._run(opening, self._from_source(opening, token))
        return opening

    def get(self, key: str, owner: str = "") -> Opening | None:
        """A login's opening with a key, None if there is none."""
        return self._open.get((owner, key))

    def all(self) -> list[Opening]:
        """Every opening of the process, oldest first."""
        return list(self._open.values())

    def named(self, place: str, owner: str) -> list[Opening]:
        """A login's openings of an address."""
        return [each for each in self.all() if each.owner == owner and each.address == place]

    def stop(self, opening: Opening) -> bool:
        """Stop the clone or the index build; what was published stays usable."""
        opening._cancel.set()
        if opening.job is not None:
            opening.job.cancel()
        if opening.phase in ("asking", "credentials"):
            opening.phase = "stopped"
        return True

    def retry(self, opening: Opening, token: HostToken | None = None) -> bool:
        """Start again: clone or fetch, then index what changed. False while it is busy."""
        return opening.idle and self._run(opening, self._from_source(opening, token))

    def confirm(self, opening: Opening, only: tuple[str, ...] = ()) -> bool:
        """Index after the estimate: everything, or only the folders `only`. False if the user isn't being asked."""
        if opening.phase != "asking" or not opening.idle:
            return False
        if only:
            opening.settings = opening.settings.model_copy(
                update={"include": [f"/{folder.strip('/')}/" for folder in only]}
            )
        if opening.snapshot is None:
            return False
        return self._run(opening, self._index(opening, opening.snapshot, full=False))

    def close(self, opening: Opening) -> bool:
        """Forget an opening, so that its data can be deleted once its job is done. False while it is busy."""
        if not opening.idle:
            return False
        self._forget(opening)
        return True

    def end_sharing(self, place: str) -> None:
        """Forget the openings, even busy ones, of the logins with which the repository at an address was shared."""
        for opening in self.all():
            if opening.shared and opening.address == place:
                self._forget(opening)

    def _forget(self, opening: Opening) -> None:
        if opening.job is not None and opening.job.settled.is_set():
            opening.job.cancel()
        if opening.watch is not None:
            opening.watch.stop()
        self._open.pop((opening.owner, opening.key), None)

    def reindex(self, opening: Opening) -> bool:
        """Discard the index and build it again. False while it is busy."""
        if not opening.idle or opening.snapshot is None:
            return False
        return self._run(opening, self._index(opening, opening.snapshot, full=True))

    def forget_token(self, opening: Opening) -> bool:
        """Forget the token that was typed for a repository; later fetches don't use it."""
        opening.typed = None
        opening.with_token = False
        return True

    async def fill_vectors(self) -> None:
        """Build the vectors of every open repository that should have all, once an embedding model is available."""
        for opening in self.all():
            snapshot = opening.snapshot
            index = opening.index
            if opening.phase != "ready" or snapshot is None or index is None or index.dense >= 1.0:
                continue
            if len(index.chunks) <= opening.settings.most_embedded:
                self._run(opening, self._index(opening, snapshot, full=False))

    def _run(self, opening: Opening, work: Coroutine[object, object, None]) -> Literal[True]:
        opening._cancel = threading.Event()
        opening.error = None
        opening._task = asyncio.create_task(self._guarded(opening, work))
        return True

    async def _guarded(self, opening: Opening, work: Coroutine[object, object, None]) -> None:
        """Run the work to its end; turn an error into a phase that the user sees."""
        log.info("opening %s: started", opening.source.name)
        try:
            await work
        except Cancelled:
            opening.phase = "stopped"
        except CredentialsNeeded as error:
            opening.error = error
            opening.phase = "credentials"
        except RepoPilotError as error:
            opening.error = error
            opening.phase = "failed"
        except Exception as error:
            log.exception("opening %s", opening.source.name)
            opening.error = IndexFailed(
                i18n.message("ui.errors.opening", name=opening.source.name, error=str(error) or type(error).__name__),
                i18n.message("ui.errors.opening_hint"),
            )
            opening.phase = "failed"
        log.info("opening %s: %s", opening.source.name, opening.phase)
        if opening.changed_meanwhile and opening.phase == "ready":
            opening.changed_meanwhile = False
            self._run(opening, self._from_source(opening, None))

    async def _from_source(self, opening: Opening, token: HostToken | None) -> None:
        from repopilot.logins.ownership import admit
        from repopilot.openings import fetch_source

        opening.typed = token or opening.typed
        opening.phase = "cloning"
        opening.progress = None
        opening.with_token = _has_token(opening)
        admission = await asyncio.to_thread(
            admit, opening.source, opening.settings, opening.typed, self._database, opening.owner
        )
        opening.shared = admission == "shared"
        await asyncio.to_thread(check_disk_limit, opening.source, opening.settings, self._sizes)
        snapshot = opening.snapshot = await asyncio.to_thread(
            fetch_source,
            opening.source,
            opening.settings,
            opening.typed,
            self._runtime.index_jobs,
            opening.report_progress,
            opening._cancel,
        )
        opening.fetched_at = time.monotonic()
        await self._watch_folder(opening, snapshot)
        if await self._needs_confirmation(opening, snapshot):
            opening.phase = "asking"
            return
        await self._index(opening, snapshot, full=False)

    async def _needs_confirmation(self, opening: Opening, snapshot: Snapshot) -> bool:
        """Estimate a repository; a big one needs the user's confirmation unless it was indexed before."""
        from repopilot.repo.walk import walk

        known = await asyncio.to_thread(lambda: self._runtime.indexes.open(snapshot))
        if known is not None:
            opening.index = known
            return False
        files, _ = await asyncio.to_thread(walk, snapshot, opening.settings, cancel=opening._cancel)
        opening.estimate = estimate(files)
        return opening.estimate.lines > opening.settings.big_repository_lines

    async def _index(self, opening: Opening, snapshot: Snapshot, *, full: bool) -> None:
        from repopilot.index.build.job import IndexRequest

        opening.phase = "indexing"
        opening.job = None
        most = opening.settings.most_embedded
        embedder = await self._find_embedder() if most else None
        request = IndexRequest(snapshot, opening.settings, embedder, full, opening.typed, most)
        job = opening.job = await asyncio.to_thread(lambda: self._runtime.index_jobs.start(request))
        if opening._cancel.is_set():
            job.cancel()
        reached = job.done if opening.settings.dense_index else job.settled
        while not reached.is_set():
            if job.lexical_ready.is_set():
                opening.index = job.index
            await asyncio.sleep(POLL_S)
        opening.index = job.index or opening.index
        if job.error is not None:
            raise job.error
        opening.phase = "ready"

    async def _watch_folder(self, opening: Opening, snapshot: Snapshot) -> None:
        """Index a local folder again whenever its files change; the watch begins before they are first read."""
        from repopilot.index.watch import watch

        if opening.watch is not None:
            return
        loop = asyncio.get_running_loop()

        def on_change(_paths: frozenset[str]) -> None:
            loop.call_soon_threadsafe(self._folder_changed, opening)

        opening.watch = await asyncio.to_thread(watch, snapshot, on_change)

    def _folder_changed(self, opening: Opening) -> None:
        if opening.idle and opening.phase != "ready":
            return  # the next start reads the current files anyway
        opening.changed_meanwhile = not self.retry(opening)


def opening_key(source: Source, settings: Settings) -> str:
    """The key of an opening: address, branch, folder, and the files to read."""
    place = source.url or str(source.path)
    return "|".join([place, source.ref or "", source.subdir, *settings.include, "!", *settings.exclude])


def typed_token(opening: Opening, text: str) -> HostToken | None:
    """The token that the user typed for an opening, bound to its host; None if empty, or for a local folder."""
    text = text.strip()
    url = opening.source.url
    return HostToken(host_of(url), text) if url and text else None


def _has_token(opening: Opening) -> bool:
    url = opening.source.url
    return bool(url and token_for(url, opening.settings.git_token, opening.typed))


def at_ref(source: Source, ref: str) -> Source:
    """The same repository at another branch, tag or commit ('' for the default branch)."""
    return replace(source, ref=ref or None)
