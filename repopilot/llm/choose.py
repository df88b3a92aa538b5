"""Chooses the language model that answers: the configured server, else Ollama, else the embedded one, else none.

Every fallback is named in `Model.notes`.
"""

from __future__ import annotations

import asyncio
import threading
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, replace
from importlib.util import find_spec
from typing import TYPE_CHECKING, Literal, cast

import httpx

from repopilot import i18n
from repopilot.errors import ModelError
from repopilot.llm import calibration, embedded, machine, models, ollama_api
from repopilot.llm.address import is_loopback, without_credentials
from repopilot.llm.calibration import SpeedKey
from repopilot.llm.model import Model, estimate_tokens
from repopilot.llm.model_speed import SIZES, Speed
from repopilot.llm.resources import ModelResources
from repopilot.llm.sizing import SizeChoice, choose_size, next_size
from repopilot.settings import Settings
from repopilot.types import Progress

if TYPE_CHECKING:
    from llama_index.llms.ollama import Ollama
    from llama_index.llms.openai_like import OpenAILike

OPENAI_CLIENT = "llama_index.llms.openai_like"
PROBE_S = 3.0
STATUS_S = 1.8
VERSION_S = 0.5


@dataclass(frozen=True, slots=True)
class SizeOffer:
    """Another size of the model that the user may have.

    Attributes:
        name: its name.
        speed: as estimated from another size, None while nothing was measured.
        bytes: to download, None where that is unknown.
        licence: what to know about its licence, as a message; '' for nothing.
    """

    name: str
    speed: Speed | None = None
    bytes: int | None = None
    licence: str = ""


@dataclass(frozen=True, slots=True)
class ModelStatus:
    """What `choose` would take now.

    Attributes:
        kind: the backend, or none.
        name: the model.
        detail: a message for the user.
        missing_model: the Ollama model to pull, or the stored model to fetch; None when nothing is missing.
        reachable: False when a configured server doesn't answer or no model does.
        notes: which model and why, and every fallback before it.
        speed: of the model, None while it is unknown.
        needs_calibration: whether the speed can be measured and was not yet, or not in peace.
        speed_note: the speed in words, as a message; '' while it is unknown.
        offer: another size that the user may have, None for none.
    """

    kind: Literal["ollama", "openai", "embedded", "none"]
    name: str
    detail: str
    missing_model: str | None = None
    reachable: bool = True
    notes: tuple[str, ...] = ()
    speed: Speed | None = None
    needs_calibration: bool = False
    speed_note: str = ""
    offer: SizeOffer | None = None


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
        sizes: what suits the machine, None where a server answers whose speed is not known.
        speed_key: what a measured speed of the model holds for.
    """

    kind: Literal["ollama", "openai", "embedded"]
    name: str
    url: str
    missing: str | None = None
    tags: tuple[ollama_api.Tag, ...] = ()
    notes: tuple[str, ...] = ()
    sizes: SizeChoice | None = None
    speed_key: SpeedKey | None = None

    @property
    def speed(self) -> Speed | None:
        """As measured on this machine, or estimated from another size."""
        return self.sizes.speed(self.name) if self.sizes else None


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


async def calibrate(model: Model, settings: Settings) -> bool:
    """Measure how fast a model is, and keep it. Cancelling ends the model's work.

    Args:
        model: of an Ollama server, or embedded; any other is left alone.
        settings: where measurements are kept.

    Returns:
        Whether there is a new measurement: `choose` may choose another model now. False on a machine that is too busy.

    Raises:
        ModelError: the model doesn't answer.
    """
    found = await asyncio.to_thread(_find_model, settings, PROBE_S, [])
    if found is None or found.speed_key is None or (found.kind, found.name) != (model.kind, model.name):
        return False
    measured = await _measure(model, found.speed_key)
    if measured is not None:
        await asyncio.to_thread(calibration.keep, settings.home, measured)
    return measured is not None


async def _measure(model: Model, key: SpeedKey) -> calibration.Measurement | None:
    if isinstance(model.engine, embedded.Engine):
        return await calibration.measure_engine(model.engine, key)
    if model.kind == "ollama":
        url = cast("Ollama", model.llm).base_url
        return await calibration.measure_ollama(url, model.name, model.context_window, key)
    return None


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
        name, path, why = weights
        note = i18n.message("llm.embedded", name=name, reason=why)
        key = embedded.speed_key(name, path, settings)
        sizes = embedded.size_choice(settings)
        return FoundModel("embedded", name, "", notes=(*notes, note), sizes=sizes, speed_key=key)
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
    keys = _ollama_keys(url, tags)
    sizes = _ollama_sizes(url, keys, settings)
    wanted = settings.llm_model or sizes.wanted
    name = ollama_api.pick(tags, wanted)
    if name is None:
        return None
    missing = None if ollama_api.find([name], wanted) else wanted
    why = i18n.message("llm.why.named") if settings.llm_model else sizes.reason
    note = i18n.message(
        "llm.other_size" if missing else "llm.in_ollama",
        name=name,
        wanted=wanted,
        url=without_credentials(url),
        reason=why,
    )
    return FoundModel("ollama", name, url, missing, tuple(tags), (*notes, note), sizes, keys[name])


def _ollama_keys(url: str, tags: Sequence[ollama_api.Tag]) -> dict[str, SpeedKey]:
    """What measured speeds of an Ollama server's models hold for, by the names of the models."""
    engine = f"ollama {ollama_api.version(url, VERSION_S)} at {without_credentials(url)}"
    place = machine.fingerprint()
    return {tag.name: SpeedKey(place, engine, f"{tag.name} {tag.digest[:16]}") for tag in tags}


