"""The command `tool`: one tool of the toolbox by hand."""

from __future__ import annotations

import argparse
import asyncio
import json
import re
import sys
from collections.abc import Sequence
from typing import Any

from pydantic import BaseModel

from repopilot import i18n, trace
from repopilot.cli.output import emit, say, show_notes
from repopilot.documents import tool_document
from repopilot.errors import UsageError
from repopilot.i18n import message
from repopilot.index.store import Index
from repopilot.repo.patches.apply import apply_changes
from repopilot.runtime import Runtime
from repopilot.tools import registry
from repopilot.tools.looking.text_lines import MatchingLines, matching_lines
from repopilot.tools.registry import Tool, ToolContext, ToolResult
from repopilot.tools.toolbox import toolbox
from repopilot.tools.working_copy import working_copy
from repopilot.types import FileChange, Snapshot
from repopilot.workspace import Workspace


def run_tool(arguments: argparse.Namespace, runtime: Runtime, snapshot: Snapshot, index: Index) -> int:
    """Run one tool on a working copy and print its result; with `--apply`, write its changes into the local folder.

    Args:
        arguments: of the command line; the tool's own are in `options`.
        runtime: the state of the process.
        snapshot: the repository.
        index: its index.

    Returns:
        The exit status.

    Raises:
        UsageError: the tool is unknown, an argument is wrong, or `--apply` is given for a clone.
    """
    tool = registry.find(arguments.name, toolbox())
    given = read_options(tool, arguments.options)
    if arguments.apply and snapshot.root is None:
        raise UsageError(message("cli.apply_to_clone"), message("cli.apply_to_clone_hint"))
    embedder = runtime.embedders.choose(runtime.settings)
    workspace = Workspace(
        snapshot, index, runtime.settings, embedder=embedder, lookups=runtime.lookups, workers=runtime.workers
    )
    result, changes = asyncio.run(_run(tool, given, workspace))
    if arguments.apply and snapshot.root is not None:
        show_notes(apply_changes(snapshot.root, changes), arguments.language)
    facts = tool_document(tool, given, result, changes, applied=bool(arguments.apply and changes))
    emit(facts, arguments.json, lambda: say(result.text))
    return 0


def run_grep(arguments: argparse.Namespace, runtime: Runtime, snapshot: Snapshot, index: Index) -> int:
    """Print the lines that match a pattern: all, or at most `--most`.

    Args:
        arguments: of the command line.
        runtime: the state of the process.
        snapshot: the repository.
        index: its index.

    Returns:
        The exit status.

    Raises:
        UsageError: the pattern can't be used, or no file matches the glob.
    """
    workspace = Workspace(snapshot, index, runtime.settings, lookups=runtime.lookups)
    found = asyncio.run(_matching(arguments, workspace))
    facts = {"lines": found.rows, "total": found.total, "files": len(found.counts), "searched": found.read}
    listed = "\n".join(f"{row['path']}:{row['line']}: {row['text']}" for row in found.rows)
    counted = i18n.text("cli.lines_found", arguments.language, count=found.total, files=len(found.counts))
    emit(facts, arguments.json, lambda: say("\n".join(filter(None, (listed, counted)))))
    return 0


async def _matching(arguments: argparse.Namespace, workspace: Workspace) -> MatchingLines:
    pattern = re.escape(arguments.pattern) if arguments.fixed_strings else arguments.pattern
    pattern = f"(?i){pattern}" if arguments.ignore_case else pattern
    async with working_copy(workspace) as copy:
        return await asyncio.to_thread(
            matching_lines, copy, pattern, arguments.glob, limit=arguments.most or sys.maxsize
        )


async def _run(tool: Tool, given: dict[str, Any], workspace: Workspace) -> tuple[ToolResult, tuple[FileChange, ...]]:
    async with trace.root(lambda event: None, tool.name, "tool") as step, working_copy(workspace) as copy:
        result = await registry.call(tool, given, ToolContext(workspace, copy, step))
        return result, await asyncio.to_thread(copy.changes)


def read_options(tool: Tool, words: Sequence[str]) -> dict[str, Any]:
    """The arguments of a tool from `--name value` and `--name=value`.

    Raises:
        UsageError: a word isn't an option of the tool, or lacks a value.
    """
    given: dict[str, Any] = {}
    rest = list(words)
    while rest:
        option, equals, value = rest.pop(0).partition("=")
        name = option.removeprefix("--").replace("-", "_")
        if not option.startswith("--") or name not in tool.arguments.model_fields:
            takes = message("tools.takes", tool=tool.name, arguments=registry.signature(tool))
            raise UsageError(message("tools.no_option", tool=tool.name, option=option), takes)
        if not equals:
            if not rest:
                raise UsageError(message("tools.no_value", option=option))
            value = rest.pop(0)
        given[name] = _value(tool.arguments, name, value)
    return given


def _value(arguments: type[BaseModel], name: str, text: str) -> Any:
    """The value of an argument: unchanged for a text argument, else parsed as JSON if possible."""
    if arguments.model_fields[name].annotation is str:
        return text
    try:
        return json.loads(text)
    except ValueError:
        return text
