"""An edit by calls of one tool, and its outcome."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any

from repopilot import i18n
from repopilot.errors import GenerationFailed, PlaceAmbiguous, UsageError
from repopilot.tools import registry
from repopilot.tools.file_change import Changes
from repopilot.tools.registry import ToolContext
from repopilot.tools.toolbox import toolbox
from repopilot.tools.working_copy import working_copy
from repopilot.trace import Step
from repopilot.types import OpenReference
from repopilot.workspace import Workspace

REFACTORING_TOOLS = frozenset(("rename_symbol", "move_symbol", "move_file", "change_signature", "organize_imports"))
"""Tools that check that each occurrence they edit keeps its meaning, so that their edits are right when everything else
works as before."""


@dataclass(frozen=True, slots=True)
class EditOutcome:
    """The files of an edit.

    Attributes:
        changes: the files, at least one.
        tool: the tool that made the edit.
        place: the definition or file that it was called for, '' for none.
        by_code: code made it, so the edit is exact.
        interpreted: a small model said which edit the task means.
        notes: what the user should know of it, as messages.
        open_references: what was left unchanged for the user to decide.
        left: the open references that may break the program, as `path:line`, and anything else that is not done.
    """

    changes: Changes
    tool: str
    place: str = ""
    by_code: bool = False
    interpreted: bool = False
    notes: tuple[str, ...] = ()
    open_references: tuple[OpenReference, ...] = ()
    left: tuple[str, ...] = ()

    @property
    def is_refactoring(self) -> bool:
        """Whether tests that pass as before verify the edit: code made it, and only renamed, moved or deleted."""
        return self.by_code and self.tool in (*REFACTORING_TOOLS, "delete_file")


async def edit_with_tool(
    name: str, calls: Sequence[Mapping[str, Any]], workspace: Workspace, step: Step, note: str = ""
) -> EditOutcome:
    """Call a tool that edits, once or several times on the same working copy.

    Args:
        name: of the tool.
        calls: the arguments of each call, at least one.
        workspace: the repository.
        step: the calls are its children.
        note: a message for the user about the edit; '' for none.

    Returns:
        The change, exact.

    Raises:
        GenerationFailed: the tool can't do it; the hint says what would be right.
        PlaceAmbiguous: several places fit.
    """
    tool = registry.find(name, toolbox())
    data: Any = None
    async with working_copy(workspace) as copy:
        for arguments in calls:
            async with step.child(name, "tool", ", ".join(f"{k}={v}" for k, v in arguments.items())) as calling:
                try:
                    result = await registry.call(tool, arguments, ToolContext(workspace, copy, calling))
                except UsageError as error:
                    calling.note(failure=error.message)
                    raise _failure(error) from error
                data = result.data
                await calling.write(i18n.translated(result.text, workspace.settings.language or "en"))
        changes = copy.changes()
    place = str(calls[-1].get("name") or calls[-1].get("path") or "")
    notes = (note,) if note else ()
    references = _open_references(data)
    return EditOutcome(changes, name, place, by_code=True, notes=notes, open_references=references, left=left_of(data))


def _failure(error: UsageError) -> GenerationFailed:
    choices = getattr(error, "choices", ())
    return (
        PlaceAmbiguous(error.message, error.hint, choices) if choices else GenerationFailed(error.message, error.hint)
    )


def _open_references(data: Any) -> tuple[OpenReference, ...]:
    """What a tool left: first what may break the program, then the places that only name what was changed."""
    left, named = _rows_left(data)
    return tuple(
        OpenReference(row["path"], row["line"], row["text"], i18n.message(reason))
        for rows, reason in ((left, "commands.unsure"), (named, "commands.named"))
        for row in rows
    )


def left_of(data: Any) -> tuple[str, ...]:
    """What a tool's edit left undone, by the data of its result; for the verdict."""
    if not isinstance(data, dict) or data.get("done"):
        return ()
    places = [*(f"{row['path']}:{row['line']}" for row in _rows_left(data)[0]), *data.get("unread", ())]
    return tuple(places) if places or "done" not in data else (i18n.message("commands.not_done"),)


def _rows_left(data: Any) -> tuple[list[dict[str, Any]], list[dict[str, Any]]]:
    """The places that may break the program, and those that only name what was changed."""
    if not isinstance(data, dict):
        return [], []
    unsure: list[dict[str, Any]] = data.get("unsure") or []
    left: list[dict[str, Any]] = data.get("left", unsure)
    return left, [row for row in unsure if row not in left]
