"""Repositories that are being opened or are open: one each per process, whoever asks.

An opening outlives the chat that began it: two tabs share it, a reload finds it again. It runs as a task of the
event loop, belongs to no session, and is looked at rather than listened to: whoever shows it polls its fields.
"""

from __future__ import annotations

import asyncio
import logging
import threading
import time
from collections.abc import Awaitable, Callable, Coroutine
from dataclasses import dataclass, field, replace
from typing import TYPE_CHECKING, Literal

from repopilot.errors import Cancelled, CredentialsNeeded, IndexFailed, RepoPilotError
from repopilot.settings import Settings
from repopilot.types import Progress, Snapshot, Source
from repopilot.ui.repository.estimate import Estimate, estimate

if TYPE_CHECKING:
    from repopilot.index.embed import Embedder
    from repopilot.index.store import Index
    from repopilot.index.watch import Watch

Phase = Literal["cloning", "asking", "credentials", "indexing", "ready", "stopped", "failed"]
POLL_S = 0.1
FRESH_S = 60.0
"""A repository that was fetched less than this ago is not fetched again when it is opened once more."""
log = logging.getLogger(__name__)


@dataclass(slots=True, eq=False)
class Opening:
    """One repository on its way from an address to a complete index.

    `progress` is the newest moment of the clone; that of the index is the job's own. `estimate` is set while the
    user is asked (phase `asking`), `error` in the phases `failed` and `credentials`; `with_token` says whether a
    token went along (never which: it stays in memory, to fetch again and to fetch history);
    `touched` that the local folder, which is watched, has changed meanwhile.
    """

    key: str
    source: Source
    settings: Settings
    phase: Phase = "cloning"
    progress: Progress | None = None
    snapshot: Snapshot | None = None
    estimate: Estimate | None = None
    job: object | None = None
    index: Index | None = None
    error: RepoPilotError | None = None
    with_token: bool = False
    _token: str = field(default="", repr=False)
    fetched_at: float = 0.0
    watch: Watch | None = None
    touched: bool = False
    _cancel: threading.Event = field(default_factory=threading.Event)
    _task: asyncio.Task | None = None

    @property
    def answerable(self) -> bool:
        """Can questions be answered, be it without vectors?"""
        return self.index is not None

    @property
    def settled(self) -> bool:
        """Nothing is under way and nothing is waited for."""
        return self.phase in ("ready", "stopped", "failed")

    @property
    def idle(self) -> bool:
        return self._task is None or self._task.done()

    def report_progress(self, progress: Progress) -> None:
        """Called from any thread."""
        self.progress = progress


