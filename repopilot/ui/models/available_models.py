"""The models of this process, shared by all chats: the one in use, the one being fetched, those to choose from."""

from __future__ import annotations

import asyncio
import logging
import time
from collections.abc import Awaitable, Callable, Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from typing import TYPE_CHECKING

from repopilot.background import start_task
from repopilot.errors import RepoPilotError
from repopilot.llm.embedded.embedded_engine import is_installed
from repopilot.llm.model import Model
from repopilot.llm.weights.models import EMBEDDING_MODEL
from repopilot.runtime import Runtime
from repopilot.settings import Settings
from repopilot.types import Progress

if TYPE_CHECKING:
    from repopilot.index.embed import Embedder
    from repopilot.llm.choice.status import ModelStatus

LOOK_AGAIN_S = 20.0
NAMES_S = 2.0
AGAIN_S = 30.0
"""Seconds before failed work is retried; doubled after each failure."""
LONGEST_WAIT_S = 1800.0
LOOKING = "(look)"
"""Key for failures to look for models, in place of a model's name."""
LOADING = "(load)"
"""Key for failures to load a model, in place of its name."""
log = logging.getLogger(__name__)


@dataclass(slots=True)
class Fetch:
    """A model that is being downloaded."""

    name: str
    progress: Progress | None = None

    def report(self, progress: Progress) -> None:
        """Record the progress of the download."""
        self.progress = progress


@dataclass(frozen=True, slots=True)
class FailedWork:
    """A failure: its error, how often it happened in a row, and when to retry, by the monotonic clock."""

    error: RepoPilotError
    count: int
    again_at: float


