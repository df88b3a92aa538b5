"""What a model can, and which way it works: with tools in a loop, on few lines at a time, or not at all."""

from __future__ import annotations

import math
import re
from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any, Literal

from repopilot.llm import machine, ollama_api
from repopilot.llm.address import is_loopback
from repopilot.llm.model import billions
from repopilot.settings import DEFAULT_CONTEXT, Settings

Way = Literal["agent", "small", "none"]

LEAST_BILLIONS = 6.5
"""Parameters from which on a model is let into a loop: what is sold as 7B, too. Smaller ones repeat themselves."""
AGENT_CONTEXT, SMALLER_CONTEXT = 32_768, 16_384
"""Tokens of context for a loop; the smaller one on a machine with less memory than `ROOMY`."""
ROOMY = 20 * machine.GIB
_UNITS = {"K": 1e-6, "M": 1e-3, "B": 1.0, "T": 1e3}


@dataclass(frozen=True, slots=True)
class Capability:
    """What is known of a model.

    Attributes:
        tools: whether its server takes tools for it.
        billions: of its parameters, None where the server doesn't say.
        context_length: the longest context it was trained for, in tokens; None where the server doesn't say.
    """

    tools: bool = False
    billions: float | None = None
    context_length: int | None = None


def way_of(can: Capability, settings: Settings) -> Way:
    """The way a model works: as set, else by what it can. Of a model that takes tools and has no known size the server
    is believed."""
    if settings.way:
        return settings.way
    large = can.billions is None or can.billions >= LEAST_BILLIONS
    return "agent" if can.tools and large else "small"


def context_window(can: Capability, way: Way, settings: Settings, url: str) -> int:
    """The context to ask of a server for a model, in tokens: as set, else more for a loop, by the memory there is."""
    if settings.num_ctx or way != "agent":
        return settings.num_ctx or DEFAULT_CONTEXT
    roomy = not is_loopback(url) or machine.memory() >= ROOMY
    wanted = AGENT_CONTEXT if roomy else SMALLER_CONTEXT
    return min(wanted, can.context_length or wanted)


def of_ollama(url: str, name: str, timeout_s: float) -> Capability:
    """What an Ollama server says of a model; nothing known where it doesn't answer. Blocking."""
    return read_shown(ollama_api.show(url, name, timeout_s))


def read_shown(shown: Mapping[str, Any]) -> Capability:
    """What the answer of Ollama's `/api/show` says."""
    listed, details, info = (shown.get(key) for key in ("capabilities", "details", "model_info"))
    lengths = [value for key, value in _items(info) if key.endswith(".context_length") and isinstance(value, int)]
    size = dict(_items(details)).get("parameter_size")
    tools = isinstance(listed, list) and "tools" in listed
    return Capability(tools, _billions(size), max(lengths, default=0) or None)


def _items(value: Any) -> list[tuple[str, Any]]:
    return [(str(key), each) for key, each in value.items()] if isinstance(value, dict) else []


def _billions(size: Any) -> float | None:
    """A size as Ollama writes it, `8.2B` or `494.03M`, in billions."""
    found = re.fullmatch(r"\s*([\d.]{1,12})\s*([KMBT])\s*", size) if isinstance(size, str) else None
    try:
        return float(found[1]) * _UNITS[found[2]] if found else None
    except ValueError:
        return None


def of_openai(name: str) -> Capability:
    """What a model of an OpenAI-compatible server can. Such servers don't say: they are taken to know tools, which the
    first call shows, and the size is read from the name."""
    size = billions(name)
    return Capability(True, size if math.isfinite(size) else None)
