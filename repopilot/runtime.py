"""State that one process shares: created when the program starts, passed to the parts that need it, closed at the end.

The parts are created when they are first used, so that a command imports only what it needs.
"""

from __future__ import annotations

import threading
from collections.abc import Callable
from types import TracebackType
from typing import TYPE_CHECKING, Any, Generic, TypeVar

from repopilot.settings import Settings

if TYPE_CHECKING:
    from repopilot.database.chat_database import Database
    from repopilot.index.build.job import IndexJobs
    from repopilot.index.embed import Embedders
    from repopilot.index.store import IndexStore
    from repopilot.index.workers.pool import WorkerPool
    from repopilot.llm.resources import ModelResources
    from repopilot.resolve.lookups import Lookups

CLOSE_TIMEOUT_S = 2.0
"""How long closing waits for an indexing job to save what it has."""


T = TypeVar("T")


class _Part(Generic[T]):
    """A property whose value is created when it is first used, by one thread, and kept in `Runtime.parts`."""

    def __init__(self, create: Callable[[Any], T]) -> None:
        self._create = create
        self.__doc__ = create.__doc__

    def __get__(self, runtime: Runtime, _: type | None = None) -> T:
        name = self._create.__name__
        with runtime.lock:
            if name not in runtime.parts:
                runtime.parts[name] = self._create(runtime)
            return runtime.parts[name]


class Runtime:
    """The state of the process. Thread-safe. As a context manager it is closed at the end.

    Args:
        settings: the options, read once by the entry point.
        workers: the worker processes; None lets the runtime start and end its own.

    Attributes:
        parts: those that were created so far, by name; `lock` is held while one is created.
    """

    def __init__(self, settings: Settings, workers: WorkerPool | None = None) -> None:
        self.settings = settings
        self.lock = threading.RLock()
        self.parts: dict[str, Any] = {"workers": workers} if workers else {}
        self._own_workers = workers is None

    @_Part
    def workers(self) -> WorkerPool:
        """The worker processes that parse code."""
        from repopilot.index.workers.pool import WorkerPool

        return WorkerPool()

    @_Part
    def indexes(self) -> IndexStore:
        """The published indexes."""
        from repopilot.index.store import IndexStore

        server = None
        if self.settings.chroma_url:
            from repopilot.index.chroma_server import ChromaServer

            server = ChromaServer(self.settings.chroma_url.rstrip("/"), self.settings.chroma_token)
        return IndexStore(self.settings.indexes, server, self.workers)

    @_Part
    def index_jobs(self) -> IndexJobs:
        """The running indexing jobs."""
        from repopilot.index.build.job import IndexJobs

        return IndexJobs(self.indexes, self.workers)

    @_Part
    def embedders(self) -> Embedders:
        """The loaded embedding models."""
        from repopilot.index.embed import Embedders

        return Embedders()

    @_Part
    def models(self) -> ModelResources:
        """What the language models share: embedded engines, cached replies, hosts that can't be reached."""
        from repopilot.llm.resources import ModelResources

        return ModelResources()

    @_Part
    def lookups(self) -> Lookups:
        """The resolvers of names, with their language servers."""
        from repopilot.resolve.lookups import Lookups

        return Lookups()

    @_Part
    def database(self) -> Database:
        """The database of conversations, and of who opened what. Raises UsageError where its driver isn't installed."""
        if self.settings.chats_url:
            from repopilot.database.postgres import PostgresChats

            return PostgresChats(self.settings.chats_url, self.settings.home)
        from repopilot.database.chat_database import ChatDatabase

        return ChatDatabase(self.settings.home)

    def close(self) -> None:
        """Cancel the jobs, end the worker processes, engines and threads, release the vector store.

        What is indexed so far is saved.
        """
        with self.lock:
            if "index_jobs" in self.parts:
                self.index_jobs.close(CLOSE_TIMEOUT_S)
            if "workers" in self.parts and self._own_workers:
                self.workers.close()
            if "embedders" in self.parts and self.embedders.any_chosen:
                from repopilot.index import vectors

                self.embedders.close()
                vectors.release(self.settings.indexes)
            for name in ("models", "lookups"):
                if name in self.parts:
                    self.parts[name].close()

    def __enter__(self) -> Runtime:
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, traceback: TracebackType | None
    ) -> None:
        self.close()
