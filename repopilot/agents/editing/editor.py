"""Edit files for a task: by code where it can, else the few new lines by the model, else whole files.

Nothing is written to disk.
"""

from __future__ import annotations

import asyncio
import re
import time

from repopilot import i18n
from repopilot.agents.editing.chosen_number import chosen_number
from repopilot.agents.editing.edit_request import EditRequest
from repopilot.agents.editing.exact.moves.reexporting import reexport
from repopilot.agents.editing.exact.recognise import exact_edit
from repopilot.agents.editing.exact.sources import Sources
from repopilot.agents.editing.named_subject import missing_subject
from repopilot.agents.editing.outcome import EditOutcome
from repopilot.agents.editing.placed.agent import placed_edit
from repopilot.agents.editing.placed.target_places import is_defined
from repopilot.agents.editing.placed.wanted import read_task
from repopilot.agents.editing.restated.agent import restated_edit
from repopilot.agents.editing.search_replace.agent import replaced_lines
from repopilot.agents.editing.whole_files import write_whole_files
from repopilot.errors import GenerationFailed, PlaceAmbiguous
from repopilot.index.store import Index
from repopilot.tools.file_change import Changes
from repopilot.trace import Step
from repopilot.workspace import Workspace

_OF_EXISTING = re.compile(
    r"\W*(?:(?:please|could you|can you|peux-tu)\s+)?(?:rename|delete|remove|drop|renomm\w+|supprim\w+|retire\w*)\b",
    re.I,
)
"""Tasks that need something to be there."""
_FOR_VERSIONS = 0.98
"""The share of the time limit after which no further version is waited for."""


def edit_by_code(request: EditRequest, workspace: Workspace) -> EditOutcome | None:
    """Make an edit that needs no model. Blocking, within about a second.

    Args:
        request: the task.
        workspace: the repository.

    Returns:
        The edit, exact; None where the task needs a model.

    Raises:
        GenerationFailed: the task is such an edit and can't be made here.
        PlaceAmbiguous: several places fit the task.
    """
    if not request.task.strip() or request.drafts or request.feedback:
        return None
    missing = missing_subject(request.task, Sources(workspace))
    if missing is not None:
        raise missing
    try:
        return reexport(request.task, workspace) or exact_edit(request.task, workspace)
    except PlaceAmbiguous:
        if _wants_new_code(request.task, workspace.index):
            return None
        raise


def _wants_new_code(task: str, index: Index) -> bool:
    """Whether a task asks for a definition that has to be written; that it be listed somewhere is only a part of it."""
    wanted = read_task(task, lambda name: is_defined(index, name))
    if wanted.noun in ("function", "class"):
        return bool(wanted.name) and not is_defined(index, wanted.name)
    return wanted.noun in ("method", "property") and bool(wanted.name)


async def edit_files(request: EditRequest, workspace: Workspace, step: Step) -> EditOutcome:
    """Edit the files a task asks for.

    Args:
        request: the task.
        workspace: the repository and the model.
        step: the step of the work; what is written is streamed into its children.

    Returns:
        The changed and new files, each parsed and with a diff against the snapshot.

    Raises:
        GenerationFailed: there is no usable change, or none within the time limit.
        PlaceAmbiguous: several places fit the task.
        ModelError: the model failed.
    """
    exact = await asyncio.to_thread(edit_by_code, request, workspace)
    return exact or await edit_with_model(request, workspace, step)


async def edit_with_model(request: EditRequest, workspace: Workspace, step: Step) -> EditOutcome:
    """Edit the files of a task that code alone can't carry out.

    Args:
        request: the task.
        workspace: the repository and the model.
        step: as for `edit_files`.

    Returns:
        As `edit_files`.

    Raises:
        GenerationFailed: as `edit_files`.
        PlaceAmbiguous: several places fit the task.
        ModelError: the model failed.
    """
    if not request.task.strip():
        raise GenerationFailed(i18n.message("generate.no_task"), i18n.message("generate.no_task_hint"))
    limit = workspace.settings.edit_timeout_s
    ends = time.monotonic() + _FOR_VERSIONS * limit
    try:
        async with asyncio.timeout(limit):
            new = _wants_new_code(request.task, workspace.index)
            edit = await _edit_of_lines(request, workspace, step) if not new else None
            edit = edit or await placed_edit(request, workspace, step, ends)
            return edit or EditOutcome(await _whole_files(request, workspace, step))
    except TimeoutError as error:
        too_slow = i18n.message("generate.too_slow", seconds=limit)
        raise GenerationFailed(too_slow, _smaller_task(request)) from error


async def _edit_of_lines(request: EditRequest, workspace: Workspace, step: Step) -> EditOutcome | None:
    """A change of lines that code finds: the model only points to them, reads the task, or writes them again."""
    edit = await chosen_number(request, workspace, step) or await restated_edit(request, workspace, step)
    if edit is None and request.passes is None:
        edit = await replaced_lines(request, workspace, step)
    return edit


async def _whole_files(request: EditRequest, workspace: Workspace, step: Step) -> Changes:
    """Whole files by the model.

    Raises:
        GenerationFailed: it only writes new ones for a task that takes something away or gives it another name.
    """
    changes = await write_whole_files(request, workspace, step)
    if _OF_EXISTING.match(request.task) and all(change.change == "added" for change in changes):
        raise GenerationFailed(i18n.message("generate.only_new_files"), i18n.message("generate.only_new_files_hint"))
    return changes


def _smaller_task(request: EditRequest) -> str:
    """What to ask for instead, as a message: one definition of those that the exploration found."""
    hits = request.found.results.hits if request.found else ()
    place = next((f"@{hit.chunk.path}:{hit.chunk.symbol}" for hit in hits if hit.chunk.symbol), "")
    return i18n.message("generate.smaller_task_at", place=place) if place else i18n.message("generate.smaller_task")
