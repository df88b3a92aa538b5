"""Which language model answers: the configured server, else Ollama, else the embedded one, else none.

Every step down is said in `Model.notes`.
"""

from __future__ import annotations

import asyncio
import threading
from collections.abc import Callable
from dataclasses import dataclass, replace
from typing import Literal
from urllib.parse import urlsplit

import httpx

from repopilot.errors import ModelError
from repopilot.llm import cache, embedded, machine, ollama_api
from repopilot.llm.model import Model, estimate_tokens
from repopilot.settings import Settings
from repopilot.types import Progress

__all__ = ["Model", "ModelStatus", "choose", "choose_reviewer", "prewarm", "pull", "status"]

PROBE_S = 3.0
STATUS_S = 1.8


@dataclass(frozen=True, slots=True)
class ModelStatus:
    """What `choose` would take now. `detail` is a sentence for the user; `missing_model` the Ollama model that
    should be pulled (or the stored model that should be fetched), None when all is there; `reachable` is False
    when a configured server doesn't answer or no model does."""

    kind: Literal["ollama", "openai", "embedded", "none"]
    name: str
    detail: str
    missing_model: str | None = None
    reachable: bool = True
    notes: tuple[str, ...] = ()


@dataclass(frozen=True, slots=True)
class FoundModel:
    """A place that answers. `url` without a trailing slash; `names` the chat models there."""

    kind: Literal["ollama", "openai", "embedded"]
    name: str
    url: str
    missing: str | None = None
    tags: tuple[ollama_api.Tag, ...] = ()
    notes: tuple[str, ...] = ()


async def choose(settings: Settings) -> Model | None:
    """The model to answer with, None when there is none. Loads nothing yet: see `prewarm`."""
    found = await asyncio.to_thread(_look, settings, PROBE_S)
    return await asyncio.to_thread(_build, found, settings) if found else None


async def choose_reviewer(settings: Settings, model: Model) -> Model | None:
    """A second model for reviews, of another size than `model`, where the same place has one; else None."""
    if model.kind == "embedded":
        second = embedded.find_reviewer(settings, model.name)
        return embedded.build(*second, settings, ("second model",)) if second else None
    found = await asyncio.to_thread(_look, settings, PROBE_S)
    if found is None or found.kind == "embedded":
        return None
    name = _reviewer_name(found, settings, model.name)
    return (
        await asyncio.to_thread(_build, replace(found, name=name, notes=("second model",)), settings) if name else None
    )


def status(settings: Settings) -> ModelStatus:
    """What answers, for the first screen and doctor. Blocking, at most two seconds."""
    result: list[ModelStatus] = []
    probe = threading.Thread(target=lambda: result.append(_status(settings)), daemon=True)
    probe.start()
    probe.join(STATUS_S)  # a name lookup has no timeout of its own
    return result[0] if result else ModelStatus("none", "", "The model servers don't answer in time.", reachable=False)


async def prewarm(model: Model) -> None:
    """Load the model, so that the first question doesn't wait for it. Raises ModelError."""
    if model.engine is not None:
        await model.engine.ready()
    elif model.kind == "ollama":
        await ollama_api.load(model.llm.base_url, model.name, model.context_window, model.timeout_s)


async def pull(
    name: str,
    settings: Settings,
    *,
    progress: Callable[[Progress], None] | None = None,
    cancel: threading.Event | None = None,
) -> None:
    """Fetch a missing model through the Ollama server in use. Raises ModelError, Cancelled."""
    found = await asyncio.to_thread(_ollama_url, settings)
    if found is None:
        raise ModelError("No Ollama server answers.", "Start it with `ollama serve`.")
    await ollama_api.pull(found, name, progress=progress, cancel=cancel)


def _look(settings: Settings, timeout_s: float) -> FoundModel | None:
    notes: list[str] = []
    if settings.llm_url:
        found = _configured(settings, timeout_s)
        if found:
            return found
        notes.append(f"The model server at {_shown(settings.llm_url)} does not answer.")
    if settings.ollama_url:
        url = settings.ollama_url.rstrip("/")
        tags = ollama_api.tags(url, timeout_s)
        if tags is None:
            notes.append(f"Ollama does not answer at {_shown(url)}.")
        else:
            found = _in_ollama(url, tags, settings, notes)
            if found:
                return found
            notes.append("Ollama has no model that chats.")
    if settings.embedded and (weights := embedded.find(settings)):
        name, _, why = weights
        return FoundModel("embedded", name, "", notes=(*notes, f"Embedded {name}: {why}."))
    return None


