"""Which size of the default family suits this machine: the largest that answers in about ten seconds. Pure."""

from __future__ import annotations

from collections.abc import Collection, Mapping
from dataclasses import dataclass, field

from repopilot import i18n
from repopilot.llm.speed.model_speed import SIZES, Speed, estimate

ANSWER_S = 10.0
LONGEST_ANSWER_S = 13.0
"""Longest time that still counts as about `ANSWER_S`: measurements on the same machine differ by a quarter."""
MEMORY_SHARE = 0.42
"""How much of the memory a model may take; the rest is for the index, the browser and the user's own programs."""
MEMORY_MB = dict(zip(SIZES, (900, 1950, 3200, 6400), strict=True))
"""Resident memory when loaded with 8k of context for each of three conversations: measured for the two smallest."""

_GIB_IN_MB = 1024


@dataclass(frozen=True, slots=True)
class SizeChoice:
    """The size that suits a machine, and what is known about the others.

    Attributes:
        wanted: the name of that size.
        reason: why this one, as a message.
        measured: the measured speeds, by model name.
        memory_mb: of the machine, None where it is unknown (a remote server).
    """

    wanted: str
    reason: str
    measured: Mapping[str, Speed] = field(default_factory=dict)
    memory_mb: float | None = None

    def speed(self, name: str) -> Speed | None:
        """The speed of a model, measured or estimated; None where nothing is known."""
        return estimate(name, self.measured)


def choose_size(measured: Mapping[str, Speed], memory_mb: float | None, cores: int) -> SizeChoice:
    """Choose the largest size that fits the memory and answers in about ten seconds; the smallest where none does.

    Args:
        measured: speeds by model name. If no size was measured, cores and memory decide.
        memory_mb: of the machine, None where it is unknown.
        cores: the number of usable cores.
    """
    if not any(size in measured for size in SIZES):
        enough = cores >= 4 and (memory_mb is None or memory_mb >= 7.5 * _GIB_IN_MB)
        return SizeChoice(SIZES[1 if enough else 0], i18n.message("llm.why.fits"), measured, memory_mb)
    fast = [size for size in SIZES if is_fast(estimate(size, measured))]
    fitting = [size for size in fast if fits(size, memory_mb)]
    if not fast:
        return SizeChoice(SIZES[0], i18n.message("llm.why.smallest", seconds=ANSWER_S), measured, memory_mb)
    why = "llm.why.fast" if fitting == fast else "llm.why.memory"
    reason = i18n.message(why, seconds=ANSWER_S, gigabytes=(memory_mb or 0) / _GIB_IN_MB)
    return SizeChoice(fitting[-1] if fitting else SIZES[0], reason, measured, memory_mb)


def fits(size: str, memory_mb: float | None) -> bool:
    """Whether a size of the family leaves enough memory to the rest of the machine."""
    return memory_mb is None or MEMORY_MB[size] <= MEMORY_SHARE * memory_mb


def is_fast(speed: Speed | None) -> bool:
    """Whether an answer takes about ten seconds or less; False while the speed is unknown."""
    return speed is not None and speed.answer_seconds() <= LONGEST_ANSWER_S


def by_preference(wanted: str) -> tuple[str, ...]:
    """The sizes in order of preference: `wanted`, then the smaller ones, then the larger ones. A `wanted` outside the
    family comes before all sizes."""
    if wanted not in SIZES:
        return (wanted, *SIZES)
    place = SIZES.index(wanted)
    return (*reversed(SIZES[: place + 1]), *SIZES[place + 1 :])


def next_size(choice: SizeChoice, answering: str, installed: Collection[str]) -> str | None:
    """The size to offer beside the one that answers.

    Args:
        choice: what suits the machine.
        answering: the model that answers.
        installed: the models that need not be offered.

    Returns:
        The wanted size if it is missing, else the next larger one that fits into memory; None without one.
    """
    place = SIZES.index(answering) if answering in SIZES else -1
    larger = [size for size in SIZES[place + 1 :] if size not in installed and fits(size, choice.memory_mb)]
    if choice.wanted not in installed and choice.wanted != answering:
        return choice.wanted
    return larger[0] if larger and place >= 0 else None
