"""Hybrid search for LlamaIndex applications: `search` as a retriever, and the program's embedder as an embedding model.

Importing LlamaIndex takes seconds, so nothing else in the program imports this module.
"""

from __future__ import annotations

import asyncio
import logging

from llama_index.core.callbacks import CallbackManager
from llama_index.core.embeddings import BaseEmbedding
from llama_index.core.retrievers import BaseRetriever
from llama_index.core.schema import NodeWithScore, QueryBundle
from pydantic import PrivateAttr

from repopilot.code.node_parser import node_of_chunk
from repopilot.index.embed import Embedder
from repopilot.index.store import Index
from repopilot.retrieval.search import search
from repopilot.types import Hit

_log = logging.getLogger(__name__)


class HybridRetriever(BaseRetriever):
    """Retrieves passages with `repopilot.retrieval.search.search`, for a `RetrieverQueryEngine` and the like.

    A query may hold filters (`file:src/*.py lang:python kind:function symbol:Cart`). Nodes are those of `node_of_chunk`
    with the contributions to their score as metadata `why`; what the search notes, for example that vectors were
    missing, is logged. Asynchronous retrieval runs in a thread.

    Example:
        engine = RetrieverQueryEngine.from_args(HybridRetriever(index, embedder, k=8, filters="lang:python"), llm=llm)
        answer = engine.query("where are sessions closed?")
        places = [(n.metadata["path"], n.metadata["start_line"], n.score) for n in answer.source_nodes]
    """

    def __init__(
        self,
        index: Index,
        embedder: Embedder | None = None,
        *,
        k: int = 10,
        filters: str = "",
        callback_manager: CallbackManager | None = None,
    ) -> None:
        """Make a retriever over one index.

        Args:
            index: the index to search.
            embedder: makes vectors for queries and passages; None for lexical search alone.
            k: how many passages to retrieve at most.
            filters: filters that hold for every query, written as in a query.
            callback_manager: LlamaIndex's, for tracing.
        """
        super().__init__(callback_manager=callback_manager)
        self._index, self._embedder, self._k, self._filters = index, embedder, k, filters

    def _retrieve(self, query_bundle: QueryBundle) -> list[NodeWithScore]:
        text = f"{query_bundle.query_str} {self._filters}" if self._filters else query_bundle.query_str
        results = search(self._index, text, self._k, embedder=self._embedder)
        for note in results.notes:
            _log.info("%s", note)
        return [node_of_hit(hit) for hit in results.hits]

    async def _aretrieve(self, query_bundle: QueryBundle) -> list[NodeWithScore]:
        return await asyncio.to_thread(self._retrieve, query_bundle)


def node_of_hit(hit: Hit) -> NodeWithScore:
    """A hit as a scored node. Its metadata `why` is in no prompt."""
    node = node_of_chunk(hit.chunk)
    node.metadata["why"] = dict(hit.why)
    node.excluded_embed_metadata_keys.append("why")
    node.excluded_llm_metadata_keys.append("why")
    return NodeWithScore(node=node, score=hit.score)


class EmbedderModel(BaseEmbedding):
    """The program's embedder as a LlamaIndex embedding model, for a `VectorStoreIndex` over `vectors.node_store`."""

    _embedder: Embedder = PrivateAttr()

    def __init__(self, embedder: Embedder) -> None:
        super().__init__(model_name=embedder.name)
        self._embedder = embedder

    @classmethod
    def class_name(cls) -> str:
        """The name under which LlamaIndex serializes the model."""
        return "EmbedderModel"

    def _get_text_embeddings(self, texts: list[str]) -> list[list[float]]:
        return self._embedder.embed(texts).tolist()

    def _get_text_embedding(self, text: str) -> list[float]:
        return self._get_text_embeddings([text])[0]

    def _get_query_embedding(self, query: str) -> list[float]:
        return self._embedder.embed([query], query=True)[0].tolist()

    async def _aget_query_embedding(self, query: str) -> list[float]:
        return await asyncio.to_thread(self._get_query_embedding, query)