def _configured(settings: Settings, timeout_s: float) -> FoundModel | None:
    url = settings.llm_url.rstrip("/")
    tags = ollama_api.tags(url, timeout_s)
    if tags is not None:
        return _in_ollama(url, tags, settings, [])
    for base in (url, f"{url}/v1"):
        names = _openai_models(base, settings.llm_key, timeout_s)
        if names is not None:
            wanted = settings.llm_model
            name = wanted or next(iter(names), "")
            return FoundModel("openai", name, base, notes=(f"{name} at {_shown(base)}.",)) if name else None
    return None


def _openai_models(base: str, key: str, timeout_s: float) -> list[str] | None:
    headers = {"Authorization": f"Bearer {key}"} if key else {}
    try:
        answer = httpx.get(f"{base}/models", headers=headers, timeout=timeout_s)
        return [model["id"] for model in answer.raise_for_status().json()["data"]]
    except (httpx.HTTPError, httpx.InvalidURL, ValueError, KeyError, TypeError):
        return None


def _in_ollama(url: str, tags: list[ollama_api.Tag], settings: Settings, notes: list[str]) -> FoundModel | None:
    wanted = settings.llm_model or machine.fitting_model()
    name = ollama_api.pick(tags, wanted)
    if name is None:
        return None
    missing = None if ollama_api.find([name], wanted) else wanted
    why = f"{name} by Ollama at {_shown(url)}." if not missing else f"Ollama has no {wanted}: {name} answers."
    return FoundModel("ollama", name, url, missing, tuple(tags), (*notes, why))


def _reviewer_name(found: FoundModel, settings: Settings, primary: str) -> str | None:
    if found.kind == "openai":
        return settings.reviewer_model if settings.reviewer_model != primary else None
    names = [tag.name for tag in found.tags if tag.chats and tag.name != primary]
    if settings.reviewer_model:
        return ollama_api.find(names, settings.reviewer_model)
    sizes = ("3b", "1.5b", "0.5b") if machine.memory() >= 12 * machine.GIB else ("1.5b", "0.5b")
    return next((name for size in sizes if (name := ollama_api.find(names, f"{ollama_api.FAMILY}:{size}"))), None)


def _build(found: FoundModel, settings: Settings) -> Model:
    if found.kind == "embedded":
        weights = embedded.find(settings)
        if weights is None:
            raise ModelError(f"The weights of {found.name} have gone.", "Fetch them: `repopilot models pull`.")
        return embedded.build(weights[0], weights[1], settings, found.notes)
    llm = _ollama(found, settings) if found.kind == "ollama" else _openai(found, settings)
    return Model(
        llm, found.name, found.kind, settings.num_ctx, estimate_tokens, found.notes,
        settings.model_timeout_s, cache.shared(settings),
    )  # fmt: skip


def _ollama(found: FoundModel, settings: Settings):
    from llama_index.llms.ollama import Ollama

    return Ollama(
        model=found.name, base_url=found.url, context_window=settings.num_ctx, keep_alive="24h",
        request_timeout=settings.model_timeout_s,
    )  # fmt: skip


def _openai(found: FoundModel, settings: Settings):
    from llama_index.llms.openai_like import OpenAILike

    return OpenAILike(
        model=found.name, api_base=found.url, api_key=settings.llm_key or "none", is_chat_model=True,
        context_window=settings.num_ctx, timeout=settings.model_timeout_s, max_retries=0,
    )  # fmt: skip


def _status(settings: Settings) -> ModelStatus:
    found = _look(settings, STATUS_S / 3)
    wanted = settings.llm_model or machine.fitting_model()
    if found is None:
        return ModelStatus("none", "", "No language model: answers are extracts from the code.", wanted, False)
    reachable = not settings.llm_url or found.url.startswith(settings.llm_url.rstrip("/"))
    missing = found.missing
    if found.kind == "embedded" and found.name != wanted:
        missing = wanted
    return ModelStatus(found.kind, found.name, " ".join(found.notes), missing, reachable, found.notes)


def _ollama_url(settings: Settings) -> str | None:
    for url in (settings.llm_url, settings.ollama_url):
        if url and ollama_api.tags(url, PROBE_S) is not None:
            return url.rstrip("/")
    return None


def _shown(url: str) -> str:
    """The address without credentials."""
    parts = urlsplit(url)
    return f"{parts.scheme}://{parts.hostname}" + (f":{parts.port}" if parts.port else "") + parts.path
