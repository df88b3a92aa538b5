"""A change that one call of a tool makes."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from repopilot import i18n
from repopilot.agents.coding.outcome import EditOutcome
from repopilot.errors import GenerationFailed, PlaceAmbiguous, UsageError
from repopilot.tools import registry
from repopilot.tools.registry import Desk
from repopilot.tools.toolbox import toolbox
from repopilot.tools.working_copy import working_copy
from repopilot.trace import Step
from repopilot.types import Edit, OpenReference
from repopilot.workspace import Workspace

_KINDS = {
    "rename_symbol": "rename",
    "move_symbol": "move",
    "change_signature": "change_signature",
    "organize_imports": "sort",
    "delete_file": "delete_file",
    "move_file": "rename_file",
}
"""The edits that are right when everything works as before."""


async def edit_with_tool(
    name: str, arguments: Mapping[str, Any], workspace: Workspace, step: Step, note: str = ""
) -> EditOutcome:
    """Call one tool that edits, on a working copy of its own.

    Args:
        name: of the tool.
        arguments: of the call.
        workspace: the repository.
        step: the call is its child.
        note: what the user is to know of it, a message; '' for nothing.

    Returns:
        The change, exact.

    Raises:
        GenerationFailed: the tool can't do it; the hint says what would be right.
        PlaceAmbiguous: several places fit.
    """
    tool = registry.find(name, toolbox())
    async with step.child(name, "tool", ", ".join(f"{k}={v}" for k, v in arguments.items())) as calling:
        async with working_copy(workspace) as copy:
            try:
                result = await registry.call(tool, arguments, Desk(workspace, copy, None, calling))
            except UsageError as error:
                calling.note(failure=error.message)
                raise _failure(error) from error
            changes = copy.changes()
        await calling.write(i18n.said(result.text, workspace.settings.language or "en"))
    place = str(arguments.get("name") or arguments.get("path") or "")
    edits = tuple(Edit(_KINDS.get(name, name), change.path, place) for change in changes)
    return EditOutcome(changes, edits, True, (note,) if note else (), _open_references(result.data))


def _failure(error: UsageError) -> GenerationFailed:
    choices = getattr(error, "choices", ())
    return (
        PlaceAmbiguous(error.message, error.hint, choices) if choices else GenerationFailed(error.message, error.hint)
    )


def _open_references(data: Any) -> tuple[OpenReference, ...]:
    rows = data.get("unsure", ()) if isinstance(data, dict) else ()
    reason = i18n.message("commands.unsure")
    return tuple(OpenReference(row["path"], row["line"], row["text"], reason) for row in rows)
