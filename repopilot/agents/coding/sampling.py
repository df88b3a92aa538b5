"""Several replies of a small model to one task, compared by parser and linter: the best version is taken."""

from __future__ import annotations

import time
from collections.abc import Awaitable, Callable
from dataclasses import dataclass, replace

from repopilot.agents.coding.edit_request import EditRequest
from repopilot.agents.coding.outcome import EditOutcome
from repopilot.trace import Step

TEMPERATURES = (0.0, 0.7, 0.8)
"""Of the replies in turn; the first without a fault is taken."""
LONGEST_S = 25.0
"""After this time no further reply is begun."""
REPLY_TOKENS = 500


@dataclass(frozen=True, slots=True)
class Sample:
    """A reply as an edit, and what is wrong with it, as messages."""

    edit: EditOutcome
    faults: tuple[str, ...]


async def best_sample(
    request: EditRequest, name: str, ask: Callable[[float, int, Step], Awaitable[Sample | None]], step: Step
) -> EditOutcome | None:
    """Ask until a reply has no fault and makes the test pass that the task names.

    Args:
        request: the task.
        name: of the step of each reply.
        ask: makes a sample with a temperature and a seed; None where the reply can't be used.
        step: the replies are its children.

    Returns:
        The best version, the others as candidates; None where no reply can be used.
    """
    found: list[Sample] = []
    ends = time.monotonic() + LONGEST_S
    for number, temperature in enumerate(TEMPERATURES):
        if number and time.monotonic() > ends:
            break
        async with step.child(name, "llm", request.task) as writing:
            sample = await ask(temperature, len(TEMPERATURES) * request.seed + number, writing)
            writing.note(usable=sample is not None, faults=list(sample.faults) if sample else [])
        if sample is None:
            continue
        if not sample.faults and (request.passes is None or await request.passes(sample.edit.changes)):
            found = [sample]
            break
        if sample.edit.changes not in [each.edit.changes for each in found]:
            found.append(sample)
    if not found:
        return None
    best, *others = sorted(found, key=lambda each: len(each.faults))
    candidates = tuple(other.edit.changes for other in others)
    return replace(best.edit, notes=(*best.edit.notes, *best.faults), candidates=candidates)
