"""Asks a model that may call tools, in the server's own format, and reads its calls wherever it put them.

Local servers often deliver calls as text: as bare JSON, in `<tool_call>` tags, in a fence, with the arguments as a
string or at the root.
"""

from __future__ import annotations

import json
import re
from collections.abc import Collection, Iterator, Mapping, Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

from repopilot import i18n
from repopilot.errors import ModelError, ToolsRefused
from repopilot.llm import stream
from repopilot.llm.backend import ChatOptions
from repopilot.llm.json_values import json_values
from repopilot.llm.model import Model
from repopilot.trace import Step

if TYPE_CHECKING:
    from llama_index.core.llms import ChatMessage

Message = Mapping[str, Any]
"""A message in OpenAI's format: role and content; an assistant's calls in `tool_calls`; in a tool's message, the id of
the call that it answers in `tool_call_id`."""
REFUSING = (400, 404, 422, 501)
"""Statuses of a server that accepts no tools, or none for this model."""
_THINKING = re.compile(r"<think(?:ing)?>(.*?)(?:</think(?:ing)?>|\Z)", re.S)
_WRAPPING = re.compile(r"</?tool_calls?>|```(?:json|tool_call)?\s*```")
_CALL_LIKE = re.compile(r'"(?:name|tool)"\s*:\s*"([\w.-]+)"[^{}]{0,40}"(?:arguments|parameters)"\s*:')


@dataclass(frozen=True, slots=True)
class ToolCall:
    """A call as a model made it: its arguments by name, not checked yet; `id` as the server gave it, '' for none."""

    name: str
    arguments: dict[str, Any]
    id: str = ""


@dataclass(frozen=True, slots=True)
class ToolReply:
    """A reply: its text without calls and thinking; `malformed` says what is wrong with a call that can't be read."""

    text: str
    calls: tuple[ToolCall, ...] = ()
    thinking: str = ""
    prompt_tokens: int | None = None
    completion_tokens: int | None = None
    malformed: str = ""


async def ask_with_tools(
    model: Model,
    messages: Sequence[Message],
    tools: Sequence[Mapping[str, Any]],
    step: Step,
    *,
    max_tokens: int,
    temperature: float = 0.2,
    halt: stream.Halt | None = None,
) -> ToolReply:
    """Ask for the next calls, in the server's own format for tools.

    Args:
        model: which model to ask.
        messages: the conversation.
        tools: name, description and parameters of each.
        step: receives the text and the notes.
        max_tokens: the longest reply, thinking included.
        temperature: 0 for greedy decoding.
        halt: called with the growing reply; may end it.

    Returns:
        The reply with its calls.

    Raises:
        ToolsRefused: the server takes no tools for this model.
        ModelError: as `stream.request`.
    """
    options = ChatOptions(max_tokens, temperature, tools=tuple(tools))
    try:
        reply = await stream.request(model, [_chat_message(m) for m in messages], step, options, halt)
    except ModelError as error:
        if getattr(error.__cause__, "status_code", None) in REFUSING and "tool" in str(error.__cause__).lower():
            raise ToolsRefused(i18n.message("llm.no_tools", name=model.name)) from error
        raise
    return _read(reply, {str(tool["name"]) for tool in tools})


async def ask_for_action(
    model: Model,
    messages: Sequence[Message],
    tools: Sequence[Mapping[str, Any]],
    step: Step,
    *,
    max_tokens: int,
    temperature: float = 0.2,
    halt: stream.Halt | None = None,
) -> ToolReply:
    """Ask for one call, decoded under a JSON schema: for servers without tools. Arguments as `ask_with_tools`, but
    `halt` is ignored, since the reply is JSON.

    Raises:
        ModelError: as `stream.request`.
    """
    names = [str(tool["name"]) for tool in tools]
    properties = {"name": {"type": "string", "enum": names}, "arguments": {"type": "object"}}
    schema = {"type": "object", "properties": properties, "required": ["name", "arguments"]}
    described = "\n".join(json.dumps(tool) for tool in tools)
    told = [{**messages[0], "content": f"{messages[0]['content']}\n\nReply with one call as JSON. Tools:\n{described}"}]
    options = ChatOptions(max_tokens, temperature, schema=schema)
    prompt = [_as_text(m) for m in (*told, *messages[1:])]
    return _read(await stream.request(model, prompt, step, options), set(names))


