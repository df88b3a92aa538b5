"""Which model answers now, how fast it is, and which other one to offer: for the first screen and for doctor."""

from __future__ import annotations

import threading
from dataclasses import dataclass
from typing import Literal

from repopilot import i18n
from repopilot.llm.capability import Capability, Way, way_of
from repopilot.llm.choice.discovery import FoundModel, find_model
from repopilot.llm.choice.installed import AGENT_MODEL, fits
from repopilot.llm.embedded import embedded_model
from repopilot.llm.embedded.embedded_engine import is_installed
from repopilot.llm.servers import ollama_api
from repopilot.llm.servers.address import is_loopback
from repopilot.llm.speed import calibration, machine
from repopilot.llm.speed.model_speed import SIZES, Speed
from repopilot.llm.speed.sizing import SizeChoice, next_size
from repopilot.llm.weights import models
from repopilot.settings import Settings

STATUS_S = 1.8
ELSEWHERE_S = 7.5


@dataclass(frozen=True, slots=True)
class SizeOffer:
    """Another size of the model that the user may have.

    Attributes:
        name: its name.
        speed: as estimated from another size, None while nothing was measured.
        bytes: to download, None where that is unknown.
        licence: a note on its licence, as a message; '' for none.
    """

    name: str
    speed: Speed | None = None
    bytes: int | None = None
    licence: str = ""


@dataclass(frozen=True, slots=True)
class ModelStatus:
    """The model that `choose` would choose now.

    Attributes:
        kind: the backend, or none.
        name: the model.
        detail: a message for the user.
        missing_model: the Ollama model to pull, or the stored model to fetch; None when nothing is missing.
        reachable: False when a configured server doesn't answer or no model does.
        notes: which model and why, and every fallback before it.
        speed: of the model, None while it is unknown.
        way: how it works: in a loop with tools, on a few lines at a time, or not at all.
        measurable: whether the speed can be measured.
        speed_note: the speed in words, as a message; '' while it is unknown.
        offer: another size that the user may have, None for none.
        sizes: what is known about all sizes, None if nothing is.
    """

    kind: Literal["ollama", "openai", "embedded", "none"]
    name: str
    detail: str
    missing_model: str | None = None
    reachable: bool = True
    notes: tuple[str, ...] = ()
    speed: Speed | None = None
    measurable: bool = False
    speed_note: str = ""
    offer: SizeOffer | None = None
    sizes: SizeChoice | None = None
    way: Way = "none"


def status(settings: Settings) -> ModelStatus:
    """Which model answers. Blocking, at most two seconds; longer for a remote server."""
    limit = STATUS_S if all(map(is_loopback, settings.llm_urls)) else ELSEWHERE_S
    result: list[ModelStatus] = []
    probe = threading.Thread(target=lambda: result.append(_status(settings, limit)), daemon=True)
    probe.start()
    probe.join(limit)  # a name lookup has no timeout of its own
    return result[0] if result else ModelStatus("none", "", i18n.message("llm.servers_too_slow"), reachable=False)


def _status(settings: Settings, limit: float) -> ModelStatus:
    notes: list[str] = []
    found = find_model(settings, limit / 3, notes)
    if found is None:
        wanted = settings.llm_model or _to_fetch(embedded_model.size_choice(settings).wanted)
        offer = _size_offer(wanted) if settings.embedded and is_installed() else None
        return ModelStatus("none", "", i18n.message("llm.none"), wanted, False, tuple(notes), offer=offer)
    reachable = not settings.llm_urls or any(found.url.startswith(url) for url in settings.llm_urls)
    speed_note = _speed_note(found, found.speed_key in calibration.kept(settings.home))
    return ModelStatus(
        found.kind,
        found.name,
        i18n.joined((*found.notes, *([speed_note] if speed_note else ()))),
        _missing(found, settings),
        reachable,
        found.notes,
        found.speed,
        bool(found.speed_key),
        speed_note,
        _offer(found, settings),
        found.sizes,
        way_found(found, settings),
    )


