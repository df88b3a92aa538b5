"""Tools that talk to the user."""

from __future__ import annotations

from pydantic import Field

from repopilot.errors import UsageError
from repopilot.i18n import message
from repopilot.tools.registry import Arguments, Desk, Tool, ToolResult


class AskUser(Arguments):
    """A question."""

    question: str = Field(description="what has to be decided, in one sentence")
    choices: list[str] = Field(default_factory=list, description="possible answers; empty for a free one")


class Finish(Arguments):
    """How it went."""

    summary: str = Field(description="what was done, and what could not be done")


async def ask_user(arguments: AskUser, desk: Desk) -> ToolResult:
    """Ask the user about something that only they can decide."""
    if desk.ask is None:
        raise UsageError(message("check_tools.nobody"), message("check_tools.nobody_hint"))
    answer = await desk.ask(arguments.question, tuple(arguments.choices))
    text = answer or "No answer came. Decide yourself, and say in the summary what you took for granted."
    return ToolResult(text, {"answer": answer})


async def finish(arguments: Finish, desk: Desk) -> ToolResult:
    """End the work. Call it when the task is done, or when it can't be done."""
    return ToolResult(arguments.summary, {"finished": True})


FINISH = Tool("finish", Finish, "talk", finish)
ASK_USER = Tool("ask_user", AskUser, "talk", ask_user)
TOOLS = (ASK_USER, FINISH)
