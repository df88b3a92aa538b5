"""Vectors from a server that speaks the OpenAI protocol (`POST /embeddings`): vLLM, LM Studio, llama.cpp, TEI, …"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, field
from typing import Any

import httpx
import numpy as np

from repopilot import i18n
from repopilot.errors import ModelError
from repopilot.llm.servers.address import reached, without_credentials
from repopilot.llm.servers.server_json import json_of

_AT_ONCE = 32  # texts per request: the lowest default limit of a common server (text-embeddings-inference)
_SHORTEST = 400  # characters: a refused text is not cut below this
_CONNECT_S = 3.0
_REFUSED_INPUT = (400, 413, 422)
"""Statuses for too many texts and for a text longer than the model's context."""
_ANSWER_CHARS = 200


class NoSuchModel(ModelError):
    """The server answers, but has no embeddings at this address, or not this model."""


@dataclass(frozen=True)
class EmbeddingServer:
    """One embedding model of a server.

    Attributes:
        url: the address that `/embeddings` is appended to, without a trailing slash.
        model: as the server calls it.
        key: sent as a bearer token; '' for none.
    """

    url: str
    model: str
    key: str = field(default="", repr=False)
    _client: httpx.Client = field(init=False, repr=False, compare=False)

    def __post_init__(self) -> None:
        headers = {"Authorization": f"Bearer {self.key}"} if self.key else {}
        object.__setattr__(self, "_client", httpx.Client(headers=headers, **reached(self.url)))

    def vectors(self, texts: Sequence[str], timeout_s: float) -> np.ndarray:
        """The vectors of texts. Thread-safe.

        A request that the server refuses as too large is split into halves; a single text that it refuses is cut to its
        first half.

        Args:
            texts: n texts, n ≥ 1.
            timeout_s: the longest silence of the server, in seconds.

        Returns:
            float32 (n, dimension), as the server gave them.

        Raises:
            NoSuchModel: the server has no such model, or no embeddings at this address.
            ModelError: it can't be reached, refuses, or doesn't answer with n vectors of one dimension.
        """
        found = [
            vector
            for start in range(0, len(texts), _AT_ONCE)
            for vector in self._in_halves(list(texts[start : start + _AT_ONCE]), timeout_s)
        ]
        if len({len(vector) for vector in found}) != 1:
            raise self._no_vectors()
        return np.array(found, np.float32)

    def _in_halves(self, texts: list[str], timeout_s: float) -> list[list[float]]:
        answer = self._post(texts, timeout_s)
        if answer.status_code in _REFUSED_INPUT:
            if len(texts) > 1:
                half = len(texts) // 2
                return self._in_halves(texts[:half], timeout_s) + self._in_halves(texts[half:], timeout_s)
            if len(texts[0]) > _SHORTEST:
                return self._in_halves([texts[0][: len(texts[0]) // 2]], timeout_s)
        if not answer.is_success:
            raise self._refusal(answer)
        return self._parsed(answer, len(texts))

    def _post(self, texts: list[str], timeout_s: float) -> httpx.Response:
        body = {"model": self.model, "input": texts, "encoding_format": "float"}
        try:
            return self._client.post(
                f"{self.url}/embeddings", json=body, timeout=httpx.Timeout(timeout_s, connect=_CONNECT_S)
            )
        except (httpx.HTTPError, httpx.InvalidURL) as error:
            reason = str(error) or type(error).__name__
            raise ModelError(
                i18n.message("llm.embedding_server.silent", url=without_credentials(self.url), error=reason),
                i18n.message("llm.embedding_server.silent_hint"),
            ) from error

    def _refusal(self, answer: httpx.Response) -> ModelError:
        url = without_credentials(self.url)
        said = " ".join(answer.text.split())[:_ANSWER_CHARS]
        if answer.status_code in (401, 403):
            return ModelError(
                i18n.message("llm.embedding_server.key", url=url), i18n.message("llm.embedding_server.key_hint")
            )
        if answer.status_code == 404:
            return NoSuchModel(
                i18n.message("llm.embedding_server.not_found", url=url, name=self.model, answer=said),
                i18n.message("llm.embedding_server.not_found_hint"),
            )
        return ModelError(
            i18n.message(
                "llm.embedding_server.failed", url=url, name=self.model, status=answer.status_code, answer=said
            ),
            i18n.message("llm.embedding_server.failed_hint"),
        )

    def _parsed(self, answer: httpx.Response, count: int) -> list[list[float]]:
        try:
            items: list[dict[str, Any]] = json_of(answer)["data"]
            ordered = sorted(items, key=lambda item: item.get("index", 0))
            vectors = [[float(value) for value in item["embedding"]] for item in ordered]
        except (httpx.HTTPError, ValueError, KeyError, TypeError, AttributeError) as error:
            raise self._no_vectors() from error
        if len(vectors) != count or not all(vectors) or not np.isfinite(np.concatenate(vectors)).all():
            raise self._no_vectors()
        return vectors

    def _no_vectors(self) -> ModelError:
        return ModelError(
            i18n.message("llm.embedding_server.no_vectors", url=without_credentials(self.url), name=self.model),
            i18n.message("llm.embedding_server.no_vectors_hint"),
        )
