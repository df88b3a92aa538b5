"""One place of one file is edited: code finds it and writes what is certain, the model the lines that are new."""

from __future__ import annotations

import asyncio
import difflib
import re
from collections.abc import Sequence

from repopilot import i18n
from repopilot.agents.editing.edit_request import EditRequest
from repopilot.agents.editing.outcome import EditOutcome
from repopilot.agents.editing.placed.changed_code import changed_slots
from repopilot.agents.editing.placed.choose_place import choose_place
from repopilot.agents.editing.placed.new_code import new_slot
from repopilot.agents.editing.placed.prompt import messages_for
from repopilot.agents.editing.placed.sampling import Sampling, sample
from repopilot.agents.editing.placed.slot import Slot
from repopilot.agents.editing.placed.target_places import (
    Choice,
    TargetPlace,
    choices,
    existing_paths,
    is_generated,
    place_of,
    unknown_names,
)
from repopilot.agents.editing.placed.wanted import Wanted, read_task
from repopilot.agents.editing.places import named_paths, stored_text
from repopilot.errors import GenerationFailed
from repopilot.index.store import Index
from repopilot.trace import Step
from repopilot.types import Edit
from repopilot.workspace import Workspace

_OTHER_WORK = re.compile(
    r"\b(?:new|create|nouveau|nouvel|nouvelle)\s+(?:\w+\s+)?(?:file|module|script|package|fichier)\b|"
    r"\b(?:write|add|generate|create|ajoute[rz]?|écri\w+)\s+(?:\w+\s+){0,3}(?:unit\s+)?tests?\b|"
    r"^\W*(?:please\s+)?(?:rename|move|delete|remove|renomme|déplace|supprime)",
    re.I,
)
_SMALL_FILE = 60
"""Lines."""


async def placed_edit(request: EditRequest, workspace: Workspace, step: Step) -> EditOutcome | None:
    """Edit the one place that a task is about.

    Args:
        request: the task.
        workspace: the repository and the model.
        step: gets the chosen place and every version of the new lines as children.

    Returns:
        The best version, with the others as candidates; None where the task is no edit of one place of existing code.

    Raises:
        GenerationFailed: the task names what doesn't exist, the file is generated, or no reply can be used (in a
            small file that is None: all of it may be written again).
        PlaceAmbiguous: several places fit.
        ModelError: the model failed.
    """
    model = workspace.coder or workspace.model
    if model is None or request.paths or _OTHER_WORK.search(request.task):
        return None
    wanted = read_task(request.task)
    found = await asyncio.to_thread(_choices, request, wanted, workspace)
    if not found or _better_rewritten(found, wanted, request.task, workspace.index):
        return None
    async with step.child("choose the place", "tool", request.task) as choosing:
        choice = await choose_place(found, request.task, workspace.index.name, model, choosing)
        place = await asyncio.to_thread(place_of, choice, wanted, workspace)
        choosing.note(place=choice.text, others=[c.text for c in found if c != choice])
        await choosing.write(choice.text)
    if not _editable(place, wanted):
        return None
    slots = await asyncio.to_thread(_slots, place, wanted, request.task)
    prompts = [
        await asyncio.to_thread(
            messages_for, place, wanted, slot, request.task, request.feedback, workspace.index, model.count_tokens
        )
        for slot in slots
    ]
    async with step.child("show the place", "tool", choice.text) as showing:
        await showing.write(prompts[0][-1].content or "")
    sampling = Sampling(
        model,
        tuple(zip(slots, prompts, strict=True)),
        place,
        request.task,
        workspace.index,
        request.seed * 10,
        request.language,
    )
    try:
        candidates = await sample(sampling, step)
    except GenerationFailed as error:
        if place.target.large:
            raise
        step.degrade(i18n.reason(error))
        return None
    best = candidates[0]
    if best.faults:
        step.degrade(i18n.message("placed.doubtful", faults=i18n.joined(best.faults)))
    versions = tuple((c.change,) for c in candidates if c.change is not None)
    edit = Edit(best.slot.kind, place.path, best.slot.place, "\n".join(best.lines))
    return EditOutcome(versions[0], (edit,), notes=best.faults, candidates=versions[1:])


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
    found = choices(request.task, wanted, workspace, request.found)
    missing = unknown_names(wanted, index)
    if missing and wanted.names[0].text in missing and not any(c.named for c in found):
        raise GenerationFailed(
            i18n.message("placed.unknown_name", name=missing[0]),
            i18n.message("placed.nearest", names=", ".join(_nearest(missing[0], index)) or "–"),
        )
    return found


def _better_rewritten(found: Sequence[Choice], wanted: Wanted, task: str, index: Index) -> bool:
    """Whether a change is somewhere in a small file, without a definition being named: then all of it is written."""
    if wanted.action == "add" or any(index.files[choice.path].lines > _SMALL_FILE for choice in found):
        return False
    names = (choice.symbol.name for choice in found if choice.symbol is not None)
    return not any(re.search(rf"\b{re.escape(name)}\b", task) for name in names)


def _slots(place: TargetPlace, wanted: Wanted, task: str) -> list[Slot]:
    if wanted.action == "change" and place.symbol is not None:
        return changed_slots(place, place.symbol, wanted, task)
    return [new_slot(place, wanted, task)]


def _nearest(name: str, index: Index) -> list[str]:
    """The names of the repository most like one that it doesn't have."""
    known = {s.name for analysis in index.analyses() for s in analysis.symbols}
    return difflib.get_close_matches(name.rpartition(".")[2], sorted(known), 4, 0.6)


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
