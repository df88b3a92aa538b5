"""State that one process shares: created when the program starts, passed to the parts that need it, closed at the end.

The parts are created when they are first used, so that a command imports only what it needs.
"""

from __future__ import annotations

import threading
from types import TracebackType
from typing import TYPE_CHECKING

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


class Runtime:
    """The state of the process. Thread-safe. As a context manager it is closed at the end.

    Args:
        settings: the options, read once by the entry point.
        workers: the worker processes; None lets the runtime start and end its own.
    """

    def __init__(self, settings: Settings, workers: WorkerPool | None = None) -> None:
        self.settings = settings
        self._lock = threading.RLock()
        self._workers = workers
        self._own_workers = workers is None
        self._indexes: IndexStore | None = None
        self._index_jobs: IndexJobs | None = None
        self._embedders: Embedders | None = None
        self._models: ModelResources | None = None
        self._lookups: Lookups | None = None
        self._database: Database | None = None

    @property
    def workers(self) -> WorkerPool:
        """The worker processes that parse code."""
        with self._lock:
            if self._workers is None:
                from repopilot.index.workers.pool import WorkerPool

                self._workers = WorkerPool()
            return self._workers

    @property
    def indexes(self) -> IndexStore:
        """The published indexes."""
        with self._lock:
            if self._indexes is None:
                from repopilot.index.store import IndexStore

                server = None
                if self.settings.chroma_url:
                    from repopilot.index.chroma_server import ChromaServer

                    server = ChromaServer(self.settings.chroma_url.rstrip("/"), self.settings.chroma_token)
                self._indexes = IndexStore(self.settings.indexes, server, self.workers)
            return self._indexes

    @property
    def index_jobs(self) -> IndexJobs:
        """The running indexing jobs."""
        with self._lock:
            if self._index_jobs is None:
                from repopilot.index.build.job import IndexJobs

                self._index_jobs = IndexJobs(self.indexes, self.workers)
            return self._index_jobs

    @property
    def embedders(self) -> Embedders:
        """The loaded embedding models."""
        with self._lock:
            if self._embedders is None:
                from repopilot.index.embed import Embedders

                self._embedders = Embedders()
            return self._embedders

    @property
    def models(self) -> ModelResources:
        """What the language models share: embedded engines, cached replies, hosts that can't be reached."""
        with self._lock:
            if self._models is None:
                from repopilot.llm.resources import ModelResources

                self._models = ModelResources()
            return self._models

    @property
    def lookups(self) -> Lookups:
        """The resolvers of names, with their language servers."""
        with self._lock:
            if self._lookups is None:
                from repopilot.resolve.lookups import Lookups

                self._lookups = Lookups()
            return self._lookups

    @property
    def database(self) -> Database:
        """The database of conversations, and of who opened what. Raises UsageError where its driver isn't installed."""
        with self._lock:
            if self._database is None:
                if self.settings.chats_url:
                    from repopilot.database.postgres import PostgresChats

                    self._database = PostgresChats(self.settings.chats_url, self.settings.home)
                else:
                    from repopilot.database.chat_database import ChatDatabase

                    self._database = ChatDatabase(self.settings.home)
            return self._database

    def close(self) -> None:
        """Cancel the jobs, end the worker processes, engines and threads, release the vector store.

        What is indexed so far is saved.
        """
        with self._lock:
            if self._index_jobs is not None:
                self._index_jobs.close(CLOSE_TIMEOUT_S)
            if self._workers is not None and self._own_workers:
                self._workers.close()
            if self._embedders is not None:
                from repopilot.index import vectors

                self._embedders.close()
                vectors.release(self.settings.indexes)
            if self._models is not None:
                self._models.close()
            if self._lookups is not None:
                self._lookups.close()

    def __enter__(self) -> Runtime:
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, traceback: TracebackType | None
    ) -> None:
        self.close()