def _chat_message(message: Message) -> ChatMessage:
    from llama_index.core.base.llms.types import ToolCallBlock
    from llama_index.core.llms import ChatMessage, TextBlock

    blocks: list[Any] = [TextBlock(text=message["content"] or "")]
    for call in message.get("tool_calls", ()):
        function = call["function"]
        arguments = json.loads(function["arguments"])
        blocks.append(ToolCallBlock(tool_call_id=call["id"], tool_name=function["name"], tool_kwargs=arguments))
    answers = {"tool_call_id": message["tool_call_id"]} if message["role"] == "tool" else {}
    return ChatMessage(role=message["role"], blocks=blocks, additional_kwargs=answers)


def _as_text(message: Message) -> ChatMessage:
    """A message for a server that knows neither calls nor results."""
    from llama_index.core.llms import ChatMessage

    calls = [call["function"] for call in message.get("tool_calls", ())]
    text = "\n".join([message["content"] or "", *(json.dumps(call) for call in calls)]).strip()
    if message["role"] == "tool":
        return ChatMessage(role="user", content="\n".join([f"{message['name']}:", text]))
    return ChatMessage(role=message["role"], content=text)


def _read(reply: stream.Reply, names: Collection[str]) -> ToolReply:
    found = _THINKING.findall(reply.text)
    text = _THINKING.sub("", reply.text).strip()
    calls: list[ToolCall] = []
    problem = ""
    for name, arguments, id in reply.calls:
        given = _arguments(arguments)
        if given is None:
            problem = f"The arguments of {name} are no JSON object."
        else:
            calls.append(ToolCall(name, given, id))
    if not calls and not problem:
        in_text, text, problem = calls_in_text(text, names)
        calls = list(in_text)
    thinking = "\n".join([reply.thinking, *found]).strip()
    return ToolReply(text, tuple(calls), thinking, reply.prompt_tokens, reply.completion_tokens, problem)


def calls_in_text(text: str, names: Collection[str]) -> tuple[tuple[ToolCall, ...], str, str]:
    """Find the calls that a model wrote as text.

    Args:
        text: its reply.
        names: of the tools there are.

    Returns:
        The calls in order, the text without them, and what is wrong with a call that can't be read ('' for nothing).
    """
    calls: list[ToolCall] = []
    kept: list[str] = []
    at = 0
    for start, end, value in json_values(text):
        found = list(_calls_of(value, names))
        if found:
            calls += found
            kept.append(text[at:start])
            at = end
    rest = _WRAPPING.sub("", "".join([*kept, text[at:]])).strip() if calls else text
    return tuple(calls), rest, "" if calls else _problem(text, names)


def _calls_of(value: Any, names: Collection[str]) -> Iterator[ToolCall]:
    if isinstance(value, list):
        for each in value:
            yield from _calls_of(each, names)
    if not isinstance(value, dict):
        return
    if isinstance(value.get("function"), dict):
        value = value["function"]
    name = value.get("name") or value.get("tool")
    written = next((value[key] for key in ("arguments", "parameters") if key in value), None)
    if not isinstance(name, str) or (name not in names and not isinstance(written, dict)):
        return  # an unknown tool counts as a call only if its arguments are an object
    if written is None:
        written = {key: each for key, each in value.items() if key not in ("name", "tool", "type", "id")}
    given = _arguments(written)
    if given is not None:
        yield ToolCall(name, given)


def _arguments(written: Any) -> dict[str, Any] | None:
    """Arguments as an object, also where they came as a string of JSON, once or twice; None for anything else."""
    for _ in range(2):
        if isinstance(written, str):
            try:
                written = json.loads(written or "{}", strict=False)
            except (ValueError, RecursionError):
                return None
    return written if isinstance(written, dict) else None


def _problem(text: str, names: Collection[str]) -> str:
    """What is wrong with the call that a text seems to hold, '' where it holds none."""
    like = _CALL_LIKE.search(text)
    if like is None:
        return ""
    return "The JSON can't be read." if like[1] in names else f"There is no tool {like[1]!r}."