class Openings:
    """The registry. `embedder` gives the embedding model of the moment, None while there is none."""

    def __init__(self, embedder: Callable[[], Awaitable[Embedder | None]]) -> None:
        self._embedder = embedder
        self._open: dict[str, Opening] = {}

    def open(self, source: Source, settings: Settings, token: str = "") -> Opening:
        """The opening of this repository: the one under way, or done and brought up to date, else a new one. Nothing
        blocks: what was indexed before answers until the new state is."""
        key = opening_key(source, settings)
        opening = self._open.get(key)
        if opening is None:
            opening = self._open[key] = Opening(key, source, settings)
        stale = opening.phase == "ready" and time.monotonic() - opening.fetched_at > FRESH_S
        if opening.idle and (stale or opening.phase in ("cloning", "failed", "stopped", "credentials")):
            self._run(opening, self._from_source(opening, token))
        return opening

    def get(self, key: str) -> Opening | None:
        return self._open.get(key)

    def all(self) -> list[Opening]:
        return list(self._open.values())

    def stop(self, opening: Opening) -> bool:
        """Stop the clone or the index build; what was published stays usable."""
        opening._cancel.set()
        if opening.job is not None:
            opening.job.cancel()
        if opening.phase in ("asking", "credentials"):
            opening.phase = "stopped"
        return True

    def retry(self, opening: Opening, token: str = "") -> bool:
        """Once more from the start: clone or fetch, then index what changed. False while it is busy."""
        return opening.idle and self._run(opening, self._from_source(opening, token))

    def go_on(self, opening: Opening, only: tuple[str, ...] = ()) -> bool:
        """After the estimate: index everything, or only the folders `only`. False when that is not asked."""
        if opening.phase != "asking" or not opening.idle:
            return False
        if only:
            opening.settings = opening.settings.model_copy(
                update={"include": [f"/{folder.strip('/')}/" for folder in only]}
            )
        return self._run(opening, self._index(opening, full=False))

    def reindex(self, opening: Opening) -> bool:
        """Forget the index and build it anew. False while it is busy."""
        return opening.idle and opening.snapshot is not None and self._run(opening, self._index(opening, full=True))

    async def fill_vectors(self) -> None:
        """An embedding model has arrived: build the vectors of every open repository that lacks some."""
        for opening in self.all():
            if opening.phase == "ready" and opening.index is not None and opening.index.dense < 1.0:
                self._run(opening, self._index(opening, full=False))

    def _run(self, opening: Opening, work: Coroutine) -> Literal[True]:
        opening._cancel = threading.Event()
        opening.error = None
        opening._task = asyncio.create_task(self._guarded(opening, work))
        return True

    async def _guarded(self, opening: Opening, work) -> None:
        """Whatever goes wrong becomes a phase the user sees."""
        log.info("opening %s: begins", opening.source.name)
        try:
            await work
        except Cancelled:
            opening.phase = "stopped"
        except CredentialsNeeded as error:
            opening.error, opening.phase = error, "credentials"
        except RepoPilotError as error:
            opening.error, opening.phase = error, "failed"
        except Exception as error:
            log.exception("opening %s", opening.source.name)
            opening.error = IndexFailed(
                f"Opening {opening.source.name} failed: {error or type(error).__name__}.",
                "The server's log has the details. Retry, or report it.",
            )
            opening.phase = "failed"
        log.info("opening %s: %s", opening.source.name, opening.phase)
        if opening.touched and opening.phase == "ready":
            opening.touched = False
            self._run(opening, self._from_source(opening, ""))

    async def _from_source(self, opening: Opening, token: str) -> None:
        from repopilot.workspace import fetch_source

        opening._token = token or opening._token
        opening.phase, opening.progress, opening.with_token = "cloning", None, bool(opening._token)
        opening.snapshot = await asyncio.to_thread(
            fetch_source,
            opening.source,
            opening.settings,
            opening._token,
            opening.report_progress,
            opening._cancel,
        )
        opening.fetched_at = time.monotonic()
        if await self._needs_asking(opening):
            opening.phase = "asking"
            return
        await self._index(opening, full=False)

    async def _needs_asking(self, opening: Opening) -> bool:
        """A big repository is estimated first, unless it was indexed before: then little is left to do."""
        from repopilot.index.build.job import open_index
        from repopilot.repo.sample_size import sample_size
        from repopilot.repo.walk import walk

        known = await asyncio.to_thread(open_index, opening.snapshot, opening.settings)
        if known is not None:
            opening.index = known
            return False
        files, skipped = await asyncio.to_thread(walk, opening.snapshot, opening.settings, cancel=opening._cancel)
        whole = await asyncio.to_thread(sample_size, opening.snapshot, files)
        opening.estimate = estimate(files, skipped, whole.lines, whole.seconds)
        return opening.estimate.lines > opening.settings.big_repository_lines

    async def _index(self, opening: Opening, *, full: bool) -> None:
        from repopilot.index.build import job as build

        opening.phase, opening.job = "indexing", None
        embedder = await self._embedder()
        job = opening.job = await asyncio.to_thread(
            build.start, opening.snapshot, opening.settings, embedder, full=full, token=opening._token
        )
        if opening._cancel.is_set():
            job.cancel()
        while not job.done.is_set():
            if job.lexical_ready.is_set():
                opening.index = job.index
            await asyncio.sleep(POLL_S)
        opening.index = job.index or opening.index
        if job.error is not None:
            raise job.error
        opening.phase = "ready"
        self._follow_folder(opening)

    def _follow_folder(self, opening: Opening) -> None:
        """From now on, index a local folder again whenever its files change."""
        from repopilot.index.watch import watch

        if opening.watch is None and opening.snapshot is not None:
            loop = asyncio.get_running_loop()
            opening.watch = watch(opening.snapshot, lambda _paths: loop.call_soon_threadsafe(self._touched, opening))

    def _touched(self, opening: Opening) -> None:
        opening.touched = not self.retry(opening)


def opening_key(source: Source, settings: Settings) -> str:
    """What makes two requests the same: address, branch, folder, and what is read of it."""
    place = source.url or str(source.path)
    return "|".join([place, source.ref or "", source.subdir, *settings.include, "!", *settings.exclude])


def at_ref(source: Source, ref: str) -> Source:
    """The same repository at another branch, tag or commit ('' for the default branch)."""
    return replace(source, ref=ref or None)
