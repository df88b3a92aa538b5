"""Chooses the language model that answers: the configured server, else Ollama, else the embedded one, else none.

Every fallback is named in `Model.notes`.
"""

from __future__ import annotations

import asyncio
import threading
from collections.abc import Callable
from dataclasses import dataclass, replace
from importlib.util import find_spec
from typing import TYPE_CHECKING, Literal, cast

import httpx

from repopilot import i18n
from repopilot.errors import ModelError
from repopilot.llm import embedded, machine, ollama_api
from repopilot.llm.address import without_credentials
from repopilot.llm.model import Model, estimate_tokens
from repopilot.llm.resources import ModelResources
from repopilot.settings import Settings
from repopilot.types import Progress

if TYPE_CHECKING:
    from llama_index.llms.ollama import Ollama
    from llama_index.llms.openai_like import OpenAILike

OPENAI_CLIENT = "llama_index.llms.openai_like"
PROBE_S = 3.0
STATUS_S = 1.8


@dataclass(frozen=True, slots=True)
class ModelStatus:
    """What `choose` would take now.

    Attributes:
        kind: the backend, or none.
        name: the model.
        detail: a message for the user.
        missing_model: the Ollama model to pull, or the stored model to fetch; None when nothing is missing.
        reachable: False when a configured server doesn't answer or no model does.
        notes: the parts of `detail`.
    """

    kind: Literal["ollama", "openai", "embedded", "none"]
    name: str
    detail: str
    missing_model: str | None = None
    reachable: bool = True
    notes: tuple[str, ...] = ()


@dataclass(frozen=True, slots=True)
class FoundModel:
    """A server or file that can answer.

    Attributes:
        kind: the backend.
        name: the model to ask there.
        url: the server's address without a trailing slash; '' for the embedded model.
        missing: the wanted model, where another one replaces it.
        tags: all models of an Ollama server.
        notes: why this one, and every fallback before it.
    """

    kind: Literal["ollama", "openai", "embedded"]
    name: str
    url: str
    missing: str | None = None
    tags: tuple[ollama_api.Tag, ...] = ()
    notes: tuple[str, ...] = ()


async def choose(settings: Settings, resources: ModelResources) -> Model | None:
    """Choose the model to answer with. Loads nothing yet: see `warm_up`.

    Args:
        settings: which servers and models to look for.
        resources: shared with the other models of the process.

    Returns:
        The model, None when there is none.
    """
    found = await asyncio.to_thread(_find_model, settings, PROBE_S, [])
    return await asyncio.to_thread(_build, found, settings, resources) if found else None


async def choose_reviewer(settings: Settings, model: Model, resources: ModelResources) -> Model | None:
    """Choose a second model for reviews, of another size than the first, from the same server.

    Args:
        settings: which servers and models to look for.
        model: the first model.
        resources: shared with the other models of the process.

    Returns:
        The model, None where the server has no other.
    """
    if model.kind == "embedded":
        installed = embedded.find_reviewer(settings, model.name)
        if installed is None:
            return None
        note = i18n.message("llm.second_model")
        return embedded.build(*installed, settings, (note,), resources.engines, resources.replies)
    found = await asyncio.to_thread(_find_model, settings, PROBE_S, [])
    if found is None or found.kind == "embedded":
        return None
    name = _reviewer_name(found, settings, model.name)
    if not name:
        return None
    second = replace(found, name=name, notes=(i18n.message("llm.second_model"),))
    return await asyncio.to_thread(_build, second, settings, resources)


def status(settings: Settings) -> ModelStatus:
    """What answers, for the first screen and doctor. Blocking, at most two seconds."""
    result: list[ModelStatus] = []
    probe = threading.Thread(target=lambda: result.append(_status(settings)), daemon=True)
    probe.start()
    probe.join(STATUS_S)  # a name lookup has no timeout of its own
    return result[0] if result else ModelStatus("none", "", i18n.message("llm.servers_too_slow"), reachable=False)


async def warm_up(model: Model) -> None:
    """Load the model, so that the first question doesn't wait for it. Raises ModelError."""
    if model.engine is not None:
        await model.engine.ready()
    elif model.kind == "ollama":
        url = cast("Ollama", model.llm).base_url
        await ollama_api.load(url, model.name, model.context_window, model.timeout_s)


async def pull(
    name: str,
    settings: Settings,
    *,
    progress: Callable[[Progress], None] | None = None,
    cancel: threading.Event | None = None,
) -> None:
    """Pull a missing model through the Ollama server in use.

    Args:
        name: the model.
        settings: the server's address.
        progress: called with every event.
        cancel: ends the download once set.

    Raises:
        ModelError: no server answers, or it can't pull the model.
        Cancelled: `cancel` was set.
    """
    found = await asyncio.to_thread(_ollama_url, settings)
    if found is None:
        raise ModelError(i18n.message("llm.no_ollama"), i18n.message("llm.start_ollama"))
    await ollama_api.pull(found, name, progress=progress, cancel=cancel)


