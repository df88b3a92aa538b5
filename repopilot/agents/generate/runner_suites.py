"""The control of a pass of tests in JavaScript, TypeScript, Rust or Go.

The control is a fault that we put into the changed lines: a pass counts as verified only when such a fault turns a test
red that was green. A report that the code under test had written itself would not notice the fault.
"""

from __future__ import annotations

import time
from dataclasses import dataclass, replace

from repopilot import i18n
from repopilot.agents.generate.evidence import Examination, old_texts, run_tests
from repopilot.code.languages import is_test_path
from repopilot.code.mutation.mutants import Mutant, one_line
from repopilot.code.mutation.syntax_mutants import changed_lines, syntax_mutants
from repopilot.sandbox.run_program import RunnerSuite
from repopilot.sandbox.runners.runner_table import (
    LANGUAGES,
    language_of_tests,
)
from repopilot.tools.file_change import Changes, texts_of
from repopilot.tools.test_suites import TestSelection
from repopilot.trace import Step
from repopilot.types import TestRun

_MOST_FILES, _MOST_FAULTS = 4, 3
_PATIENCE = 3
"""The control may take this many times the time limit of a run."""


@dataclass(frozen=True, slots=True)
class ControlledRun:
    """A run judged by a control, and the changed files in which no fault turned a test red."""

    run: TestRun
    unexercised: tuple[str, ...] = ()


async def with_control(
    examination: Examination, changes: Changes, suite: RunnerSuite, run: TestRun, step: Step
) -> ControlledRun:
    """Verify a pass: put faults into the changed lines, one at a time, until one turns a test red in each file.

    Args:
        examination: the task and the repository.
        changes: the version that passed.
        suite: its tests.
        run: their run; what isn't a pass is returned as it is.
        step: the runs are its children.

    Returns:
        The run, `genuine` when a fault was noticed, with the reason in `control`, else with the reason in `reasons`.

    Raises:
        SandboxError: nothing can be run.
        StorageError: the files can't be written.
    """
    if run.reasons or run.ended != "finished" or not run.passed:
        return ControlledRun(run)
    texts, tests = texts_of(changes), TestSelection(suite=suite)
    noticed: dict[str, str] = {}
    unexercised: list[str] = []
    tried = 0
    deadline = time.monotonic() + _PATIENCE * _longest_run(suite, examination)
    for path, mutants in _faults(changes, suite.language, examination).items():
        for mutant in mutants:
            if time.monotonic() > deadline:
                break
            tried += 1
            mutated = await run_tests(examination, texts | {path: mutant.text}, tests, f"control {tried}", step)
            if test := _turned_red(run, mutated):
                values = {
                    "path": path,
                    "line": mutant.line,
                    "before": one_line(mutant.before),
                    "after": one_line(mutant.after),
                }
                noticed[path] = i18n.message("generate.control.noticed", test=test, **values)
                break
        else:
            unexercised.append(path)
    if noticed:
        return ControlledRun(replace(run, genuine=True, control=next(iter(noticed.values()))), tuple(unexercised))
    why = "generate.control.unnoticed" if tried else "generate.control.impossible"
    return ControlledRun(replace(run, reasons=(i18n.message(why, count=tried),)))


def _longest_run(suite: RunnerSuite, examination: Examination) -> float:
    return examination.workspace.settings.test_timeout_s * LANGUAGES[suite.language].patience


def _faults(changes: Changes, language: str, examination: Examination) -> dict[str, tuple[Mutant, ...]]:
    """Mutants of the changed lines, by path of the changed files with most of them; none for files without."""
    before = old_texts(changes, examination.workspace)
    code = [c for c in changes if c.change != "deleted" and not is_test_path(c.path)]
    code = [change for change in code if language_of_tests(change.path) == language]
    code.sort(key=lambda change: -change.diff.count("\n+"))
    found = {
        c.path: syntax_mutants(c.content, c.path, changed_lines(before.get(c.path, ""), c.content), _MOST_FAULTS)
        for c in code[:_MOST_FILES]
    }
    return {path: mutants for path, mutants in found.items() if mutants}


def _turned_red(green: TestRun, mutated: TestRun) -> str:
    """The first test that passed and fails with a fault, '' for none. A file that can't be loaded, or code that doesn't
    compile, shows nothing: its tests are not named."""
    failed = (name for name, outcome in mutated.outcomes.items() if outcome == "failed")
    return next((name for name in failed if green.outcomes.get(name) == "passed"), "")
