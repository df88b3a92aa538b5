"""Embedding models of a server that the user names: Ollama, or one that speaks the OpenAI protocol."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from functools import cache
from hashlib import blake2b
from typing import TYPE_CHECKING

import numpy as np

from repopilot import i18n
from repopilot.errors import ModelError
from repopilot.index.embedding.unit_length import normalise
from repopilot.llm.servers import ollama_api
from repopilot.llm.servers.embedding_server import EmbeddingServer, NoSuchModel
from repopilot.settings import Settings

if TYPE_CHECKING:
    from llama_index.embeddings.ollama import OllamaEmbedding

_LONGEST = 1500  # characters, about 500 tokens of code: within the context of every embedding model
_ASKED_TIMEOUT_S = 20.0
_BACKGROUND_TIMEOUT_S = 60.0
_PROBE_TIMEOUT_S = 2.0


@dataclass(frozen=True, eq=False)
class ServerEmbedder:
    """An embedding model of a server.

    Attributes:
        name: see `Embedder`.
        dimension: the length of the first vector that the server returned.
        vectors: the request to the server: texts and a timeout in seconds → (n, dimension). Raises ModelError.
        query_prefix: the text that the model expects before a question.
        document_prefix: the text that the model expects before a passage.
        at_once: see `Embedder`.
    """

    name: str
    dimension: int
    vectors: Callable[[Sequence[str], float], np.ndarray]
    query_prefix: str = ""
    document_prefix: str = ""
    at_once: int = 32

    def embed(self, texts: Sequence[str], *, query: bool = False, background: bool = False) -> np.ndarray:
        """See `Embedder`."""
        if not texts:
            return np.empty((0, self.dimension), np.float32)
        prefix = self.query_prefix if query else self.document_prefix
        cut = [prefix + text[:_LONGEST] or " " for text in texts]
        found = self.vectors(cut, _BACKGROUND_TIMEOUT_S if background else _ASKED_TIMEOUT_S)
        if found.shape != (len(texts), self.dimension):
            raise ModelError(
                i18n.message("index.unexpected_dimension", name=self.name), i18n.message("index.index_again")
            )
        return normalise(found)


def openai_embedder(settings: Settings) -> ServerEmbedder:
    """The model of `settings.embed_url`, after asking it for one vector.

    Tries both the address itself and its `/v1`, because servers document either.

    Args:
        settings: the address, the key, the model and its prefixes.

    Returns:
        The embedder.

    Raises:
        ModelError: no model is named, or the server gives no vector.
    """
    if not settings.embed_model:
        raise ModelError(i18n.message("index.embed_model_missing"))
    url = settings.embed_url.rstrip("/")
    missing: NoSuchModel | None = None
    for address in [url] if url.endswith("/v1") else [f"{url}/v1", url]:
        try:
            return _probed(address, settings)
        except NoSuchModel as error:
            missing = missing or error
    assert missing is not None
    raise missing


def _probed(url: str, settings: Settings) -> ServerEmbedder:
    server = EmbeddingServer(url, settings.embed_model, settings.embed_key)
    dimension = server.vectors(["dimension"], _ASKED_TIMEOUT_S).shape[1]
    prefixes = settings.embed_query_prefix, settings.embed_document_prefix
    name = f"server-{settings.embed_model}-{dimension}{_mark(prefixes[1])}"
    return ServerEmbedder(name, dimension, server.vectors, *prefixes)


def ollama_embedder(settings: Settings) -> ServerEmbedder:
    """The model `settings.embed_model` of the Ollama server, after asking it for one vector.

    Args:
        settings: the address, the model and its prefixes.

    Returns:
        The embedder.

    Raises:
        ModelError: Ollama doesn't answer, lacks the model, or gives no vector.
    """
    wanted = settings.embed_model
    answers = ((url, ollama_api.tags(url, _PROBE_TIMEOUT_S)) for url in settings.ollama_urls)
    address, tags = next((each for each in answers if each[1] is not None), ("", None))
    if tags is None:
        raise ModelError(i18n.message("index.ollama_silent", name=wanted))
    name = ollama_api.find([tag.name for tag in tags], wanted)
    if name is None:
        raise ModelError(i18n.message("index.ollama_lacks", name=wanted))
    from llama_index.embeddings.ollama import OllamaEmbedding

    @cache
    def model(seconds: float) -> OllamaEmbedding:  # a client has one limit for all its requests
        client = {"timeout": seconds}
        return OllamaEmbedding(name, address, embed_batch_size=16, keep_alive="24h", client_kwargs=client)

    def vectors(texts: Sequence[str], seconds: float) -> np.ndarray:
        return _ask_ollama(model(seconds), texts)

    dimension = vectors(["dimension"], _BACKGROUND_TIMEOUT_S).shape[1]  # Ollama may have to load the model first
    prefixes = settings.embed_query_prefix, settings.embed_document_prefix
    return ServerEmbedder(f"ollama-{name}{_mark(prefixes[1])}", dimension, vectors, *prefixes)


def _mark(document_prefix: str) -> str:
    """The part of an embedder's name that tells vectors with a document prefix from those without."""
    return f"-{blake2b(document_prefix.encode(), digest_size=4).hexdigest()}" if document_prefix else ""


def _ask_ollama(model: OllamaEmbedding, texts: Sequence[str]) -> np.ndarray:
    import httpx
    from ollama import ResponseError

    try:
        vectors = np.array(model.get_text_embedding_batch(list(texts)), np.float32)
    except (ConnectionError, httpx.HTTPError, ResponseError, ValueError) as error:
        raise ModelError(
            i18n.message("index.ollama_embedding_failed", name=model.model_name, error=str(error)),
            i18n.message("index.ollama_embedding_failed_hint"),
        ) from error
    if vectors.ndim != 2 or not np.isfinite(vectors).all():
        raise ModelError(i18n.message("index.no_vectors", name=model.model_name), i18n.message("index.no_vectors_hint"))
    return vectors
