"""Which embedder is used, and that no text and no server can make it fail silently."""

import os
import re
import subprocess
import sys
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path

import numpy as np
import pytest
from support.index_case import settings
from support.models import model_settings
from support.ollama_server import OllamaServer, refusing_url
from support.ollama_wire import embedding
from support.waiting import PATIENCE_S

from repopilot.errors import ModelError
from repopilot.index import embed
from repopilot.index.embed import Embedders
from repopilot.index.embedding import server_embedder
from repopilot.index.embedding.quantise import int8_products


def test_without_a_model_the_reason_is_given(tmp_path):
    assert Embedders().choose(settings(tmp_path)) is None
    assert "models pull minilm" in Embedders().explain_choice(settings(tmp_path)).note


def test_vectors_can_be_switched_off(tmp_path):
    assert Embedders().explain_choice(settings(tmp_path, dense=False)) == (
        None,
        "Embedding vectors are switched off (REPOPILOT_DENSE).",
    )


def test_a_broken_model_file_is_reported(tmp_path):
    folder = tmp_path / "minilm"
    folder.mkdir()
    (folder / "model.onnx").write_bytes(b"\x0f no model")
    (folder / "tokenizer.json").write_text("{}")
    with pytest.raises(ModelError, match="can't be loaded"):
        embed.MiniLM(folder).embed(["text"])


def test_what_is_no_model_is_not_quantised():
    with pytest.raises(ValueError, match="not an ONNX model"):
        int8_products(b"\xff\xff\xff\xff")


@pytest.mark.slow
def test_ollama_embeds_when_it_is_asked_to(tmp_path):
    with OllamaServer(models=["all-minilm:latest"]) as server:
        conf = settings(tmp_path, embed_model="all-minilm", ollama_url=server.url)
        found = Embedders().choose(conf)
        assert found.name == "ollama-all-minilm:latest"
        vectors = found.embed(["def f(): pass", "", "x" * 1_000_000])
        assert vectors.shape == (3, found.dimension)
        assert np.allclose(np.linalg.norm(vectors, axis=1), 1.0, atol=1e-5)
        assert found.embed([]).shape == (0, found.dimension)
        assert max(len(text) for body in server.state.sent("/api/embed") for text in body["input"]) <= 2000


@pytest.mark.slow
@pytest.mark.parametrize("native", [True, False])
@pytest.mark.parametrize("background", [True, False])
def test_a_question_waits_less_for_a_server_than_the_background_does(tmp_path, monkeypatch, native, background):
    longer = ("_BACKGROUND_TIMEOUT_S", "_ASKED_TIMEOUT_S")[:: 1 if background else -1][0]
    with OllamaServer(native=native, models=["all-minilm:latest"]) as server:
        for name in ("_ASKED_TIMEOUT_S", "_BACKGROUND_TIMEOUT_S"):
            monkeypatch.setattr(server_embedder, name, 0.3 if name == longer else PATIENCE_S)
        place = {"ollama_url": server.url} if native else {"embed_url": server.url, "ollama_url": ""}
        found = Embedders().choose(settings(tmp_path, embed_model="all-minilm:latest", **place))
        server.state.behaviour = "hang"
        with ThreadPoolExecutor() as threads, pytest.raises(ModelError):
            asked = threads.submit(found.embed, ["text"], query=not background, background=background)
            asked.result(PATIENCE_S / 2)  # by the other limit it would still be waiting


@pytest.mark.slow
@pytest.mark.parametrize("behaviour", ["500", "garbage"])
def test_a_failing_ollama_is_reported(tmp_path, behaviour):
    with OllamaServer(models=["all-minilm:latest"]) as server:
        found = Embedders().choose(settings(tmp_path, embed_model="all-minilm", ollama_url=server.url))
        server.state.behaviour = behaviour
        with pytest.raises(ModelError, match="all-minilm"):
            found.embed(["text"])


