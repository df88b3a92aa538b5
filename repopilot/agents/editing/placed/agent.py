"""One place of one file is edited: code finds it and writes what is certain, the model the lines that are new."""

from __future__ import annotations

import asyncio
import difflib
import re
from collections.abc import Sequence
from dataclasses import dataclass, replace
from typing import TYPE_CHECKING

from repopilot import i18n
from repopilot.agents.editing.edit_request import EditRequest
from repopilot.agents.editing.outcome import EditOutcome
from repopilot.agents.editing.placed.changed_code import changed_slots, table_of
from repopilot.agents.editing.placed.choose_place import choose_place
from repopilot.agents.editing.placed.new_code import entry_slot, new_slot
from repopilot.agents.editing.placed.prompt import messages_for
from repopilot.agents.editing.placed.protocols import with_protocol
from repopilot.agents.editing.placed.registration import affixed
from repopilot.agents.editing.placed.sampling import Candidate, Sampling, sample, sample_until
from repopilot.agents.editing.placed.slot import Slot
from repopilot.agents.editing.placed.target_places import (
    Choice,
    TargetPlace,
    choices,
    existing_paths,
    goes_into_literal,
    is_defined,
    is_generated,
    is_module,
    is_python_class,
    is_subject,
    place_of,
    unknown_names,
)
from repopilot.agents.editing.placed.wanted import Wanted, read_task
from repopilot.agents.editing.places import LARGE_LINES, named_paths
from repopilot.errors import GenerationFailed, PlaceAmbiguous
from repopilot.index.store import Index
from repopilot.llm.model import Model
from repopilot.tools.stored_text import stored_text
from repopilot.trace import Step
from repopilot.types import Edit
from repopilot.workspace import Workspace

if TYPE_CHECKING:
    from llama_index.core.llms import ChatMessage

_OTHER_WORK = re.compile(
    r"\b(?:new|create|nouveau|nouvel|nouvelle)\s+(?:\w+\s+)?(?:file|module|script|package|fichier)\b|"
    r"\b(?:write|add|generate|create|ajoute[rz]?|écri\w+)\s+(?:\w+\s+){0,3}(?:unit\s+)?tests?\b(?!\s+`(?!test))|"
    r"^\W*(?:please\s+)?(?:rename|move|delete|remove|renomme|déplace|supprime)",
    re.I,
)
_GO_TYPE = re.compile(r"\b(?:struct|type|interface|class|error|exception|structure)\b", re.I)
_FUNCTION = re.compile(r"\b(?:function|helper|fonction)s?\b", re.I)
_ANOTHER = re.compile(
    r"\b(?:setter|deleter|overload\w*|overrid\w*|redefin\w*|replac\w+|rewrit\w+|instead|existing|alias\w*|asyn\w+|"
    r"remplac\w+|réécri\w+|existant\w*)\b",
    re.I,
)
"""What may be asked of a member that is there already."""
_SMALL_FILE = 60
"""Lines."""


async def placed_edit(
    request: EditRequest, workspace: Workspace, step: Step, ends: float | None = None
) -> EditOutcome | None:
    """Edit the one place that a task is about.

    Args:
        request: the task.
        workspace: the repository and the model.
        step: gets the chosen place and every version of the new lines as children.
        ends: when there must be a result, by `time.monotonic`.

    Returns:
        The best version, with the others as candidates; None where the task is no edit of one place of existing code.

    Raises:
        GenerationFailed: the task names what doesn't exist, the file is generated, or no reply can be used (in a
            small file that is None: all of it may be written again).
        PlaceAmbiguous: several places fit.
        ModelError: the model failed.
        TimeoutError: there is no usable version in time.
    """
    model = workspace.coder or workspace.model
    if model is None or request.paths or _OTHER_WORK.search(request.task):
        return None
    wanted = await asyncio.to_thread(_read, request.task, workspace.index)
    found = await asyncio.to_thread(_choices, request, wanted, workspace)
    if not found or _better_rewritten(found, wanted, request.task, workspace.index):
        return None
    await asyncio.to_thread(_check_is_new, found, wanted, request.task, workspace)
    work = _Work(request, workspace, wanted, model, ends)
    try:
        candidates = await (_judged(found, work, step) if request.passes else _at_one_place(found, work, step))
    except PlaceAmbiguous:
        raise
    except GenerationFailed as error:
        if workspace.index.files[found[0].path].lines > LARGE_LINES:
            raise
        step.degrade(i18n.reason(error))
        return None
    if not candidates:
        return None
    best = candidates[0]
    if best.faults:
        step.degrade(i18n.message("placed.doubtful", faults=i18n.joined(best.faults)))
    versions = tuple((c.change,) for c in candidates if c.change is not None)
    edit = Edit(best.slot.kind, versions[0][0].path, best.slot.place, "\n".join(best.lines))
    return EditOutcome(versions[0], (edit,), notes=best.faults, candidates=versions[1:])


