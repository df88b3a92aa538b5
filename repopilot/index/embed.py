"""Embedding models: the built-in MiniLM, or one of a server that the user names. Loaded when first used."""

from __future__ import annotations

import math
import os
import threading
import time
from collections.abc import Sequence
from concurrent.futures import ThreadPoolExecutor
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any, NamedTuple, Protocol

import numpy as np

from repopilot import i18n
from repopilot.errors import ModelError
from repopilot.index.embedding.unit_length import normalise
from repopilot.llm.weights import models
from repopilot.settings import Settings

MINILM_TOKENS = 128
_MINILM_CHARS = 4000  # more than 128 tokens of anything but blanks; the rest need not be tokenised
_SERVER_TRUSTED_S = 60.0  # how long a server that has answered is used without asking it again
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

    @property
    def at_once(self) -> int:
        """How many texts take hardly longer than one: the number of threads, or of texts that a server takes
        together."""
        ...

    def embed(self, texts: Sequence[str], *, query: bool = False, background: bool = False) -> np.ndarray:
        """The vectors of texts. Thread-safe.

        Args:
            texts: n texts; texts that are too long are truncated.
            query: the texts are questions, which some models embed in another way than passages.
            background: nobody waits: use one thread only, and be patient with a server.

        Returns:
            float32 (n, dimension), L2-normalised.

        Raises:
            ModelError: the model failed.
        """
        ...


class EmbedderChoice(NamedTuple):
    """The embedder that can be used now, or None. `note` says why there is none, or why it isn't the configured one."""

    embedder: Embedder | None
    note: str


def can_embed(settings: Settings) -> bool:
    """Whether embeddings are enabled, and a model is installed or a server's model is set. Cheap: asks no server."""
    return settings.dense and bool(settings.embed_model or models.installed(models.EMBEDDING_MODEL, settings))


class Embedders:
    """The embedding models of this process, each loaded once. Thread-safe."""

    def __init__(self) -> None:
        self._lock = threading.Lock()
        self._built_in: dict[Path, MiniLM] = {}
        self._servers: dict[tuple[str, ...], tuple[float, Embedder]] = {}

    def choose(self, settings: Settings) -> Embedder | None:
        """The embedder that can be used now; None means lexical search only. Never downloads."""
        return self.explain_choice(settings).embedder

    def explain_choice(self, settings: Settings) -> EmbedderChoice:
        """The model of the user's server if one is set and answers, else the built-in MiniLM if it is installed."""
        if not settings.dense:
            return EmbedderChoice(None, i18n.message("index.dense_off"))
        why = ""
        if settings.embed_url or settings.embed_model:
            try:
                return EmbedderChoice(self._server(settings), "")
            except ModelError as error:
                why = i18n.reason(error)
        folder = models.installed(models.EMBEDDING_MODEL, settings)
        if folder is not None:
            return EmbedderChoice(self._minilm(folder), i18n.message("index.minilm_instead", why=why) if why else "")
        if why:
            return EmbedderChoice(None, i18n.message("index.no_embedder_either", why=why))
        return EmbedderChoice(None, i18n.message("index.no_embedder"))

    @property
    def any_chosen(self) -> bool:
        """Whether an embedder was ever chosen."""
        return bool(self._built_in or self._servers)

    def close(self) -> None:
        """End the threads of the models."""
        with self._lock:
            for model in self._built_in.values():
                model.close()
            self._built_in.clear()

    def _minilm(self, folder: Path) -> MiniLM:
        with self._lock:
            return self._built_in.setdefault(folder, MiniLM(folder))

    def _server(self, settings: Settings) -> Embedder:
        """The model of the server that is set. Raises ModelError."""
        options = (settings.embed_url, settings.embed_key, settings.embed_query_prefix, settings.embed_document_prefix)
        key = (settings.embed_model, settings.ollama_url, *options)
        with self._lock:
            asked_at, known = self._servers.get(key, (-math.inf, None))
        if known is not None and time.monotonic() - asked_at < _SERVER_TRUSTED_S:
            return known
        from repopilot.index.embedding.server_embedder import ollama_embedder, openai_embedder

        found = openai_embedder(settings) if settings.embed_url else ollama_embedder(settings)
        with self._lock:
            self._servers[key] = time.monotonic(), found
        return found


@dataclass(eq=False)
class MiniLM:
    """all-MiniLM-L6-v2 as ONNX.

    Texts are embedded one by one: in a batch, the vectors of an int8 model depend on the other texts.
    """

    folder: Path
    name: str = f"minilm-l6-v2-w8a8-{MINILM_TOKENS}"
    dimension: int = 384
    at_once: int = _PARALLEL_FROM
    _lock: threading.Lock = field(default_factory=threading.Lock, repr=False)
    _loaded: tuple[_Session, ThreadPoolExecutor] | None = field(default=None, init=False, repr=False)

    def embed(self, texts: Sequence[str], *, query: bool = False, background: bool = False) -> np.ndarray:
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
        return normalise(hidden[0].mean(axis=0, dtype=np.float32))


def silent_onnxruntime() -> Any:
    """The onnxruntime library, without the telemetry that it would send to its maker from its import on."""
    os.environ["ORT_DISABLE_TELEMETRY"] = "1"
    import onnxruntime

    return onnxruntime


def _load_session(folder: Path) -> _Session:
    try:
        onnxruntime = silent_onnxruntime()
        from tokenizers import Tokenizer

        from repopilot.index.embedding.quantise import int8_products

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
