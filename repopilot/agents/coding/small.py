"""A change of a few lines by a small model: code chooses the lines that are shown, the model writes them again.

The reply is held to SEARCH/REPLACE blocks whose SEARCH lines are among those shown. Several replies are compared by
parser and linter; what doesn't parse is never shown.
"""

from __future__ import annotations

import asyncio
import re
from collections.abc import Sequence
from typing import TYPE_CHECKING

from repopilot import i18n
from repopilot.agents.coding.blocks import (
    END_OF_BLOCK,
    MOST_BLOCKS,
    SearchReplaceBlock,
    block_grammar,
    block_schema,
    blocks_of_json,
    read_blocks,
)
from repopilot.agents.coding.checks.checked_change import checked_change
from repopilot.agents.coding.checks.preserve import unrequested_removals
from repopilot.agents.coding.edit_request import EditRequest
from repopilot.agents.coding.excerpts import LineExcerpt, choose_excerpts, code_of_task
from repopilot.agents.coding.outcome import EditOutcome
from repopilot.agents.coding.places import load, named_paths
from repopilot.agents.coding.sampling import REPLY_TOKENS, Sample, best_sample
from repopilot.errors import GenerationFailed, ModelError
from repopilot.llm import stream
from repopilot.llm.backend import ChatOptions
from repopilot.llm.model import Model
from repopilot.llm.structured import REFUSED
from repopilot.prompts import render
from repopilot.tools.new_errors import new_errors
from repopilot.trace import Step
from repopilot.types import Edit, FileChange
from repopilot.workspace import Workspace

if TYPE_CHECKING:
    from llama_index.core.llms import ChatMessage

MOST_FILES, MOST_PER_NAME = 30, 8
LARGEST_FILE = 400_000
"""Characters."""


async def edit_lines(request: EditRequest, workspace: Workspace, step: Step) -> EditOutcome | None:
    """Change a few lines.

    Args:
        request: the task.
        workspace: the repository with the model.
        step: gets the lines shown and the replies as children.

    Returns:
        The best version, the others as candidates; None where no lines are found or no reply can be used.

    Raises:
        ModelError: the model failed.
    """
    model = workspace.model
    assert model is not None
    async with step.child("find the lines", "tool", request.task) as finding:
        excerpts = await asyncio.to_thread(shown_lines, request, workspace)
        await finding.write("\n".join(f"{e.path}:{e.first + 1}-{e.first + len(e.lines)}" for e in excerpts))
    if not excerpts:
        return None

    async def ask(temperature: float, seed: int, writing: Step) -> Sample | None:
        blocks = await _blocks(model, request, excerpts, _options(model, excerpts, temperature, seed), writing)
        return await asyncio.to_thread(_sample, blocks, excerpts, request.task, workspace)

    return await best_sample(request, "replace lines", ask, step)


def shown_lines(request: EditRequest, workspace: Workspace) -> list[LineExcerpt]:
    """The lines that a task is likely about: of the files it names, else of those that have its names and words.

    Args:
        request: the task.
        workspace: the repository.
    """
    index, task = workspace.index, " ".join(request.task.split())
    named = [path for path in named_paths(task, index) if path in index.files]
    code = code_of_task(task)
    defined = [name for name in code if name.isidentifier() and index.symbols(name)]
    ran = sorted(request.failing.calls.order.items(), key=lambda item: -item[1]) if request.failing else []
    paths = [path for (path, _), _ in ran[:MOST_PER_NAME]]
    paths += [symbol.path for name in defined for symbol in index.symbols(name)[:MOST_PER_NAME]]
    paths += [hit.chunk.path for hit in (request.found.results.hits if request.found else ())]
    for name in code:
        if re.fullmatch(r"\w{3,}", name):
            paths += list(index.may_use(name))[:MOST_PER_NAME]
    texts: dict[str, str] = {}
    for path in named or list(dict.fromkeys(paths))[:MOST_FILES]:
        text = index.text(path)
        if text is not None and len(text) <= LARGEST_FILE:
            texts[path] = text
    outlines = {path: index.outline(path) for path in texts}
    found = choose_excerpts(task, texts, outlines, named, defined)
    return [excerpt for excerpt in found if any(excerpt.changeable)]