def test_an_ollama_without_the_model_or_without_an_answer_is_reported(tmp_path):
    with OllamaServer(models=["qwen2.5-coder:0.5b"]) as server:
        note = Embedders().explain_choice(settings(tmp_path, embed_model="all-minilm", ollama_url=server.url)).note
    assert note.startswith("Ollama has no embedding model all-minilm (`ollama pull all-minilm`).")
    note = Embedders().explain_choice(settings(tmp_path, embed_model="all-minilm", ollama_url=refusing_url())).note
    assert note.startswith("Ollama does not answer")


def _openai(tmp_path, server, **options):
    return settings(tmp_path, embed_url=server.url, embed_model="bge-small", ollama_url="", **options)


@pytest.mark.parametrize("path", ["", "/", "/v1", "/v1/"])
def test_an_openai_compatible_server_embeds_when_it_is_asked_to(tmp_path, path):
    with OllamaServer(native=False, models=["bge-small"], key="secret") as server:
        conf = settings(tmp_path, embed_url=server.url + path, embed_model="bge-small", embed_key="secret")
        found = Embedders().choose(conf)
        assert (found.name, found.dimension) == ("server-bge-small-384", 384)
        texts = [f"text number {n}" for n in range(70)] + ["", "x" * 1_000_000]
        vectors = found.embed(texts)
        assert vectors.shape == (72, 384)
        assert np.allclose(vectors[:70], [embedding(text) for text in texts[:70]], atol=1e-6), "in the order of texts"
        assert found.embed([]).shape == (0, 384)
        sent = [body["input"] for body in server.state.sent("/v1/embeddings")]
        assert max(map(len, sent)) <= 32
        assert max(len(text) for batch in sent for text in batch) <= 2000


def test_a_server_is_asked_in_smaller_parts_where_it_refuses_large_ones(tmp_path):
    with OllamaServer(native=False, models=["bge-small"], most_embedded=5, longest_embedded=700) as server:
        found = Embedders().choose(_openai(tmp_path, server))
        texts = [f"def number_{n}(): return {n}" for n in range(11)] + ["word " * 1000]
        assert np.allclose(found.embed(texts)[:11], [embedding(text) for text in texts[:11]], atol=1e-6)


def test_prefixes_tell_questions_from_passages(tmp_path):
    with OllamaServer(native=False, models=["bge-small"]) as server:
        plain = Embedders().choose(_openai(tmp_path, server))
        prefixes = {"embed_query_prefix": "query: ", "embed_document_prefix": "passage: "}
        found = Embedders().choose(_openai(tmp_path, server, **prefixes))
        found.embed(["where is it?"], query=True)
        found.embed(["def f(): pass"])
        assert [body["input"] for body in server.state.sent("/v1/embeddings")[-2:]] == [
            ["query: where is it?"],
            ["passage: def f(): pass"],
        ]
    assert found.name != plain.name, "vectors of passages with and without a prefix don't mix"


def test_a_server_is_probed_once_for_many_questions(tmp_path):
    with OllamaServer(native=False, models=["bge-small"]) as server:
        embedders = Embedders()
        found = {embedders.choose(_openai(tmp_path, server)) for _ in range(5)}
        assert len(found) == 1
        assert len(server.state.sent("/v1/embeddings")) == 1


@pytest.mark.parametrize(
    ("options", "said"),
    [
        ({"key": "secret"}, "refused the key. Check REPOPILOT_EMBED_KEY."),
        ({"models": ["another"]}, "has no embeddings for bge-small"),
        ({"behaviour": "500"}, "answered 500"),
        ({"behaviour": "garbage"}, "did not answer with vectors"),
    ],
)
def test_why_a_server_is_not_used_is_said(tmp_path, options, said):
    with OllamaServer(native=False, **{"models": ["bge-small"], **options}) as server:
        embedder, note = Embedders().explain_choice(_openai(tmp_path, server, embed_key="wrong"))
    assert embedder is None
    assert said in note
    assert "wrong" not in note and "secret" not in note


