"""A change made by a model that uses the toolbox on a working copy."""

from __future__ import annotations

import asyncio
from collections.abc import Awaitable, Callable, Mapping, Sequence
from dataclasses import dataclass, field

from repopilot.agents import loop
from repopilot.agents.coding.tool_edit import REFACTORING_TOOLS, left_of
from repopilot.agents.conventions import Conventions
from repopilot.agents.last_turns import with_last_turns
from repopilot.agents.loop_values import answered
from repopilot.agents.overview.for_models import with_layout
from repopilot.code.languages import file_kind, is_test_path
from repopilot.errors import RepoPilotError
from repopilot.i18n import reason
from repopilot.llm.tool_calls import ToolCall
from repopilot.prompts import below_text, render
from repopilot.results import ToolUse
from repopilot.tools import registry
from repopilot.tools.file_change import Changes
from repopilot.tools.registry import ToolContext
from repopilot.tools.run_tests import RUN_TESTS, TestsBefore, places_near, tests_before
from repopilot.tools.talk import FINISH, about_questions
from repopilot.tools.toolbox import TaskKind, offered, toolbox
from repopilot.tools.verifying.check import CHECK, warm_type_checker
from repopilot.tools.verifying.repository_command import RUN_COMMAND, can_run_commands
from repopilot.tools.working_copy import StateBefore, WorkingCopy
from repopilot.trace import Step
from repopilot.types import Finding

SHARE_OF_CONVENTIONS = 16
"""One sixteenth of the context window is for what the repository tells its contributors."""
TESTS = "Call run_tests where tests cover what you changed."
FOUND = "Not finished: you haven't checked your last edits. In them, check finds:\n{found}\nRepair that, then finish."
REPRODUCE = (
    "Not edited: no test has failed yet. First write a test of what the issue describes, and see it fail in run_tests. "
    "If it can't be made to fail, make this edit again, and say in the summary what you tried."
)
_EDITS = frozenset(tool.name for tool in toolbox() if tool.kind == "edit")
_SEEN = ("check", "changes")


@dataclass(frozen=True, slots=True)
class LoopEdit:
    """What the loop left in the working copy.

    Attributes:
        changes: the files; () where it changed none.
        records: every tool call, in order.
        note: why it ended without saying that it was done, a message; '' where it said so.
        summary: the model's summary of what it did.
        assumed: what the model says it decided without asking, a sentence each, and questions that the user left open.
        silent: whether the model has stopped answering.
        can_go_on: whether the model can be told more: it answers, and something is left of its budget.
        refactored: whether `REFACTORING_TOOLS` made all its edits.
        left: what these tools left, as in `EditOutcome`.
        before: runs of tests without the edits, as `WorkingCopy.before`.
        left_behind: what `uses_left_behind` found in edits that were checked.
    """

    changes: Changes
    records: tuple[loop.CallRecord, ...]
    note: str
    summary: str
    assumed: tuple[str, ...] = ()
    silent: bool = False
    can_go_on: bool = True
    refactored: bool = False
    left: tuple[str, ...] = ()
    before: Mapping[tuple[str, ...], StateBefore] = field(default_factory=dict)
    left_behind: Mapping[Changes, tuple[Finding, ...]] = field(default_factory=dict)

    @property
    def calls(self) -> tuple[ToolUse, ...]:
        """The calls as a user sees them."""
        return tuple(ToolUse(call.name, dict(call.arguments), call.ok) for call in self.records)

    @property
    def checked_by(self) -> tuple[str, ...]:
        """The names of the programs that ran in a check after the last edit."""
        last = next((c for c in reversed(self.records) if c.ok and (c.name in _EDITS or c.name == CHECK.name)), None)
        return tuple(last.data["ran"]) if last is not None and last.name == CHECK.name else ()


