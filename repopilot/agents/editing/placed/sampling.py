"""Several versions of the new lines, sampled, checked by code and put in order."""

from __future__ import annotations

import asyncio
import time
from collections import Counter
from collections.abc import Awaitable, Callable, Iterator, Sequence
from dataclasses import dataclass, replace
from typing import TYPE_CHECKING

from repopilot import i18n
from repopilot.agents.editing.checked_change import checked_change
from repopilot.agents.editing.placed.completeness import is_complete
from repopilot.agents.editing.placed.faults import faults, left_out, normal_form
from repopilot.agents.editing.placed.registration import registered
from repopilot.agents.editing.placed.slot import Slot
from repopilot.agents.editing.placed.splice import as_addition, new_lines, with_lines
from repopilot.agents.editing.placed.target_places import TargetPlace
from repopilot.agents.editing.placed.wanted import Wanted
from repopilot.errors import GenerationFailed
from repopilot.index.store import Index
from repopilot.llm import stream
from repopilot.llm.backend import ChatOptions
from repopilot.llm.model import Model
from repopilot.trace import Step
from repopilot.types import FileChange

if TYPE_CHECKING:
    from llama_index.core.llms import ChatMessage

MOST_SAMPLES, ENOUGH_SAMPLES = 5, 3
"""How many versions are written at most, and once one of them is without a fault."""
SECONDS, PATIENCE_S = 20.0, 75.0
"""No further sample is begun after so long; so long while none is without a fault."""
_LISTED = ("add_function", "add_class")
TEMPERATURE = 0.7
JUDGED_S, MOST_TURNS = 85.0, 24
"""How long, and in how many rounds, versions are written that a failing test judges."""
NEW_TOKENS, SPARE_TOKENS = 220, 100
"""The longest reply: for a new definition, and beyond the text that it replaces."""


Passes = Callable[[tuple[FileChange, ...]], Awaitable[bool]]


@dataclass(frozen=True, slots=True)
class Candidate:
    """One version. `change` is None where it can't be used; `faults` are messages on what speaks against it, `form`
    is equal for versions that say the same; `left_out` is what the task gives and the lines don't have."""

    slot: Slot
    lines: tuple[str, ...]
    change: FileChange | None
    faults: tuple[str, ...] = ()
    form: str = ""
    left_out: tuple[str, ...] = ()


@dataclass(frozen=True, slots=True)
class Sampling:
    """What to ask and what to do with the replies. `ways` are the slots that fit, each with its prompt; `ends` is when
    there must be a result, by `time.monotonic`, None for any time."""

    model: Model
    ways: tuple[tuple[Slot, Sequence[ChatMessage]], ...]
    place: TargetPlace
    task: str
    wanted: Wanted
    index: Index
    seed: int = 0
    language: str = "en"
    ends: float | None = None


async def sample(sampling: Sampling, step: Step) -> list[Candidate]:
    """Ask for versions until two agree or the time is up, the first one greedily.

    Args:
        sampling: what to ask.
        step: gets a child for each version, in which the new lines appear while they are written.

    Returns:
        Those that can be used, best first, each once: with the fewest faults, then those most versions agree on.

    Raises:
        GenerationFailed: none can be used.
        ModelError: the model failed.
        TimeoutError: there is no usable one when there must be a result.
    """
    found: list[Candidate] = []
    started = time.monotonic()
    while len(found) < MOST_SAMPLES and not _settled(found, time.monotonic() - started):
        candidate = await _one_in_time(sampling, found, found, step)
        if candidate is None:
            break
        found.append(candidate)
    best = ordered(found)
    if not best:
        reason = next(iter(found[0].faults), "")
        raise GenerationFailed(
            i18n.message("generate.unusable", problem=reason), i18n.message("generate.unusable_hint")
        )
    return best


async def sample_until(samplings: Sequence[Sampling], passes: Passes, step: Step) -> list[Candidate]:
    """Ask for versions at several places in turn until one makes a failing test pass, or the time is up.

    Args:
        samplings: what to ask, of the likeliest place first.
        passes: whether a version makes the test pass.
        step: gets a child for each version.

    Returns:
        The usable versions, the one that passes first, else as `sample` orders them.

    Raises:
        GenerationFailed: none can be used.
        ModelError: the model failed.
        TimeoutError: as `sample`.
    """
    found: list[list[Candidate]] = [[] for _ in samplings]
    forms: set[tuple[str, str]] = set()
    started = time.monotonic()
    for number in _turns(len(samplings)):
        if time.monotonic() - started > JUDGED_S:
            break
        candidate = await _one_in_time(samplings[number], found[number], _flat(found), step)
        if candidate is None:
            break
        found[number].append(candidate)
        form = (samplings[number].place.path, candidate.form)
        if candidate.change is None or not candidate.change.diff or form in forms:
            continue
        forms.add(form)
        if await passes((candidate.change,)):
            return [candidate, *(c for c in ordered(_flat(found)) if c is not candidate)]
    best = ordered(_flat(found))
    if not best:
        raise GenerationFailed(
            i18n.message("generate.unusable", problem=next(iter(found[0][0].faults), "")),
            i18n.message("generate.unusable_hint"),
        )
    return best


