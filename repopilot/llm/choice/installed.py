"""Which model of an Ollama server answers: the most capable one that fits the memory and is fast enough here. Pure."""

from __future__ import annotations

import math
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import NamedTuple

from repopilot import i18n
from repopilot.llm.capability import Capability, loops
from repopilot.llm.speed.model_speed import Speed, estimate
from repopilot.llm.speed.sizing import ANSWER_S, is_fast

CONTEXT_BYTES = 3 << 30
"""Approximate memory for a loop's context and the engine's buffers, besides the weights."""
LARGER_COSTS = 0.8
"""Exponent of time over parameters: within a family, time grows a little less than in proportion."""


class Installed(NamedTuple):
    """A chat model of the server: its capability and the size of its weights in bytes."""

    name: str
    can: Capability
    bytes: int


AGENT_MODEL = Installed("qwen3:8b", Capability(tools=True, billions=8.2), 5_200_000_000)
"""Offered where no installed model can work in a loop."""


@dataclass(frozen=True, slots=True)
class ModelHost:
    """Where the models run.

    Attributes:
        memory: bytes that a model may take, None where that is unknown (a remote server).
        accelerated: whether a GPU or another machine is known to do the work.
        speeds: as measured here, by model name.
    """

    memory: float | None
    accelerated: bool
    speeds: Mapping[str, Speed]


def most_capable(models: Sequence[Installed], host: ModelHost) -> tuple[str, str]:
    """The model to answer with, and why, as a message.

    Models that can work in a loop come first, then those with more parameters. If nothing was measured yet and no GPU
    is known, the smallest is chosen: the speed of the others is estimated from it.

    Args:
        models: at least one.
        host: where they run.
    """
    if len(models) == 1:
        return models[0].name, i18n.message("llm.why.only")
    fitting = [model for model in models if fits(model.bytes, host.memory)]
    for model in sorted(fitting, key=_rank, reverse=True):
        speed = speed_of(model, models, host.speeds)
        if is_fast(speed) or (speed is None and host.accelerated):
            return model.name, i18n.message("llm.why.capable", seconds=ANSWER_S)
    smallest = min(fitting or models, key=lambda model: model.bytes)
    return smallest.name, i18n.message("llm.why.smallest" if host.speeds else "llm.why.first", seconds=ANSWER_S)


def fits(weights: float, memory: float | None) -> bool:
    """Whether weights and context fit into the memory, all in bytes."""
    return memory is None or weights + CONTEXT_BYTES <= memory


def speed_of(model: Installed, models: Sequence[Installed], speeds: Mapping[str, Speed]) -> Speed | None:
    """The speed of a model: measured, else estimated from the measured model nearest in size; None without one."""
    if own := estimate(model.name, speeds):
        return own
    cost = _cost(model)
    known = [(speeds[other.name], _cost(other)) for other in models if other.name in speeds]
    if cost is None or not (usable := [(speed, other) for speed, other in known if other]):
        return None
    speed, nearest = min(usable, key=lambda each: abs(math.log(each[1] / cost)))
    return Speed(speed.prompt * nearest / cost, speed.generation * nearest / cost)


def _cost(model: Installed) -> float | None:
    active = model.can.active_billions
    return active**LARGER_COSTS if active else None


def _rank(model: Installed) -> tuple[bool, float, int]:
    return loops(model.can), model.can.billions or 0.0, model.bytes
