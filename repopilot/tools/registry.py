"""The toolbox: tools with typed arguments, which the agents' loop, MCP clients, the command line and commands in the
chat all call. A tool is one typed function; its docstring is what a model reads.

A family of tools is a module (`look`, `edit`) with a tuple `TOOLS`.
"""

from __future__ import annotations

import asyncio
import difflib
from collections.abc import Awaitable, Callable, Collection, Iterable, Mapping
from dataclasses import dataclass
from functools import cache, wraps
from typing import TYPE_CHECKING, Any, Literal

from pydantic import BaseModel, ConfigDict, TypeAdapter, ValidationError

from repopilot.errors import RepoPilotError, UsageError
from repopilot.i18n import Message, joined, message
from repopilot.tools.file_change import generated_in
from repopilot.trace import Step
from repopilot.workspace import Workspace

if TYPE_CHECKING:
    from repopilot.tools.working_copy import WorkingCopy

Kind = Literal["look", "edit", "check", "run", "talk"]
ON_A_COPY = "Edits a copy; nothing is written to the folder itself."
"""What a model is told of every tool that edits."""
Ask = Callable[[str, tuple[str, ...]], Awaitable[str]]
"""Asks the user a question with choices, () for a free answer, and returns the answer."""


class Arguments(BaseModel):
    """Base of the arguments of all tools: a name that a tool doesn't have is an error, not ignored."""

    model_config = ConfigDict(extra="forbid", frozen=True)


@dataclass(frozen=True, slots=True)
class ToolResult:
    """What a tool found or did: short text for a model, which counts what it leaves out, and JSON-able data for the
    program."""

    text: str
    data: Any = None


@dataclass(frozen=True, slots=True)
class ToolContext:
    """What a tool works on.

    Attributes:
        workspace: the repository as it is.
        working_copy: where edits go, and what is looked at: the repository with the edits so far.
        step: the step of the call.
        ask: reaches the user, None where nobody can be asked.
        shown: the results that the caller still sees: what they print need not be printed again.
    """

    workspace: Workspace
    working_copy: WorkingCopy
    step: Step
    ask: Ask | None = None
    shown: Collection[str] = ()


@dataclass(frozen=True, slots=True)
class Tool:
    """One tool.

    Attributes:
        name: its name in the toolbox's contract.
        arguments: its arguments, each with a description.
        kind: what it does to the working copy: look at it, edit it, check it, run it; or talk to the user.
        returns: the type of its data, whose schema programs get.
        brings: further tools, which a model is offered once it has asked for them by calling this one.
        generates: programs of the repository make its edits, so that generated files aren't edited by hand.
        run: does the work. Raises UsageError for arguments that don't fit the repository, with a hint at what would.
    """

    name: str
    arguments: type[BaseModel]
    kind: Kind
    run: Callable[[Any, ToolContext], Awaitable[ToolResult]]
    returns: type = dict
    brings: tuple[Tool, ...] = ()
    generates: bool = False

    @property
    def description(self) -> str:
        """What it does, as a model reads it: the docstring of its function, and where edits go."""
        told = " ".join((self.run.__doc__ or "").split())
        return f"{told} {ON_A_COPY}" if self.kind == "edit" else told

    def schema(self) -> dict[str, Any]:
        """The tool as OpenAI and Ollama take it: name, description and the JSON schema of its arguments."""
        parameters = {key: value for key, value in inlined_schema(self.arguments).items() if key != "description"}
        return {"name": self.name, "description": self.description, "parameters": parameters}


def in_thread(work: Callable[[Any, ToolContext], ToolResult]) -> Callable[[Any, ToolContext], Awaitable[ToolResult]]:
    """The function of a tool whose work blocks, which is done in a thread of its own."""

    @wraps(work)
    async def run(arguments: Any, context: ToolContext) -> ToolResult:
        return await asyncio.to_thread(work, arguments, context)

    return run