def _ollama_sizes(url: str, keys: Mapping[str, SpeedKey], settings: Settings) -> SizeChoice:
    """The size that suits the machine of an Ollama server, by what its models were measured to do."""
    speeds = {name: each.speed for name, each in calibration.kept_for(settings.home, keys).items()}
    by_size = {size: speeds[name] for size in SIZES if (name := ollama_api.find(list(speeds), size))}
    memory = machine.memory() / 1024**2 if is_loopback(url) else None
    return choose_size({**speeds, **by_size}, memory, machine.cores())


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
        speed=found.speed,
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
    if found is None:
        wanted = settings.llm_model or _to_fetch(embedded.size_choice(settings).wanted)
        offer = _size_offer(wanted) if settings.embedded and embedded.is_installed() else None
        return ModelStatus("none", "", i18n.message("llm.none"), wanted, False, tuple(notes), offer=offer)
    reachable = not settings.llm_url or found.url.startswith(settings.llm_url.rstrip("/"))
    measured = _measured(found, settings)
    speed_note = _speed_note(found, measured)
    return ModelStatus(
        found.kind,
        found.name,
        i18n.joined((*found.notes, *([speed_note] if speed_note else ()))),
        _missing(found, settings),
        reachable,
        found.notes,
        found.speed,
        found.speed_key is not None and (measured is None or measured.disturbed),
        speed_note,
        _offer(found, settings),
    )


def _missing(found: FoundModel, settings: Settings) -> str | None:
    """The model to fetch or pull in place of the one found."""
    if found.kind != "embedded" or found.sizes is None:
        return found.missing
    wanted = settings.llm_model or _to_fetch(found.sizes.wanted)
    installed = {model.name for model in models.available(settings) if model.path}
    return wanted if wanted in models.KNOWN and wanted not in installed else None


def _to_fetch(wanted: str) -> str:
    """The size to fetch without being asked: the wanted one, or the largest below it that needs no consent."""
    allowed = [size for size in SIZES[: SIZES.index(wanted) + 1] if not models.KNOWN[size].on_request]
    return allowed[-1]


def _offer(found: FoundModel, settings: Settings) -> SizeOffer | None:
    """The size to offer beside the model found: the missing one that the user named, else what `next_size` says."""
    if settings.llm_model or found.sizes is None:
        named = _missing(found, settings)
        return _size_offer(named, found.sizes) if named else None
    if found.kind == "ollama":
        names = [tag.name for tag in found.tags]
        installed = [size for size in SIZES if ollama_api.find(names, size)]
        answering = next((size for size in SIZES if ollama_api.find([found.name], size)), found.name)
    else:
        installed = [model.name for model in models.available(settings) if model.path]
        answering = found.name
    name = next_size(found.sizes, answering, installed)
    return _size_offer(name, found.sizes) if name else None


def _size_offer(name: str, sizes: SizeChoice | None = None) -> SizeOffer:
    speed, known = sizes.speed(name) if sizes else None, models.KNOWN.get(name)
    licence = i18n.message(known.licence) if known and known.licence else ""
    return SizeOffer(name, speed, known.size if known else None, licence)


def _measured(found: FoundModel, settings: Settings) -> calibration.Measurement | None:
    keys = {found.name: found.speed_key} if found.speed_key else {}
    return calibration.kept_for(settings.home, keys).get(found.name)


def _speed_note(found: FoundModel, measured: calibration.Measurement | None) -> str:
    """How fast the model found is, and how much memory it takes; '' for a server whose speed is not known."""
    if found.speed_key is None:
        return ""
    note, speed = i18n.message("llm.speed.unknown"), found.speed
    if speed is not None:
        how = "estimated" if measured is None else "disturbed" if measured.disturbed else "measured"
        seconds = speed.answer_seconds()
        note = i18n.message(f"llm.speed.{how}", prompt=speed.prompt, generation=speed.generation, seconds=seconds)
    known = models.KNOWN.get(found.name)
    if known is None or found.kind != "embedded":
        return note
    memory = i18n.message("llm.speed.memory", used=known.memory_mb / 1024, total=machine.memory() / machine.GIB)
    return i18n.joined((note, memory))


def _ollama_url(settings: Settings) -> str | None:
    for url in (settings.llm_url, settings.ollama_url):
        if url and ollama_api.tags(url, PROBE_S) is not None:
            return url.rstrip("/")
    return None
