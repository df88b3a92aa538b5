"""Answers a typed command that looks something up (`/callers name`): what the tool found, its lines as evidence."""

from __future__ import annotations

import asyncio
from collections.abc import Iterable, Mapping
from typing import Any

from repopilot import i18n
from repopilot.agents.coding.typed_commands import Command
from repopilot.agents.explain.render import citations_of, evidence_markdown
from repopilot.agents.search.grep import grep
from repopilot.agents.wiki.agent import write_pages
from repopilot.index.store import Index
from repopilot.results import Answer, Explanation
from repopilot.retrieval.query.parse import reply_language
from repopilot.tools import registry
from repopilot.tools.registry import ToolContext
from repopilot.tools.toolbox import toolbox
from repopilot.tools.working_copy import working_copy
from repopilot.trace import Step
from repopilot.types import Evidence
from repopilot.workspace import Workspace

MOST_SHOWN = 12
"""Places that are shown with their lines; the list names more."""


async def look_up(command: Command, workspace: Workspace, step: Step) -> Answer:
    """Call the tool of a command, without any model.

    Args:
        command: names a tool that changes nothing, and its arguments.
        workspace: the repository.
        step: the step of the work.

    Returns:
        The answer: the tool's list, its first places as evidence.

    Raises:
        UsageError: an argument doesn't fit the repository; the hint says what would.
    """
    language = reply_language("", workspace.settings)
    if command.tool == "grep":
        return await grep(command.text.removeprefix("/grep").strip(), workspace, step)
    if command.tool == "wiki":
        return await write_pages(workspace, step)
    tool = registry.find(command.tool, toolbox())
    async with step.child(command.tool, "tool", command.text) as calling, working_copy(workspace) as copy:
        found = await registry.call(tool, command.arguments, ToolContext(workspace, copy, calling))
        evidence = await asyncio.to_thread(_evidence, found.data, workspace.index)
        text = i18n.translated(found.text, language)
        await calling.write(text)
    about = str(command.arguments.get("name") or command.arguments.get("path"))
    listed = "\n".join(f"- {_marked(row)}" if row else "" for row in text.split("\n"))
    lead = f"{i18n.text(f'commands.found.{command.tool}', language, name=about)}\n\n{listed}"
    await step.answer(lead)
    whole = "\n\n".join(filter(None, (lead, evidence_markdown(evidence, language))))
    result = Explanation("code", lead=lead, form=command.tool)
    return Answer(whole, citations_of(evidence, workspace.index.commit), evidence=evidence, result=result)


def _evidence(data: Mapping[str, Any], index: Index) -> tuple[Evidence, ...]:
    """The first places that a tool's result names, each with its line."""
    rows: Iterable[dict[str, Any]] = [*data.get("sure", ()), *data.get("unsure", ())]
    places = {(row["path"], row["line"]): row for row in rows if row["path"] in index.files}
    return tuple(
        Evidence(number, path, line, line, row["name"], ((line, index.lines(path, line, line) or ""),))
        for number, ((path, line), row) in enumerate(list(places.items())[:MOST_SHOWN], 1)
    )


def _marked(row: str) -> str:
    """A row with its first word, a place or a commit, as code."""
    first, _, rest = row.partition(" ")
    return f"`{first}` {rest}".rstrip() if any(each.isdigit() for each in first) else row
