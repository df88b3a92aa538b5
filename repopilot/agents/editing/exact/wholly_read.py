"""Tasks of which one pattern reads every sentence.

They are read before sentences that only say why are left out: such a sentence may be a wish for more here.
"""

from __future__ import annotations

from repopilot.agents.editing.exact.definitions.raised_instead import exchanged_exception
from repopilot.agents.editing.exact.exact_task import ExactTask
from repopilot.agents.editing.exact.parameters.constructor_options import constructor_option
from repopilot.agents.editing.exact.parameters.handed_on import handed_on_option
from repopilot.agents.editing.exact.sources import Sources
from repopilot.agents.editing.exact.task_names import names_of
from repopilot.agents.editing.exact.wording.plain_wording import plain_task
from repopilot.agents.editing.exact.wording.task_shape import shape_of


def wholly_read(task: str, sources: Sources) -> list[ExactTask]:
    """What a task asks for, where it is one of those that are read as a whole.

    Args:
        task: as the user wrote it.
        sources: the files.

    Returns:
        The edits, which together are all that it asks for; [] for other tasks.
    """
    if "\n" in task.strip():
        return []
    shape = shape_of(plain_task(task), names_of(sources))
    readers = (constructor_option, exchanged_exception, handed_on_option)
    return next((found for reader in readers if (found := list(reader(shape, sources)))), [])
