"""What RepoPilot indexed, in somebody's own LlamaIndex application."""

import subprocess
import sys
from pathlib import Path

import pytest
from llama_index.core import VectorStoreIndex
from llama_index.core.query_engine import RetrieverQueryEngine
from llama_index.core.schema import TextNode
from llama_index.core.vector_stores import FilterCondition, FilterOperator, MetadataFilter, MetadataFilters
from llama_index.core.vector_stores.types import VectorStoreQuery, VectorStoreQueryMode
from llama_index.vector_stores.chroma import ChromaVectorStore
from support.git_server import commit, publish, serve
from support.index_case import FILES, settings, write
from support.ollama_server import OllamaServer
from support.scripted_llm import ScriptedLLM

from repopilot.errors import ModelError, SourceError, UsageError
from repopilot.llamaindex import RepositoryRetriever

SAME = "def same():\n    return 'the same text twice'\n"
APPLICATION = Path(__file__).parents[2] / "docs" / "llamaindex_app.py"


@pytest.fixture(scope="module")
def shop(tmp_path_factory):
    return write(tmp_path_factory.mktemp("shop"), {**FILES, "a/same.py": SAME, "b/same.py": SAME})


@pytest.fixture(scope="module")
def conf(tmp_path_factory):
    with OllamaServer(models=["all-minilm:latest"]) as server:
        home = tmp_path_factory.mktemp("home")
        yield settings(home, embed_model="all-minilm", ollama_url=server.url, embedded=False, auto_download=False)


@pytest.fixture(scope="module")
def retriever(shop, conf):
    with RepositoryRetriever(shop, k=4, settings=conf) as made:
        yield made


@pytest.fixture(scope="module")
def store(retriever):
    return retriever.vector_store()


def paths(nodes):
    return [node.metadata["path"] for node in nodes]


def nearest(store, retriever, text, k=3, filters=None):
    vector = retriever.embed_model().get_query_embedding(text)
    return store.query(VectorStoreQuery(query_embedding=vector, similarity_top_k=k, filters=filters))


def where(key, value, operator=FilterOperator.EQ):
    return MetadataFilter(key=key, value=value, operator=operator)


@pytest.mark.slow
async def test_a_query_engine_answers_from_the_passages(retriever):
    llm = ScriptedLLM(lambda messages: "It sums the prices of its items.")
    engine = RetrieverQueryEngine.from_args(retriever, llm=llm)
    for answer in (engine.query("what does Cart.total compute?"), await engine.aquery("what does Cart.total compute?")):
        assert str(answer) == "It sums the prices of its items."
        first = answer.source_nodes[0]
        assert first.metadata["path"] == "src/shop/cart.py" and first.metadata["symbol"] == "Cart"
        lines = FILES["src/shop/cart.py"].splitlines()[first.metadata["start_line"] - 1 : first.metadata["end_line"]]
        assert first.text == "\n".join(lines)
        assert first.metadata["commit"] == "unversioned" and first.score > 0
    prompt = llm.calls[0][-1].content
    assert "path: src/shop/cart.py" in prompt and "return sum(price" in prompt and "commit" not in prompt


@pytest.mark.slow
def test_filters_hold_for_every_query_and_no_words_find_nothing(shop, conf):
    with RepositoryRetriever(shop, filters="file:tests/*", settings=conf) as limited:
        assert set(paths(limited.retrieve("Cart total"))) == {"tests/test_cart.py"}
        assert limited.retrieve("zyxwv file:nowhere/*") == []


@pytest.mark.slow
def test_it_works_without_an_embedding_model(shop, tmp_path):
    conf = settings(tmp_path / "home", dense=False)
    with RepositoryRetriever(str(shop), k=1, settings=conf) as lexical:
        assert paths(lexical.retrieve("how is the discount computed?")) == ["src/shop/prices.py"]
        with pytest.raises(ModelError):
            lexical.vector_store()
        with pytest.raises(ModelError):
            lexical.embed_model()


def test_what_is_no_repository_is_said(tmp_path, conf):
    with pytest.raises(SourceError):
        RepositoryRetriever(tmp_path / "nowhere", settings=conf)


@pytest.mark.slow
@pytest.mark.thorough
def test_a_cloned_repository_is_brought_up_to_date(tmp_path, conf):
    work = tmp_path / "work"
    conf = conf.model_copy(update={"home": tmp_path / "home", "allow_http": True, "allow_private_hosts": True})
    first = commit(work, FILES)
    publish(work, tmp_path / "served")
    with serve(tmp_path / "served") as server, RepositoryRetriever(f"{server.url}/demo.git", settings=conf) as cloned:
        assert {node.metadata["commit"] for node in cloned.retrieve("cart")} == {first}
        second = commit(work, {"src/shop/coupon.py": "def redeem_coupon(code):\n    return code\n"})
        publish(work, tmp_path / "served")
        nodes = cloned.vector_store().get_nodes(None)
        assert {node.metadata["commit"] for node in nodes} == {second}
        assert (
            "src/shop/coupon.py" in paths(nodes) and paths(cloned.retrieve("redeem_coupon"))[0] == "src/shop/coupon.py"
        )


