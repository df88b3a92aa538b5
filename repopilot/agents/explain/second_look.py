"""A second look at an answer: its model judges each claim by nothing but the lines that the claim cites, and, for texts
that are kept, looks with tools for a case in which it fails."""

from __future__ import annotations

import asyncio
import re
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from itertools import islice

from repopilot.agents import loop
from repopilot.code.languages import is_test_path
from repopilot.errors import ModelError
from repopilot.i18n import message, reason
from repopilot.index.store import Index
from repopilot.llm.backend import ChatOptions
from repopilot.llm.model import Model
from repopilot.llm.stream import chat
from repopilot.prompts import delimiter, render, sanitized
from repopilot.tools.registry import ToolContext
from repopilot.tools.toolbox import offered
from repopilot.tools.working_copy import working_copy
from repopilot.trace import Step
from repopilot.types import Evidence, Symbol, innermost
from repopilot.workspace import Workspace

SECONDS = 30.0
"""The longest time of a second look at an answer that a user waits for."""
TOKENS_PER_VERDICT = 6
"""Tokens of each verdict in a reply without thinking, to estimate how long the reply takes."""
REPLY_TOKENS = 2048
"""The longest reply, thinking included."""
SHARE_OF_WINDOW = 3
"""At most one third of the window is for the claims, and another third for the reply."""
LONGEST_REASON = 120
MOST_AROUND = 40
"""Facts on what is beside the lines."""
MOST_DEFINITIONS = 12
"""Definitions of one name that a model is told of; a name with more is too common to tell anything."""
_VERDICT = re.compile(r"^\W*(\d{1,3})\W+(supported|contradicted|unclear)\b[ \t:.,;*–—-]*([^\n]*)", re.M | re.I)


@dataclass(frozen=True, slots=True)
class CitedSentence:
    """A sentence with its citations, and the places that it cites."""

    text: str
    places: Sequence[Evidence]


async def taken_back(
    claims: Sequence[CitedSentence], model: Model, seconds: float, step: Step
) -> dict[int, str] | None:
    """Ask a model which claims are contradicted by the lines that they cite, or not shown by them.

    Args:
        claims: the claims, in order.
        model: the one that made them.
        seconds: the time it may take. The model isn't asked where its measured speed shows that this isn't enough, or
            where its window is too small for one claim; the step says so.
        step: gets a child for the request.

    Returns:
        Why a claim isn't borne out, as a message, by its index. `contradicted` counts only where the model says what
        the lines do instead, `unclear` only where it saw all of them. None where the model wasn't asked, fails, is
        late, or judges nothing; the step says so.
    """
    from llama_index.core.llms import ChatMessage

    longest = model.context_window // SHARE_OF_WINDOW
    asked = _prompt(claims)
    read = await asyncio.to_thread(model.count_tokens, asked)
    takes = model.speed.seconds(read, TOKENS_PER_VERDICT * len(claims)) if model.speed else 0.0
    if not claims:
        return None
    half = len(claims) // 2
    if read > longest and half:
        parts = [await taken_back(part, model, seconds, step) for part in (claims[:half], claims[half:])]
        first, second = (part or {} for part in parts)
        return None if parts == [None, None] else {**first, **{half + at: why for at, why in second.items()}}
    if read > longest or takes > seconds:
        step.degrade(message("explain.degraded.no_room_to_look", seconds=seconds, tokens=longest))
        return None
    options = ChatOptions(min(REPLY_TOKENS, longest), 0.0)
    try:
        async with asyncio.timeout(seconds), step.child("second look", "llm", f"{len(claims)}") as looking:
            reply = await chat(model, [ChatMessage(role="user", content=asked)], looking, options)
    except ModelError as error:
        step.degrade(message("explain.degraded.no_second_look", why=reason(error)))
        return None
    except TimeoutError:
        step.degrade(message("explain.degraded.late_second_look", seconds=seconds))
        return None
    verdicts = {int(number) - 1: (word.lower(), said) for number, word, said in _VERDICT.findall(reply)}
    if not verdicts:
        step.degrade(message("explain.degraded.no_verdict"))
        return None
    found = {at: _reason(claims[at], *verdict) for at, verdict in verdicts.items() if 0 <= at < len(claims)}
    return {at: why for at, why in found.items() if why}


