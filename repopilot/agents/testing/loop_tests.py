"""Tests by a model that uses tools: it writes and runs them on a working copy; mutants of the code judge them."""

from __future__ import annotations

import re
from collections.abc import Mapping, Sequence

from repopilot import i18n
from repopilot.agents.coding.agent import LoopEditor
from repopilot.code.languages import is_test_path
from repopilot.errors import GenerationFailed
from repopilot.index.store import Index
from repopilot.project_environment import until_fetched
from repopilot.prompts import render
from repopilot.results import MutantOutcome, TestReport
from repopilot.sandbox.controls.mutants import mutants, one_line
from repopilot.tools.checkout import checked_out
from repopilot.tools.file_change import Changes, texts_of
from repopilot.tools.stored_text import stored_text
from repopilot.tools.talk import say_assumed
from repopilot.tools.test_suites import TestSelection, run_selected
from repopilot.tools.working_copy import working_copy
from repopilot.trace import Step
from repopilot.types import Symbol, TestRun
from repopilot.workspace import Workspace

MOST_JUDGED = 3
"""Definitions whose mutants judge the tests."""
MOST_MUTANTS = 4
"""Mutants of a definition; each takes a run of the tests."""
_NAME = re.compile(r"[A-Za-z_]\w+(?:\.\w+)*")


async def write_tests_by_loop(question: str, workspace: Workspace, step: Step) -> tuple[Changes, TestReport]:
    """Let the model write tests, run them, and say which faults of the code they catch.

    Args:
        question: as the user asked it.
        workspace: the repository, with a model that calls tools.
        step: the step of the work.

    Returns:
        The changed test files, and the report.

    Raises:
        GenerationFailed: the model changed no test file.
        SandboxError: nothing can be run.
    """
    async with working_copy(workspace) as copy:
        edit = await LoopEditor(render("loop_test", task=question), copy, "tests").begin(step)
    changes = tuple(change for change in edit.changes if is_test_path(change.path))
    left = [change.path for change in edit.changes if change not in changes]
    say_assumed(edit.assumed, step)
    if left:
        step.degrade(i18n.message("testing.only_tests_kept", paths=", ".join(left)))
    if not changes:
        raise GenerationFailed(i18n.message("testing.no_tests_written"), edit.summary.strip() or edit.note)
    modules = {path: text for path, text in texts_of(changes).items() if path.endswith(".py")}
    if not modules:
        return changes, TestReport(tests=texts_of(changes), stopped_because=i18n.message("testing.only_pytest"))
    run = await run_shown(list(modules), modules, workspace, step)
    subjects = _subjects(question, modules, workspace.index)
    outcomes = [o for subject in subjects for o in await _judged(subject, modules, run, workspace, step)]
    return changes, TestReport(run, tests=modules, mutants=tuple(outcomes))


def _subjects(question: str, modules: Mapping[str, str], index: Index) -> list[Symbol]:
    """The Python definitions whose mutants judge the tests: those that the tests use, the ones that the question names
    first."""
    used = [word for text in modules.values() for word in _NAME.findall(text)]
    parts = {part for word in used for part in word.split(".")}
    found: dict[tuple[str, str], Symbol] = {}
    for name in dict.fromkeys([*_NAME.findall(question), *used]):
        if name.rpartition(".")[2] in parts:
            own = (s for s in index.symbols(name) if s.path.endswith(".py") and not is_test_path(s.path))
            found.update(((s.path, s.qualified), s) for s in own if s.kind in ("function", "method", "class"))
    return list(found.values())[:MOST_JUDGED]


async def _judged(
    subject: Symbol, modules: Mapping[str, str], green: TestRun, workspace: Workspace, step: Step
) -> list[MutantOutcome]:
    """Which tests, of those that pass, fail on each mutant of a definition."""
    source = (stored_text(subject.path, workspace) or "").removeprefix("\ufeff").replace("\r\n", "\n")
    made = mutants(source, subject.qualified, MOST_MUTANTS)
    judged = []
    async with step.child("mutants", "tool", subject.qualified) as judging, checked_out(workspace) as folder:
        for mutant in made:
            files = {**modules, subject.path: mutant.text}
            run = await run_selected(TestSelection(tuple(modules)), files, workspace, folder)
            if run.outcomes:
                failed = run.tests("failed", "error")
                caught = sorted({_name_of(test) for test in failed if green.outcomes.get(test) == "passed"})
                outcome = (mutant.line, one_line(mutant.before), one_line(mutant.after), tuple(caught))
                judged.append(MutantOutcome(subject.path, *outcome))
        judging.note(mutants=len(judged), caught=sum(bool(each.caught_by) for each in judged))
    return judged


def _name_of(test_id: str) -> str:
    """The name in `path::Class::name[parameters]`."""
    return test_id.partition("[")[0].rpartition("::")[2]


async def run_shown(tests: Sequence[str], files: Mapping[str, str], workspace: Workspace, step: Step) -> TestRun:
    """Run test files in the sandbox, with other texts of some files, as a step that shows the outcome. It waits for
    packages that are being fetched."""
    await until_fetched(workspace.snapshot, workspace.index, workspace.settings)
    async with step.child("tests", "tool", ", ".join(tests)) as running, checked_out(workspace) as folder:
        run = await run_selected(TestSelection(tuple(tests)), files, workspace, folder, verify=True)
        running.note(passed=run.passed, failed=run.failed, errors=run.errors, level=run.level, genuine=run.genuine)
        await running.write(run.output[-4000:])
    return run
