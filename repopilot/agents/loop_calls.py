"""Makes the calls of a loop: an identical one is answered from memory, an error is told to the model."""

from __future__ import annotations

import json
import logging
from collections.abc import Collection, Sequence
from dataclasses import dataclass, field, replace
from typing import Any

from repopilot.agents.loop_values import CallRecord, ModelCall
from repopilot.errors import Cancelled, RepoPilotError
from repopilot.redaction.redact import redacted, redacted_values
from repopilot.tools import registry
from repopilot.tools.registry import Desk, Tool
from repopilot.tools.talk import FINISH

log = logging.getLogger(__name__)

KNOWN = "You made this call before, and nothing was edited since. Its result was, and is:\n"
FAILED_BEFORE = "Error: a call before this one in the same reply failed. Read what it says, then go on or finish."
LONGEST_NAME = 60
"""Of a step: what a model takes for a tool may be anything."""


@dataclass(slots=True)
class CallOutcome:
    """What a call came to, as the model reads it, how often it was made, and the data of the result."""

    text: str
    ok: bool
    times: int = 1
    data: Any = None


@dataclass(slots=True)
class CallMaker:
    """The calls of one loop.

    Attributes:
        tools: what may be called.
        records: what was called, in order.
    """

    tools: Sequence[Tool]
    records: list[CallRecord] = field(default_factory=list)
    _memory: dict[str, CallOutcome] = field(default_factory=dict)

    async def make(self, call: ModelCall, desk: Desk, shown: Collection[str], failed: bool) -> CallOutcome:
        """Make one call, or remember what it came to, as a step of its own.

        Args:
            call: as the model made it.
            desk: what the tools work on.
            shown: the results that the model saw when it made the call.
            failed: whether a call before it in the same reply failed; what finishes then waits for the model's view.

        Returns:
            What it came to. Whatever a tool raises is told, and ends nothing.

        Raises:
            Cancelled: the user stopped the work.
        """
        asked = json.dumps(call.arguments, ensure_ascii=False, sort_keys=True)
        async with desk.step.child(call.name[:LONGEST_NAME], "tool", asked) as step:
            if call.name == FINISH.name and failed:
                outcome = CallOutcome(FAILED_BEFORE, False)
            else:
                key = f"{call.name} {asked}"
                outcome = self._remembered(key, shown) or await self._run(call, key, replace(desk, step=step))
            await step.write(outcome.text)
            step.note(arguments=redacted_values(call.arguments), ok=outcome.ok)
        self.records.append(CallRecord(call.name, call.arguments, outcome.ok, outcome.data))
        return outcome

    def _remembered(self, key: str, shown: Collection[str]) -> CallOutcome | None:
        """What an identical call came to. It is held against the model only where that still saw the result."""
        known = self._memory.get(key)
        if known is None:
            return None
        if any(known.text in text for text in shown):
            known.times += 1
        return CallOutcome(KNOWN + known.text, known.ok, known.times, known.data)

    async def _run(self, call: ModelCall, key: str, desk: Desk) -> CallOutcome:
        edits = False
        try:
            tool = registry.find(call.name, self.tools)
            found = await registry.call(tool, call.arguments, desk)
            outcome, edits = CallOutcome(redacted(found.text), True, data=found.data), tool.kind == "edit"
        except Cancelled:
            raise
        except RepoPilotError as error:
            outcome = CallOutcome(redacted(f"Error: {error}"), False)
        except Exception as error:  # a fault in one tool must not cost the work so far
            log.exception("the tool %s failed", call.name)
            problem = f"Error: {call.name} has an internal error ({type(error).__name__}). Go on without it."
            outcome = CallOutcome(problem, False)
        if edits:
            self._memory.clear()
        if call.name != "undo":  # the same call takes back another edit each time
            self._memory[key] = outcome
        return outcome
