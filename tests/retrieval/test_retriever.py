"""Hybrid search as a LlamaIndex retriever: the program's own hits, in a query engine, with filters, sync and async."""

from __future__ import annotations

import subprocess
import sys

import pytest
from llama_index.core import VectorStoreIndex
from llama_index.core.query_engine import RetrieverQueryEngine
from llama_index.core.vector_stores import MetadataFilter, MetadataFilters
from support.index_case import WordEmbedder, instant_index, settings, snapshot, write
from support.small_repo import FILES

from repopilot.code.node_parser import chunk_of_node
from repopilot.index.vectors import node_store, release
from repopilot.llm.scripted import ScriptedLLM
from repopilot.retrieval.retriever import EmbedderModel, HybridRetriever
from repopilot.retrieval.search import search

QUESTION = "how is the discount computed?"


@pytest.fixture(scope="module")
def index(tmp_path_factory):
    root = write(tmp_path_factory.mktemp("shop"), FILES)
    conf = settings(tmp_path_factory.mktemp("home"))
    yield instant_index(snapshot(root), conf)
    release(conf.indexes)


@pytest.fixture
def model():
    return ScriptedLLM(lambda messages: "By the function with_discount.")


@pytest.mark.parametrize("embedder", [None, WordEmbedder()], ids=["lexical", "with vectors"])
@pytest.mark.parametrize("question", [QUESTION, "Cart.total", "what is this project about?", "file:shop/* price"])
def test_nodes_are_the_hits_of_the_search(index, question, embedder):
    hits = search(index, question, 5, embedder=embedder).hits
    found = HybridRetriever(index, embedder, k=5).retrieve(question)
    assert hits
    assert [chunk_of_node(node.node) for node in found] == [hit.chunk for hit in hits]
    assert [node.score for node in found] == [hit.score for hit in hits]
    assert [node.metadata["why"] for node in found] == [hit.why for hit in hits]


@pytest.mark.slow
def test_a_query_engine_answers_from_what_is_retrieved(index, model):
    engine = RetrieverQueryEngine.from_args(HybridRetriever(index, k=3), llm=model)
    answer = engine.query(QUESTION)
    assert str(answer) == "By the function with_discount."
    best = answer.source_nodes[0]
    assert best.metadata["path"] == "shop/prices.py"
    assert best.metadata["symbol"] == search(index, QUESTION).hits[0].chunk.symbol
    assert "def with_discount" in best.text
    assert 1 <= best.metadata["start_line"] < best.metadata["end_line"]
    prompt = "\n".join(message.content for message in model.calls[0])
    assert best.text in prompt
    assert "shop/prices.py" in prompt
    assert "why" not in prompt


async def test_a_query_engine_answers_asynchronously(index, model):
    engine = RetrieverQueryEngine.from_args(HybridRetriever(index, k=3), llm=model)
    answer = await engine.aquery(QUESTION)
    assert str(answer) == "By the function with_discount."
    assert [n.node_id for n in answer.source_nodes] == [n.node_id for n in engine.query(QUESTION).source_nodes]


@pytest.mark.parametrize(
    ("filters", "key", "allowed"),
    [
        ("file:shop/cart.py", "path", {"shop/cart.py"}),
        ("file:*.js", "path", {"web/basket.js"}),
        ("lang:python", "language", {"python"}),
        ("lang:py file:shop/*", "language", {"python"}),
        ("kind:function", "kind", {"function"}),
        ("kind:doc kind:schema", "kind", {"doc", "schema"}),
    ],
)
async def test_filters_hold_in_the_query_and_for_every_query(index, model, filters, key, allowed):
    always = RetrieverQueryEngine.from_args(HybridRetriever(index, k=20, filters=filters), llm=model)
    asked = RetrieverQueryEngine.from_args(HybridRetriever(index, k=20), llm=model)
    question = "price of the cart: renderBasket"
    for answer in (always.query(question), await asked.aquery(f"{filters} {question}")):
        assert answer.source_nodes
        assert {node.metadata[key] for node in answer.source_nodes} <= allowed


def test_filters_that_nothing_satisfies_give_no_nodes(index):
    assert HybridRetriever(index, filters="file:nowhere").retrieve(QUESTION) == []


def test_an_index_over_the_stored_vectors_answers_with_filters(index, model):
    embedder = WordEmbedder()
    documents = VectorStoreIndex.from_vector_store(node_store(index, embedder), embed_model=EmbedderModel(embedder))
    chunk = next(chunk for chunk in index.chunks if "def with_discount" in chunk.text)
    best = documents.as_retriever(similarity_top_k=1).retrieve(chunk.text)[0]
    assert chunk_of_node(best.node) == chunk
    only = MetadataFilters(filters=[MetadataFilter(key="language", value="javascript")])
    answer = documents.as_query_engine(llm=model, filters=only, similarity_top_k=3).query(chunk.text)
    assert {node.metadata["path"] for node in answer.source_nodes} == {"web/basket.js"}


@pytest.mark.slow
def test_searching_imports_no_part_of_llamaindex(index):
    code = f"""
import sys
sys.path[:] = {sys.path}
from pathlib import Path
from support.index_case import WordEmbedder
from repopilot.index.store import Index
from repopilot.retrieval.search import search
index = Index(Path({str(index.folder)!r}))
assert search(index, "discount", embedder=WordEmbedder()).hits
print([name for name in sys.modules if name.startswith("llama_index")])
"""
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True)
    assert done.stdout == "[]\n"
