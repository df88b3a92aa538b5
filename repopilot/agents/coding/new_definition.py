"""A new function, method or class by a small model: code knows where it belongs, the model writes it.

A reply that doesn't parse, or doesn't define the name, is never shown.
"""

from __future__ import annotations

import asyncio
import math
import textwrap
from collections.abc import Sequence

from repopilot import i18n
from repopilot.agents.coding.excerpts import LineExcerpt, shown_lines
from repopilot.agents.coding.sampling import REPLY_TOKENS, Sampling, sampled
from repopilot.agents.coding.small import as_text
from repopilot.agents.coding.tool_edit import EditOutcome, edit_with_tool
from repopilot.agents.coding.typed_commands import Command
from repopilot.code.languages import file_kind
from repopilot.code.split import analyse
from repopilot.foreign_text import FENCED
from repopilot.llm.backend import ChatOptions
from repopilot.llm.stream import prompt_of
from repopilot.prompts import render
from repopilot.trace import Step
from repopilot.types import Hit, Symbol
from repopilot.workspace import Workspace

MOST_HEAD = 14
"""Lines shown of the start of the class or file that gets the definition."""
MOST_SIGNATURES = 24
"""Lines shown of its other definitions."""
_BESIDE = ("go",)
"""Languages that declare methods outside their type."""


async def write_definition(
    call: Command, task: str, hits: Sequence[Hit], workspace: Workspace, step: Step, ends: float = math.inf
) -> EditOutcome | None:
    """Have the model write a definition, and put it where it belongs.

    Args:
        call: where: path, anchor ('' for the end of the file) and name.
        task: as the user wrote it.
        hits: what the search found for it.
        workspace: the repository with the model.
        step: gets the replies as children.
        ends: the deadline of the edit on the monotonic clock.

    Returns:
        The edit; None where no reply can be used.

    Raises:
        GenerationFailed: as `sampled`.
        ModelError: the model failed.
    """
    messages = prompt_of(render("definition_system"), await asyncio.to_thread(_request, call, task, hits, workspace))
    options = ChatOptions(REPLY_TOKENS, stop=("\n```\n",))

    async def made(reply: str, writing: Step) -> EditOutcome | None:
        return await _placed(reply, call, workspace, writing)

    return await sampled(Sampling("write the definition", task, messages, options, made), workspace, step, ends)


def _request(call: Command, task: str, hits: Sequence[Hit], workspace: Workspace) -> str:
    """The task, with the lines around the place of the definition."""
    path, anchor, name = (call.arguments[key] for key in ("path", "anchor", "name"))
    shown = as_text([*_around(path, anchor, workspace), *shown_lines(task, hits, workspace)])
    where = f"which belongs into `{anchor}` in {path}" if anchor else f"which belongs into {path}"
    return render("definition_user", shown=shown, task=task, name=name, where=where)


def _around(path: str, anchor: str, workspace: Workspace) -> list[LineExcerpt]:
    """The beginning of the class or file, and the first lines of its other definitions."""
    index = workspace.index
    lines = index.rows(path)
    outline = index.outline(path)
    place = next((s for s in outline if s.qualified == anchor), None)
    first, last = (place.start_line - 1, place.end_line) if place else (0, len(lines))
    head = lines[first : min(last, first + MOST_HEAD)]
    inside = [s for s in outline if first + MOST_HEAD < s.start_line <= last and s.name != anchor]
    starts = [lines[s.start_line - 1] for s in inside if not place or s.qualified.startswith(f"{anchor}.")]
    text = [*head, *(["…", *starts[:MOST_SIGNATURES]] if starts else [])]
    return [LineExcerpt(path, first, tuple(text))]


async def _placed(reply: str, call: Command, workspace: Workspace, step: Step) -> EditOutcome | None:
    """The edit that puts a reply's definition where it belongs; None where the reply doesn't define the name."""
    path, anchor, name = (call.arguments[key] for key in ("path", "anchor", "name"))
    language = workspace.index.files[path].language
    texts = [textwrap.dedent(block["code"]) for block in FENCED.finditer(reply)] or [reply]
    code = next((found for text in texts if (found := definition_in(text, name, path, language))), "")
    if not code:
        return None
    kind = next((s.kind for s in workspace.index.outline(path) if s.qualified == anchor), "")
    position = "inside" if kind == "class" and language not in _BESIDE else "after"
    arguments = {"path": path, "anchor": anchor, "position": position, "code": code}
    note = i18n.message("commands.read_as", reading=call.text)
    return await edit_with_tool("insert_code", [arguments], workspace, step, note)


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
