"""Embeddings: the built-in MiniLM, or a model of the user's Ollama. Loaded when first used."""

from __future__ import annotations

import os
import threading
from collections.abc import Sequence
from concurrent.futures import ThreadPoolExecutor
from dataclasses import dataclass, field
from functools import cached_property
from pathlib import Path
from typing import TYPE_CHECKING, Any, NamedTuple, Protocol

import numpy as np

from repopilot.errors import ModelError
from repopilot.llm import models, ollama_api
from repopilot.settings import Settings

if TYPE_CHECKING:
    from llama_index.embeddings.ollama import OllamaEmbedding

MINILM_TOKENS = 128
_MINILM_CHARS = 4000  # more than 128 tokens of anything but blanks; the rest need not be tokenised
_OLLAMA_CHARS = 1500  # about 500 tokens of code: within the context of every embedding model
_OLLAMA_TIMEOUT_S = 60.0
_REACH_S = 2.0
_SEVERAL = 4


class Embedder(Protocol):
    """Turns texts into vectors. `name` identifies model and recipe: vectors of different names don't mix."""

    @property
    def name(self) -> str: ...

    @property
    def dimension(self) -> int: ...

    def embed(self, texts: Sequence[str], *, background: bool = False) -> np.ndarray:
        """float32 (n, dimension), L2-normalised. What is too long is cut. `background`: one thread only.

        Thread-safe. Raises ModelError.
        """
        ...


class Choice(NamedTuple):
    """The embedder that can be used now, or why there is none; `note` says it in words, '' when all is as asked for."""

    embedder: Embedder | None
    note: str


def choose(settings: Settings) -> Embedder | None:
    """The embedder that can be used now; None means lexical search only (`choice` says why). Never downloads."""
    return choice(settings).embedder


def choice(settings: Settings) -> Choice:
    """The user's Ollama model if one is set and answers, else the built-in MiniLM if it is installed."""
    if not settings.dense:
        return Choice(None, "Embedding vectors are switched off (REPOPILOT_DENSE).")
    note = ""
    if settings.embed_model:
        found, note = _ollama(settings)
        if found is not None:
            return Choice(found, "")
    folder = models.installed("minilm", settings)
    if folder is not None:
        return Choice(MiniLM(folder), f"{note} The built-in MiniLM is used." if note else "")
    missing = "The embedding model is not installed (`python -m repopilot models pull minilm`): lexical search only."
    return Choice(None, f"{note} {missing}".strip())


@dataclass(eq=False)
class MiniLM:
    """all-MiniLM-L6-v2 as ONNX. Texts go through one by one: results of an int8 model depend on their batch-mates."""

    folder: Path
    name: str = f"minilm-l6-v2-w8a8-{MINILM_TOKENS}"
    dimension: int = 384
    _lock: threading.Lock = field(default_factory=threading.Lock, repr=False)

    def embed(self, texts: Sequence[str], *, background: bool = False) -> np.ndarray:
        """See `Embedder`."""
        if not texts:
            return np.empty((0, self.dimension), np.float32)
        run = self._loaded
        if background or len(texts) < _SEVERAL:
            return np.stack([run.vector(text) for text in texts])
        return np.stack(list(self._threads.map(run.vector, texts)))

    @property
    def _loaded(self) -> _Session:
        with self._lock:
            return self._session

    @cached_property
    def _session(self) -> _Session:
        return _load(self.folder)

    @cached_property
    def _threads(self) -> ThreadPoolExecutor:
        return ThreadPoolExecutor(min(4, os.cpu_count() or 1), "embed")


class _Session(NamedTuple):
    session: Any
    tokenizer: Any

    def vector(self, text: str) -> np.ndarray:
        """float32 (dimension,): the mean over the tokens, normalised."""
        ids = np.array([self.tokenizer.encode(text[:_MINILM_CHARS]).ids], np.int64)
        inputs = {"input_ids": ids, "attention_mask": np.ones_like(ids), "token_type_ids": np.zeros_like(ids)}
        (hidden,) = self.session.run(["last_hidden_state"], inputs)
        return _normalised(hidden[0].mean(axis=0, dtype=np.float32))


def _load(folder: Path) -> _Session:
    try:
        import onnxruntime
        from tokenizers import Tokenizer

        from repopilot.index.quantise import int8_products

        options = onnxruntime.SessionOptions()
        options.intra_op_num_threads = options.inter_op_num_threads = 1  # several texts run in several threads instead
        options.log_severity_level = 3
        model = int8_products((folder / "model.onnx").read_bytes())
        session = onnxruntime.InferenceSession(model, options, providers=["CPUExecutionProvider"])
        tokenizer = Tokenizer.from_file(str(folder / "tokenizer.json"))
        tokenizer.no_padding()
        tokenizer.enable_truncation(MINILM_TOKENS)
    except Exception as error:  # both libraries raise plain Exception subclasses of their own making
        raise ModelError(
            f"The embedding model can't be loaded: {error}.",
            "`python -m repopilot models pull minilm` fetches it anew.",
        ) from error
    return _Session(session, tokenizer)


@dataclass(frozen=True, eq=False)
class OllamaEmbedder:
    """An embedding model of an Ollama server, through LlamaIndex."""

    model: OllamaEmbedding
    name: str
    dimension: int

    def embed(self, texts: Sequence[str], *, background: bool = False) -> np.ndarray:
        """See `Embedder`."""
        if not texts:
            return np.empty((0, self.dimension), np.float32)
        vectors = _ask_ollama(self.model, [text[:_OLLAMA_CHARS] or " " for text in texts])
        if vectors.shape != (len(texts), self.dimension):
            raise ModelError(f"Ollama's {self.name} answered with vectors of another size.", "Index again.")
        return _normalised(vectors)


def _ollama(settings: Settings) -> tuple[OllamaEmbedder | None, str]:
    wanted = settings.embed_model
    tags = ollama_api.tags(settings.ollama_url, _REACH_S) if settings.ollama_url else None
    if tags is None:
        return None, f"Ollama does not answer, so its embedding model {wanted} can't be used."
    name = ollama_api.find([tag.name for tag in tags], wanted)
    if name is None:
        return None, f"Ollama has no embedding model {wanted} (`ollama pull {wanted}`)."
    from llama_index.embeddings.ollama import OllamaEmbedding

    client = {"timeout": _OLLAMA_TIMEOUT_S}
    model = OllamaEmbedding(name, settings.ollama_url, embed_batch_size=16, keep_alive="24h", client_kwargs=client)
    try:
        dimension = _ask_ollama(model, ["dimension"]).shape[1]
    except ModelError as error:
        return None, str(error)
    return OllamaEmbedder(model, f"ollama-{name}", dimension), ""


def _ask_ollama(model: OllamaEmbedding, texts: list[str]) -> np.ndarray:
    import httpx
    from ollama import ResponseError

    try:
        vectors = np.array(model.get_text_embedding_batch(texts), np.float32)
    except (ConnectionError, httpx.HTTPError, ResponseError, ValueError) as error:
        raise ModelError(
            f"Ollama's embedding model {model.model_name} failed: {error}.", "Look at the log of `ollama serve`."
        ) from error
    if vectors.ndim != 2 or not np.isfinite(vectors).all():
        raise ModelError(f"Ollama's {model.model_name} did not answer with vectors.", "Is it an embedding model?")
    return vectors


def _normalised(vectors: np.ndarray) -> np.ndarray:
    length = np.linalg.norm(vectors, axis=-1, keepdims=True)
    return (vectors / np.maximum(length, 1e-12)).astype(np.float32)
