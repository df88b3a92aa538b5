"""The loop: a model is given a task and tools, calls them, reads the results, and finishes.

Whatever ends it, the edits so far stay in the working copy, and the result says why it ended.
"""

from __future__ import annotations

import asyncio
import json
import time
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field, replace
from typing import Any

from repopilot.agents import transcript
from repopilot.agents.loop_calls import EDITED_WITH_IT, FAILED_BEFORE, CallMaker
from repopilot.agents.loop_values import (
    NOBODY,
    Asking,
    Budget,
    CallRecord,
    Ended,
    LoopResult,
    ModelCallers,
    Onlooker,
)
from repopilot.errors import Cancelled, ModelError, ModelSilent, ToolsRefused
from repopilot.i18n import joined, message, reason
from repopilot.llm.model import Model
from repopilot.llm.tool_calls import ToolCall, ToolReply, ask_for_action, ask_with_tools
from repopilot.prompts import delimiter, render
from repopilot.tools import registry
from repopilot.tools.registry import Tool, ToolContext
from repopilot.tools.talk import ASK_USER, FINISH
from repopilot.trace import Step

__all__ = [
    "Budget",
    "CallRecord",
    "Loop",
    "LoopModel",
    "LoopResult",
    "ModelCallers",
    "Onlooker",
    "begin",
    "run",
]

CALLERS = ModelCallers(ask_with_tools, ask_for_action)
REPLY_TOKENS = 4096
"""The longest reply, thinking included; less in a small context window."""
PATIENCE: Mapping[Ended, int] = {"malformed": 3, "no call": 2, "empty": 2, "repeated": 3}
"""How many such replies in a row, or identical calls without an edit in between, end the loop."""
FINISHED = "Finished."
REMINDERS: Mapping[Ended, str] = {
    "malformed": 'That is no call: {problem} The form is {{"name": "…", "arguments": {{…}}}}. Tools: {names}.',
    "no call": "Nothing was called. Call the next tool, or {end}.",
    "empty": "The reply was empty. Call the next tool, or {end}.",
}


@dataclass(frozen=True, slots=True)
class _End:
    """Why the loop ends: `summary` where the model finished, `error` where something failed."""

    ended: Ended
    summary: str = ""
    error: str = ""


@dataclass(frozen=True, slots=True)
class LoopModel:
    """The worker of a loop: the model, its budget, and how it is asked."""

    model: Model
    budget: Budget
    callers: ModelCallers = CALLERS


async def run(
    task: str,
    context: ToolContext,
    worker: LoopModel,
    tools: Sequence[Tool],
    system: str,
    watch: Onlooker = NOBODY,
) -> LoopResult:
    """Let a model work on a task with tools until the loop ends. Takes the arguments of `begin`; returns and raises as
    `Loop.work` does."""
    return await begin(task, context, worker, tools, system, watch).work()


def begin(
    task: str,
    context: ToolContext,
    worker: LoopModel,
    tools: Sequence[Tool],
    system: str,
    watch: Onlooker = NOBODY,
) -> Loop:
    """A loop that has not asked its model anything yet.

    Args:
        task: what to do.
        context: what the tools work on. Its step gets a child for each reply and each call, and notes what was spent.
        worker: the model, its budget, and how it is asked.
        tools: what the model may call; `finish` is added where it is missing. Without a tool that edits, a reply
            without a call is the answer; `finish` is then offered only where the server takes no tools, and each reply
            has to be a call.
        system: the system prompt.
        watch: observes the loop, and may send back a model that wants to finish.
    """
    every = tools if any(tool.name == FINISH.name for tool in tools) else (*tools, FINISH)
    mark = delimiter(system + task)
    told = f"{system}\n\n{render('loop_results', mark=mark)}"
    messages = [transcript.said("system", told), transcript.said("user", task)]
    callers = worker.callers
    return Loop(
        context,
        worker.model,
        CallMaker(every),
        worker.budget,
        callers.with_tools,
        callers.for_action,
        messages,
        mark,
        watch,
    )


