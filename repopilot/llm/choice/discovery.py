"""Finds the language model that can answer: the configured server, else Ollama, else the embedded one, else none."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from importlib.util import find_spec
from typing import Literal

from repopilot import i18n
from repopilot.errors import ModelError
from repopilot.llm import capability
from repopilot.llm.choice.installed import AGENT_MODEL, Installed, ModelHost, most_capable, speed_of
from repopilot.llm.embedded import embedded_model
from repopilot.llm.embedded.embedded_engine import is_installed
from repopilot.llm.servers import ollama_api, openai_api
from repopilot.llm.servers.address import is_loopback, without_credentials
from repopilot.llm.speed import calibration, machine
from repopilot.llm.speed.model_speed import Speed
from repopilot.llm.speed.sizing import MEMORY_SHARE, SizeChoice
from repopilot.settings import Settings

OPENAI_CLIENT = "llama_index.llms.openai_like"
PROBE_S = 3.0
VERSION_S = 0.5


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
        sizes: which size suits the machine, None for a server of unknown speed.
        speed_key: the key that the model's measured speed is stored under, '' if it can't be measured.
        can: the model's capability, as reported by an Ollama server.
        listed: the models listed by an OpenAI-compatible server.
    """

    kind: Literal["ollama", "openai", "embedded"]
    name: str
    url: str
    missing: str | None = None
    tags: tuple[ollama_api.Tag, ...] = ()
    notes: tuple[str, ...] = ()
    sizes: SizeChoice | None = None
    speed_key: str = ""
    can: capability.Capability | None = None
    listed: tuple[str, ...] = ()

    @property
    def speed(self) -> Speed | None:
        """As measured on this machine, or estimated from another model."""
        return self.sizes.speed(self.name) if self.sizes else None


def find_model(settings: Settings, timeout_s: float, notes: list[str]) -> FoundModel | None:
    """Find the first model in the order of preference. Blocking.

    Args:
        settings: which servers and models to look for.
        timeout_s: of each server.
        notes: receives a note on each server that was tried before the model was found.

    Returns:
        The model, None where there is none.
    """
    for url in settings.llm_urls:
        try:
            found = _configured(url, settings, timeout_s)
        except ModelError as error:
            notes.append(error.message)
            continue
        if found and (found.kind == "ollama" or _installed(OPENAI_CLIENT)):
            return replace(found, notes=(*notes, *found.notes))
        reason = "llm.openai_extra" if found else "llm.server_silent"
        notes.append(i18n.message(reason, url=without_credentials(url)))
    for url in settings.ollama_urls:
        tags = ollama_api.tags(url, timeout_s)
        if tags is None:
            notes.append(i18n.message("llm.ollama_silent", url=without_credentials(url)))
        else:
            found = _in_ollama(url, tags, settings, timeout_s, notes)
            if found:
                return found
            notes.append(i18n.message("llm.ollama_no_chat_model"))
    if settings.embedded and not is_installed():
        notes.append(i18n.message("llm.embedded_extra"))
    elif settings.embedded and (weights := embedded_model.find(settings)):
        name, path, why = weights
        note = i18n.message("llm.embedded", name=name, reason=why)
        key = embedded_model.speed_key(name, path, settings)
        sizes = embedded_model.size_choice(settings)
        return FoundModel("embedded", name, "", notes=(*notes, note), sizes=sizes, speed_key=key)
    return None


def _installed(module: str) -> bool:
    """Whether a module of one of the package's extras can be imported."""
    try:
        return find_spec(module) is not None
    except ModuleNotFoundError:
        return False


def _configured(url: str, settings: Settings, timeout_s: float) -> FoundModel | None:
    tags = ollama_api.tags(url, timeout_s)
    if tags is not None:
        return _in_ollama(url, tags, settings, timeout_s, [])
    base, names = openai_api.find_models(url, settings.llm_key, timeout_s)
    name = settings.llm_model or next(iter(names), "")
    note = i18n.message("llm.at_server", name=name, url=without_credentials(base))
    return FoundModel("openai", name, base, notes=(note,), listed=tuple(names)) if name else None


def _in_ollama(
    url: str, tags: list[ollama_api.Tag], settings: Settings, timeout_s: float, notes: list[str]
) -> FoundModel | None:
    chat = [tag for tag in tags if tag.is_chat_model]
    if not chat:
        return None
    keys = ollama_speed_keys(url, tags)
    speeds = calibration.kept_for(settings.home, keys)
    wanted = settings.llm_model
    named = ollama_api.find([tag.name for tag in chat], wanted) if wanted else None
    asked = [tag for tag in chat if named in (None, tag.name)]
    models = [Installed(tag.name, capability.of_ollama(url, tag.name, timeout_s), tag.size) for tag in asked]
    host = _host(url, speeds)
    name, why = (named, i18n.message("llm.why.named")) if named else most_capable(models, host)
    chosen = next(model for model in models if model.name == name)
    missing = wanted if wanted and not named else None
    key = "llm.other_size" if missing else "llm.in_ollama"
    note = i18n.message(key, name=name, wanted=wanted, url=without_credentials(url), reason=why)
    known = {model.name: speed for model in (*models, AGENT_MODEL) if (speed := speed_of(model, models, speeds))}
    sizes = SizeChoice(name, why, known, host.memory and host.memory / 2**20)
    return FoundModel("ollama", name, url, missing, tuple(tags), (*notes, note), sizes, keys[name], chosen.can)


def _host(url: str, speeds: Mapping[str, Speed]) -> ModelHost:
    """Where the models of an Ollama server run, as far as it is known here."""
    if not is_loopback(url):
        return ModelHost(None, True, speeds)
    graphics = machine.graphics_memory()
    return ModelHost(max(graphics, MEMORY_SHARE * machine.memory()), graphics > 0, speeds)


def ollama_speed_keys(url: str, tags: Sequence[ollama_api.Tag]) -> dict[str, str]:
    """The keys that speeds of an Ollama server's models are stored under, by model name."""
    engine = f"ollama {ollama_api.version(url, VERSION_S)} at {without_credentials(url)}"
    return {tag.name: calibration.speed_key(engine, f"{tag.name} {tag.digest[:16]}") for tag in tags}


def ollama_address(settings: Settings) -> str | None:
    """The address of the Ollama server in use, None where none answers. Blocking."""
    for url in (*settings.llm_urls, *settings.ollama_urls):
        if ollama_api.tags(url, PROBE_S) is not None:
            return url
    return None
