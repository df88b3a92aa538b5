"""All tools."""

from __future__ import annotations

from collections.abc import Collection, Mapping
from typing import Literal

from repopilot.tools import edit, run_tests, set_value, talk
from repopilot.tools.looking import look
from repopilot.tools.refactoring import change_signature, move_symbol, organize_imports, rename
from repopilot.tools.registry import Tool
from repopilot.tools.verifying import check, repository_command

TaskKind = Literal["look", "change", "tests"]
_LOOK = ("search", "grep", "outline", "read", "symbol", "references", "callers")
_EDIT = ("replace_text", "insert_code", "create_file", "undo")
_CHECK = ("check", "run_tests", "run_command", "changes", "finish")
OFFERED: Mapping[TaskKind, tuple[str, ...]] = {
    "look": tuple(tool.name for tool in look.TOOLS),
    "change": (*_LOOK, "replace_symbol", *_EDIT, *_CHECK),
    "tests": (*_LOOK, *_EDIT, *_CHECK),
}
"""The tools that a model is offered at first, by kind of task: those that nearly every such task needs. Schemas make up
most of a first prompt."""


def toolbox() -> tuple[Tool, ...]:
    """All tools, those that look first."""
    return (*client_tools(), *talk.TOOLS)


def client_tools() -> tuple[Tool, ...]:
    """The tools for other programs: all except those that talk to the user."""
    python = (*rename.TOOLS, *move_symbol.TOOLS, *change_signature.TOOLS)
    edits = (*edit.TOOLS, *python, *set_value.TOOLS, *organize_imports.TOOLS)
    return (*look.TOOLS, *edits, *check.TOOLS, *run_tests.TOOLS, *repository_command.TOOLS)


def offered(task: TaskKind, *, can_ask: bool, without: Collection[str] = ()) -> tuple[Tool, ...]:
    """The tools that a model is offered for a task, with the one that asks for the others.

    Args:
        task: its kind.
        can_ask: whether somebody answers questions.
        without: names of tools that are of no use here.
    """
    names = (*OFFERED[task], *[talk.ASK_USER.name] * can_ask)
    usable = [tool for tool in toolbox() if tool.name not in without]
    first = tuple(tool for tool in usable if tool.name in names)
    further = tuple(tool for tool in usable if tool.kind != "talk" and tool not in first)
    return first if task == "look" else (*first, talk.more_tools(further))