def find(name: str, tools: Iterable[Tool]) -> Tool:
    """The tool of a name.

    Raises:
        UsageError: there is none; the hint names those there are.
    """
    known = {tool.name: tool for tool in tools}
    if name in known:
        return known[name]
    near = difflib.get_close_matches(name, known, 3)
    names = ", ".join(dict.fromkeys([*near, *known]))  # similar ones first
    raise UsageError(message("tools.no_tool", name=name), message("tools.there_are", names=names))


async def call(tool: Tool, arguments: Mapping[str, Any], context: ToolContext) -> ToolResult:
    """Check arguments and run a tool. Edits of a tool that fails or is cancelled are undone.

    Args:
        tool: which one.
        arguments: by name, as JSON gives them.
        context: what it works on.

    Returns:
        Its result.

    Raises:
        UsageError: an argument is missing, unknown or of the wrong type, or doesn't fit the repository.
        RepoPilotError: what the tool raises.
    """
    try:
        with context.working_copy.attempt():  # nobody checks what is edited by one that fails
            return await _called(tool, arguments, context)
    except RepoPilotError as error:
        error.message, error.hint = (_without_secrets(each, context) for each in (error.message, error.hint))
        raise


async def _called(tool: Tool, arguments: Mapping[str, Any], context: ToolContext) -> ToolResult:
    copy = context.working_copy
    steps = copy.steps
    result = await tool.run(checked(tool, arguments), context)
    by_hand = tool.kind == "edit" and not tool.generates
    generated = generated_in(copy.changed_since(steps), context.workspace.index.text) if by_hand else []
    said = message("edit_tools.generated", paths=", ".join(generated)) if generated else ""
    text = joined((result.text, said), "\n") if said else result.text
    return ToolResult(_without_secrets(text, context), _without_secrets(result.data, context))


def _without_secrets(value: Any, context: ToolContext) -> Any:
    """A text, or JSON-able data, without the secrets of the files that were edited."""
    if isinstance(value, Message):
        return message(value.key, **{name: _without_secrets(each, context) for name, each in value.values.items()})
    if isinstance(value, str):
        return context.working_copy.hidden(value)
    if isinstance(value, list | tuple):
        return [_without_secrets(each, context) for each in value]
    return {key: _without_secrets(each, context) for key, each in value.items()} if isinstance(value, dict) else value


def checked(tool: Tool, arguments: Mapping[str, Any]) -> BaseModel:
    """The validated arguments of a tool.

    Raises:
        UsageError: they don't fit; the message says which, the hint what the tool takes.
    """
    try:
        return tool.arguments.model_validate(dict(arguments))
    except ValidationError as error:
        first = error.errors(include_url=False)[0]
        where = ".".join(map(str, first["loc"])) or tool.name
        raise UsageError(
            message("tools.wrong_argument", tool=tool.name, name=where, problem=first["msg"]),
            message("tools.takes", tool=tool.name, arguments=signature(tool)),
        ) from error


def signature(tool: Tool) -> str:
    """The arguments of a tool in one line, optional ones with their defaults."""
    fields = tool.arguments.model_fields.items()
    return ", ".join(
        name if f.is_required() else f"{name}={f.get_default(call_default_factory=True)!r}" for name, f in fields
    )


@cache
def inlined_schema(kind: type) -> dict[str, Any]:
    """The JSON schema of a model or typed dictionary, without references and titles, which some servers don't read."""
    schema = TypeAdapter(kind).json_schema()
    definitions = schema.pop("$defs", {})

    def plain(value: Any) -> Any:
        if isinstance(value, list):
            return [plain(each) for each in value]
        if not isinstance(value, dict):
            return value
        if "$ref" in value:
            return plain(definitions[value["$ref"].rpartition("/")[2]])
        return {key: plain(each) for key, each in value.items() if not (key == "title" and isinstance(each, str))}

    return {**plain(schema), "type": "object"}
