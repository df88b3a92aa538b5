"""A new function, method or class by a small model: code knows where it belongs, the model writes it.

Several replies are compared by parser and linter; what doesn't parse, or doesn't define the name, is never shown.
"""

from __future__ import annotations

import asyncio
import re
import textwrap
from collections.abc import Sequence
from dataclasses import replace
from typing import TYPE_CHECKING

from repopilot import i18n
from repopilot.agents.coding.checks.checked_change import checked_change
from repopilot.agents.coding.edit_request import EditRequest
from repopilot.agents.coding.excerpts import LineExcerpt
from repopilot.agents.coding.follow_ups.find import follow_ups
from repopilot.agents.coding.grounded import GroundedCall
from repopilot.agents.coding.outcome import EditOutcome
from repopilot.agents.coding.places import load
from repopilot.agents.coding.sampling import REPLY_TOKENS, Sample, best_sample
from repopilot.agents.coding.small import shown_lines
from repopilot.agents.coding.tool_edit import edit_with_tool
from repopilot.code.languages import file_kind
from repopilot.code.split import analyse
from repopilot.errors import GenerationFailed
from repopilot.llm import stream
from repopilot.llm.backend import ChatOptions
from repopilot.prompts import render
from repopilot.tools.new_errors import new_errors
from repopilot.trace import Step
from repopilot.types import Symbol
from repopilot.workspace import Workspace

if TYPE_CHECKING:
    from llama_index.core.llms import ChatMessage

MOST_HEAD, MOST_SIGNATURES = 14, 24
"""Lines shown of the start of the class or file that gets the definition, and of its other definitions."""
_FENCED = re.compile(r"^[ \t]*```[^\n]*\n(.*?)(?:^[ \t]*```|\Z)", re.M | re.S)
_BESIDE = ("go",)
"""Languages whose methods stand beside their type."""


async def write_definition(
    call: GroundedCall, request: EditRequest, workspace: Workspace, step: Step
) -> EditOutcome | None:
    """Have the model write a definition, and put it where it belongs.

    Args:
        call: where: path, anchor ('' for the end of the file) and name.
        request: the task.
        workspace: the repository with the model.
        step: gets the replies as children.

    Returns:
        The best version, the others as candidates; None where no reply can be used.

    Raises:
        ModelError: the model failed.
    """
    model = workspace.model
    assert model is not None
    messages = await asyncio.to_thread(_messages, call, request, workspace)

    async def ask(temperature: float, seed: int, writing: Step) -> Sample | None:
        options = ChatOptions(REPLY_TOKENS, temperature, stop=("\n```\n",), seed=seed)
        reply = await stream.chat(model, messages, writing, options)
        made = await _placed(reply, call, request, workspace, writing)
        return Sample(made, await asyncio.to_thread(_faults, made, workspace)) if made else None

    return await best_sample(request, "write the definition", ask, step)


def _messages(call: GroundedCall, request: EditRequest, workspace: Workspace) -> list[ChatMessage]:
    from llama_index.core.llms import ChatMessage

    path, anchor, name = (call.arguments[key] for key in ("path", "anchor", "name"))
    around = _around(path, anchor, workspace)
    shown = "\n".join(
        f"{e.path}\n```\n{chr(10).join(e.lines)}\n```" for e in [*around, *shown_lines(request, workspace)]
    )
    where = f"which belongs into `{anchor}` in {path}" if anchor else f"which belongs into {path}"
    task = "\n".join([request.task, *request.feedback])
    asked = render("definition_user", shown=shown, task=task, name=name, where=where)
    return [
        ChatMessage(role="system", content=render("definition_system")),
        ChatMessage(role="user", content=asked),
    ]


def _around(path: str, anchor: str, workspace: Workspace) -> list[LineExcerpt]:
    """The beginning of the class or file, and how its other definitions begin."""
    index = workspace.index
    lines, outline = (index.text(path) or "").split("\n"), index.outline(path)
    place = next((s for s in outline if s.qualified == anchor), None)
    first, last = (place.start_line - 1, place.end_line) if place else (0, len(lines))
    head = lines[first : min(last, first + MOST_HEAD)]
    inside = [s for s in outline if first + MOST_HEAD < s.start_line <= last and s.name != anchor]
    starts = [lines[s.start_line - 1] for s in inside if not place or s.qualified.startswith(f"{anchor}.")]
    text = [*head, *(["…", *starts[:MOST_SIGNATURES]] if starts else [])]
    return [LineExcerpt(path, first, tuple(text), ())]


async def _placed(
    reply: str, call: GroundedCall, request: EditRequest, workspace: Workspace, step: Step
) -> EditOutcome | None:
    """A reply put where it belongs; None where it doesn't define the name, or can't stand there."""
    path, anchor, name = (call.arguments[key] for key in ("path", "anchor", "name"))
    language = workspace.index.files[path].language
    texts = [textwrap.dedent(text) for text in _FENCED.findall(reply)] or [reply]
    code = next((found for text in texts if (found := definition_in(text, name, path, language))), "")
    if not code:
        return None
    kind = next((s.kind for s in workspace.index.outline(path) if s.qualified == anchor), "")
    position = "inside" if kind == "class" and language not in _BESIDE else "after"
    arguments = {"path": path, "anchor": anchor, "position": position, "code": code}
    try:
        made = await edit_with_tool(
            "insert_code", arguments, workspace, step, i18n.message("commands.read_as", reading=call.text)
        )
        target = load(path, workspace)
        changes = [checked_change(target, each.content, workspace.index) for each in made.changes]
    except GenerationFailed:
        return None
    # It is exported as its neighbours are.
    exports = {each.path: each.change for each in await follow_ups(tuple(changes), workspace) if each.change}
    whole = {change.path: change for change in changes} | exports
    return replace(made, changes=tuple(whole.values()), by_code=False)


def definition_in(code: str, name: str, path: str, language: str) -> str:
    """The lines of a text that define a name, with its decorators and overloads; '' where nothing in it does.

    Args:
        code: what a model wrote, perhaps with the class around it.
        name: what it should define.
        path: the file it is for.
        language: of the file.
    """
    found: Sequence[Symbol] = [s for s in analyse(path, code, language, file_kind(path)).symbols if s.name == name]
    if not found:
        return ""
    lines = code.split("\n")
    return "\n".join(lines[min(s.start_line for s in found) - 1 : max(s.end_line for s in found)])


def _faults(made: EditOutcome, workspace: Workspace) -> tuple[str, ...]:
    """What the linter finds new, as messages."""
    found = [said for c in made.changes for said in new_errors(c.path, workspace.index.text(c.path) or "", c.content)]
    return tuple(i18n.message("small.undefined", what=said) for said in found)
