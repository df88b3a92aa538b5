"""Chooses the language models that answer, loads them and measures them.

Every fallback is named in `Model.notes`.
"""

from __future__ import annotations

import asyncio
import logging
import math
import threading
from collections.abc import Callable, Sequence
from dataclasses import replace
from typing import TYPE_CHECKING, cast

from repopilot import i18n
from repopilot.errors import ModelError
from repopilot.llm import capability
from repopilot.llm.choice.discovery import PROBE_S, FoundModel, find_model, ollama_address
from repopilot.llm.embedded import embedded_model
from repopilot.llm.embedded.embedded_engine import SLOTS
from repopilot.llm.model import Model
from repopilot.llm.resources import ModelResources
from repopilot.llm.servers import ollama_api
from repopilot.llm.servers.address import is_loopback
from repopilot.llm.speed import calibration, machine
from repopilot.llm.token_budget import TokenBudget
from repopilot.llm.token_estimate import estimate_tokens
from repopilot.settings import Settings
from repopilot.types import Progress

if TYPE_CHECKING:
    from llama_index.llms.ollama import Ollama
    from llama_index.llms.openai_like import OpenAILike


_AT_ONCE = {"ollama": 2, "openai": 16}
"""Concurrent calls to a server. Ollama works on one or a few; the two sides of a debate are asked concurrently."""

_LEAST = 0.25
"""Smallest size of a second model of another family, as a share of the first model's."""
log = logging.getLogger(__name__)


async def choose(settings: Settings, resources: ModelResources) -> Model | None:
    """Choose the model to answer with. Loads nothing yet: see `warm_up`.

    Args:
        settings: which servers and models to look for.
        resources: shared with the other models of the process.

    Returns:
        The model, None when there is none.
    """
    tried: list[str] = []
    found = await asyncio.to_thread(find_model, settings, PROBE_S, tried)
    for note in tried if settings.llm_urls else ():  # a service that the user has named doesn't answer
        log.warning("%s", note)
    return await asyncio.to_thread(build, found, settings, resources) if found else None


async def choose_reviewer(settings: Settings, model: Model, resources: ModelResources) -> Model | None:
    """Choose a second model; its opinion counts for more if it is of another family than the first.

    The default is a model of another family on the same Ollama server, else another size of the default family. A
    model named in the settings may also be on another server.

    Args:
        settings: which servers and models to look for.
        model: the first model.
        resources: shared with the other models of the process.

    Returns:
        The model, None where there is no other.
    """
    if model.kind == "embedded" and (installed := embedded_model.find_reviewer(settings, model.name)):
        notes = (i18n.message("llm.second_model"),)
        return embedded_model.build(*installed, settings, notes, resources.engines)
    found = await asyncio.to_thread(_find_reviewer, settings, model.name)
    return await asyncio.to_thread(build, found, settings, resources) if found else None


def reviewer_missing(settings: Settings, model: Model, reviewer: Model | None) -> str:
    """A message that the reviewer named by the user is missing; '' if it was found, or none was named."""
    if reviewer is not None or settings.reviewer_model in ("", model.name):
        return ""
    option = "REPOPILOT_REVIEWER_MODEL"
    return i18n.message("llm.role_missing", option=option, name=settings.reviewer_model, model=model.name)


async def warm_up(model: Model) -> None:
    """Load the model, so that the first question doesn't wait for it. Raises ModelError."""
    if model.engine is not None:
        await model.engine.ready()
    elif model.kind == "ollama":
        url = cast("Ollama", model.llm).base_url
        await ollama_api.load(url, model.name, model.context_window, model.timeout_s)


async def calibrate(model: Model, settings: Settings) -> bool:
    """Measure how fast a model is, and store the speed. Cancelling ends the model's work.

    Args:
        model: of an Ollama server, or embedded; any other is left alone.
        settings: where measurements are stored.

    Returns:
        Whether the model was measured; if so, `choose` may now choose another one.

    Raises:
        ModelError: the model doesn't answer.
    """
    found = await asyncio.to_thread(find_model, settings, PROBE_S, [])
    if found is None or not found.speed_key or (found.kind, found.name) != (model.kind, model.name):
        return False
    if model.engine is not None:
        speed = await calibration.measure_engine(model.engine)
    else:
        speed = await calibration.measure_ollama(found.url, model.name, model.context_window)
    await asyncio.to_thread(calibration.keep, settings.home, found.speed_key, speed)
    return True


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
    found = await asyncio.to_thread(ollama_address, settings)
    if found is None:
        raise ModelError(i18n.message("llm.no_ollama"), i18n.message("llm.start_ollama"))
    await ollama_api.pull(found, name, progress=progress, cancel=cancel)


