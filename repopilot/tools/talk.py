"""Tools that talk to the user."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

from pydantic import Field

from repopilot.errors import UsageError
from repopilot.i18n import message
from repopilot.prompts import render
from repopilot.tools import registry
from repopilot.tools.registry import Arguments, Tool, ToolContext, ToolResult
from repopilot.trace import Step


class AskUser(Arguments):
    """A question."""

    question: str = Field(description="what has to be decided, in one sentence")
    choices: list[str] = Field(default_factory=list, description="possible answers; empty for a free one")
    default: str = Field(default="", description="what to go on with where no answer comes; the first choice if empty")


ASSUMED: Any = Field(
    default_factory=list, description="what the task left open and you decided without asking, a sentence each"
)


class Finish(Arguments):
    """How it went."""

    summary: str = Field(description="what was done, and what could not be done")
    assumed: list[str] = ASSUMED


async def ask_user(arguments: AskUser, context: ToolContext) -> ToolResult:
    """Ask the user, before you edit, what only they can decide: where the task can be read in ways that lead to
    different code."""
    if context.ask is None:
        raise UsageError(message("check_tools.nobody"), message("check_tools.nobody_hint"))
    default = arguments.default or next(iter(arguments.choices), "")
    answer = await context.ask(arguments.question, tuple(dict.fromkeys(filter(None, (default, *arguments.choices)))))
    if not answer and default:
        text = f"The user leaves it open. Go on with the default, which they are told: {default}"
        return ToolResult(text, _told(arguments.question, default, by_default=True))
    text = answer or "No answer came. Decide yourself, and name it in `assumed` when you finish."
    return ToolResult(text, _told(arguments.question, answer))


def _told(question: str, answer: str, *, by_default: bool = False) -> dict[str, Any]:
    return {"answer": answer, "told": stated([f"{question} {answer}"] if answer else []), "by_default": by_default}


async def finish(arguments: Finish, context: ToolContext) -> ToolResult:
    """End the work. Call it when the task is done, or when it can't be done."""
    return ToolResult(arguments.summary, {"finished": True, "assumed": stated(arguments.assumed)})


def stated(assumed: Sequence[str]) -> list[str]:
    """Decisions made without asking, each on one line; blank ones are left out."""
    return [" ".join(each.split()) for each in assumed if each.strip()]


def say_assumed(assumed: Sequence[str], step: Step) -> None:
    """Tell the user, beside an answer, what was decided without asking them."""
    for each in stated(assumed):
        step.degrade(message("check_tools.assumed", what=each))


def about_questions(can_ask: bool) -> str:
    """The prompt about questions to the user, by whether somebody answers them."""
    return render("loop_may_ask" if can_ask else "loop_may_not_ask")


def more_tools(further: Sequence[Tool]) -> Tool:
    """The tool by which a model asks for further tools, which aren't offered at first: each costs tokens."""
    names = ", ".join(tool.name for tool in further)

    class FurtherTools(Arguments):
        """Which ones."""

        names: list[str] = Field(min_length=1, description="the names of those to offer")

    async def run(arguments: FurtherTools, context: ToolContext) -> ToolResult:
        wanted = [registry.find(name, further) for name in arguments.names]
        told = (f"{tool.name}({registry.signature(tool)}): {tool.description}" for tool in wanted)
        return ToolResult("\n".join(told), {"tools": [tool.name for tool in wanted]})

    run.__doc__ = f"Ask for tools that aren't offered yet, and call them from then on. There are: {names}."
    return Tool("more_tools", FurtherTools, "talk", run, brings=tuple(further))


FINISH = Tool("finish", Finish, "talk", finish)
ASK_USER = Tool("ask_user", AskUser, "talk", ask_user)
TOOLS = (ASK_USER, FINISH)