@pytest.mark.slow
async def test_a_query_engine_over_the_vector_store(retriever, store):
    assert isinstance(store, ChromaVectorStore)
    index = VectorStoreIndex.from_vector_store(store, embed_model=retriever.embed_model())
    llm = ScriptedLLM(lambda messages: "Ninety per cent of the total.")
    engine = index.as_query_engine(llm=llm, similarity_top_k=3)
    for answer in (engine.query("discount cart total"), await engine.aquery("discount cart total")):
        assert str(answer) == "Ninety per cent of the total." and len(answer.source_nodes) == 3
        assert paths(answer.source_nodes)[0] == "src/shop/prices.py"
        assert set(answer.source_nodes[0].metadata) == {
            "path", "start_line", "end_line", "symbol", "kind", "language", "commit"
        }  # fmt: skip
    assert "cart.total() * 0.9" in llm.calls[0][-1].content


def test_both_ways_give_the_same_nodes(retriever, store):
    node = retriever.retrieve("symbol:discount discount")[0].node
    assert store.get_nodes([node.node_id]) == [node]
    found = nearest(store, retriever, node.text)
    assert found.nodes[0] == node and found.similarities[0] == pytest.approx(1.0, abs=1e-4)
    assert found.similarities == sorted(found.similarities, reverse=True)


def test_a_text_that_occurs_twice_has_two_nodes_and_a_filter_chooses(retriever, store):
    assert sorted(paths(nearest(store, retriever, SAME, 2).nodes)) == ["a/same.py", "b/same.py"]
    only = MetadataFilters(filters=[where("path", "b/same.py")])
    assert paths(nearest(store, retriever, SAME, filters=only).nodes) == ["b/same.py"]


@pytest.mark.parametrize(
    ("filters", "condition", "found"),
    [
        ([where("language", "markdown")], FilterCondition.AND, {"README.md"}),
        ([where("symbol", "Cart"), where("path", "README.md")], FilterCondition.AND, set()),
        ([where("symbol", "price"), where("path", "b/same.py")], FilterCondition.OR,
         {"src/shop/prices.py", "b/same.py"}),
        ([where("path", ["README.md", "a/same.py"], FilterOperator.IN)], FilterCondition.AND,
         {"README.md", "a/same.py"}),
        ([where("language", "python", FilterOperator.NE), where("kind", "config", FilterOperator.NE)],
         FilterCondition.AND, {"README.md"}),
        ([where("end_line", 7, FilterOperator.GTE), where("end_line", 9, FilterOperator.LT)], FilterCondition.AND,
         {"README.md"}),
        ([where("nothing", 1, FilterOperator.GT)], FilterCondition.AND, set()),
        ([where("path", 1, FilterOperator.GT)], FilterCondition.AND, set()),
    ],
)  # fmt: skip
def test_filters_by_metadata(retriever, store, filters, condition, found):
    wanted = MetadataFilters(filters=filters, condition=condition)
    assert set(paths(nearest(store, retriever, "cart", 50, filters=wanted).nodes)) == found


def test_diverse_nodes_can_be_asked_for(retriever, store):
    vector = retriever.embed_model().get_query_embedding(SAME)
    query = VectorStoreQuery(query_embedding=vector, similarity_top_k=2, mode=VectorStoreQueryMode.MMR)
    assert len({node.text for node in store.query(query, mmr_threshold=0.1).nodes}) == 2


def test_the_vectors_of_the_index_cannot_be_changed(retriever, store):
    before = paths(store.get_nodes(None))
    node = TextNode(text="mine", embedding=[1.0] * 384)
    for change in (lambda: store.add([node]), lambda: store.delete_nodes([node.node_id]), store.clear):
        with pytest.raises(UsageError, match="can't change"):
            change()
    assert paths(store.get_nodes(None)) == before


@pytest.mark.slow
@pytest.mark.thorough
def test_vectors_that_another_process_owns_are_refused_and_passages_found(shop, conf, retriever, store):
    code = f"""
import sys
sys.path[:] = {sys.path}
from pathlib import Path
from support.git_server import commit, publish, serve
from support.index_case import settings
from repopilot.errors import StorageError
from repopilot.llamaindex import RepositoryRetriever
conf = settings(Path({str(conf.home)!r}), embed_model="all-minilm", ollama_url={conf.ollama_url!r})
with RepositoryRetriever({str(shop)!r}, k=1, settings=conf) as retriever:
    print(retriever.retrieve("discount")[0].metadata["path"])
    try:
        retriever.vector_store()
    except StorageError as error:
        print(error)
"""
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True)
    assert done.stdout.startswith("src/shop/prices.py\nAnother RepoPilot process uses the vector store.")
    assert nearest(store, retriever, SAME).nodes


@pytest.mark.slow
def test_the_application_of_the_documentation_runs(shop, tmp_path):
    with OllamaServer(reply=lambda messages: "It sums the prices.") as server:
        command = [
            sys.executable,
            str(APPLICATION),
            str(shop),
            "what computes the total of a cart?",
            "qwen2.5-coder:0.5b",
            server.url,
        ]
        environment = {"PATH": "/usr/bin", "PYTHONPATH": str(APPLICATION.parents[1]), "REPOPILOT_HOME": str(tmp_path),
                       "REPOPILOT_DENSE": "false"}  # fmt: skip
        done = subprocess.run(command, capture_output=True, text=True, check=True, env=environment, cwd=tmp_path)
    answer, *places = done.stdout.splitlines()
    assert answer == "It sums the prices."
    assert places[0].startswith("src/shop/cart.py:") and "Cart" in places[0]