def _options(model: Model, excerpts: Sequence[LineExcerpt], temperature: float, seed: int) -> ChatOptions:
    """The options under which the reply is blocks, as far as the model's server can be held to them."""
    if model.kind == "embedded":
        return ChatOptions(REPLY_TOKENS, temperature, seed=seed, grammar=block_grammar(excerpts))
    if model.kind == "scripted":
        return ChatOptions(REPLY_TOKENS, temperature, seed=seed)
    return ChatOptions(2 * REPLY_TOKENS, temperature, seed=seed, schema=block_schema(excerpts))


async def _blocks(
    model: Model, request: EditRequest, excerpts: Sequence[LineExcerpt], options: ChatOptions, step: Step
) -> list[SearchReplaceBlock]:
    async def finished(text: str) -> bool:
        return text.count(END_OF_BLOCK) >= MOST_BLOCKS and text.rstrip("\n").endswith(END_OF_BLOCK)

    halt = finished if options.grammar else None
    try:
        reply = await stream.chat(model, _messages(request, excerpts), step, options, halt)
    except ModelError as error:
        if options.schema is None or getattr(error.__cause__, "status_code", None) not in REFUSED:
            raise
        return []
    return blocks_of_json(reply) if options.schema else read_blocks(reply)


def _messages(request: EditRequest, excerpts: Sequence[LineExcerpt]) -> list[ChatMessage]:
    from llama_index.core.llms import ChatMessage

    shown = "\n".join(f"{e.path}\n```\n{chr(10).join(e.lines)}\n```" for e in excerpts)
    failing = [request.failing.text, request.failing.error] if request.failing else []
    task = "\n".join([request.task, *failing, *request.feedback])
    return [
        ChatMessage(role="system", content=render("search_replace_system")),
        ChatMessage(role="user", content=render("search_replace_user", shown=shown, task=task)),
    ]


def _sample(
    blocks: Sequence[SearchReplaceBlock], excerpts: Sequence[LineExcerpt], task: str, workspace: Workspace
) -> Sample | None:
    """The change that blocks come to; None where they change nothing or can't be used."""
    texts: dict[str, list[str]] = {}
    edits: list[Edit] = []
    named = named_paths(task, workspace.index)
    for block in blocks:
        if texts and block.path not in texts and block.path not in named:
            continue  # what a small model adds in other files is mostly beside the task
        lines = texts.get(block.path) or (workspace.index.text(block.path) or "").split("\n")
        at = _place(block, excerpts, lines)
        if at is None or block.old == block.new:
            continue
        texts[block.path] = [*lines[:at], *block.new, *lines[at + len(block.old) :]]
        edits.append(Edit("change_block", block.path, "", "\n".join(block.new)))
    changes: list[FileChange] = []
    faults: list[str] = []
    for path, new in texts.items():
        try:
            change = checked_change(load(path, workspace), "\n".join(new), workspace.index)
        except GenerationFailed:
            return None
        if change.diff:
            changes.append(change)
            faults += _faults(change, task, workspace)
    return Sample(EditOutcome(tuple(changes), tuple(edits)), tuple(faults)) if changes else None


def _place(block: SearchReplaceBlock, excerpts: Sequence[LineExcerpt], lines: Sequence[str]) -> int | None:
    """Where the lines of a block stand in its file: in what was shown of it, else in the one place that has them."""
    size = len(block.old)
    places = [n for n in range(len(lines) - size + 1) if tuple(lines[n : n + size]) == block.old]
    shown = [n for n in places if any(e.path == block.path and e.first <= n < e.first + len(e.lines) for e in excerpts)]
    return shown[0] if shown else places[0] if len(places) == 1 else None


def _faults(change: FileChange, task: str, workspace: Workspace) -> list[str]:
    """What the linter finds new in a file, and the public names that it lost without being asked to, as messages."""
    before = workspace.index.text(change.path) or ""
    lost = unrequested_removals(change.path, change.content, before, task)
    found = [i18n.message("small.undefined", what=said) for said in new_errors(change.path, before, change.content)]
    return [*found, *([i18n.message("generate.problem.removes", names=", ".join(lost[:5]))] if lost else [])]
