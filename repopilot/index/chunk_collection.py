"""Presents the vectors of an index as a Chroma collection that LlamaIndex's `ChromaVectorStore` can read.

Chroma itself holds only vectors, by the digest of their text. Ids, texts and metadata of results come from the chunks
of the index, so nothing is stored twice and nothing is older than the index.
"""

from __future__ import annotations

import operator
from collections.abc import Callable, Mapping, Sequence
from typing import Any, NoReturn

import numpy as np
from llama_index.core.schema import TextNode
from llama_index.core.vector_stores.utils import node_to_metadata_dict
from llama_index.vector_stores.chroma import ChromaVectorStore

from repopilot import i18n
from repopilot.errors import StorageError, UsageError
from repopilot.index.store import Index
from repopilot.index.vectors import Vectors
from repopilot.types import Chunk

_NOT_FOR_MODELS = ("commit", "kind", "language")
_COMPARE: dict[str, Callable[[Any, Any], bool]] = {
    "$eq": operator.eq,
    "$ne": operator.ne,
    "$gt": operator.gt,
    "$gte": operator.ge,
    "$lt": operator.lt,
    "$lte": operator.le,
    "$in": lambda value, among: value in among,
    "$nin": lambda value, among: value not in among,
}


def store_over(index: Index, vectors: Vectors) -> ChromaVectorStore:
    """LlamaIndex's store over the vectors of a repository, read-only.

    Args:
        index: has the chunks.
        vectors: the vectors of those chunks; a chunk without one isn't found.

    Raises:
        StorageError: the vectors aren't saved: another process owns their folder, or their server can't be used.
    """
    if not vectors.persistent:
        if index.chroma:
            raise StorageError(index.chroma.trouble, i18n.message("retrieval.vectors.server_hint"))
        raise StorageError(i18n.message("retrieval.vectors.owned_error"), i18n.message("retrieval.vectors.owned_hint"))
    return ChromaVectorStore(chroma_collection=_ChunkCollection(index, vectors))


def node_of(chunk: Chunk, commit: str) -> TextNode:
    """A chunk as a node with its id and text. A language model is shown path, lines and symbol of the metadata."""
    metadata = _metadata(chunk, commit)
    return TextNode(
        id_=chunk.id,
        text=chunk.text,
        metadata=metadata,
        excluded_embed_metadata_keys=list(metadata),
        excluded_llm_metadata_keys=list(_NOT_FOR_MODELS),
    )


def _metadata(chunk: Chunk, commit: str) -> dict[str, str | int]:
    return {
        "path": chunk.path,
        "start_line": chunk.start_line,
        "end_line": chunk.end_line,
        "symbol": chunk.symbol,
        "kind": chunk.kind,
        "language": chunk.language,
        "commit": commit,
    }


class _ChunkCollection:
    """The methods of Chroma's `Collection` that `ChromaVectorStore` calls, with Chroma's arguments and replies."""

    def __init__(self, index: Index, vectors: Vectors) -> None:
        self._index = index
        self._vectors = vectors

    def query(
        self,
        query_embeddings: Sequence[float],
        n_results: int,
        where: Mapping[str, Any] | None = None,
        include: Sequence[str] = (),
    ) -> dict[str, list]:
        among = self._fitting(where) if where else None
        found = self._vectors.nearest(self._index, np.asarray(query_embeddings, np.float32), n_results, among)
        rows = [row for row, _ in found]
        reply = {name: [values] for name, values in self._reply(rows).items()}
        reply["distances"] = [[1.0 - similarity for _, similarity in found]]
        if "embeddings" in include:
            digests = self._index.digests[rows].tolist()
            known = self._vectors.get(digests)
            reply["embeddings"] = [[known.get(digest) for digest in digests]]
        return reply

    def get(
        self, ids: Sequence[str] | None = None, where: Mapping[str, Any] | None = None, limit: int | None = None
    ) -> dict[str, list]:
        return self._reply(self._fitting(where or {}, None if ids is None else frozenset(ids))[:limit])

    def add(self, **_: object) -> NoReturn:
        raise UsageError(i18n.message("retrieval.vectors.read_only"), i18n.message("retrieval.vectors.read_only_hint"))

    delete = add

    def _fitting(self, where: Mapping[str, Any], ids: frozenset[str] | None = None) -> list[int]:
        commit = self._index.commit
        return [
            row
            for row, chunk in enumerate(self._index.chunks)
            if (ids is None or chunk.id in ids) and _fits(_metadata(chunk, commit), where)
        ]

    def _reply(self, rows: Sequence[int]) -> dict[str, list]:
        nodes = [node_of(self._index.chunks[row], self._index.commit) for row in rows]
        return {
            "ids": [node.node_id for node in nodes],
            "documents": [node.text for node in nodes],
            "metadatas": [node_to_metadata_dict(node, remove_text=True, flat_metadata=True) for node in nodes],
        }


def _fits(metadata: Mapping[str, str | int], where: Mapping[str, Any]) -> bool:
    """Whether metadata satisfy a filter in Chroma's grammar."""
    for key, wanted in where.items():
        if key in ("$and", "$or"):
            fits = (all if key == "$and" else any)(_fits(metadata, part) for part in wanted)
        elif isinstance(wanted, Mapping):
            fits = key in metadata and all(_holds(name, metadata[key], value) for name, value in wanted.items())
        else:
            fits = metadata.get(key) == wanted
        if not fits:
            return False
    return True


def _holds(name: str, value: str | int, wanted: Any) -> bool:
    """Whether a comparison holds. Ordering a text against a number never does, as in Chroma."""
    try:
        return _COMPARE[name](value, wanted)
    except TypeError:
        return False