def _find_model(settings: Settings, timeout_s: float, notes: list[str]) -> FoundModel | None:
    """The first model in the order of preference. What was tried before it is appended to `notes`."""
    if settings.llm_url:
        found = _configured(settings, timeout_s)
        if found and (found.kind == "ollama" or _installed(OPENAI_CLIENT)):
            return found
        reason = "llm.openai_extra" if found else "llm.server_silent"
        notes.append(i18n.message(reason, url=without_credentials(settings.llm_url)))
    if settings.ollama_url:
        url = settings.ollama_url.rstrip("/")
        tags = ollama_api.tags(url, timeout_s)
        if tags is None:
            notes.append(i18n.message("llm.ollama_silent", url=without_credentials(url)))
        else:
            found = _in_ollama(url, tags, settings, notes)
            if found:
                return found
            notes.append(i18n.message("llm.ollama_no_chat_model"))
    if settings.embedded and not embedded.is_installed():
        notes.append(i18n.message("llm.embedded_extra"))
    elif settings.embedded and (weights := embedded.find(settings)):
        name, _, why = weights
        return FoundModel("embedded", name, "", notes=(*notes, i18n.message("llm.embedded", name=name, reason=why)))
    return None


def _installed(module: str) -> bool:
    """Whether a module of one of the package's extras can be imported."""
    try:
        return find_spec(module) is not None
    except ModuleNotFoundError:
        return False


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
            note = i18n.message("llm.at_server", name=name, url=without_credentials(base))
            return FoundModel("openai", name, base, notes=(note,)) if name else None
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
    note = i18n.message(
        "llm.other_size" if missing else "llm.in_ollama", name=name, wanted=wanted, url=without_credentials(url)
    )
    return FoundModel("ollama", name, url, missing, tuple(tags), (*notes, note))


def _reviewer_name(found: FoundModel, settings: Settings, primary: str) -> str | None:
    if found.kind == "openai":
        return settings.reviewer_model if settings.reviewer_model != primary else None
    names = [tag.name for tag in found.tags if tag.is_chat_model and tag.name != primary]
    if settings.reviewer_model:
        return ollama_api.find(names, settings.reviewer_model)
    sizes = ("3b", "1.5b", "0.5b") if machine.memory() >= 12 * machine.GIB else ("1.5b", "0.5b")
    return next((name for size in sizes if (name := ollama_api.find(names, f"{ollama_api.FAMILY}:{size}"))), None)


def _build(found: FoundModel, settings: Settings, resources: ModelResources) -> Model:
    if found.kind == "embedded":
        weights = embedded.find(settings)
        if weights is None:
            raise ModelError(i18n.message("llm.weights_gone", name=found.name), i18n.message("llm.pull_weights"))
        name, path, _ = weights
        return embedded.build(name, path, settings, found.notes, resources.engines, resources.replies)
    llm = _ollama(found, settings) if found.kind == "ollama" else _openai(found, settings)
    return Model(
        llm,
        found.name,
        found.kind,
        settings.num_ctx,
        estimate_tokens,
        found.notes,
        settings.model_timeout_s,
        resources.replies,
    )


def _ollama(found: FoundModel, settings: Settings) -> Ollama:
    from llama_index.llms.ollama import Ollama

    return Ollama(
        model=found.name,
        base_url=found.url,
        context_window=settings.num_ctx,
        keep_alive="24h",
        request_timeout=settings.model_timeout_s,
    )


def _openai(found: FoundModel, settings: Settings) -> OpenAILike:
    from llama_index.llms.openai_like import OpenAILike

    return OpenAILike(
        model=found.name,
        api_base=found.url,
        api_key=settings.llm_key or "none",
        is_chat_model=True,
        context_window=settings.num_ctx,
        timeout=settings.model_timeout_s,
        max_retries=0,
    )


def _status(settings: Settings) -> ModelStatus:
    notes: list[str] = []
    found = _find_model(settings, STATUS_S / 3, notes)
    wanted = settings.llm_model or machine.fitting_model()
    if found is None:
        return ModelStatus("none", "", i18n.message("llm.none"), wanted, False, tuple(notes))
    reachable = not settings.llm_url or found.url.startswith(settings.llm_url.rstrip("/"))
    missing = found.missing
    if found.kind == "embedded" and found.name != wanted:
        missing = wanted
    return ModelStatus(found.kind, found.name, i18n.joined(found.notes), missing, reachable, found.notes)


def _ollama_url(settings: Settings) -> str | None:
    for url in (settings.llm_url, settings.ollama_url):
        if url and ollama_api.tags(url, PROBE_S) is not None:
            return url.rstrip("/")
    return None
