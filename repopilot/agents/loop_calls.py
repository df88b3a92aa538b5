"""Makes the calls of a loop: a repeated call is answered from memory, and errors are told to the model."""

from __future__ import annotations

import json
import logging
from collections.abc import Collection, Sequence
from dataclasses import dataclass, field, replace
from typing import Any

from repopilot.agents.loop_values import CallRecord
from repopilot.errors import Cancelled, RepoPilotError
from repopilot.llm.tool_calls import ToolCall
from repopilot.redaction.redact import redacted, redacted_values
from repopilot.tools import registry
from repopilot.tools.registry import Tool, ToolContext, ToolResult
from repopilot.tools.talk import FINISH

log = logging.getLogger(__name__)

KNOWN = "You made this call before, and nothing was edited since. Its result was, and is:\n"
FAILED_BEFORE = "Error: a call before this one in the same reply failed. Read what it says, then go on or finish."
EDITED_WITH_IT = "Error: the same reply edits. Look at what the edits came to, then go on or finish."
LONGEST_NAME = 60
"""Characters of a step's name: a model may give anything as the name of a tool."""


@dataclass(slots=True)
class CallOutcome:
    """The result of a call: its text as the model reads it, whether it succeeded, how often it was made, its data."""

    text: str
    ok: bool
    times: int = 1
    data: Any = None


@dataclass(slots=True)
class CallMaker:
    """The calls of one loop.

    Attributes:
        tools: those that the model is offered. It may also call a tool that one of them brings, which is then offered.
        records: what was called, in order.
    """

    tools: Sequence[Tool]
    records: list[CallRecord] = field(default_factory=list)
    _memory: dict[str, CallOutcome] = field(default_factory=dict)

    async def make(self, call: ToolCall, context: ToolContext, shown: Collection[str], refused: str) -> CallOutcome:
        """Make one call, or answer it from memory, in a step of its own.

        Args:
            call: as the model made it.
            context: what the tools work on.
            shown: the results that the model saw when it made the call.
            refused: why the call is not made; '' to make it.

        Returns:
            The result. Whatever a tool raises is told to the model and doesn't end the loop.

        Raises:
            Cancelled: the user stopped the work.
        """
        asked = json.dumps(call.arguments, ensure_ascii=False, sort_keys=True)
        async with context.step.child(call.name[:LONGEST_NAME], "tool", asked) as step:
            if refused:
                outcome = CallOutcome(refused, False)
            else:
                key = f"{call.name} {asked}"
                outcome = self._remembered(key, shown) or await self._run(call, key, replace(context, step=step))
            await step.write(outcome.text)
            step.note(arguments=redacted_values(call.arguments), ok=outcome.ok)
        self.records.append(CallRecord(call.name, call.arguments, outcome.ok, outcome.data, outcome.text))
        return outcome

    def _remembered(self, key: str, shown: Collection[str]) -> CallOutcome | None:
        """The result of an identical earlier call, None without one. It counts as a repetition only where the model
        still saw the earlier result."""
        known = self._memory.get(key)
        if known is None:
            return None
        if any(known.text in text for text in shown):
            known.times += 1
        return CallOutcome(KNOWN + known.text, known.ok, known.times, known.data)

    async def _run(self, call: ToolCall, key: str, context: ToolContext) -> CallOutcome:
        try:
            tool = registry.find(call.name, self.known())
            found = await registry.call(tool, call.arguments, context)
            self._offer(tool, found)
            outcome = CallOutcome(redacted(found.text), True, data=found.data)
            self._forget(tool)
        except Cancelled:
            raise
        except RepoPilotError as error:
            outcome = CallOutcome(redacted(f"Error: {error}"), False)
        except Exception as error:  # a fault in one tool must not cost the work so far
            log.exception("the tool %s failed", call.name)
            problem = f"Error: {call.name} has an internal error ({type(error).__name__}). Go on without it."
            outcome = CallOutcome(problem, False)
        if call.name not in ("undo", FINISH.name):  # repeated, they take back another edit, or finish anew
            self._memory[key] = outcome
        return outcome

    def _forget(self, called: Tool) -> None:
        """Forget the results that a call may have changed: after an edit all of them, after a run those that failed,
        such as a report that cites a proof which was still to come."""
        if called.kind == "edit":
            self._memory.clear()
        elif called.kind == "run":
            self._memory = {key: outcome for key, outcome in self._memory.items() if outcome.ok}

    def known(self) -> tuple[Tool, ...]:
        """The tools that the model may call: those it is offered, and those that they bring."""
        brought = (each for tool in self.tools for each in tool.brings)
        return (*self.tools, *(each for each in brought if each not in self.tools))

    def _offer(self, called: Tool, found: ToolResult) -> None:
        """From now on, offer a tool that was called without being offered, or that was asked for."""
        names = (called.name, *(found.data["tools"] if called.brings else ()))
        self.tools = (*self.tools, *(each for each in self.known() if each.name in names and each not in self.tools))
