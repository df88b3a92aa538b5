"""Which embedder is used, and that no text and no server can make it fail silently."""

import numpy as np
import pytest
from support.index_case import settings
from support.models import model_settings
from support.ollama_server import OllamaServer, refusing_url

from repopilot.errors import ModelError
from repopilot.index import embed
from repopilot.index.embed import Embedders
from repopilot.index.quantise import int8_products


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
    import onnxruntime
    from tokenizers import Tokenizer

    conf = model_settings(tmp_path)
    folder = conf.models / "minilm"
    published = onnxruntime.InferenceSession(str(folder / "model.onnx"), providers=["CPUExecutionProvider"])
    tokenizer = Tokenizer.from_file(str(folder / "tokenizer.json"))
    tokenizer.no_padding()
    tokenizer.enable_truncation(embed.MINILM_TOKENS)
    texts = ["def f(x):\n    return x + 1", "class Cart: holds items until checkout", "# Install\n\nUse pip."]
    ours = Embedders().choose(conf).embed(texts)
    for vector, text in zip(ours, texts, strict=True):
        theirs = embed._Session(published, tokenizer).vector(text)
        assert vector @ theirs > 0.97
