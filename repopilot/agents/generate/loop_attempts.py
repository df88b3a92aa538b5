"""Attempts at a change by a model that uses tools: several where the settings say so, of which tests choose one."""

from __future__ import annotations

from collections.abc import Awaitable, Callable
from contextlib import AbstractAsyncContextManager, nullcontext
from dataclasses import dataclass
from functools import partial

from repopilot.agents import loop
from repopilot.agents.coding.agent import LoopEdit, edit_by_loop
from repopilot.errors import RepoPilotError
from repopilot.i18n import reason
from repopilot.llm.tool_calls import ask_for_action, ask_with_tools
from repopilot.results import TestReport
from repopilot.tools.file_change import Changes
from repopilot.trace import Step
from repopilot.workspace import Workspace

VARIED = 0.7
"""Temperature of further attempts, which would repeat the first one at that of a loop."""
FURTHER = loop.Askings(partial(ask_with_tools, temperature=VARIED), partial(ask_for_action, temperature=VARIED))

Test = Callable[[LoopEdit, Step], Awaitable[TestReport | None]]
"""Runs the tests of a change below a step; None where they can't be run."""


@dataclass(frozen=True, slots=True)
class Attempt:
    """One attempt, and what its tests say; `report` is None when they could not be run."""

    edit: LoopEdit
    report: TestReport | None = None

    @property
    def proved(self) -> bool:
        """Whether it turned a test green, and none red."""
        report = self.report
        return report is not None and report.run is not None and report.run.genuine and not report.broken

    @property
    def rank(self) -> tuple[float, ...]:
        """The better one of two has the higher rank. How many tests it adds itself is no merit."""
        report = self.report or TestReport()
        repaired, added, ran = bool(report.repaired), bool(report.added), report.run is not None
        return (bool(self.edit.changes), self.proved, -len(report.broken), repaired, added, ran, not self.edit.note)


async def best_attempt(
    task: str, workspace: Workspace, step: Step, shown: Callable[[LoopEdit], None], test: Test
) -> Attempt:
    """Let a model attempt a change, as often as the settings say, or until tests prove one.

    Args:
        task: as the user wrote it.
        workspace: the repository, with that model. Each attempt works on a copy of its own, with a budget of its own.
        step: the step of the work; of several attempts, each is a child of it.
        shown: is given the first change before it is tested, and each better one; also one that the user stops.
        test: runs the tests of a change.

    Returns:
        The best of them.

    Raises:
        RepoPilotError: the first one could not be begun.
    """
    best: Attempt | None = None
    most = workspace.settings.loop_attempts
    for number in range(1, most + 1):
        under: AbstractAsyncContextManager[Step] = nullcontext(step)
        if most > 1:
            under = step.child(f"attempt {number}", "agent", task)
        try:
            async with under as trying:
                made = await _attempt(task, workspace, trying, shown if best is None else None, test)
                if most > 1:
                    trying.note(files=[change.path for change in made.edit.changes], proved=made.proved)
        except RepoPilotError as error:
            if best is None:
                raise
            step.degrade(reason(error))
            break
        if best is None:
            best = made
        elif made.rank > best.rank:
            best = made
            shown(best.edit)
        if best.proved or made.edit.silent:
            break
    assert best is not None
    return best


async def _attempt(
    task: str, workspace: Workspace, step: Step, shown: Callable[[LoopEdit], None] | None, test: Test
) -> Attempt:
    def keep(changes: Changes) -> None:
        if shown:
            shown(LoopEdit(changes, (), "", ""))

    edit = await edit_by_loop(task, workspace, step, kept=keep, askings=loop.ASKINGS if shown else FURTHER)
    if not edit.changes:
        return Attempt(edit)
    if shown:
        shown(edit)
    return Attempt(edit, await test(edit, step))
