"""The parts of Ollama's HTTP protocol that LlamaIndex doesn't cover: list its models, load one, pull one."""

from __future__ import annotations

import re
import threading
import time
from collections.abc import AsyncIterator, Callable, Mapping, Sequence
from dataclasses import dataclass
from typing import Any

import httpx

from repopilot import i18n
from repopilot.code.formats.data_formats import table
from repopilot.errors import Cancelled, ModelError
from repopilot.foreign_text import without_surrogates
from repopilot.llm.servers.address import reached
from repopilot.llm.servers.server_json import json_of, parsed
from repopilot.types import Progress

FAMILY = "qwen2.5-coder"


@dataclass(frozen=True, slots=True)
class Tag:
    """A model an Ollama server has. `size` in bytes on disk, `digest` of its manifest."""

    name: str
    family: str
    size: int
    digest: str = ""

    @property
    def is_chat_model(self) -> bool:
        """False for embedding models."""
        return "bert" not in self.family and "embed" not in self.name and "minilm" not in self.name

    @property
    def lineage(self) -> str:
        """The family without its version: `qwen` for `qwen2` and `qwen3moe`."""
        return re.split(r"[^a-z]", self.family.lower())[0] or self.name


def tags(url: str, timeout_s: float) -> list[Tag] | None:
    """List the models of the Ollama server at `url`; None when nothing there speaks its protocol."""
    listed = _answer(url, "tags", timeout_s).get("models")
    if not isinstance(listed, list):
        return None
    return [_tag(entry) for entry in listed if isinstance(entry, dict) and _is_name(entry.get("name"))]


def _answer(url: str, path: str, timeout_s: float, body: Mapping[str, Any] | None = None) -> Mapping[str, Any]:
    """What the Ollama server at `url` answers; empty when nothing there speaks its protocol."""
    verb = "POST" if body else "GET"
    try:
        answer = httpx.request(verb, f"{url.rstrip('/')}/api/{path}", json=body, timeout=timeout_s, **reached(url))
        return table(json_of(answer))
    except (httpx.HTTPError, httpx.InvalidURL, ValueError):
        return {}


def _tag(entry: Mapping[str, Any]) -> Tag:
    details = entry.get("details")
    size = entry.get("size")
    family = details.get("family") if isinstance(details, dict) else ""
    whole = size if isinstance(size, int) else 0
    return Tag(entry["name"], family if isinstance(family, str) else "", whole, str(entry.get("digest") or ""))


def _is_name(value: object) -> bool:
    return isinstance(value, str) and value == without_surrogates(value)


def version(url: str, timeout_s: float) -> str:
    """The version of the Ollama server at `url`, '' when it doesn't say."""
    return without_surrogates(str(_answer(url, "version", timeout_s).get("version", "")))


def show(url: str, name: str, timeout_s: float) -> Mapping[str, Any]:
    """What the Ollama server at `url` reports about a model; {} if it doesn't answer."""
    return _answer(url, "show", timeout_s, {"model": name})


def find(names: Sequence[str], wanted: str) -> str | None:
    """`wanted` among `names` as Ollama reads it: `:latest` may be left out, and a quantisation may follow."""
    full = wanted if ":" in wanted else f"{wanted}:latest"
    exact = [name for name in names if name in (wanted, full)]
    return next(iter(exact + [name for name in names if name.startswith(f"{full}-")]), None)


async def load(url: str, name: str, num_ctx: int, timeout_s: float) -> None:
    """Have Ollama load a model, so that the first question doesn't wait for it.

    Args:
        url: the server.
        name: the model.
        num_ctx: context size in tokens.
        timeout_s: of the call.

    Raises:
        ModelError: the server can't be reached or can't load it.
    """
    body = {"model": name, "messages": [], "keep_alive": "24h", "options": {"num_ctx": num_ctx}}
    try:
        async with httpx.AsyncClient(timeout=timeout_s, **reached(url)) as client:
            (await client.post(f"{url}/api/chat", json=body)).raise_for_status()
    except httpx.HTTPError as error:
        reason = i18n.reason(error)
        raise ModelError(
            i18n.message("llm.not_loaded", name=name, reason=reason), i18n.message("llm.see_log")
        ) from error


async def pull(
    url: str,
    name: str,
    *,
    progress: Callable[[Progress], None] | None = None,
    cancel: threading.Event | None = None,
) -> None:
    """Have Ollama pull a model. When the call is stopped, Ollama keeps what it has received.

    Args:
        url: the server.
        name: the model.
        progress: called with every event.
        cancel: ends the call once set.

    Raises:
        ModelError: the server can't be reached or can't pull it.
        Cancelled: `cancel` was set.
    """
    started = time.monotonic()
    body = {"model": name, "stream": True}
    finished = False
    try:
        async with httpx.AsyncClient(timeout=httpx.Timeout(120.0, connect=5.0), **reached(url)) as client:
            async with client.stream("POST", f"{url}/api/pull", json=body) as response:
                response.raise_for_status()
                async for event in _events(response):
                    if cancel and cancel.is_set():
                        raise Cancelled(i18n.message("llm.download_stopped"), i18n.message("llm.ollama_resumes"))
                    if "error" in event:
                        raise ModelError(
                            i18n.message("llm.not_pulled", name=name, reason=event["error"]),
                            i18n.message("llm.check_model_name"),
                        )
                    finished = event.get("status") == "success"
                    if progress:
                        progress(_progress(name, event, time.monotonic() - started))
    except (httpx.HTTPError, ValueError) as error:
        reason = i18n.reason(error)
        raise ModelError(
            i18n.message("llm.pull_failed", name=name, reason=reason), i18n.message("llm.pull_resumes")
        ) from error
    if not finished:
        raise ModelError(i18n.message("llm.pull_incomplete", name=name), i18n.message("llm.pull_resumes"))


async def _events(response: httpx.Response) -> AsyncIterator[dict[str, Any]]:
    async for line in response.aiter_lines():
        if line.strip():
            event = parsed(line)
            if not isinstance(event, dict):
                raise ValueError("not an event of Ollama's")
            yield event


def _progress(name: str, event: dict[str, Any], elapsed_s: float) -> Progress:
    done, total = (value if isinstance(value, int) else 0 for value in (event.get("completed"), event.get("total")))
    rate = done / elapsed_s if elapsed_s > 0 else 0.0
    remaining = (total - done) / rate if rate and total else None
    return Progress(
        i18n.message("llm.progress.model", name=name),
        done,
        total,
        "bytes",
        rate,
        remaining,
        str(event.get("status", "")),
    )
