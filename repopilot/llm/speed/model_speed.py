"""How fast a model reads and writes, and what the speed of one size says about the other sizes of its family. Pure."""

from __future__ import annotations

import math
from collections.abc import Mapping
from dataclasses import dataclass
from typing import Annotated

from pydantic import Field

ANSWER_PROMPT_TOKENS = 700
"""Tokens read for a usual answer: a focused context."""
ANSWER_TOKENS = 90
"""Tokens written for a usual answer: a short explanation."""

READING_MARGIN = 2.0
"""Factor on the reading time: a long prompt is read more slowly than a measurement's, and the machine may be busy."""


Rate = Annotated[float, Field(gt=0.01, lt=1e6, strict=True)]


@dataclass(frozen=True, slots=True)
class Speed:
    """Tokens per second: of the prompt, which is read, and of the reply, which is generated. Both above 0."""

    prompt: Rate
    generation: Rate

    def answer_seconds(self) -> float:
        """Seconds of a usual answer from the question to its last word."""
        return self.seconds(ANSWER_PROMPT_TOKENS, ANSWER_TOKENS)

    def seconds(self, prompt_tokens: int, reply_tokens: int) -> float:
        """Seconds to read a prompt and write a reply."""
        return prompt_tokens / self.prompt + reply_tokens / self.generation

    def prompt_tokens_within(self, seconds: float) -> int:
        """The longest prompt that is read within a time, in tokens."""
        return int(self.prompt * seconds)


def first_word_s(prompt_tokens: int, speed: Speed | None, timeout_s: float) -> float:
    """How long a model may be silent before its first word, in seconds.

    Args:
        prompt_tokens: the length of the prompt.
        speed: as measured, None if it wasn't.
        timeout_s: how long it may be silent later on.

    Returns:
        The time that it takes to read the prompt, with a margin, in whole seconds; at least the timeout.
    """
    return timeout_s if speed is None else max(timeout_s, math.ceil(READING_MARGIN * prompt_tokens / speed.prompt))


# Time to read and to generate one token, relative to the 0.5B model. The ratios of the 1.5B model were measured; those
# of the larger ones are derived from the parameters (reading) and the bytes read for each new token (generating).
_COSTS: dict[str, tuple[float, float]] = {
    "qwen2.5-coder:0.5b": (1.0, 1.0),
    "qwen2.5-coder:1.5b": (1.8, 1.9),
    "qwen2.5-coder:3b": (3.8, 3.6),
    "qwen2.5-coder:7b": (9.0, 8.0),
}
SIZES = tuple(_COSTS)
"""The sizes of the default family, the smallest first."""


def estimate(name: str, measured: Mapping[str, Speed]) -> Speed | None:
    """The speed of a model: measured, else estimated from the nearest size.

    Args:
        name: of the model.
        measured: speeds on this machine and engine, by model name.

    Returns:
        The speed; None for a model of another family, and where no size of the family was measured.
    """
    if name in measured:
        return measured[name]
    sources = [size for size in SIZES if size in measured]
    if name not in SIZES or not sources:
        return None
    place = SIZES.index(name)
    nearest = min(sources, key=lambda size: (abs(SIZES.index(size) - place), -SIZES.index(size)))
    known = measured[nearest]
    (prompt, generation) = _COSTS[name]
    (known_prompt, known_generation) = _COSTS[nearest]
    return Speed(known.prompt * known_prompt / prompt, known.generation * known_generation / generation)
