"""All tools."""

from __future__ import annotations

from repopilot.tools import change_signature, check, edit, look, move_symbol, organize_imports, rename, set_value, talk
from repopilot.tools.registry import Tool


def toolbox() -> tuple[Tool, ...]:
    """All tools, those that look first."""
    return (*client_tools(), *talk.TOOLS)


def client_tools() -> tuple[Tool, ...]:
    """Those for other programs: all but the ones that talk to the user."""
    python = (*rename.TOOLS, *move_symbol.TOOLS, *change_signature.TOOLS)
    edits = (*edit.TOOLS, *python, *set_value.TOOLS, *organize_imports.TOOLS)
    return (*look.TOOLS, *edits, *check.TOOLS)