class Models:
    """Looks for models every few seconds, so that an Ollama started later is found; fetches missing models; measures
    how fast they are while no question is being answered.

    Attributes:
        settings: the settings in use.
        model, embedder: the models in use, None while there is none.
        reviewer: the second model, for the debate; None while there is none.
        reviewer_note: a message that the reviewer named in the settings is missing; '' if it isn't.
        names: the models to choose from.
        warming, measuring: whether the model is being loaded, or its speed measured.
        fetch: the model being fetched, None while none is.
    """

    def __init__(self, runtime: Runtime) -> None:
        self.settings = runtime.settings
        self._runtime = runtime
        self.model: Model | None = None
        self.reviewer: Model | None = None
        self.reviewer_note = ""
        self.embedder: Embedder | None = None
        self.status: ModelStatus | None = None
        self.names: list[str] = []
        self.fetch: Fetch | None = None
        self.warming = False
        self.measuring = False
        self._looking = asyncio.Lock()
        self._failures: dict[str, FailedWork] = {}
        self.on_embedder: Callable[[], Awaitable[None]] | None = None
        self._questions = 0
        self._calibration: asyncio.Task | None = None
        self._measured: set[str] = set()

    def start(self, after: Callable[[], None]) -> None:
        """Look for models from now on, once `after` has run in a thread.

        `after` imports what they need: of two threads that import a package at once, one can see it half initialised.
        """
        start_task(self._watch(after))

    async def look(self) -> None:
        """Find out which model answers now, and use it."""
        async with self._looking:  # an older look that ends later would undo what a newer one found
            await self._look()

    async def _look(self) -> None:
        from repopilot.llm.choice import choose
        from repopilot.llm.choice.status import status

        self.status = await asyncio.to_thread(status, self.settings)
        before, names = self.model, self.names
        self.names = await asyncio.to_thread(_names, self.settings, self.status.kind)
        known = (before.kind, before.name, before.speed) if before else ("none", "", None)
        same = known == (self.status.kind, self.status.name, self.status.speed)
        if same and names == self.names:
            return
        model = self.model if same else await choose.choose(self.settings, self._runtime.models)
        reviewer = None
        note = ""
        if model is not None:
            reviewer = await choose.choose_reviewer(self.settings, model, self._runtime.models)
            note = choose.reviewer_missing(self.settings, model, reviewer)
        # Questions and the page may read these at any await, so they change together.
        self.model = model
        self.reviewer = reviewer
        self.reviewer_note = note
        if model is not None and (before is None or before.identity != model.identity):
            named = reviewer if self.settings.reviewer_model else None  # an unnamed one is loaded when it is asked
            start_task(self._warm(model, named))
        await self._unload(before)

    async def _unload(self, model: Model | None) -> None:
        """End the process of an embedded model that is no longer in use, unless a question is being answered."""
        in_use = (self.model, self.reviewer)
        engines = [each.engine for each in in_use if each is not None]
        if model is not None and model.engine is not None and model.engine not in engines and not self._questions:
            await asyncio.to_thread(model.engine.stop)

    async def named(self, name: str) -> Model | None:
        """A model by name, for one question; the usual one for ''."""
        from repopilot.llm.choice import choose

        if not name:
            return self.model
        return await choose.choose(self.settings.model_copy(update={"llm_model": name}), self._runtime.models)

    async def prefer(self, **names: str) -> None:
        """Use other models from now on, in every chat.

        Args:
            names: by setting (`llm_model`, `reviewer_model`); '' for the one that suits the machine.
        """
        self.settings = self.settings.model_copy(update=names)
        self.model = self.model if names.keys() == {"llm_model"} else None  # the reviewer is chosen with the model
        await self.look()

    async def find_embedder(self) -> Embedder | None:
        """The embedding model, loaded; None while there is none."""
        if self.embedder is None and self.settings.dense:
            self.embedder = await asyncio.to_thread(self._runtime.embedders.choose, self.settings)
        return self.embedder

    async def get(self, name: str) -> None:
        """Pull a model with Ollama, or download it for the embedded engine; then use it. Failures go to `troubles`."""
        from repopilot.llm.choice import choose

        if self.status is not None and self.status.kind == "ollama":
            await self._while_fetching(name, lambda fetch: choose.pull(name, self.settings, progress=fetch.report))
        else:
            self._failures.pop(name, None)
            await self._ensure(name)
        await self.look()
        if name not in self._failures and (self.model is None or self.model.name != name):
            await self.prefer(llm_model=name)

    def start_get(self, name: str) -> None:
        """Get a model as a task of its own, unless one is being fetched already, or it was not offered."""
        offered = {self.status.missing_model, self.status.offer and self.status.offer.name} if self.status else set()
        if self.fetch is None and name in offered:
            start_task(self.get(name))

    @contextmanager
    def answering(self) -> Iterator[None]:
        """The context in which a question is answered: it cancels a calibration, which would slow the answer down."""
        self._questions += 1
        if self._calibration is not None and self.measuring:
            self._calibration.cancel()
        try:
            yield
        finally:
            self._questions -= 1

    async def _watch(self, after: Callable[[], None]) -> None:
        await asyncio.to_thread(after)
        while True:
            try:
                with self._recorded(LOOKING):
                    await self.look()
                    if self.settings.auto_download:
                        await self._fetch_missing()
                    self._start_calibration()
                if self._is_due(LOADING) and LOADING in self._failures and self.model is not None and not self.warming:
                    start_task(self._warm(self.model))
            except Exception:
                # This task must go on, whatever a model server answers.
                log.exception("looking for models")
            await asyncio.sleep(LOOK_AGAIN_S)

    async def _fetch_missing(self) -> None:
        """Fetch the embedding model first: it is small, and makes search better with any language model."""
        if await self.find_embedder() is None and self.settings.dense and not self.settings.embed_model:
            await self._ensure(EMBEDDING_MODEL)
            if await self.find_embedder() is not None and self.on_embedder is not None:
                await self.on_embedder()
        wanted = self.status.missing_model if self.status else None
        embeds = self.settings.embedded and is_installed()
        if wanted and self.status and embeds and self.status.kind in ("none", "embedded"):
            await self._ensure(wanted)
            await self.look()

    async def _ensure(self, name: str) -> None:
        """Fetch a model. A failure is shown, and the next try waits longer each time."""
        from repopilot.llm.weights import models

        if name not in models.KNOWN or not self._is_due(name) or models.installed(name, self.settings):
            return
        if name in self._failures:
            self._runtime.models.unreachable_hosts.clear()  # they may be reached by now
        await self._while_fetching(
            name,
            lambda fetch: asyncio.to_thread(
                models.ensure,
                name,
                self.settings,
                progress=fetch.report,
                unreachable_hosts=self._runtime.models.unreachable_hosts,
            ),
        )

    async def _while_fetching(self, name: str, work: Callable[[Fetch], Awaitable[object]]) -> None:
        self.fetch = Fetch(name)
        try:
            with self._recorded(name):
                await work(self.fetch)
        finally:
            self.fetch = None

    @property
    def troubles(self) -> list[tuple[RepoPilotError, float]]:
        """The errors of work that is retried automatically, each with the seconds until then."""
        now = time.monotonic()
        return [(failure.error, max(0.0, failure.again_at - now)) for failure in self._failures.values()]

    @contextmanager
    def _recorded(self, work: str) -> Iterator[None]:
        """Record whether the work in this context fails."""
        try:
            yield
        except RepoPilotError as error:
            count = self._failures[work].count + 1 if work in self._failures else 1
            wait = min(AGAIN_S * 2 ** (count - 1), LONGEST_WAIT_S)
            self._failures[work] = FailedWork(error, count, time.monotonic() + wait)
        else:
            self._failures.pop(work, None)

    def _is_due(self, work: str) -> bool:
        return work not in self._failures or time.monotonic() >= self._failures[work].again_at

    async def _warm(self, *models: Model | None) -> None:
        """Load models one after the other; the first one is the one that answers."""
        from repopilot.llm.choice import choose

        self.warming = True
        try:
            with self._recorded(LOADING):
                for model in models:
                    if model is not None:
                        await choose.warm_up(model)
        finally:
            self.warming = False
        self._start_calibration()

    def _start_calibration(self) -> None:
        """Measure the model's speed once in this run, even if that fails, unless a question is being answered."""
        busy = self._questions or self.measuring or self.warming
        needed = self.status is not None and self.status.measurable and self.status.name not in self._measured
        if needed and not busy:
            self._calibration = start_task(self._calibrate())

    async def _calibrate(self) -> None:
        from repopilot.llm.choice import choose

        model = self.model
        if model is None:
            return
        self.measuring = True
        new = False
        try:
            new = await choose.calibrate(model, self.settings)
        except (RepoPilotError, OSError):
            # Then memory and cores decide which model is chosen, as before.
            log.info("measuring the model's speed", exc_info=True)
            self._measured.add(model.name)
        finally:
            self.measuring = False
        if new:
            self._measured.add(model.name)
            await self.look()


def _names(settings: Settings, kind: str) -> list[str]:
    """The models that could answer with an engine of this kind. Blocking."""
    from repopilot.llm.choice.discovery import ollama_address
    from repopilot.llm.servers import ollama_api
    from repopilot.llm.weights import models

    if kind == "ollama":
        url = ollama_address(settings)
        tags = ollama_api.tags(url, NAMES_S) if url else None
        return [tag.name for tag in tags or () if tag.is_chat_model]
    if kind == "embedded":
        return [model.name for model in models.available(settings) if model.purpose == "chat" and model.path]
    return [settings.llm_model] if kind == "openai" and settings.llm_model else []
