"""What a small model writes: several replies are compared by parser and linter, and the best one is taken."""

from __future__ import annotations

import asyncio
import time
from collections.abc import Awaitable, Callable, Sequence
from dataclasses import dataclass, replace
from typing import TYPE_CHECKING

from repopilot import i18n
from repopilot.agents.coding.checks.import_fixer import with_missing_imports
from repopilot.agents.coding.checks.preserve import leaves_out, unrequested_removals
from repopilot.agents.coding.outcome import EditOutcome
from repopilot.errors import GenerationFailed, ModelError
from repopilot.llm import stream
from repopilot.llm.backend import ChatOptions
from repopilot.llm.structured import REFUSED
from repopilot.tools.file_change import Changes
from repopilot.tools.new_errors import new_errors
from repopilot.trace import Step
from repopilot.workspace import Workspace

if TYPE_CHECKING:
    from llama_index.core.llms import ChatMessage

TEMPERATURES = (0.0, 0.7, 0.8)
"""Of the replies in turn; the first without a fault is taken."""
LONGEST_S = 25.0
"""After this time no further reply is begun."""
REPLY_TOKENS = 500


@dataclass(frozen=True, slots=True)
class Sampling:
    """What a small model is asked to write.

    Attributes:
        name: of the step of each reply.
        task: as the user wrote it.
        messages: the prompt.
        options: of a reply, whose temperature and seed are chosen here.
        made: the edit that a reply comes to; None where the reply can't be used.
        finished: whether a reply is complete before it ends, by its text so far.
    """

    name: str
    task: str
    messages: Sequence[ChatMessage]
    options: ChatOptions
    made: Callable[[str, Step], Awaitable[EditOutcome | None]]
    finished: Callable[[str], Awaitable[bool]] | None = None


async def sampled(wanted: Sampling, workspace: Workspace, step: Step) -> EditOutcome | None:
    """Ask until a reply has no fault.

    Args:
        wanted: what is to be written.
        workspace: the repository with the model.
        step: the replies are its children.

    Returns:
        The reply with the fewest faults, which its notes name; None where none can be used.

    Raises:
        ModelError: the model failed.
    """
    best: EditOutcome | None = None
    fewest: list[str] = []
    ends = time.monotonic() + LONGEST_S
    for seed, temperature in enumerate(TEMPERATURES):
        if seed and time.monotonic() > ends:
            break
        async with step.child(wanted.name, "llm", wanted.task) as writing:
            options = replace(wanted.options, temperature=temperature, seed=seed)
            edit = await _edit(wanted, await _reply(wanted, options, workspace, writing), workspace, writing)
            faults = await asyncio.to_thread(_faults, edit.changes, wanted.task, workspace) if edit else []
            writing.note(usable=edit is not None, faults=faults)
        if edit is not None and (best is None or len(faults) < len(fewest)):
            best = edit
            fewest = faults
        if best is not None and not fewest:
            break
    return replace(best, notes=(*best.notes, *fewest)) if best else None


async def _reply(wanted: Sampling, options: ChatOptions, workspace: Workspace, step: Step) -> str:
    """The model's reply; '' where its server doesn't take the schema."""
    assert workspace.model is not None
    try:
        return await stream.chat(workspace.model, wanted.messages, step, options, wanted.finished)
    except ModelError as error:
        if options.schema is None or getattr(error.__cause__, "status_code", None) not in REFUSED:
            raise
        return ""


async def _edit(wanted: Sampling, reply: str, workspace: Workspace, step: Step) -> EditOutcome | None:
    """What a reply comes to, with missing imports; None where it can't be used, or leaves code out."""
    try:
        edit = await wanted.made(reply, step)
    except GenerationFailed:
        return None
    if edit is None or not edit.changes or any(map(leaves_out, edit.changes)):
        return None
    changes = await asyncio.to_thread(with_missing_imports, edit.changes, workspace.index)
    return replace(edit, changes=changes, by_code=False)


def _faults(changes: Changes, task: str, workspace: Workspace) -> list[str]:
    """What the linter finds new in files, and the public names that they lost without being asked to, as messages."""
    found: list[str] = []
    for change in changes:
        before = workspace.index.text(change.path) or ""
        new = new_errors(change.path, before, change.content)
        found += [i18n.message("small.undefined", what=said) for said in new]
        if lost := unrequested_removals(change.path, change.content, before, task):
            found.append(i18n.message("generate.problem.removes", names=", ".join(lost[:5])))
    return found
