"""What a model can do, and which way it works: in a loop with tools, on a few lines at a time, or not at all."""

from __future__ import annotations

import math
import re
from collections.abc import Mapping
from dataclasses import dataclass
from functools import partial
from typing import Any, Literal

from repopilot.code.formats.data_formats import table
from repopilot.errors import ModelError
from repopilot.llm.servers import ollama_api, openai_api
from repopilot.llm.servers.address import is_loopback
from repopilot.llm.speed import machine
from repopilot.llm.speed.model_speed import Speed
from repopilot.settings import DEFAULT_CONTEXT, Settings

Way = Literal["agent", "small", "none"]

LEAST_BILLIONS = 6.5
"""Fewest parameters for a loop, in billions; models sold as 7B qualify. Smaller models repeat themselves."""
AGENT_CONTEXT = 32_768
"""Tokens of context for a loop."""
SMALLER_CONTEXT = 16_384
"""Tokens of context for a loop on a machine with less memory than `ROOMY` bytes."""
ROOMY = 20 * machine.GIB
SLOWEST_LOOP_S = 30.0
"""Longest usual answer, in seconds, with which a loop (ten calls or more) is still fast enough."""
_SIZE = re.compile(r"(?<![\w.])(\d+(?:\.\d+)?)\s*b(?![a-z])", re.IGNORECASE)
_UNITS = {"K": 1e-6, "M": 1e-3, "B": 1.0, "T": 1e3}


@dataclass(frozen=True, slots=True)
class Capability:
    """What is known about a model.

    Attributes:
        tools: whether its server accepts tools for it.
        billions: its parameters in billions, None where the server doesn't say.
        context_length: the longest context it was trained for, in tokens; None where the server doesn't say.
        active_share: the share of the parameters used for each token; less than 1 in a mixture of experts.
    """

    tools: bool = False
    billions: float | None = None
    context_length: int | None = None
    active_share: float = 1.0

    @property
    def active_billions(self) -> float | None:
        """The parameters that determine the speed, in billions."""
        return self.billions and self.billions * self.active_share


def way_of(can: Capability, settings: Settings, speed: Speed | None = None) -> Way:
    """The way a model works: from the settings, else from its capability and its speed here."""
    if settings.way:
        return settings.way
    slow = speed is not None and speed.answer_seconds() > SLOWEST_LOOP_S
    return "agent" if loops(can) and not slow else "small"


def loops(can: Capability) -> bool:
    """Whether a model can work in a loop. A model of unknown size can if its server accepts tools."""
    return can.tools and (can.billions is None or can.billions >= LEAST_BILLIONS)


def context_window(can: Capability, way: Way, settings: Settings, url: str) -> int:
    """The context size to request, in tokens: from the settings, else larger for a loop, as far as memory allows."""
    if settings.num_ctx or way != "agent":
        return settings.num_ctx or DEFAULT_CONTEXT
    roomy = not is_loopback(url) or machine.memory() >= ROOMY
    wanted = AGENT_CONTEXT if roomy else SMALLER_CONTEXT
    return min(wanted, can.context_length or wanted)


def of_ollama(url: str, name: str, timeout_s: float) -> Capability:
    """A model's capability as its Ollama server reports it; an empty one if the server doesn't answer. Blocking."""
    return read_shown(ollama_api.show(url, name, timeout_s))


def read_shown(shown: Mapping[str, Any]) -> Capability:
    """The capability in an answer of Ollama's `/api/show`."""
    listed = shown.get("capabilities")
    info = table(shown.get("model_info"))
    lengths = [value for key, value in info.items() if key.endswith(".context_length") and isinstance(value, int)]
    size = table(shown.get("details")).get("parameter_size")
    tools = isinstance(listed, list) and "tools" in listed
    return Capability(tools, _billions(size), max(lengths, default=0) or None, _active_share(info))


def _active_share(info: Mapping[str, Any]) -> float:
    """The share of the experts used for each token; ignores the layers that all tokens share."""
    counts = {key.rpartition(".")[2]: value for key, value in info.items() if isinstance(value, int) and value > 0}
    used = counts.get("expert_used_count", 1)
    every = counts.get("expert_count", 1)
    return min(1.0, used / every)


def _billions(size: Any) -> float | None:
    """A size as Ollama writes it, `8.2B` or `494.03M`, in billions."""
    found = re.fullmatch(r"\s*([\d.]{1,12})\s*([KMBT])\s*", size) if isinstance(size, str) else None
    try:
        return float(found[1]) * _UNITS[found[2]] if found else None
    except ValueError:
        return None


def billions(name: str) -> float:
    """The parameters given in a model's name, in billions; infinite if the name gives none."""
    return max((float(size) for size in _SIZE.findall(name)), default=float("inf"))


def of_openai(base: str, key: str, name: str, timeout_s: float) -> Capability:
    """The capability of a model of an OpenAI-compatible server. Such servers don't report it, so a one-token call that
    offers a tool shows whether tools are refused. The size is read from the name. Blocking."""
    size = billions(name)
    return Capability(not _refuses_tools(base, key, name, timeout_s), size if math.isfinite(size) else None)


def _refuses_tools(base: str, key: str, name: str, timeout_s: float) -> bool:
    """Whether the server accepts a call without tools and refuses the same call with a tool. False if the server does
    not answer in time: the loop finds out."""
    tool = {"name": "look", "description": "Looks.", "parameters": {"type": "object", "properties": {}}}
    ask = partial(openai_api.one_token, base, key, name, timeout_s)
    try:
        return ask(tools=[{"type": "function", "function": tool}]).is_client_error and not ask().is_client_error
    except ModelError:
        return False
