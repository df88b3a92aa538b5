"""What LlamaIndex doesn't cover of Ollama's own HTTP protocol: which models it has, load one, fetch one."""

from __future__ import annotations

import json
import threading
import time
from collections.abc import AsyncIterator, Callable, Sequence
from dataclasses import dataclass

import httpx

from repopilot.errors import Cancelled, ModelError
from repopilot.types import Progress

FAMILY = "qwen2.5-coder"
PREFERRED_SIZES = ("1.5b", "3b", "0.5b", "7b", "14b", "32b")


@dataclass(frozen=True, slots=True)
class Tag:
    """A model an Ollama server has. `size` in bytes on disk."""

    name: str
    family: str
    size: int

    @property
    def chats(self) -> bool:
        """False for embedding models."""
        return "bert" not in self.family and "embed" not in self.name and "minilm" not in self.name


def tags(url: str, timeout_s: float) -> list[Tag] | None:
    """The models of the Ollama server at `url`; None when nothing there speaks its protocol."""
    try:
        answer = httpx.get(f"{url.rstrip('/')}/api/tags", timeout=timeout_s)
        listed = answer.raise_for_status().json()["models"]
        return [Tag(m["name"], (m.get("details") or {}).get("family") or "", int(m.get("size") or 0)) for m in listed]
    except (httpx.HTTPError, httpx.InvalidURL, ValueError, KeyError, TypeError):
        return None


def pick(available: Sequence[Tag], wanted: str) -> str | None:
    """The model to use: the wanted one, else another size of our family, else any that chats (the smallest)."""
    names = [tag.name for tag in available if tag.chats]
    for name in (wanted, *(f"{FAMILY}:{size}" for size in PREFERRED_SIZES)):
        found = find(names, name)
        if found:
            return found
    chatting = sorted((tag for tag in available if tag.chats), key=lambda tag: tag.size)
    return chatting[0].name if chatting else None


def find(names: Sequence[str], wanted: str) -> str | None:
    """`wanted` among `names` as Ollama reads it: `:latest` may be left out, and a quantisation may follow."""
    full = wanted if ":" in wanted else f"{wanted}:latest"
    exact = [name for name in names if name in (wanted, full)]
    return next(iter(exact + [name for name in names if name.startswith(f"{full}-")]), None)


async def load(url: str, name: str, num_ctx: int, timeout_s: float) -> None:
    """Have Ollama load the model with our context size, so that the first question doesn't wait for it."""
    body = {"model": name, "messages": [], "keep_alive": "24h", "options": {"num_ctx": num_ctx}}
    try:
        async with httpx.AsyncClient(timeout=timeout_s) as client:
            (await client.post(f"{url}/api/chat", json=body)).raise_for_status()
    except httpx.HTTPError as error:
        raise ModelError(f"Ollama could not load {name}: {error or type(error).__name__}.", "See its log.") from error


async def pull(
    url: str,
    name: str,
    *,
    progress: Callable[[Progress], None] | None = None,
    cancel: threading.Event | None = None,
) -> None:
    """Have Ollama fetch a model. It keeps what it got when this is stopped. Raises ModelError, Cancelled."""
    began, body = time.monotonic(), {"model": name, "stream": True}
    finished = False
    try:
        async with httpx.AsyncClient(timeout=httpx.Timeout(120.0, connect=5.0)) as client:
            async with client.stream("POST", f"{url}/api/pull", json=body) as response:
                response.raise_for_status()
                async for event in _events(response):
                    if cancel and cancel.is_set():
                        raise Cancelled("The download was stopped.", "Ollama goes on from here next time.")
                    if "error" in event:
                        raise ModelError(f"Ollama can't fetch {name}: {event['error']}.", "Check the model's name.")
                    finished = event.get("status") == "success"
                    if progress:
                        progress(_progress(name, event, time.monotonic() - began))
    except (httpx.HTTPError, ValueError) as error:
        reason = str(error) or type(error).__name__
        raise ModelError(f"Fetching {name} through Ollama failed: {reason}.", "Try again: it resumes.") from error
    if not finished:
        raise ModelError(f"Ollama stopped fetching {name} before the end.", "Try again: it resumes.")


async def _events(response: httpx.Response) -> AsyncIterator[dict]:
    async for line in response.aiter_lines():
        if line.strip():
            event = json.loads(line)
            if not isinstance(event, dict):
                raise ValueError("not an event of Ollama's")
            yield event


def _progress(name: str, event: dict, elapsed_s: float) -> Progress:
    done, total = int(event.get("completed") or 0), int(event.get("total") or 0)
    rate = done / elapsed_s if elapsed_s > 0 else 0.0
    remaining = (total - done) / rate if rate and total else None
    return Progress(f"model {name}", done, total, "bytes", rate, remaining, str(event.get("status", "")))