def way_found(found: FoundModel, settings: Settings) -> Way:
    """The way a model works. An OpenAI-compatible server, not yet asked, is assumed to accept tools."""
    can = found.can or (Capability(tools=True) if found.kind == "openai" else Capability())
    return way_of(can, settings, found.speed)


def _missing(found: FoundModel, settings: Settings) -> str | None:
    """The model to fetch or pull in place of the one found."""
    if found.kind != "embedded" or found.sizes is None:
        return found.missing
    wanted = settings.llm_model or _to_fetch(found.sizes.wanted)
    if not settings.llm_model and not found.sizes.measured and found.name in SIZES[SIZES.index(wanted) :]:
        return None  # a model at least as large is installed: measure it before fetching another
    installed = {model.name for model in models.available(settings) if model.path}
    return wanted if wanted in models.KNOWN and wanted not in installed else None


def _to_fetch(wanted: str) -> str:
    """The size to fetch without being asked: the wanted one, or the largest below it that needs no consent."""
    allowed = [size for size in SIZES[: SIZES.index(wanted) + 1] if not models.KNOWN[size].on_request]
    return allowed[-1]


def _offer(found: FoundModel, settings: Settings) -> SizeOffer | None:
    """The model to offer besides the one found: the missing one that the user named; for Ollama one that works in a
    loop, if the one found doesn't; else a larger size."""
    if settings.llm_model or found.sizes is None:
        named = _missing(found, settings)
        return _size_offer(named, found.sizes) if named else None
    if found.kind == "ollama":
        if offer := _agent_offer(found, found.sizes, settings):
            return offer
        names = [tag.name for tag in found.tags]
        installed = [size for size in SIZES if ollama_api.find(names, size)]
        answering = next((size for size in SIZES if ollama_api.find([found.name], size)), found.name)
    else:
        installed = [model.name for model in models.available(settings) if model.path]
        answering = found.name
    name = next_size(found.sizes, answering, installed)
    return _size_offer(name, found.sizes) if name else None


def _agent_offer(found: FoundModel, sizes: SizeChoice, settings: Settings) -> SizeOffer | None:
    """An offer of a model for the loop, if it would fit and be fast enough; None if one answers or is installed."""
    memory = sizes.memory_mb
    speed = sizes.speed(AGENT_MODEL.name)
    there = ollama_api.find([tag.name for tag in found.tags], AGENT_MODEL.name)
    able = way_of(AGENT_MODEL.can, settings, speed) == "agent" and fits(AGENT_MODEL.bytes, memory and memory * 2**20)
    if there or not able or way_found(found, settings) == "agent":
        return None
    return SizeOffer(AGENT_MODEL.name, speed, AGENT_MODEL.bytes)


def _size_offer(name: str, sizes: SizeChoice | None = None) -> SizeOffer:
    speed = sizes.speed(name) if sizes else None
    known = models.KNOWN.get(name)
    licence = i18n.message(known.licence) if known and known.licence else ""
    return SizeOffer(name, speed, known.size if known else None, licence)


def _speed_note(found: FoundModel, measured: bool) -> str:
    """How fast the model found is, and how much memory it takes; '' for a server whose speed is not known."""
    if not found.speed_key:
        return ""
    note = i18n.message("llm.speed.unknown")
    speed = found.speed
    if speed is not None:
        how = "measured" if measured else "estimated"
        seconds = speed.answer_seconds()
        note = i18n.message(f"llm.speed.{how}", prompt=speed.prompt, generation=speed.generation, seconds=seconds)
    known = models.KNOWN.get(found.name)
    if known is None or found.kind != "embedded":
        return note
    memory = i18n.message("llm.speed.memory", used=known.memory_mb / 1024, total=machine.memory() / machine.GIB)
    return i18n.joined((note, memory))
