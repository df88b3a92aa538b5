"""The data types of a loop: its budget, the model's calls and replies, and the result."""

from __future__ import annotations

from collections.abc import Awaitable, Callable, Mapping, Sequence
from dataclasses import dataclass
from typing import Any, Literal

from repopilot.llm.tool_calls import ToolCall, ToolReply
from repopilot.settings import Settings
from repopilot.tools.talk import ASK_USER

Ended = Literal[
    "finished", "no call", "steps", "tokens", "seconds", "malformed", "repeated", "empty", "stopped", "model", "silent"
]


Asking = Callable[..., Awaitable[ToolReply]]
"""`(model, messages, tools, step, *, max_tokens, halt)` to the model's reply. Raises ModelError."""


@dataclass(frozen=True, slots=True)
class ModelCallers:
    """How a model is asked.

    Attributes:
        with_tools: asks in the server's own format for tools.
        for_action: asks for one action that follows a schema, where the server refuses tools.
    """

    with_tools: Asking
    for_action: Asking


@dataclass(frozen=True, slots=True)
class Budget:
    """What a loop may use, or what is left of that: replies of the model, tokens read and written, seconds."""

    steps: int
    tokens: int
    seconds: float

    @staticmethod
    def of(settings: Settings) -> Budget:
        """The budget that the settings give."""
        return Budget(settings.loop_steps, settings.loop_tokens, settings.loop_seconds)

    def over(self) -> Ended | None:
        """Which part is used up, None while something is left of each."""
        parts: tuple[tuple[Ended, float], ...] = (
            ("steps", self.steps),
            ("tokens", self.tokens),
            ("seconds", self.seconds),
        )
        return next((name for name, left in parts if left <= 0), None)


@dataclass(frozen=True, slots=True)
class CallRecord:
    """One call, whether it succeeded, and the data and the text of its result."""

    name: str
    arguments: Mapping[str, Any]
    ok: bool
    data: Any = None
    text: str = ""


def answered(calls: Sequence[CallRecord], *, by_default: bool = False) -> tuple[str, ...]:
    """The questions put to the user, each with its answer on one line; with `by_default`, only those for which the
    default was taken."""
    asked = (call.data for call in calls if call.ok and call.name == ASK_USER.name)
    told = (each for data in asked if data["by_default"] or not by_default for each in data["told"])
    return tuple(dict.fromkeys(told))


@dataclass(frozen=True, slots=True)
class Onlooker:
    """Callbacks that observe a loop while it runs, and may steer it.

    Attributes:
        text: gets each reply as it grows, and the calls so far; returns whether the reply may be cut off there.
        finish: gets the summary of a loop that is about to finish, and the calls so far; returns '' to let it finish,
            else a message that the model answers in another reply.
        before: gets each call, the calls so far, and the number of the reply; returns why the call is not made, '' to
            make it.
        called: gets each call that succeeded; returns text that the model is told below the result.
        closing: the message to a model whose steps or tokens are used up: it answers once more, without tools. '' for
            no such reply.
    """

    text: Callable[[str, Sequence[CallRecord]], Awaitable[bool]] | None = None
    finish: Callable[[str, Sequence[CallRecord]], Awaitable[str]] | None = None
    before: Callable[[ToolCall, Sequence[CallRecord], int], str] | None = None
    called: Callable[[CallRecord], Awaitable[str]] | None = None
    closing: str = ""


NOBODY = Onlooker()


@dataclass(frozen=True, slots=True)
class LoopResult:
    """How a loop went.

    Attributes:
        summary: the model's own summary, '' where it did not finish.
        ended: why it ended.
        calls: all calls, in order.
        text: what the model wrote last beside its calls.
        note: for the user, why it ended and what was done until then; '' where it finished.
    """

    summary: str
    ended: Ended
    calls: tuple[CallRecord, ...] = ()
    text: str = ""
    note: str = ""
