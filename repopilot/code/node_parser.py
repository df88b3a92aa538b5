"""Chunks as LlamaIndex nodes, and the splitter as a LlamaIndex `NodeParser`. Importing LlamaIndex takes seconds."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import fields
from pathlib import PurePath
from typing import Any

from llama_index.core.node_parser import NodeParser
from llama_index.core.schema import BaseNode, MetadataMode, NodeRelationship, TextNode
from pydantic import Field

from repopilot.code.languages import file_kind, language_of
from repopilot.code.split import analyse
from repopilot.types import Chunk

CHUNK_METADATA = tuple(field.name for field in fields(Chunk) if field.name not in ("id", "text"))
"""The metadata of a chunk's node: everything but its id and its text, which are the node's own."""

_NOT_FOR_MODELS = ["kind", "language"]


class RepositoryNodeParser(NodeParser):
    """Splits documents into the very chunks that indexing makes: by definition, section, key or table, with exact
    lines.

    Definitions are found by the tree-sitter queries in `tags/`; those too long for one chunk are cut between their
    statements by LlamaIndex's `CodeSplitter`. A document's path is its metadata `path`, else `file_path` (as
    `SimpleDirectoryReader` sets it); language and kind of file follow from it.
    """

    root: str = Field(default="", description="Folder that paths become relative to, '' to leave them unchanged.")

    @classmethod
    def class_name(cls) -> str:
        """The name under which LlamaIndex serializes the parser."""
        return "RepositoryNodeParser"

    def _parse_nodes(self, nodes: Sequence[BaseNode], show_progress: bool = False, **kwargs: Any) -> list[BaseNode]:
        return [node for document in nodes for node in self._nodes_of(document)]

    def _nodes_of(self, document: BaseNode) -> Iterator[TextNode]:
        path = self._path(document)
        text = document.get_content(metadata_mode=MetadataMode.NONE).replace("\r\n", "\n").replace("\r", "\n")
        source = document.as_related_node_info()
        for chunk in analyse(path, text, language_of(path) or "text", file_kind(path)).chunks:
            node = node_of_chunk(chunk)
            node.relationships[NodeRelationship.SOURCE] = source
            yield node

    def _path(self, document: BaseNode) -> str:
        path = PurePath(str(document.metadata.get("path") or document.metadata.get("file_path") or document.node_id))
        relative = path.relative_to(self.root) if self.root and path.is_relative_to(self.root) else path
        return relative.as_posix()


def node_of_chunk(chunk: Chunk) -> TextNode:
    """A chunk as a node of the same id and text; `chunk_of_node` gives the chunk back.

    The metadata (`CHUNK_METADATA`) is left out of what is embedded, as in the index; a language model gets path,
    lines and symbol.
    """
    return TextNode(
        id_=chunk.id,
        text=chunk.text,
        metadata={name: getattr(chunk, name) for name in CHUNK_METADATA},
        excluded_embed_metadata_keys=list(CHUNK_METADATA),
        excluded_llm_metadata_keys=list(_NOT_FOR_MODELS),
    )


def chunk_of_node(node: BaseNode) -> Chunk:
    """The chunk that a node was created from.

    Args:
        node: from `node_of_chunk`, `RepositoryNodeParser` or a store that keeps metadata; further metadata is ignored.

    Returns:
        The chunk, equal to the one the node was created from.

    Raises:
        KeyError: the node lacks some of `CHUNK_METADATA`.
    """
    values = {name: node.metadata[name] for name in CHUNK_METADATA}
    return Chunk(id=node.node_id, text=node.get_content(metadata_mode=MetadataMode.NONE), **values)
