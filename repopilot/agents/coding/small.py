"""A change of a few lines by a small model: code chooses the lines that are shown, the model rewrites them.

The reply is constrained to SEARCH/REPLACE blocks whose SEARCH lines are among those shown.
"""

from __future__ import annotations

import asyncio
import math
from collections.abc import Sequence

from repopilot.agents.coding.blocks import (
    SearchReplaceBlock,
    block_grammar,
    block_schema,
    blocks_of_json,
    is_complete,
    read_blocks,
)
from repopilot.agents.coding.excerpts import LineExcerpt, shown_lines
from repopilot.agents.coding.places import named_paths
from repopilot.agents.coding.sampling import REPLY_TOKENS, Sampling, sampled
from repopilot.agents.coding.tool_edit import EditOutcome, edit_with_tool
from repopilot.llm.backend import ChatOptions, backend_of
from repopilot.llm.model import Model
from repopilot.llm.stream import prompt_of
from repopilot.prompts import render
from repopilot.trace import Step
from repopilot.types import Hit
from repopilot.workspace import Workspace


async def edit_lines(
    task: str, hits: Sequence[Hit], workspace: Workspace, step: Step, ends: float = math.inf
) -> EditOutcome | None:
    """Change a few lines.

    Args:
        task: as the user wrote it.
        hits: what the search found for it.
        workspace: the repository with the model.
        step: gets the lines shown and the replies as children.
        ends: the deadline of the edit on the monotonic clock.

    Returns:
        The edit; None where no lines are found or no reply can be used.

    Raises:
        GenerationFailed: as `sampled`.
        ModelError: the model failed.
    """
    model = workspace.model
    assert model is not None
    async with step.child("find the lines", "tool", task) as finding:
        excerpts = await asyncio.to_thread(shown_lines, task, hits, workspace)
        await finding.write("\n".join(f"{e.path}:{e.first + 1}-{e.first + len(e.lines)}" for e in excerpts))
    if not excerpts:
        return None
    options = _options(model, excerpts)
    asked = render("search_replace_user", shown=as_text(excerpts), task=task)
    messages = prompt_of(render("search_replace_system"), asked)

    async def made(reply: str, writing: Step) -> EditOutcome | None:
        blocks = blocks_of_json(reply) if options.schema else read_blocks(reply)
        calls = _replacements(blocks, excerpts, named_paths(task, workspace.index))
        return await edit_with_tool("replace_text", calls, workspace, writing) if calls else None

    async def finished(text: str) -> bool:
        return is_complete(text)

    halt = finished if options.grammar else None
    return await sampled(Sampling("replace lines", task, messages, options, made, halt), workspace, step, ends)


def as_text(excerpts: Sequence[LineExcerpt]) -> str:
    """Excerpts as a prompt shows them."""
    return "\n".join(f"{e.path}\n```\n{chr(10).join(e.lines)}\n```" for e in excerpts)


def _options(model: Model, excerpts: Sequence[LineExcerpt]) -> ChatOptions:
    """The options that constrain a reply to blocks: a grammar for an embedded model, a JSON schema for a server."""
    if backend_of(model).takes_grammar:
        return ChatOptions(REPLY_TOKENS, grammar=block_grammar(excerpts))
    return ChatOptions(2 * REPLY_TOKENS, schema=block_schema(excerpts))


def _replacements(
    blocks: Sequence[SearchReplaceBlock], excerpts: Sequence[LineExcerpt], named: Sequence[str]
) -> list[dict[str, str]]:
    """Blocks as calls of `replace_text`, one for each changed excerpt, whose lines together are unambiguous."""
    found = [list(excerpt.lines) for excerpt in excerpts]
    changed: set[str] = set()
    for block in blocks:
        if changed and block.path not in changed and block.path not in named:
            continue  # what a small model adds in other files mostly has nothing to do with the task
        own = [lines for lines, excerpt in zip(found, excerpts, strict=True) if excerpt.path == block.path]
        size = len(block.old)
        places = ((lines, n) for lines in own for n in range(len(lines)) if tuple(lines[n : n + size]) == block.old)
        lines, at = next(places, ([], 0))
        if lines and block.old != block.new:
            lines[at : at + size] = block.new
            changed.add(block.path)
    return [
        {"path": excerpt.path, "old": "\n".join(excerpt.lines), "new": "\n".join(lines)}
        for lines, excerpt in zip(found, excerpts, strict=True)
        if tuple(lines) != excerpt.lines
    ]