@dataclass(slots=True)
class LoopEditor:
    """A model that changes a working copy with tools, and can be told what is wrong with its change.

    Attributes:
        task: as the user wrote it.
        copy: the working copy that it changes, of a repository with a model that calls tools.
        kind: what the task asks for; it decides which tools are offered at first.
        callers: how the model is asked.
    """

    task: str
    copy: WorkingCopy
    kind: TaskKind = "change"
    callers: loop.ModelCallers = loop.CALLERS
    _loop: loop.Loop | None = None

    async def begin(self, step: Step, kept: Callable[[Changes], None] | None = None) -> LoopEdit:
        """Let the model work on the task until it is done or its budget is spent.

        Args:
            step: the loop's steps go below it.
            kept: called with the changes so far when the user stops the work.

        Returns:
            What it left, without files where it changed none.

        Raises:
            StorageError: there is no room for the working copy.
        """
        async with step.child("work with tools", "agent", self.task) as working:
            workspace = self.copy.original
            context = ToolContext(workspace, self.copy, working, workspace.ask)
            near = await places_near(self.task, workspace)
            paths = dict.fromkeys(hit.chunk.path for hit in near)
            try:
                async with warm_type_checker(paths, workspace, working):
                    self._loop = await self._loop_of(context, await tests_before(near, context))
                    return self._left_by(await self._loop.work())
            except asyncio.CancelledError:
                if kept is not None and self.copy.changes():
                    kept(self.copy.changes())
                raise

    async def go_on(self, told: str, step: Step) -> LoopEdit:
        """Tell the model more in the same conversation, and let it continue. Takes, returns and raises as `begin`."""
        assert self._loop is not None
        async with step.child("work with tools", "agent", told) as working:
            return self._left_by(await self._loop.go_on(told, working))

    async def _loop_of(self, context: ToolContext, before: TestsBefore) -> loop.Loop:
        """The loop before its first reply."""
        workspace = context.workspace
        model = workspace.model
        can_ask = workspace.ask is not None
        assert model is not None
        room = model.context_window // SHARE_OF_CONVENTIONS
        conventions = Conventions(workspace.index, self.task, room, model.count_tokens, workspace.embedder)

        async def told_below(call: loop.CallRecord) -> str:
            return await asyncio.to_thread(conventions.of, str(call.arguments.get("path", "")))

        tests = f"{TESTS} {before.text}" if before.can_run else before.text
        useless = [*[RUN_TESTS] * (not before.can_run), *[RUN_COMMAND] * (not await can_run_commands(workspace))]
        tools = offered(self.kind, can_ask=can_ask, without=useless)
        system = render("loop_change", name=workspace.snapshot.name, tests=tests, questions=about_questions(can_ask))
        first = _failing_first() if workspace.reproduce and before.can_run else None
        watch = loop.Onlooker(finish=_checking(self.context), before=first, called=told_below)
        asked = with_last_turns(self.task, workspace.turns)
        asked = with_conventions(asked, await asyncio.to_thread(conventions.of, ""))
        asked = await with_layout(asked, workspace.index)
        worker = loop.LoopModel(model, loop.Budget.of(workspace.settings), self.callers)
        return loop.begin(asked, context, worker, tools, system, watch)

    def context(self) -> ToolContext:
        """What the tools work on now."""
        assert self._loop is not None
        return self._loop.context

    def _left_by(self, done: loop.LoopResult) -> LoopEdit:
        """What a loop left in the working copy."""
        assert self._loop is not None
        edits = [call for call in done.calls if call.ok and call.name in _EDITS]
        refactored = bool(edits) and all(call.name in REFACTORING_TOOLS for call in edits)
        left = [place for call in edits for place in left_of(call.data)] if refactored else []
        silent = done.ended == "silent"
        can_go_on = done.ended not in ("silent", "stopped") and self._loop.left().over() is None
        ends = [call.data for call in done.calls if call.ok and call.name == FINISH.name]
        assumed = (*answered(done.calls, by_default=True), *(ends[-1]["assumed"] if ends else ()))
        return LoopEdit(
            self.copy.changes(),
            done.calls,
            done.note,
            done.summary,
            assumed,
            silent,
            can_go_on,
            refactored,
            left=tuple(left),
            before=self.copy.before,
            left_behind=self.copy.left_behind,
        )


def with_conventions(task: str, text: str) -> str:
    """A task below what the repository tells its contributors, which is marked as text by others."""
    return below_text("loop_conventions", task, text)


def _checking(at: Callable[[], ToolContext]) -> Callable[[str, Sequence[loop.CallRecord]], Awaitable[str]]:
    """A callback that checks, once, edits that a model wants to finish without having looked at; new errors go back to
    it."""
    told = False

    async def finish(summary: str, calls: Sequence[loop.CallRecord]) -> str:
        nonlocal told
        if told or not _unseen(calls):
            return ""
        told = True
        context = at()
        async with context.step.child("check", "tool") as checking:
            try:
                found = await registry.call(CHECK, {}, ToolContext(context.workspace, context.working_copy, checking))
            except RepoPilotError as error:
                checking.degrade(reason(error))
                return ""
            await checking.write(found.text)
        return FOUND.format(found=found.text) if found.data["new"] else ""

    return finish


def _failing_first() -> Callable[[ToolCall, Sequence[loop.CallRecord], int], str]:
    """A callback that rejects edits of code made before a test was seen to fail, in the first reply that makes any."""
    held = 0

    def before(call: ToolCall, calls: Sequence[loop.CallRecord], reply: int) -> str:
        nonlocal held
        path = str(call.arguments.get("path", ""))
        edits = call.name in _EDITS and call.name != "undo" and not is_test_path(path)
        seen = any(each.ok and each.data["turned_red"] for each in calls if each.name == RUN_TESTS)
        if seen or held not in (0, reply) or not edits or (path and file_kind(path) != "code"):
            return ""
        held = reply
        return REPRODUCE

    return before


def _unseen(calls: Sequence[loop.CallRecord]) -> bool:
    """Whether the model has edited something since it last looked at its edits."""
    last = next((c.name for c in reversed(calls) if c.ok and (c.name in _EDITS or c.name in _SEEN)), "")
    return last in _EDITS
