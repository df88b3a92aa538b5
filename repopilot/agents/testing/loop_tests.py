"""Tests by a model that uses tools: it writes and runs them on a working copy, mutants of the code judge them."""

from __future__ import annotations

import secrets
from collections.abc import Mapping, Sequence

from repopilot import i18n
from repopilot.agents.coding.agent import edit_by_loop
from repopilot.agents.testing.writing.mutation_run import kill_matrix, mutant_run
from repopilot.agents.testing.writing.subjects import TestSubject
from repopilot.agents.testing.writing.written_report import short
from repopilot.code.languages import is_test_path
from repopilot.code.mutation.mutants import mutants
from repopilot.errors import GenerationFailed
from repopilot.prompts import render
from repopilot.results import MutantOutcome, TestReport
from repopilot.sandbox.async_runner import run_in_sandbox
from repopilot.tools.checkout import checked_out
from repopilot.tools.file_change import Changes, texts_of
from repopilot.trace import Step
from repopilot.types import TestRun
from repopilot.workspace import Workspace

MOST_JUDGED = 3
"""Definitions whose mutants judge the tests."""


async def write_tests_by_loop(
    question: str, subjects: Sequence[TestSubject], workspace: Workspace, step: Step
) -> tuple[Changes, TestReport]:
    """Let the model write tests, run them, and say which faults of the code they catch.

    Args:
        question: as the user asked it.
        subjects: the definitions that it is about; those in Python have mutants.
        workspace: the repository, with a model that calls tools.
        step: the step of the work.

    Returns:
        The changed test files, and the report.

    Raises:
        GenerationFailed: the model changed no test file.
        SandboxError: nothing can be run.
    """
    edit = await edit_by_loop(render("loop_test", task=question), workspace, step)
    changes = tuple(change for change in edit.changes if is_test_path(change.path))
    left = [change.path for change in edit.changes if change not in changes]
    if left:
        step.degrade(i18n.message("testing.only_tests_kept", paths=", ".join(left)))
    if not changes:
        raise GenerationFailed(i18n.message("testing.no_tests_written"), edit.summary)
    modules = {path: text for path, text in texts_of(changes).items() if path.endswith(".py")}
    if not modules:
        return changes, TestReport(tests=texts_of(changes), stopped_because=i18n.message("testing.only_pytest"))
    run = await run_shown(list(modules), modules, workspace, step)
    judged = [subject for subject in subjects if subject.path.endswith(".py")][:MOST_JUDGED]
    outcomes = [o for subject in judged for o in await _judged(subject, modules, workspace, step)]
    return changes, TestReport(run, tests=modules, mutants=tuple(outcomes))


async def _judged(
    subject: TestSubject, modules: Mapping[str, str], workspace: Workspace, step: Step
) -> list[MutantOutcome]:
    """Which tests catch each mutant of a definition."""
    made = mutants(subject.text, subject.symbol)
    caught: dict[int, set[str]] = {}
    async with step.child("mutants", "tool", subject.symbol) as judging, checked_out(workspace) as folder:
        for path, text in modules.items() if made else ():
            plan = mutant_run(text, path, subject.text, made, secrets.token_hex(4))
            run = await run_in_sandbox(plan.files, list(plan.files), workspace.settings, folder, workspace.environment)
            matrix = kill_matrix(plan, run)
            for number in matrix.measured:
                names = {name for (_, name), numbers in matrix.caught.items() if number in numbers}
                caught.setdefault(number, set()).update(names)
        judging.note(mutants=len(caught), caught=sum(map(bool, caught.values())))
    return [
        MutantOutcome(subject.path, m.line, short(m.before), short(m.after), tuple(sorted(caught[n])), False)
        for n, m in enumerate(made)
        if n in caught
    ]


async def run_shown(tests: Sequence[str], files: Mapping[str, str], workspace: Workspace, step: Step) -> TestRun:
    """Run test files in the sandbox, with other texts of some files, as a step that shows the outcome."""
    async with step.child("tests", "tool", ", ".join(tests)) as running, checked_out(workspace) as folder:
        run = await run_in_sandbox(files, tests, workspace.settings, folder, workspace.environment)
        running.note(passed=run.passed, failed=run.failed, errors=run.errors, level=run.level, genuine=run.genuine)
        await running.write(run.output[-4000:])
    return run
