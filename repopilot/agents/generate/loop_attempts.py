"""Attempts at a change by a model that uses tools: several where the settings say so, of which tests choose one."""

from __future__ import annotations

from collections.abc import Awaitable, Callable
from contextlib import AbstractAsyncContextManager, AsyncExitStack, nullcontext
from dataclasses import dataclass
from functools import partial

from repopilot.agents import loop
from repopilot.agents.coding.agent import LoopEdit, LoopEditor
from repopilot.errors import RepoPilotError
from repopilot.i18n import reason
from repopilot.llm.tool_calls import ask_for_action, ask_with_tools
from repopilot.results import TestReport
from repopilot.tools.file_change import Changes
from repopilot.tools.working_copy import working_copy
from repopilot.trace import Step
from repopilot.workspace import Workspace

VARIED = 0.7
"""Temperature of further attempts, which would repeat the first one at the loop's own temperature."""
FURTHER = loop.ModelCallers(partial(ask_with_tools, temperature=VARIED), partial(ask_for_action, temperature=VARIED))

Test = Callable[[LoopEdit, Step], Awaitable[TestReport | None]]
"""Runs the tests of a change below a step; None where they can't be run."""


@dataclass(frozen=True, slots=True)
class Attempt:
    """One attempt.

    Attributes:
        edit: the edit that it made.
        editor: continues the attempt.
        report: what its tests say, None when they could not be run.
        tested: whether its tests were to be run.
    """

    edit: LoopEdit
    editor: LoopEditor
    report: TestReport | None = None
    tested: bool = False

    @property
    def proved(self) -> bool:
        """Whether it turned a test green, and none red."""
        report = self.report
        return report is not None and report.run is not None and report.run.genuine and not report.broken

    @property
    def rank(self) -> tuple[float, ...]:
        """The better one of two has the higher rank. The number of tests that it adds itself doesn't count."""
        report = self.report or TestReport()
        repaired = bool(report.repaired)
        added = bool(report.added)
        ran = report.run is not None
        return (bool(self.edit.changes), self.proved, -len(report.broken), repaired, added, ran, not self.edit.note)


async def best_attempt(
    task: str,
    workspace: Workspace,
    opened: AsyncExitStack,
    step: Step,
    shown: Callable[[LoopEdit], None],
    test: Test,
) -> Attempt:
    """Let a model attempt a change, as often as the settings say, or until tests prove one.

    Args:
        task: as the user wrote it.
        workspace: the repository, with that model. Each attempt works on a copy of its own, with a budget of its own.
        opened: keeps the working copy of the best attempt open.
        step: the step of the work; of several attempts, each is a child of it.
        shown: called with the first change before it is tested, even if the user stops it, and with each better one.
        test: runs the tests of a change, where there are several attempts to choose from.

    Returns:
        The best of them.

    Raises:
        RepoPilotError: the first attempt could not be started.
    """
    copy = await opened.enter_async_context(AsyncExitStack())
    best = await _attempt(task, workspace, copy, step, 1, shown, test)
    for number in range(2, workspace.settings.loop_attempts + 1):
        if best.proved or best.edit.silent:
            break
        other = await opened.enter_async_context(AsyncExitStack())
        try:
            made = await _attempt(task, workspace, other, step, number, None, test)
        except RepoPilotError as error:
            step.degrade(reason(error))
            break
        if made.rank > best.rank:
            copy, other, best = other, copy, made
            shown(best.edit)
        await other.aclose()
        if made.edit.silent:
            break
    return best


async def _attempt(
    task: str,
    workspace: Workspace,
    opened: AsyncExitStack,
    step: Step,
    number: int,
    shown: Callable[[LoopEdit], None] | None,
    test: Test,
) -> Attempt:
    """One attempt on a copy of its own, in a step of its own and tested where there are several."""
    several = workspace.settings.loop_attempts > 1
    copy = await opened.enter_async_context(working_copy(workspace))
    editor = LoopEditor(task, copy, callers=loop.CALLERS if number == 1 else FURTHER)

    def keep(changes: Changes) -> None:
        if shown:
            shown(LoopEdit(changes, (), "", ""))

    under: AbstractAsyncContextManager[Step] = nullcontext(step)
    if several:
        under = step.child(f"attempt {number}", "agent", task)
    async with under as trying:
        edit = await editor.begin(trying, keep)
        if shown and edit.changes:
            shown(edit)
        tested = several and bool(edit.changes)
        made = Attempt(edit, editor, await test(edit, trying) if tested else None, tested)
        if several:
            trying.note(files=[change.path for change in edit.changes], proved=made.proved)
    return made