@dataclass(slots=True)
class Loop:
    """A model's conversation about a task, and what is left of its budget."""

    context: ToolContext
    model: Model
    calls: CallMaker
    budget: Budget
    asking: Asking
    fallback: Asking
    messages: list[transcript.Message]
    mark: str
    watch: Onlooker = NOBODY
    shown: list[transcript.Message] = field(default_factory=list)
    text: str = ""
    in_a_row: tuple[Ended | None, int] = (None, 0)
    steps: int = 0
    tokens: int = 0
    ended: float = 0.0
    started: float = field(default_factory=time.monotonic)

    async def work(self) -> LoopResult:
        """Let the model work until the loop ends.

        Returns:
            How it went. The edits are in the context's working copy, whatever the ending.

        Raises:
            asyncio.CancelledError: the user stopped it. The edits so far are kept, too.
        """
        try:
            end = await self.until_end()
        except Cancelled:
            end = _End("stopped")
        except ModelError as error:
            end = _End("silent" if isinstance(error, ModelSilent) else "model", error=reason(error))
        finally:
            seconds = round(time.monotonic() - self.started, 1)
            self.context.step.note(steps=self.steps, tokens=self.tokens, seconds=seconds)
        self.context.step.note(ended=end.ended)
        self.ended = time.monotonic()
        return await self.result(end)

    async def go_on(self, told: str, step: Step) -> LoopResult:
        """Send another message to a model that has finished, and let it work on. The time in between doesn't count.

        Args:
            told: the user's next message.
            step: replaces the context's step.

        Returns, raises: as `work`; the calls are those of the entire conversation.
        """
        self.started += time.monotonic() - self.ended
        self.context = replace(self.context, step=step)
        self.in_a_row = None, 0
        self.messages.append(transcript.said("user", told))
        return await self.work()

    def left(self) -> Budget:
        """What is left of the budget."""
        seconds = self.budget.seconds - (time.monotonic() - self.started)
        return Budget(self.budget.steps - self.steps, self.budget.tokens - self.tokens, seconds)

    async def until_end(self) -> _End:
        while (over := self.left().over()) is None:
            reply = await self.think()
            if reply is None:
                return _End("seconds")
            end = await (self.carry_out(reply) if reply.calls else self.remind(reply))
            if end is not None:
                return end
        return await self.conclude(over)

    async def conclude(self, over: Ended) -> _End:
        """End a loop whose budget is used up, with a last reply without tools where `watch.closing` asks for one."""
        if not self.watch.closing or over == "seconds":
            return _End(over)
        self.messages.append(transcript.said("user", self.watch.closing))
        reply = await self.think(offered=(FINISH,) if self.asking is self.fallback else ())
        said = (reply.text, *(call.arguments.get("summary", "") for call in reply.calls)) if reply is not None else ()
        text = "\n".join(filter(None, map(str, said))).strip()
        if text and self.watch.finish is not None:
            await self.watch.finish(text, self.calls.records)
        return _End("finished" if text else over, text)

    async def think(self, offered: Sequence[Tool] | None = None) -> ToolReply | None:
        """The model's next reply, None where it takes more time than is left."""
        longest = min(REPLY_TOKENS, self.model.context_window // 3)
        schemas = [tool.schema() for tool in (self.offered() if offered is None else offered)]
        self.shown = await asyncio.to_thread(self.fitting, schemas, longest)
        self.steps += 1
        async with self.context.step.child("think", "llm", self.shown[-1]["content"]) as step:
            try:
                async with asyncio.timeout(self.left().seconds) as clock:
                    reply = await self.ask(transcript.marked(self.shown, self.mark), schemas, step, longest)
            except TimeoutError:
                if not clock.expired():
                    raise
                step.note(finish="seconds")
                return None
        self.tokens += await asyncio.to_thread(self.count, reply)
        self.text = self.text if reply.malformed else reply.text or self.text
        return reply

    def offered(self) -> list[Tool]:
        """The tools that the model is offered."""
        needs_finish = self.edits() or self.asking is self.fallback
        return [tool for tool in self.calls.tools if tool is not FINISH or needs_finish]

    def fitting(self, schemas: Sequence[dict[str, Any]], longest: int) -> list[transcript.Message]:
        room = self.model.context_window - longest - self.model.count_tokens(json.dumps(schemas))
        return transcript.fitted(self.messages, room, self.model.count_tokens)

    def count(self, reply: ToolReply) -> int:
        """The tokens of a reply and its prompt: as reported by the server, else counted here."""
        read = reply.prompt_tokens
        written = reply.completion_tokens
        if read is None:
            read = self.model.count_tokens(json.dumps(self.shown))
        if written is None:
            calls = json.dumps([call.arguments for call in reply.calls])
            written = self.model.count_tokens(reply.thinking + reply.text + calls)
        return read + written

    async def ask(self, messages: Any, schemas: Any, step: Step, longest: int) -> ToolReply:
        try:
            return await self.asking(self.model, messages, schemas, step, max_tokens=longest, halt=self.hear)
        except ModelError as error:
            if self.asking is self.fallback or not isinstance(error, ToolsRefused):
                raise
        self.asking = self.fallback
        step.degrade(message("loop.no_tools", name=self.model.name))
        return await self.asking(self.model, messages, schemas, step, max_tokens=longest, halt=self.hear)

    async def hear(self, so_far: str) -> bool:
        return self.watch.text is not None and await self.watch.text(so_far, self.calls.records)

    async def remind(self, reply: ToolReply) -> _End | None:
        """Tell the model what is wrong with a reply that calls nothing. Returns the end where the reply is an answer,
        or too many such replies came in a row."""
        kind: Ended = "malformed" if reply.malformed else "no call" if reply.text.strip() else "empty"
        if kind == "no call" and not self.edits():
            return await self.finished(reply.text.strip())
        self.in_a_row = kind, self.in_a_row[1] + 1 if self.in_a_row[0] == kind else 1
        if self.in_a_row[1] >= PATIENCE[kind]:
            return _End(kind)
        if reply.text.strip():
            self.messages.append(transcript.said("assistant", reply.text))
        names = ", ".join(f"{tool.name}({registry.signature(tool)})" for tool in self.offered())
        end = "call finish with a summary if the task is done" if self.edits() else "answer"
        self.messages.append(
            transcript.said("user", REMINDERS[kind].format(problem=reply.malformed, names=names, end=end))
        )
        return None

    def edits(self) -> bool:
        """Whether one of the tools edits; if none does, text is the answer."""
        return any(tool.kind == "edit" for tool in self.calls.tools)

    async def finished(self, text: str) -> _End | None:
        """End with an answer in words; None where the model is sent back."""
        objection = await self.watch.finish(text, self.calls.records) if self.watch.finish else ""
        self.messages.append(transcript.said("assistant", text))
        if not objection:
            return _End("finished", text)
        self.messages.append(transcript.said("user", objection))
        return None

    async def carry_out(self, reply: ToolReply) -> _End | None:
        """Make the calls of a reply, in order."""
        self.in_a_row = None, 0
        calls = [(call.id or f"call_{self.steps}_{n}", call) for n, call in enumerate(reply.calls)]
        self.messages.append(transcript.called(reply.text, calls))
        shown = [m["content"] for m in self.shown if m["role"] == "tool"]
        edit_names = {tool.name for tool in self.calls.known() if tool.kind == "edit"}
        too_early = EDITED_WITH_IT if any(call.name in edit_names for call in reply.calls) else ""
        printed: list[str] = []
        for n, (id, call) in enumerate(calls):
            began = time.monotonic()
            context = replace(self.context, shown=(*shown, *printed))
            outcome = await self.calls.make(call, context, shown, self.refused(call, too_early))
            printed.append(outcome.text)
            if call.name == ASK_USER.name:  # the user's time is not the model's
                self.started += time.monotonic() - began
            if outcome.times >= PATIENCE["repeated"]:
                return _End("repeated")
            told = outcome.text
            if call.name == FINISH.name and outcome.ok:
                told = await self.watch.finish(told, self.calls.records) if self.watch.finish else ""
                if not told:
                    self.messages += [transcript.answered(each, later.name, FINISHED) for each, later in calls[n:]]
                    return _End("finished", outcome.text)
            elif outcome.ok and self.watch.called and (more := await self.watch.called(self.calls.records[-1])):
                told = f"{told}\n\n{more}"
            self.messages.append(transcript.answered(id, call.name, told))
            too_early = too_early or ("" if outcome.ok else FAILED_BEFORE)
        return None

    def refused(self, call: ToolCall, too_early: str) -> str:
        """Why a call is not made, '' where it is."""
        if call.name == FINISH.name:
            return too_early
        return self.watch.before(call, self.calls.records, self.steps) if self.watch.before else ""

    async def result(self, end: _End) -> LoopResult:
        note = (
            "" if end.ended == "finished" else joined((self.why(end), *([await self.done()] if self.edits() else [])))
        )
        return LoopResult(end.summary, end.ended, tuple(self.calls.records), self.text, note)

    def why(self, end: _End) -> str:
        limits = {"limit_steps": self.budget.steps, "limit_tokens": self.budget.tokens}
        key = f"loop.{end.ended.replace(' ', '_')}"
        return message(key, **limits, limit_seconds=self.budget.seconds, error=end.error)

    async def done(self) -> str:
        changes = await asyncio.to_thread(self.context.working_copy.changes)
        if not changes:
            return message("loop.unchanged", count=len(self.calls.records))
        return message("loop.changed", count=len(self.calls.records), files=", ".join(c.path for c in changes))
