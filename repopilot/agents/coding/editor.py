"""Edit files for a task: by a typed command, else by a small model that changes a few lines or writes a definition.

Nothing is written to disk.
"""

from __future__ import annotations

import asyncio
import math
from collections.abc import Sequence
from dataclasses import replace

from repopilot import i18n
from repopilot.agents.coding.grounded import NEW_DEFINITION, grounded_call
from repopilot.agents.coding.new_definition import write_definition
from repopilot.agents.coding.small import edit_lines
from repopilot.agents.coding.tool_edit import EditOutcome, edit_with_tool
from repopilot.agents.coding.typed_commands import EDITS, Command, read_command
from repopilot.errors import GenerationFailed, UsageError
from repopilot.trace import Step
from repopilot.types import Hit
from repopilot.workspace import Workspace


async def edit_by_command(task: str, workspace: Workspace, step: Step) -> EditOutcome | None:
    """Make the edit of a typed command.

    Args:
        task: as the user wrote it.
        workspace: the repository.
        step: the step of the work.

    Returns:
        The edit, exact; None where the task is no command.

    Raises:
        GenerationFailed: it can't be made here.
        PlaceAmbiguous: several places fit.
    """
    try:
        command = read_command(task)
    except UsageError as error:
        raise GenerationFailed(error.message, error.hint) from error
    if command is None or command.tool not in EDITS:
        return None
    return await edit_with_tool(command.tool, [command.arguments], workspace, step)


async def edit_with_model(
    task: str, workspace: Workspace, step: Step, hits: Sequence[Hit] = (), ends: float = math.inf
) -> EditOutcome:
    """Edit files for a task that isn't a typed command.

    Args:
        task: as the user wrote it.
        workspace: the repository and the model.
        step: what is written is streamed into its children.
        hits: what the search found for the task.
        ends: the deadline of the edit on the monotonic clock; the model begins nothing that it can't finish by then.

    Returns:
        The changed files, each parsed and with a diff against the snapshot.

    Raises:
        GenerationFailed: there is no usable change, or none within the time limit.
        PlaceAmbiguous: several places fit the task.
        ModelError: the model failed.
    """
    if not task.strip():
        raise GenerationFailed(i18n.message("generate.no_task"), i18n.message("generate.no_task_hint"))
    if workspace.model is None:
        raise GenerationFailed(i18n.message("generate.no_model"), i18n.message("generate.no_model_hint"))
    limit = workspace.settings.edit_timeout_s
    try:
        async with asyncio.timeout(limit):
            edit = await _edited(task, hits, workspace, step, ends)
    except TimeoutError as error:
        too_slow = i18n.message("generate.too_slow", seconds=limit)
        raise GenerationFailed(too_slow, _smaller_task(hits)) from error
    if edit is None:
        raise GenerationFailed(i18n.message("small.no_change"), _smaller_task(hits))
    return edit


async def _edited(task: str, hits: Sequence[Hit], workspace: Workspace, step: Step, ends: float) -> EditOutcome | None:
    call = await grounded_call(task, workspace, step)
    if call is not None and call.tool == NEW_DEFINITION:
        return await write_definition(call, task, hits, workspace, step, ends)
    edit = await _called(call, workspace, step) if call is not None else None
    return edit or await edit_lines(task, hits, workspace, step, ends)


async def _called(call: Command, workspace: Workspace, step: Step) -> EditOutcome | None:
    """The edit of one call of a tool; None where the tool can't make it, which the step says."""
    note = i18n.message("commands.read_as", reading=call.text)
    try:
        edit = await edit_with_tool(call.tool, [call.arguments], workspace, step, note)
    except GenerationFailed as error:
        step.degrade(i18n.reason(error))
        return None
    return replace(edit, interpreted=True)


def _smaller_task(hits: Sequence[Hit]) -> str:
    """The advice to try a smaller task, at a definition that the search found, as a message."""
    place = next((f"@{hit.chunk.path}:{hit.chunk.symbol}" for hit in hits if hit.chunk.symbol), "")
    return i18n.message("generate.smaller_task_at", place=place) if place else i18n.message("generate.smaller_task")