@pytest.mark.parametrize("url", ["not an address", "http://[", "http://user:hidden@127.0.0.1:1/v1", "ftp://host"])
def test_an_address_without_a_server_is_reported_without_its_password(tmp_path, url):
    conf = settings(tmp_path, embed_url=url, embed_model="bge-small")
    embedder, note = Embedders().explain_choice(conf)
    assert embedder is None
    assert "does not answer" in note
    assert "hidden" not in note


def test_a_server_needs_a_model(tmp_path):
    with OllamaServer(native=False) as server:
        note = Embedders().explain_choice(settings(tmp_path, embed_url=server.url)).note
    assert "REPOPILOT_EMBED_MODEL" in note


def test_a_server_that_changes_its_model_is_reported(tmp_path):
    with OllamaServer(native=False, models=["bge-small"]) as server:
        found = Embedders().choose(_openai(tmp_path, server))
        server.state.dimension = 768
        with pytest.raises(ModelError, match="dimension"):
            found.embed(["text"])


def test_a_failing_server_fails_aloud(tmp_path):
    with OllamaServer(native=False, models=["bge-small"]) as server:
        found = Embedders().choose(_openai(tmp_path, server))
        server.state.behaviour = "500"
        with pytest.raises(ModelError, match="bge-small"):
            found.embed(["text"])


@pytest.mark.model
def test_minilm_knows_what_belongs_together(tmp_path):
    found = Embedders().choose(model_settings(tmp_path))
    texts = [
        "def parse_arguments(argv): return ArgumentParser().parse_args(argv)",
        "read the options of the command line",
        "class Basket: prices of fruit and vegetables",
        "",
        "word " * 10_000,
    ]
    vectors = found.embed(texts)
    assert vectors.shape == (5, 384)
    assert vectors.dtype == np.float32
    assert np.allclose(np.linalg.norm(vectors, axis=1), 1.0, atol=1e-5)
    assert vectors[0] @ vectors[1] > vectors[0] @ vectors[2]
    assert np.array_equal(vectors, found.embed(texts, background=True))
    assert np.array_equal(vectors[1], found.embed(texts[1:2])[0]), "a vector doesn't depend on its batch-mates"


@pytest.mark.model
def test_int8_products_stay_close_to_the_published_model(tmp_path):
    from tokenizers import Tokenizer

    conf = model_settings(tmp_path)
    folder = conf.models / "minilm"
    published = embed.silent_onnxruntime().InferenceSession(
        str(folder / "model.onnx"), providers=["CPUExecutionProvider"]
    )
    tokenizer = Tokenizer.from_file(str(folder / "tokenizer.json"))
    tokenizer.no_padding()
    tokenizer.enable_truncation(embed.MINILM_TOKENS)
    texts = ["def f(x):\n    return x + 1", "class Cart: holds items until checkout", "# Install\n\nUse pip."]
    ours = Embedders().choose(conf).embed(texts)
    for vector, text in zip(ours, texts, strict=True):
        theirs = embed._Session(published, tokenizer).vector(text)
        assert vector @ theirs > 0.97


@pytest.mark.slow
def test_the_library_that_runs_the_model_sends_no_telemetry(tmp_path):
    # Its telemetry begins a session in a file `.ses` when it is imported.
    code = "from repopilot.index.embed import silent_onnxruntime; silent_onnxruntime()"
    environment = {**os.environ, "TMPDIR": str(tmp_path)}
    environment.pop("ORT_DISABLE_TELEMETRY", None)
    subprocess.run([sys.executable, "-c", code], check=True, env=environment)
    assert list(tmp_path.iterdir()) == []


@pytest.mark.slow
def test_only_the_silent_import_loads_the_library():
    sources = Path(embed.__file__).parents[1].rglob("*.py")
    assert [p.name for p in sources if re.search(r"^\s*(import|from) onnxruntime", p.read_text(), re.M)] == ["embed.py"]
