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