@dataclass(frozen=True, slots=True)
class _Work:
    """What stays the same at every place."""

    request: EditRequest
    workspace: Workspace
    wanted: Wanted
    model: Model
    ends: float | None


async def _at_one_place(found: Sequence[Choice], work: _Work, step: Step) -> list[Candidate]:
    """Versions of the lines at the place that is chosen; [] where no lines can be placed there."""
    index = work.workspace.index
    async with step.child("choose the place", "tool", work.request.task) as choosing:
        choice = await choose_place(found, work.request.task, index.name, work.model, choosing)
        choosing.note(place=choice.text, others=[c.text for c in found if c != choice])
        await choosing.write(choice.text)
    sampling = await asyncio.to_thread(_sampling, choice, work)
    if sampling is None:
        return []
    async with step.child("show the place", "tool", choice.text) as showing:
        await showing.write(sampling.ways[0][1][-1].content or "")
    return await sample(sampling, step)


async def _judged(found: Sequence[Choice], work: _Work, step: Step) -> list[Candidate]:
    """Versions at the likeliest places until one makes the failing test pass; [] where no lines can be placed."""
    async with step.child("choose the places", "tool", work.request.task) as choosing:
        samplings = [await asyncio.to_thread(_sampling, choice, work) for choice in found]
        usable = [sampling for sampling in samplings if sampling is not None]
        choosing.note(places=[c.text for c in found])
        await choosing.write("\n".join(c.text for c in found))
    passes = work.request.passes
    return await sample_until(usable, passes, step) if usable and passes is not None else []


def _sampling(choice: Choice, work: _Work) -> Sampling | None:
    """What to ask at a place; None where no lines can be placed there."""
    place = place_of(choice, work.wanted, work.workspace)
    request, wanted = work.request, work.wanted
    if not _editable(place, wanted):
        return None
    if place.symbol is None and wanted.noun == "function" and wanted.name and place.language == "python":
        wanted = replace(wanted, name=affixed(place.target.shown, wanted.name, request.task))
    if wanted.noun == "class" and place.language == "go" and not _GO_TYPE.search(request.task):
        wanted = replace(wanted, noun="function")  # an exported name is written like a class
    index = work.workspace.index
    ways = _ways(place, wanted, request, index, work.model)
    seed, language = request.seed * 10, request.language
    return Sampling(work.model, ways, place, request.task, wanted, index, seed, language, work.ends)


def _read(task: str, index: Index) -> Wanted:
    """What a task asks for; what it puts into a module is a function."""
    wanted = read_task(task, lambda name: is_defined(index, name))
    wanted = with_protocol(wanted, task, lambda name: is_python_class(index, name), lambda n: is_defined(index, n))
    if wanted.noun == "method" and wanted.owner and is_module(index, wanted.owner):
        return replace(wanted, noun="function")
    only_a_signature = wanted.noun == "function" and wanted.parameters is not None and not _FUNCTION.search(task)
    if only_a_signature and not wanted.owner and goes_into_literal(task, index):
        return replace(wanted, noun="method")
    return wanted


