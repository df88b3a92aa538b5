"""Finds what a change makes necessary elsewhere."""

from __future__ import annotations

import asyncio
from collections.abc import Sequence

from repopilot.agents.coding.follow_ups.changed_state import ChangedState, changed_state, plain
from repopilot.agents.coding.follow_ups.missing_exports import missing_exports
from repopilot.agents.coding.follow_ups.needed_edit import NeededEdit, joined
from repopilot.agents.coding.follow_ups.old_names import LeftUse, LeftUses, old_names
from repopilot.resolve.values import NameSpan
from repopilot.results import FollowUpEdit
from repopilot.review.broken_uses import changed_definitions, uses_of_gone, versions_of
from repopilot.tools.file_change import Changes
from repopilot.tools.working_copy import WorkingCopy, working_copy
from repopilot.workspace import Workspace


async def follow_ups(changes: Changes, workspace: Workspace) -> tuple[FollowUpEdit, ...]:
    """Find what a change makes necessary elsewhere. No model has a part in it.

    Args:
        changes: the files that change.
        workspace: the repository before the change.

    Returns:
        At most a handful, the most urgent first. Those of one file that code can write are one change of it, on top of
        `changes`; the others only name their place.

    Raises:
        IndexFailed: the index is broken.
        StorageError: there is no room for a copy of the repository.
    """
    state = await asyncio.to_thread(changed_state, changes, workspace)
    if not state.code:
        return ()
    left = await _uses_of_gone(changes, workspace)
    return await asyncio.to_thread(lambda: _as_follow_ups([*old_names(state, left), *missing_exports(state)], state))


def _as_follow_ups(needed: Sequence[NeededEdit], state: ChangedState) -> tuple[FollowUpEdit, ...]:
    """Edits as one change for each file. Blocking."""
    texts = {edit.path: text for edit in needed if (text := state.texts(edit.path))}
    return joined([edit for edit in needed if edit.path in texts], texts)


async def _uses_of_gone(changes: Changes, workspace: Workspace) -> LeftUses:
    files = versions_of(changes)
    changed = [each for each in await asyncio.to_thread(changed_definitions, files) if each.gone]
    if not changed:
        return {}
    async with working_copy(workspace) as copy:
        await asyncio.to_thread(copy.write, changes)
        left = await asyncio.to_thread(uses_of_gone, changed, files, workspace.resolver, copy.resolver)
        return {
            definition: [LeftUse(use.span.path, use.line, _offset(copy, use.span)) for use in uses]
            for definition, uses in left.items()
        }


def _offset(copy: WorkingCopy, span: NameSpan) -> int:
    """Where a place of a stored text is in the same text without byte order mark and with LF line ends."""
    return len(plain((copy.resolver.text(span.path) or "")[: span.start]))
