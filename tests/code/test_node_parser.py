"""The splitter as a LlamaIndex node parser: the chunks of the index, and chunks to nodes and back without loss."""

from __future__ import annotations

from dataclasses import asdict
from pathlib import Path
from typing import get_args

import pytest
from hypothesis import given
from hypothesis import strategies as st
from llama_index.core import Document, SimpleDirectoryReader
from llama_index.core.ingestion import IngestionPipeline
from llama_index.core.schema import MetadataMode, TextNode
from support.index_case import instant_index, settings, snapshot, write

from repopilot.code.node_parser import CHUNK_METADATA, RepositoryNodeParser, chunk_of_node, node_of_chunk
from repopilot.types import Chunk, ChunkKind

SAMPLES = Path(__file__).parent / "samples"
LONG = "def long(value):\n" + "".join(f"    value = value + {n}\n    print(value)\n\n" for n in range(90))
FILES = {
    **{path.name: path.read_text("utf-8") for path in SAMPLES.iterdir() if path.suffix != ".txt"},
    "long.py": LONG,
    "README.md": "# Shop\r\n\r\nA shop.\r\n\r\n## Use\r\n\r\nPut things into the cart.\r\n",
    "schema.sql": "CREATE TABLE orders (id int, total int);\n\nCREATE TABLE items (id int);\n",
    "pyproject.toml": '[project]\nname = "shop"\n',
    "header.h": "class Cart {\npublic:\n  int total();\n};\n",
}

chunks = st.builds(
    Chunk,
    id=st.text("0123456789abcdef", min_size=24, max_size=24),
    path=st.text(min_size=1),
    start_line=st.integers(1, 10**6),
    end_line=st.integers(1, 10**6),
    language=st.text(),
    kind=st.sampled_from(get_args(ChunkKind)),
    symbol=st.text(),
    text=st.text(),
)


@pytest.fixture(scope="module")
def index(tmp_path_factory):
    root = write(tmp_path_factory.mktemp("shop"), FILES)
    conf = settings(tmp_path_factory.mktemp("home"))
    return instant_index(snapshot(root), conf)


@given(chunks)
def test_a_chunk_survives_the_journey_through_a_node(chunk):
    assert chunk_of_node(node_of_chunk(chunk)) == chunk


@given(chunks)
def test_a_chunk_survives_a_node_written_as_json(chunk):
    assert chunk_of_node(TextNode.from_json(node_of_chunk(chunk).to_json())) == chunk


@given(chunks)
def test_what_is_embedded_of_a_node_is_the_text_alone(chunk):
    assert node_of_chunk(chunk).get_content(MetadataMode.EMBED) == chunk.text


def test_a_node_without_the_metadata_of_a_chunk_is_refused():
    with pytest.raises(KeyError, match="path"):
        chunk_of_node(TextNode(text="x"))


def test_nodes_are_the_chunks_of_the_index(index):
    documents = [Document(text=text, metadata={"path": path}) for path, text in FILES.items()]
    nodes = RepositoryNodeParser().get_nodes_from_documents(documents)
    assert {chunk.path for chunk in index.chunks} == set(FILES)
    assert sorted(map(chunk_of_node, nodes), key=str) == sorted(index.chunks, key=str)
    for node in nodes:
        chunk = next(chunk for chunk in index.chunks if chunk.id == node.node_id)
        assert node.text == chunk.text
        assert {name: node.metadata[name] for name in CHUNK_METADATA} == {
            name: value for name, value in asdict(chunk).items() if name in CHUNK_METADATA
        }


def test_nodes_know_their_document_and_their_neighbours():
    document = Document(text=LONG, metadata={"path": "long.py", "owner": "shop"})
    nodes = RepositoryNodeParser().get_nodes_from_documents([document])
    assert len(nodes) > 2
    assert all(node.ref_doc_id == document.id_ for node in nodes)
    assert all(node.metadata["owner"] == "shop" and node.metadata["symbol"] == "long" for node in nodes)
    assert [node.next_node.node_id for node in nodes[:-1]] == [node.node_id for node in nodes[1:]]
    for node in nodes:
        assert document.text[node.start_char_idx : node.end_char_idx] == node.text


def test_the_parser_works_in_a_pipeline_over_a_directory_reader(tmp_path):
    write(tmp_path, {"shop/cart.py": "def total():\n    return 1\n"})
    documents = SimpleDirectoryReader(tmp_path, recursive=True).load_data()
    (node,) = IngestionPipeline(transformations=[RepositoryNodeParser(root=str(tmp_path))]).run(documents=documents)
    assert (node.metadata["path"], node.metadata["symbol"], node.metadata["kind"]) == (
        "shop/cart.py",
        "total",
        "function",
    )


async def test_the_parser_works_asynchronously():
    document = Document(text="def total():\n    return 1\n", metadata={"path": "cart.py"})
    nodes = await RepositoryNodeParser().aget_nodes_from_documents([document])
    assert [node.metadata["symbol"] for node in nodes] == ["total"]
