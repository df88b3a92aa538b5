"""Recognises tasks that code can carry out exactly, and carries them out."""

from __future__ import annotations

from collections.abc import Callable

from repopilot.agents.editing.exact.deletion import delete
from repopilot.agents.editing.exact.import_editing import change_import
from repopilot.agents.editing.exact.members import add_member, remove_member
from repopilot.agents.editing.exact.moving import rename_file
from repopilot.agents.editing.exact.renaming import rename
from repopilot.agents.editing.exact.signatures import change_signature
from repopilot.agents.editing.exact.sources import Patch, Sources, outcome
from repopilot.agents.editing.exact.task_forms import ExactTask, task_forms
from repopilot.agents.editing.exact.text_replacing import replace_text
from repopilot.agents.editing.exact.values.value_setting import set_value
from repopilot.agents.editing.exact.values.version_bump import bump_version
from repopilot.agents.editing.outcome import EditOutcome
from repopilot.workspace import Workspace

_KINDS: dict[str, Callable[[ExactTask, Sources], Patch | None]] = {
    "rename": rename,
    "set_value": set_value,
    "set_default": set_value,
    "add_import": change_import,
    "remove_import": change_import,
    "remove_unused_imports": change_import,
    "add_member": add_member,
    "remove_member": remove_member,
    "replace_text": replace_text,
    "change_message": replace_text,
    "delete": delete,
    "rename_parameter": change_signature,
    "add_parameter": change_signature,
    "remove_parameter": change_signature,
    "rename_file": rename_file,
    "bump_version": bump_version,
}


def exact_edit(task: str, workspace: Workspace) -> EditOutcome | None:
    """Carry out a task that needs no model.

    Args:
        task: as the user wrote it, in English or French. `@path:Symbol` in it says which place is meant.
        workspace: the repository.

    Returns:
        The changes; None where the task isn't clearly one of those that code can do.

    Raises:
        PlaceAmbiguous: several places fit the task.
        GenerationFailed: the task is one of those, but can't be carried out: it names nothing that exists, or its
            result would not be valid.
    """
    sources = Sources(workspace)
    for form in task_forms(task):
        patch = _KINDS[form.kind](form, sources)
        result = outcome(patch, sources) if patch is not None else None
        if result is not None:
            return result
    return None
