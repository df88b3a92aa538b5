"""A second look at an answer: its model judges each claim by nothing but the lines that the claim cites."""

from __future__ import annotations

import asyncio
import re
from collections.abc import Sequence
from dataclasses import dataclass

from repopilot.errors import ModelError
from repopilot.i18n import message, reason
from repopilot.llm.backend import ChatOptions
from repopilot.llm.model import Model
from repopilot.llm.stream import chat
from repopilot.prompts import delimiter, render, sanitized
from repopilot.trace import Step
from repopilot.types import Evidence

SECONDS = 30.0
"""The longest time of a second look."""
TOKENS_PER_VERDICT = 6
"""Tokens of each verdict in a reply without thinking, to estimate how long the reply takes."""
REPLY_TOKENS = 2048
"""The longest reply, thinking included."""
SHARE_OF_WINDOW = 3
"""At most one third of the window is for the claims, and another third for the reply."""
LONGEST_REASON = 120
_CONTRADICTED = re.compile(r"^\W*(\d{1,3})\W+contradicted\b[ \t:.,;*–—-]*([^\n]*)", re.M | re.I)


@dataclass(frozen=True, slots=True)
class CitedSentence:
    """A sentence with its citations, and the places that it cites."""

    text: str
    places: Sequence[Evidence]


async def contradicted(claims: Sequence[CitedSentence], model: Model, seconds: float, step: Step) -> dict[int, str]:
    """Ask a model which claims their lines contradict.

    Args:
        claims: the claims, in order.
        model: the one that made them.
        seconds: what is left of its time. The model isn't asked where its measured speed shows that this isn't enough,
            or where its window is too small; the step says so.
        step: gets a child for the request.

    Returns:
        For each contradicted claim, by its index, what its lines do instead, in the model's words; a verdict without
        such words doesn't count. Empty where the model fails or is late; the step says so.
    """
    from llama_index.core.llms import ChatMessage

    seconds = min(seconds, SECONDS)
    longest = model.context_window // SHARE_OF_WINDOW
    asked = _prompt(claims)
    read = await asyncio.to_thread(model.count_tokens, asked)
    takes = model.speed.seconds(read, TOKENS_PER_VERDICT * len(claims)) if model.speed else 0.0
    if not claims:
        return {}
    if read > longest or takes > seconds:
        step.degrade(message("explain.degraded.no_room_to_look", seconds=seconds, tokens=longest))
        return {}
    options = ChatOptions(min(REPLY_TOKENS, longest), 0.0)
    try:
        async with asyncio.timeout(seconds), step.child("second look", "llm", f"{len(claims)}") as looking:
            reply = await chat(model, [ChatMessage(role="user", content=asked)], looking, options)
    except ModelError as error:
        step.degrade(message("explain.degraded.no_second_look", why=reason(error)))
        return {}
    except TimeoutError:
        step.degrade(message("explain.degraded.late_second_look", seconds=seconds))
        return {}
    found = ((int(number) - 1, said.strip(" .*")[:LONGEST_REASON]) for number, said in _CONTRADICTED.findall(reply))
    return {at: said for at, said in found if said and 0 <= at < len(claims)}


def _prompt(claims: Sequence[CitedSentence]) -> str:
    shown = ("\n".join([f"{n}. {claim.text}", *map(_lines, claim.places)]) for n, claim in enumerate(claims, 1))
    given = "\n\n".join(shown)
    mark = delimiter(given)
    return render("second_look", mark=mark, claims=sanitized(given, mark))


def _lines(place: Evidence) -> str:
    rows = [f"{number} {line}" for number, line in place.lines]
    left = place.end_line - place.start_line + 1 - len(rows)
    return "\n".join([f"{place.place} {place.symbol}".strip(), *rows, *([f"… {left} more lines"] if left else [])])
