"""Edits by a small model: replies are sampled until parser and linter find no fault in one, or the time is up."""

from __future__ import annotations

import asyncio
import math
import time
from collections.abc import Awaitable, Callable, Sequence
from dataclasses import dataclass, replace
from typing import TYPE_CHECKING

from repopilot import i18n
from repopilot.agents.coding.checks.import_fixer import with_missing_imports
from repopilot.agents.coding.checks.preserve import leaves_out, unrequested_removals
from repopilot.agents.coding.tool_edit import EditOutcome
from repopilot.errors import GenerationFailed, ModelError
from repopilot.llm import stream
from repopilot.llm.backend import ChatOptions
from repopilot.llm.model import Model
from repopilot.llm.structured import REFUSED
from repopilot.tools.file_change import Changes
from repopilot.tools.verifying.new_errors import new_errors
from repopilot.trace import Step
from repopilot.workspace import Workspace

if TYPE_CHECKING:
    from llama_index.core.llms import ChatMessage

TEMPERATURES = (0.0, 0.7, 0.8)
"""The temperatures of successive replies; the first reply without a fault is taken."""
REPLY_TOKENS = 500
SHORTEST_REPLY = 60
"""Tokens. A reply isn't begun where the model has no time to write this many."""


@dataclass(frozen=True, slots=True)
class Sampling:
    """What a small model is asked to write.

    Attributes:
        name: of the step of each reply.
        task: as the user wrote it.
        messages: the prompt.
        options: of a reply; temperature and seed are set here.
        made: turns a reply into an edit; None where the reply can't be used.
        finished: tells from the text so far whether a reply is already complete.
    """

    name: str
    task: str
    messages: Sequence[ChatMessage]
    options: ChatOptions
    made: Callable[[str, Step], Awaitable[EditOutcome | None]]
    finished: Callable[[str], Awaitable[bool]] | None = None


async def sampled(wanted: Sampling, workspace: Workspace, step: Step, ends: float = math.inf) -> EditOutcome | None:
    """Ask until a reply has no fault, as long as there is time for one more.

    Args:
        wanted: what is to be written.
        workspace: the repository with the model.
        step: the replies are its children.
        ends: the deadline of the edit on the monotonic clock.

    Returns:
        The first reply without a fault; None where none can be used.

    Raises:
        GenerationFailed: the model is too slow to reply in time, or what it wrote has a fault.
        ModelError: the model failed.
    """
    assert workspace.model is not None
    fault = ""
    unread = await stream.prompt_tokens(workspace.model, wanted.messages)
    for seed, temperature in enumerate(TEMPERATURES):
        longest = _tokens_until(ends, unread, wanted.options.max_tokens, workspace.model)
        if longest < SHORTEST_REPLY:
            break
        unread = 0  # the next reply is to the same prompt, which the model has read by then
        async with step.child(wanted.name, "llm", wanted.task) as writing:
            options = replace(wanted.options, max_tokens=longest, temperature=temperature, seed=seed)
            edit = await _edit(wanted, await _reply(wanted, options, workspace, writing), workspace, writing)
            faults = await asyncio.to_thread(_faults, edit.changes, wanted.task, workspace) if edit else []
            writing.note(usable=edit is not None, faults=faults)
        if edit is not None and not faults:
            return edit
        fault = next(iter(faults), fault)
    if unread or fault:
        why = i18n.message("small.faulty", what=fault) if fault else i18n.message("small.too_slow")
        raise GenerationFailed(why, i18n.message("generate.no_model_hint"))
    return None


def _tokens_until(ends: float, unread: int, most: int, model: Model) -> int:
    """How many tokens a model can write by the deadline after reading `unread` tokens; `most` for an unknown speed."""
    pace = model.pace
    if pace is None or ends == math.inf:
        return most
    return min(most, int((ends - time.monotonic() - unread / pace.prompt) * pace.generation))


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
    """The edit of a reply, with missing imports added; None where it can't be used, or leaves code out."""
    try:
        edit = await wanted.made(reply, step)
    except GenerationFailed:
        return None
    if edit is None or not edit.changes or any(map(leaves_out, edit.changes)):
        return None
    changes = await asyncio.to_thread(with_missing_imports, edit.changes, workspace.index)
    return replace(edit, changes=changes, by_code=False)


def _faults(changes: Changes, task: str, workspace: Workspace) -> list[str]:
    """The new errors in changed files, and the public names removed without being requested, as messages."""
    found: list[str] = []
    for change in changes:
        before = workspace.index.text(change.path) or ""
        found += new_errors(change.path, before, change.content)
        if lost := unrequested_removals(change.path, change.content, before, task):
            found.append(i18n.message("generate.problem.removes", names=", ".join(lost[:5])))
    return found
