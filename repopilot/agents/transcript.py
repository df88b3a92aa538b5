"""What a loop's model has been told so far, within its context window.

Messages are dicts in OpenAI's form: `role` and `content`, the calls of an assistant in `tool_calls`, the id of the call
that a tool's message answers in `tool_call_id`.
"""

from __future__ import annotations

import json
from collections.abc import Callable, Iterable, Iterator, Sequence
from functools import cache
from itertools import chain
from typing import Any

from repopilot.llm.tool_calls import ToolCall
from repopilot.prompts import sanitized

Message = dict[str, Any]
MESSAGE_TOKENS = 32
"""What the chat template and the marks around a result add to a message."""
BATCH = 4
"""How many old results are shortened at a time: a local model reads everything after a changed message again."""
LONGEST_LINE = 200


def said(role: str, content: str) -> Message:
    """A message of a role."""
    return {"role": role, "content": content}


def called(content: str, calls: Iterable[tuple[str, ToolCall]]) -> Message:
    """The message of a model that calls tools, each call with its id. Its thinking is not sent back."""
    functions = [(id, {"name": call.name, "arguments": json.dumps(call.arguments)}) for id, call in calls]
    listed = [{"id": id, "type": "function", "function": function} for id, function in functions]
    return {**said("assistant", content), "tool_calls": listed}


def answered(id: str, name: str, content: str) -> Message:
    """The message with the result of a call, which is given by its id."""
    return {**said("tool", content), "tool_call_id": id, "name": name}


def marked(messages: Iterable[Message], mark: str) -> list[Message]:
    """The messages with every tool result between two lines that a repository's author can't guess, so that it can't
    pose as anything but data."""
    return [
        {**m, "content": f"data {mark}\n{sanitized(m['content'], mark)}\nend {mark}"} if m["role"] == "tool" else m
        for m in messages
    ]


def fitted(messages: Sequence[Message], window_tokens: int, count_tokens: Callable[[str], int]) -> list[Message]:
    """The messages as they fit into a context window.

    Whatever comes before the first message of the assistant always stays. Old results are reduced to their first lines,
    beginning with those that are repeated later; then the oldest exchanges are left out; then the newest results are
    cut.

    Args:
        messages: all of them, in order.
        window_tokens: how many tokens there are for them.
        count_tokens: tokens of a text.

    Returns:
        The messages, in order; no call without its results. They exceed the window only where the part that always
        stays does.
    """
    begin = next((n for n, m in enumerate(messages) if m["role"] == "assistant"), len(messages))
    fixed = list(messages[:begin])
    exchanges = _exchanges(messages[begin:])
    count = cache(count_tokens)

    def cost(message: Message) -> int:
        return count(message["content"] + json.dumps(message.get("tool_calls", ""))) + MESSAGE_TOKENS

    room = window_tokens - sum(map(cost, fixed))
    smaller = (each for each in _ever_smaller(exchanges) if sum(map(cost, chain(*each))) <= room)
    return [*fixed, *chain(*next(smaller, []))]


def _exchanges(messages: Iterable[Message]) -> list[list[Message]]:
    """The messages in groups that are kept or left out as one: a message of the assistant, and the answers to it."""
    groups: list[list[Message]] = []
    for message in messages:
        if message["role"] == "assistant" or not groups:
            groups.append([])
        groups[-1].append(message)
    return groups


def _ever_smaller(exchanges: list[list[Message]]) -> Iterator[list[list[Message]]]:
    """The exchanges, then smaller and smaller versions of them, the least loss first."""
    yield exchanges
    repeated, others = _old_results(exchanges)
    for places in (repeated, *(others[first : first + BATCH] for first in range(0, len(others), BATCH))):
        exchanges = _with_first_lines(exchanges, set(places))
        yield exchanges
    while len(exchanges) > 1:
        exchanges = exchanges[min(BATCH, len(exchanges) - 1) :]
        yield exchanges
    most = max((len(m["content"].split("\n")) for group in exchanges for m in group), default=0)
    while most > 1:
        most //= 2
        # The same call would be cut again, so the advice is to ask for less.
        yield [
            [_shortened(m, most, "ask for less at a time") if m["role"] == "tool" else m for m in group]
            for group in exchanges
        ]
    yield []


def _old_results(exchanges: Sequence[Sequence[Message]]) -> tuple[list[tuple[int, int]], list[tuple[int, int]]]:
    """The positions of results before the newest exchange: those that are repeated later, and the others."""
    places = [(g, n) for g, group in enumerate(exchanges) for n, m in enumerate(group) if m["role"] == "tool"]
    last = {exchanges[g][n]["content"]: (g, n) for g, n in places}
    old = [place for place in places if place[0] < len(exchanges) - 1]
    repeated = [(g, n) for g, n in old if last[exchanges[g][n]["content"]] != (g, n)]
    return repeated, [place for place in old if place not in repeated]


def _with_first_lines(exchanges: Sequence[Sequence[Message]], places: set[tuple[int, int]]) -> list[list[Message]]:
    return [
        [_shortened(m, 1, "call again to see them") if (g, n) in places else m for n, m in enumerate(group)]
        for g, group in enumerate(exchanges)
    ]


def _shortened(message: Message, lines: int, advice: str) -> Message:
    every = message["content"].split("\n")
    kept = [line if len(line) <= LONGEST_LINE else line[:LONGEST_LINE] + "…" for line in every[:lines]]
    rest = len(every) - len(kept)
    short = "\n".join([*kept, f"… {rest} lines left out; {advice}"] if rest else kept)
    return {**message, "content": min(message["content"], short, key=len)}
