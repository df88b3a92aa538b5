"""Finds what a change makes necessary elsewhere."""

from __future__ import annotations

from repopilot.agents.coding.follow_ups.changed_state import changed_state
from repopilot.agents.coding.follow_ups.missing_exports import missing_exports
from repopilot.agents.coding.follow_ups.needed_edit import joined
from repopilot.agents.coding.follow_ups.old_names import old_names
from repopilot.results import FollowUpEdit
from repopilot.tools.file_change import Changes
from repopilot.workspace import Workspace

_RULES = (old_names, missing_exports)


def follow_ups(changes: Changes, workspace: Workspace) -> tuple[FollowUpEdit, ...]:
    """Find what a change makes necessary elsewhere. Blocking; no model has a part in it.

    Args:
        changes: the files that change.
        workspace: the repository before the change.

    Returns:
        At most a handful, the most urgent first. Those of one file that code can write are one change of it, on top of
        `changes`; the others only name their place.

    Raises:
        IndexFailed: the index is broken.
    """
    state = changed_state(changes, workspace)
    if not state.code:
        return ()
    needed = [edit for rule in _RULES for edit in rule(state)]
    texts = {edit.path: text for edit in needed if (text := state.texts(edit.path))}
    return joined([edit for edit in needed if edit.path in texts], texts)
