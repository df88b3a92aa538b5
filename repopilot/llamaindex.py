"""An indexed repository for LlamaIndex applications: a retriever, and the `ChromaVectorStore` of its vectors.

Nothing in the program imports this module, as importing LlamaIndex takes seconds. docs/integrations.md has an example.
"""

from __future__ import annotations

import asyncio
import logging
import threading
from pathlib import Path
from types import TracebackType
from typing import Self

from llama_index.core.embeddings import BaseEmbedding
from llama_index.core.retrievers import BaseRetriever
from llama_index.core.schema import NodeWithScore, QueryBundle
from llama_index.core.vector_stores.types import BasePydanticVectorStore
from pydantic import PrivateAttr

from repopilot.errors import ModelError
from repopilot.index.chunk_collection import node_of, store_over
from repopilot.index.embed import Embedder
from repopilot.index.store import Index
from repopilot.index.vectors import vectors_of
from repopilot.openings import fetch_embedder, open_index, open_snapshot
from repopilot.repo.source import split_token
from repopilot.retrieval.search import search
from repopilot.runtime import Runtime
from repopilot.settings import Settings
from repopilot.types import Progress

_log = logging.getLogger(__name__)


class RepositoryRetriever(BaseRetriever):
    """Retrieves passages of one repository, as `repopilot search` finds them.

    A node is a passage with its score. Its metadata are `path`, `start_line`, `end_line` (1-based, inclusive),
    `symbol`, `kind`, `language` and `commit`. Notes of a search, for example on missing vectors, are logged. As a
    context manager, it is closed at the end.

    Args:
        source: an https URL or a local folder. It is cloned and indexed if needed, else brought up to date.
        k: how many passages to retrieve at most.
        filters: filters for every query, written as in a query: `lang:python file:src/*`.
        ref: a branch, tag or commit of a URL.
        settings: RepoPilot's options; those of the environment by default.

    Raises:
        RepoPilotError: the repository can't be reached, read or indexed.
    """

    def __init__(
        self,
        source: str | Path,
        *,
        k: int = 10,
        filters: str = "",
        ref: str | None = None,
        settings: Settings | None = None,
    ) -> None:
        super().__init__()
        self._k = k
        self._filters = filters
        self._source = str(source)
        self._ref = ref
        self._runtime = Runtime(settings or Settings())
        try:
            self._index = self._opened()
        except BaseException:
            self.close()
            raise

    def vector_store(self) -> BasePydanticVectorStore:
        """LlamaIndex's `ChromaVectorStore` over the vectors of the repository, after computing those that are missing.

        Its nodes are the retriever's; filters use their metadata. Read-only.

        Raises:
            ModelError: there is no embedding model, or it failed.
            StorageError: another process owns the vectors, or they can't be read or written.
            RepoPilotError: the repository can't be read or indexed.
        """
        fetch_embedder(self._runtime, _unheard)
        embedder = self._embedder()
        self._index = self._opened(wait=True)
        return store_over(self._index, vectors_of(self._index, embedder))

    def embed_model(self) -> BaseEmbedding:
        """The embedding model of the vectors, for a `VectorStoreIndex` over `vector_store`.

        Raises:
            ModelError: there is none; `vector_store` downloads the built-in one.
        """
        return RepositoryEmbedding(self._embedder())

    def close(self) -> None:
        """End the processes of the index and release its vectors, so that another process can use them."""
        self._runtime.close()

    def __enter__(self) -> Self:
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, traceback: TracebackType | None
    ) -> None:
        self.close()

    def _opened(self, *, wait: bool = False) -> Index:
        snapshot = open_snapshot(self._source, self._runtime, self._ref, _unheard, threading.Event())
        if snapshot.stale:
            _log.warning("%s", snapshot.stale)
        token = split_token(self._source)[1]
        return open_index(snapshot, self._runtime, _unheard, wait=wait, token=token)

    def _embedder(self) -> Embedder:
        choice = self._runtime.embedders.explain_choice(self._runtime.settings)
        if choice.embedder is None:
            raise ModelError(choice.note)
        return choice.embedder

    def _retrieve(self, query_bundle: QueryBundle) -> list[NodeWithScore]:
        embedder = self._runtime.embedders.choose(self._runtime.settings)
        results = search(self._index, f"{query_bundle.query_str} {self._filters}".strip(), self._k, embedder=embedder)
        for note in results.notes:
            _log.info("%s", note)
        return [NodeWithScore(node=node_of(hit.chunk, self._index.commit), score=hit.score) for hit in results.hits]

    async def _aretrieve(self, query_bundle: QueryBundle) -> list[NodeWithScore]:
        return await asyncio.to_thread(self._retrieve, query_bundle)


class RepositoryEmbedding(BaseEmbedding):
    """RepoPilot's embedding model behind LlamaIndex's interface."""

    _embedder: Embedder = PrivateAttr()

    def __init__(self, embedder: Embedder) -> None:
        super().__init__(model_name=embedder.name)
        self._embedder = embedder

    def _get_text_embeddings(self, texts: list[str]) -> list[list[float]]:
        return self._embedder.embed(texts).tolist()

    def _get_text_embedding(self, text: str) -> list[float]:
        return self._get_text_embeddings([text])[0]

    def _get_query_embedding(self, query: str) -> list[float]:
        return self._embedder.embed([query], query=True)[0].tolist()

    async def _aget_query_embedding(self, query: str) -> list[float]:
        return await asyncio.to_thread(self._get_query_embedding, query)


def _unheard(_: Progress) -> None:
    """Ignore the progress of clone and index."""
