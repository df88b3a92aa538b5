"""All tools."""

from __future__ import annotations

from repopilot.tools import check, edit, look, refactor, rename, talk
from repopilot.tools.registry import Tool


def toolbox() -> tuple[Tool, ...]:
    """All tools, those that look first."""
    return (*client_tools(), *talk.TOOLS)


def client_tools() -> tuple[Tool, ...]:
    """Those for other programs: all but the ones that talk to the user."""
    return (*look.TOOLS, *edit.TOOLS, *rename.TOOLS, *refactor.TOOLS, *check.TOOLS)
