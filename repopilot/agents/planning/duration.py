"""How long the parts of a plan will probably take on this machine. Pure."""

from __future__ import annotations

from collections.abc import Sequence

from repopilot.llm.model_speed import Speed
from repopilot.results import EditKind, PlanPart

PROMPT_TOKENS = 1500
"""What the model reads for one edit: the place, its siblings, the definitions it needs."""
_REPLIES: dict[EditKind, int] = {
    "set_value": 30,
    "add_import": 40,
    "add_member": 120,
    "change_function": 200,
    "change_signature": 200,
    "add_function": 220,
    "add_class": 220,
    "add_file": 200,
    "change_text": 120,
}
"""What it writes, in tokens."""
_OTHER_REPLY = 200
CANDIDATES = 2
"""How many versions are written of one edit on average: most are kept, some are written again."""
CHECK_SECONDS = 6.0
"""Checks, tests and impact of one part."""


def seconds_of(parts: Sequence[PlanPart], speed: Speed | None) -> float:
    """How long parts will probably take.

    Args:
        parts: the parts to work on.
        speed: of the model as measured on this machine, None where it isn't known.

    Returns:
        Seconds; 0 where that can't be told.
    """
    if speed is None or not parts:
        return 0.0
    return sum(_seconds(part.edit, speed) for part in parts)


def _seconds(edit: EditKind | None, speed: Speed) -> float:
    reply = _REPLIES.get(edit, _OTHER_REPLY) if edit else _OTHER_REPLY
    return PROMPT_TOKENS / speed.prompt + CANDIDATES * reply / speed.generation + CHECK_SECONDS