def _find_reviewer(settings: Settings, primary: str) -> FoundModel | None:
    ollama = settings.model_copy(update={"llm_url": "", "embedded": False})
    for where in (settings, ollama) if settings.reviewer_model else (settings,):
        found = find_model(where, PROBE_S, [])
        name = _reviewer_name(found, settings, primary) if found else None
        if found and name:
            can = capability.of_ollama(found.url, name, PROBE_S) if found.kind == "ollama" else None
            return replace(found, name=name, can=can, notes=(i18n.message("llm.second_model"),))
    return None


def _reviewer_name(found: FoundModel, settings: Settings, primary: str) -> str | None:
    wanted = settings.reviewer_model
    if found.kind != "ollama":
        if found.kind == "embedded" or wanted in ("", primary):
            return None
        return wanted if wanted in found.listed or not found.listed else None
    others = [tag for tag in found.tags if tag.is_chat_model and tag.name != primary]
    names = [tag.name for tag in others]
    if wanted:
        return ollama_api.find(names, wanted)
    if stranger := _of_another_family(found, others, primary):
        return stranger
    sizes = ("3b", "1.5b", "0.5b") if machine.memory() >= 12 * machine.GIB else ("1.5b", "0.5b")
    return next((name for size in sizes if (name := ollama_api.find(names, f"{ollama_api.FAMILY}:{size}"))), None)


def _of_another_family(found: FoundModel, others: Sequence[ollama_api.Tag], primary: str) -> str | None:
    """The largest model of another family that fits into memory beside the first and isn't much smaller."""
    own = next((tag for tag in found.tags if tag.name == primary), None)
    if own is None:
        return None
    memory_mb = found.sizes.memory_mb if found.sizes else None
    room = memory_mb * 2**20 - own.size if memory_mb else math.inf
    fitting = [tag for tag in others if tag.lineage != own.lineage and own.size * _LEAST <= tag.size <= room]
    return max(fitting, key=lambda tag: tag.size).name if fitting else None


def build(found: FoundModel, settings: Settings, resources: ModelResources) -> Model:
    """The model that was found, ready to be asked. Blocking: imports its client.

    Args:
        found: the model and its server or file.
        settings: the settings it was found with.
        resources: shared with the other models of the process.

    Raises:
        ModelError: its weights have gone in the meantime.
    """
    if found.kind == "embedded":
        weights = embedded_model.find(settings)
        if weights is None:
            raise ModelError(i18n.message("llm.weights_gone", name=found.name), i18n.message("llm.pull_weights"))
        name, path, _ = weights
        engine = embedded_model.build(name, path, settings, found.notes, resources.engines)
        return replace(engine, calls=resources.calls(name, settings.model_calls or SLOTS))
    can = found.can or _capability(found, settings, resources)
    way = capability.way_of(can, settings, found.speed)
    settings = settings.model_copy(update={"num_ctx": capability.context_window(can, way, settings, found.url)})
    llm = _ollama(found, settings) if found.kind == "ollama" else _openai(found, settings)
    return Model(
        llm,
        found.name,
        found.kind,
        settings.num_ctx,
        estimate_tokens,
        found.notes,
        settings.model_timeout_s,
        speed=found.speed,
        calls=resources.calls(found.url, settings.model_calls or _AT_ONCE[found.kind]),
        way=way,
        budget=_budget(found.url, settings),
    )


def _budget(url: str, settings: Settings) -> TokenBudget | None:
    elsewhere = settings.daily_tokens and not is_loopback(url)
    return TokenBudget(settings.home, settings.daily_tokens) if elsewhere else None


def _capability(found: FoundModel, settings: Settings, resources: ModelResources) -> capability.Capability:
    """The capability of a model of an OpenAI-compatible server, requested once. Blocking."""
    key = found.url, found.name
    if key not in resources.capabilities:
        resources.capabilities[key] = capability.of_openai(found.url, settings.llm_key, found.name, PROBE_S)
    return resources.capabilities[key]


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