def _turns(places: int) -> Iterator[int]:
    """The place whose turn it is: the first ones more often."""
    for turn in range(MOST_TURNS):
        yield from (number for number in range(places) if number <= turn)


def _flat(found: Sequence[Sequence[Candidate]]) -> list[Candidate]:
    return [candidate for some in found for candidate in some]


def ordered(found: Sequence[Candidate]) -> list[Candidate]:
    """The usable candidates, each once, best first."""
    usable = [c for c in found if c.change is not None and c.change.diff]
    votes = Counter(c.form for c in usable)
    unique = {c.form: c for c in reversed(usable)}
    first = {c.form: number for number, c in reversed(list(enumerate(usable)))}
    return sorted(unique.values(), key=lambda c: (len(c.faults), len(c.left_out), -votes[c.form], first[c.form]))


def _settled(found: Sequence[Candidate], seconds: float) -> bool:
    """Whether further versions would bring nothing."""
    good = Counter(c.form for c in found if c.change is not None and not c.faults and not c.left_out)
    if not good:
        doubtful = any(c.change is not None and not c.faults for c in found)
        if doubtful and len(found) < ENOUGH_SAMPLES:
            return seconds > 2 * SECONDS
        return bool(found) and seconds > (SECONDS if doubtful else PATIENCE_S)
    return max(good.values()) > 1 or len(found) >= ENOUGH_SAMPLES or seconds > SECONDS


async def _one_in_time(
    sampling: Sampling, found: Sequence[Candidate], everywhere: Sequence[Candidate], step: Step
) -> Candidate | None:
    """One version more of a place; None where the time is up and there is a usable one somewhere: it isn't lost.

    Raises:
        TimeoutError: the time is up, and there is none.
    """
    left = None if sampling.ends is None else sampling.ends - time.monotonic()
    try:
        async with asyncio.timeout(left):
            return await _one(sampling, found, step)
    except TimeoutError:
        if not ordered(everywhere):
            raise
        step.degrade(i18n.message("placed.time_is_up"))
        return None


async def _one(sampling: Sampling, found: Sequence[Candidate], step: Step) -> Candidate:
    """One version more: each way is tried greedily first, and not again where that changed nothing."""
    copied = {c.slot for c in found if c.change is not None and not c.change.diff}
    ways = [way for way in sampling.ways if way[0] not in copied] or list(sampling.ways)
    slot, messages = min(ways, key=lambda way: sum(c.slot == way[0] for c in found))
    name = f"write {len(found) + 1}" if found else "write"
    seed = sampling.seed + sum(c.slot == slot for c in found)
    async with step.child(name, "llm", sampling.task) as writing:
        await writing.write(f"{sampling.place.path}: {slot.place}\n{slot.prefix}")
        options = _options(sampling, slot, seed)
        reply = await stream.chat(sampling.model, messages, writing, options, _halt(sampling, slot))
        candidate = await asyncio.to_thread(_checked, sampling, slot, reply)
        if writing.data.get("finish") == "length":
            cut_off = i18n.message("generate.problem.cut_off", path=sampling.place.path)
            candidate = replace(candidate, faults=(cut_off, *candidate.faults))
        said = [i18n.said(fault, sampling.language) for fault in candidate.faults]
        writing.note(faults=said, tokens=sampling.model.count_tokens(reply))
        verdict = "; ".join(said) or i18n.text("placed.no_fault", sampling.language)
        await writing.write(f"\n{'✗' if said else '✓'} {verdict}")
    return candidate


def _options(sampling: Sampling, slot: Slot, seed: int) -> ChatOptions:
    replaced = sampling.model.count_tokens(slot.block or slot.shown)
    limit = SPARE_TOKENS + replaced if slot.shown and not slot.inserts else NEW_TOKENS
    prefix = f"```{sampling.place.language}\n{slot.prefix}"
    return ChatOptions(limit, TEMPERATURE if seed else 0.0, stop=("\n```",), seed=seed, prefix=prefix)


def _halt(sampling: Sampling, slot: Slot) -> stream.Halt:
    async def complete(text: str) -> bool:
        return is_complete(slot, text, sampling.place.language)

    return complete


def _checked(sampling: Sampling, slot: Slot, reply: str) -> Candidate:
    place, index = sampling.place, sampling.index
    try:
        lines = new_lines(place.path, slot, reply)
        slot = as_addition(place.path, slot, lines, sampling.task)
        text = with_lines(slot, lines)
        if place.language == "python" and slot.kind in _LISTED and sampling.wanted.name:
            text = registered(text, sampling.wanted.name, sampling.task)
        change = checked_change(place.target, text, sampling.task, index)
    except GenerationFailed as error:
        return Candidate(slot, (), None, (i18n.reason(error),))
    found = faults(place, slot, lines, change, sampling.task, index)
    form = normal_form(change.content, place.language)
    missing = left_out(lines, sampling.task, sampling.wanted, place, index)
    return Candidate(slot, tuple(lines), change, found, form, missing)
