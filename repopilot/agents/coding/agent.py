"""A change made by a model that uses the toolbox on a working copy."""

from __future__ import annotations

import asyncio
from collections.abc import Callable
from dataclasses import dataclass

from repopilot.agents import loop
from repopilot.errors import GenerationFailed
from repopilot.prompts import render
from repopilot.results import ToolUse
from repopilot.tools.file_change import Changes
from repopilot.tools.registry import Desk
from repopilot.tools.toolbox import toolbox
from repopilot.tools.working_copy import working_copy
from repopilot.trace import Step
from repopilot.workspace import Workspace


@dataclass(frozen=True, slots=True)
class LoopEdit:
    """What the loop left in the working copy.

    Attributes:
        changes: the files; () where it changed none.
        calls: every tool call, in order.
        note: why it ended where it did not say that it was done, a message; ''.
        summary: what it says it did.
        silent: whether the model doesn't answer any more.
    """

    changes: Changes
    calls: tuple[ToolUse, ...]
    note: str
    summary: str
    silent: bool = False


async def edit_by_loop(
    task: str, workspace: Workspace, step: Step, kept: Callable[[Changes], None] | None = None
) -> LoopEdit:
    """Let the model work on a copy of the repository until it is done or its budget is spent.

    Args:
        task: as the user wrote it.
        workspace: the repository, with a model that calls tools.
        step: the loop's steps go below it.
        kept: is given what was changed when the user stops the work.

    Returns:
        What it left.

    Raises:
        GenerationFailed: it changed nothing; the hint says why it ended.
        StorageError: there is no room for the working copy.
    """
    assert workspace.model is not None
    budget, system = loop.Budget.of(workspace.settings), render("loop_change", name=workspace.snapshot.name)
    async with step.child("work with tools", "agent", task) as working, working_copy(workspace) as copy:
        desk = Desk(workspace, copy, budget, working, workspace.ask)
        try:
            done = await loop.run(task, desk, workspace.model, toolbox(), system, loop.ASKINGS)
        except asyncio.CancelledError:
            if kept is not None and copy.changes():
                kept(copy.changes())
            raise
        changes = copy.changes()
    if not changes:
        raise GenerationFailed(done.summary.strip() or done.note, done.note if done.summary.strip() else "")
    calls = tuple(ToolUse(call.name, dict(call.arguments), call.ok) for call in done.calls)
    return LoopEdit(changes, calls, done.note, done.summary, done.ended == "silent")
