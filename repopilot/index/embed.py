"""Embedding models: the built-in MiniLM, or one of the user's Ollama. Loaded when first used."""

from __future__ import annotations

import os
import threading
from collections.abc import Sequence
from concurrent.futures import ThreadPoolExecutor
from dataclasses import dataclass, field
from pathlib import Path
from typing import TYPE_CHECKING, Any, NamedTuple, Protocol

import numpy as np

from repopilot import i18n
from repopilot.errors import ModelError
from repopilot.llm import models, ollama_api
from repopilot.settings import Settings

if TYPE_CHECKING:
    from llama_index.embeddings.ollama import OllamaEmbedding

MINILM_TOKENS = 128
_MINILM_CHARS = 4000  # more than 128 tokens of anything but blanks; the rest need not be tokenised
_OLLAMA_CHARS = 1500  # about 500 tokens of code: within the context of every embedding model
_OLLAMA_TIMEOUT_S = 60.0
_PROBE_TIMEOUT_S = 2.0
_PARALLEL_FROM = 4


class Embedder(Protocol):
    """Turns texts into vectors. Vectors of embedders with different names can't be compared."""

    @property
    def name(self) -> str:
        """Identifies the model and how it is used."""
        ...

    @property
    def dimension(self) -> int:
        """The number of components of a vector."""
        ...

    def embed(self, texts: Sequence[str], *, background: bool = False) -> np.ndarray:
        """The vectors of texts. Thread-safe.

        Args:
            texts: n texts; texts that are too long are truncated.
            background: use one thread only.

        Returns:
            float32 (n, dimension), L2-normalised.

        Raises:
            ModelError: the model failed.
        """
        ...


class EmbedderChoice(NamedTuple):
    """The embedder that can be used now, or None. `note` says why it is none, or not the one that was set."""

    embedder: Embedder | None
    note: str


class Embedders:
    """The embedding models of this process, each loaded once. Thread-safe."""

    def __init__(self) -> None:
        self._lock = threading.Lock()
        self._built_in: dict[Path, MiniLM] = {}

    def choose(self, settings: Settings) -> Embedder | None:
        """The embedder that can be used now; None means lexical search only. Never downloads."""
        return self.explain_choice(settings).embedder

    def explain_choice(self, settings: Settings) -> EmbedderChoice:
        """The user's Ollama model if one is set and answers, else the built-in MiniLM if it is installed."""
        if not settings.dense:
            return EmbedderChoice(None, i18n.message("index.dense_off"))
        if not settings.embed_model:
            folder = models.installed("minilm", settings)
            if folder is None:
                return EmbedderChoice(None, i18n.message("index.no_embedder"))
            return EmbedderChoice(self._minilm(folder), "")
        found, note = _ollama_embedder(settings)
        if found is not None:
            return EmbedderChoice(found, "")
        folder = models.installed("minilm", settings)
        if folder is None:
            return EmbedderChoice(None, i18n.message("index.no_embedder_either", why=note))
        return EmbedderChoice(self._minilm(folder), i18n.message("index.minilm_instead", why=note))

    def close(self) -> None:
        """End the threads of the models."""
        with self._lock:
            for model in self._built_in.values():
                model.close()
            self._built_in.clear()

    def _minilm(self, folder: Path) -> MiniLM:
        with self._lock:
            if folder not in self._built_in:
                self._built_in[folder] = MiniLM(folder)
            return self._built_in[folder]