async def refuted(
    claims: Mapping[int, CitedSentence], workspace: Workspace, budget: loop.Budget, step: Step
) -> loop.LoopResult:
    """Have a model try to refute sentences.

    Args:
        claims: the sentences, by the numbers that it is to use.
        workspace: the repository, with a model that uses tools.
        budget: what it may spend.
        step: gets a child for the work.

    Returns:
        Its reply, in which lines that begin with a number put that sentence right, with the calls it made. A model that
        fails is no error here.
    """
    assert workspace.model is not None
    given = await asyncio.to_thread(_with_surroundings, claims, workspace.index)
    mark = delimiter(given)
    task = render("refute", mark=mark, claims=sanitized(given, mark))
    system = render("refute_system", name=workspace.snapshot.name)
    async with step.child("refute", "agent", f"{len(claims)}") as working, working_copy(workspace) as copy:
        context = ToolContext(workspace, copy, working)
        worker = loop.LoopModel(workspace.model, budget)
        done = await loop.run(task, context, worker, offered("look", can_ask=False), system)
        if done.note:
            working.degrade(done.note)
    return done


def _with_surroundings(claims: Mapping[int, CitedSentence], index: Index) -> str:
    """The claims with the lines that they cite, then the code around these."""
    told = [f"{n}. {claim.text}\n{claim_lines(claim)}\n" for n, claim in claims.items()]
    around = (row for claim in claims.values() for place in claim.places for row in _around(place, index))
    return "\n".join([*told, "Beside these lines:", *islice(dict.fromkeys(around), MOST_AROUND)])


def _around(place: Evidence, index: Index) -> Iterator[str]:
    """The function around lines, and all definitions of each name with several definitions (such as a method that
    subclasses override) that the lines call, directly or through what they call."""
    inner = innermost(index.outline(place.path), place.start_line)
    if inner and inner.end_line > place.end_line:
        yield f"- {place.place} is a part of {_named(inner)}"
    yield from _overridden(index, place.path, place.start_line, place.end_line)


def _overridden(index: Index, path: str, start: int, end: int, deeper: bool = True) -> Iterator[str]:
    analysis = index.uses_in(path)
    uses = analysis.uses if analysis else ()
    for name in dict.fromkeys(use.name for use in uses if use.kind == "call" and start <= use.line <= end):
        own = [s for s in index.symbols(name) if index.is_own(s.path) and not is_test_path(s.path)]
        if 1 < len(own) <= MOST_DEFINITIONS:
            yield f"- {name}: {', '.join(map(_named, own))}"
        elif len(own) == 1 and deeper:
            yield from _overridden(index, own[0].path, own[0].start_line, own[0].end_line, deeper=False)


def _named(symbol: Symbol) -> str:
    return f"{symbol.path}:{symbol.start_line}-{symbol.end_line} {symbol.qualified}"


def _reason(claim: CitedSentence, word: str, said: str) -> str:
    """Why a verdict speaks against a claim, '' where it doesn't count."""
    said = said.strip(" .*")[:LONGEST_REASON]
    if word == "supported":
        return ""
    if word == "contradicted":
        return message("explain.sentence.taken_back", said=said) if said else ""
    return "" if any(map(_left_out, claim.places)) else message("explain.sentence.unclear")


def _prompt(claims: Sequence[CitedSentence]) -> str:
    given = "\n\n".join(f"{n}. {claim.text}\n{claim_lines(claim)}" for n, claim in enumerate(claims, 1))
    mark = delimiter(given)
    return render("second_look", mark=mark, claims=sanitized(given, mark))


def claim_lines(claim: CitedSentence) -> str:
    """The lines that a sentence cites, as a model reads them."""
    return "\n".join(map(_lines, claim.places))


def _lines(place: Evidence) -> str:
    rows = [f"{number} {line}" for number, line in place.lines]
    left = _left_out(place)
    return "\n".join([f"{place.place} {place.symbol}".strip(), *rows, *([f"… {left} more lines"] if left else [])])


def _left_out(place: Evidence) -> int:
    return place.end_line - place.start_line + 1 - len(place.lines)