def _choices(request: EditRequest, wanted: Wanted, workspace: Workspace) -> list[Choice]:
    """The places that fit.

    Raises:
        GenerationFailed: the task names what doesn't exist, and nothing that does.
    """
    index = workspace.index
    named = named_paths(request.task, index)
    if named and not existing_paths(request.task, index):
        made = next((path for path in named if is_generated(path, stored_text(path, workspace) or "")), None)
        if made is not None:
            raise _generated(made)
        return []
    calls = request.failing.calls if request.failing else None
    found = choices(request.task, wanted, workspace, request.found, calls)
    missing = unknown_names(wanted, index)
    refused = missing and wanted.names[0].text in missing and is_subject(request.task, wanted.names[0])
    if refused and not any(c.named for c in found):
        raise GenerationFailed(
            i18n.message("placed.unknown_name", name=missing[0]),
            i18n.message("placed.nearest", names=", ".join(_nearest(missing[0], index)) or "–"),
        )
    return found


def _better_rewritten(found: Sequence[Choice], wanted: Wanted, task: str, index: Index) -> bool:
    """Whether a change is somewhere in a small file, without a definition being named: then all of it is written."""
    if wanted.action == "add" or any(index.files[choice.path].lines > _SMALL_FILE for choice in found):
        return False
    symbols = [choice.symbol for choice in found if choice.symbol is not None]
    meant = {name.text for name in wanted.names}
    return not any(s.qualified in meant or re.search(rf"\b{re.escape(s.name)}\b", task) for s in symbols)


def _ways(
    place: TargetPlace, wanted: Wanted, request: EditRequest, index: Index, model: Model
) -> tuple[tuple[Slot, Sequence[ChatMessage]], ...]:
    """The slots that fit, the likeliest first, each with its prompt."""
    found: list[tuple[Slot, TargetPlace]] = []
    if wanted.action == "change" and place.symbol is not None:
        table = table_of(place, place.symbol, request.task)
        if table is not None:
            found.append((entry_slot(place, table), replace(place, symbol=table, owner=table.qualified)))
        judged = request.passes is not None
        found += [(s, place) for s in changed_slots(place, place.symbol, wanted, request.task, judged=judged)]
    else:
        found.append((new_slot(place, wanted, request.task), place))
    entry = replace(wanted, action="add", noun="entry")
    count = model.count_tokens
    return tuple(
        (
            slot,
            messages_for(
                where,
                entry if slot.unit == "entry" and wanted.action == "change" else wanted,
                slot,
                request,
                index,
                count,
            ),
        )
        for slot, where in found
    )


def _nearest(name: str, index: Index) -> list[str]:
    """The names of the repository most like one that it doesn't have."""
    known = {s.name for analysis in index.analyses() for s in analysis.symbols}
    return difflib.get_close_matches(name.rpartition(".")[2], sorted(known), 4, 0.6)


def _check_is_new(found: Sequence[Choice], wanted: Wanted, task: str, workspace: Workspace) -> None:
    """Raise GenerationFailed where the only class that a new member can go into has one of its name."""
    if wanted.action != "add" or wanted.noun not in ("method", "property") or len(found) != 1 or _ANOTHER.search(task):
        return
    place = place_of(found[0], wanted, workspace)
    member = next((m for m in place.members if m.name == wanted.name), None) if place.owner else None
    if member is not None:
        where = f"{place.path}:{member.start_line}"
        raise GenerationFailed(i18n.message("exact.already_there", name=member.qualified, path=where))


def _editable(place: TargetPlace, wanted: Wanted) -> bool:
    """Whether lines can be placed there.

    Raises:
        GenerationFailed: a program writes the file.
    """
    if is_generated(place.path, place.target.shown):
        raise _generated(place.path)
    if place.target.stored is None or not place.language:
        return False
    return place.symbol is not None or wanted.action == "add"


def _generated(path: str) -> GenerationFailed:
    return GenerationFailed(i18n.message("placed.generated", path=path), i18n.message("placed.generated_hint"))