@dataclass(eq=False)
class MiniLM:
    """all-MiniLM-L6-v2 as ONNX.

    Texts are embedded one by one: in a batch, the vectors of an int8 model depend on the other texts.
    """

    folder: Path
    name: str = f"minilm-l6-v2-w8a8-{MINILM_TOKENS}"
    dimension: int = 384
    _lock: threading.Lock = field(default_factory=threading.Lock, repr=False)
    _loaded: tuple[_Session, ThreadPoolExecutor] | None = field(default=None, init=False, repr=False)

    def embed(self, texts: Sequence[str], *, background: bool = False) -> np.ndarray:
        """See `Embedder`."""
        if not texts:
            return np.empty((0, self.dimension), np.float32)
        session, threads = self._load()
        if background or len(texts) < _PARALLEL_FROM:
            return np.stack([session.vector(text) for text in texts])
        return np.stack(list(threads.map(session.vector, texts)))

    def close(self) -> None:
        """End the threads. The model can't be used afterwards."""
        with self._lock:
            if self._loaded is not None:
                self._loaded[1].shutdown(wait=False, cancel_futures=True)

    def _load(self) -> tuple[_Session, ThreadPoolExecutor]:
        with self._lock:
            if self._loaded is None:
                threads = ThreadPoolExecutor(min(4, os.cpu_count() or 1), "embed")
                self._loaded = _load_session(self.folder), threads
            return self._loaded


class _Session(NamedTuple):
    session: Any
    tokenizer: Any

    def vector(self, text: str) -> np.ndarray:
        """float32 (dimension,): the mean over the tokens, normalised."""
        ids = np.array([self.tokenizer.encode(text[:_MINILM_CHARS]).ids], np.int64)
        inputs = {"input_ids": ids, "attention_mask": np.ones_like(ids), "token_type_ids": np.zeros_like(ids)}
        (hidden,) = self.session.run(["last_hidden_state"], inputs)
        return _normalise(hidden[0].mean(axis=0, dtype=np.float32))


def _load_session(folder: Path) -> _Session:
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
    except Exception as error:  # both libraries raise their own subclasses of Exception
        raise ModelError(
            i18n.message("index.embedder_not_loaded", error=str(error)), i18n.message("index.embedder_not_loaded_hint")
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
            raise ModelError(
                i18n.message("index.unexpected_dimension", name=self.name), i18n.message("index.index_again")
            )
        return _normalise(vectors)


def _ollama_embedder(settings: Settings) -> tuple[OllamaEmbedder | None, str]:
    wanted = settings.embed_model
    tags = ollama_api.tags(settings.ollama_url, _PROBE_TIMEOUT_S) if settings.ollama_url else None
    if tags is None:
        return None, i18n.message("index.ollama_silent", name=wanted)
    name = ollama_api.find([tag.name for tag in tags], wanted)
    if name is None:
        return None, i18n.message("index.ollama_lacks", name=wanted)
    from llama_index.embeddings.ollama import OllamaEmbedding

    client = {"timeout": _OLLAMA_TIMEOUT_S}
    model = OllamaEmbedding(name, settings.ollama_url, embed_batch_size=16, keep_alive="24h", client_kwargs=client)
    try:
        dimension = _ask_ollama(model, ["dimension"]).shape[1]
    except ModelError as error:
        return None, i18n.reason(error)
    return OllamaEmbedder(model, f"ollama-{name}", dimension), ""


def _ask_ollama(model: OllamaEmbedding, texts: list[str]) -> np.ndarray:
    import httpx
    from ollama import ResponseError

    try:
        vectors = np.array(model.get_text_embedding_batch(texts), np.float32)
    except (ConnectionError, httpx.HTTPError, ResponseError, ValueError) as error:
        raise ModelError(
            i18n.message("index.ollama_embedding_failed", name=model.model_name, error=str(error)),
            i18n.message("index.ollama_embedding_failed_hint"),
        ) from error
    if vectors.ndim != 2 or not np.isfinite(vectors).all():
        raise ModelError(i18n.message("index.no_vectors", name=model.model_name), i18n.message("index.no_vectors_hint"))
    return vectors


def _normalise(vectors: np.ndarray) -> np.ndarray:
    length = np.linalg.norm(vectors, axis=-1, keepdims=True)
    return (vectors / np.maximum(length, 1e-12)).astype(np.float32)
