"""The control of a passing run by faults injected into the changed lines, as in mutation testing.

It serves every language except Python, and tests that can't run without the change, such as those of a new function.

A pass counts as verified only when an injected fault turns a green test red. A report written by the code under test
itself would not notice the fault.
"""

from __future__ import annotations

import time
from collections.abc import Collection
from dataclasses import dataclass, replace
from operator import itemgetter

from repopilot import i18n
from repopilot.agents.generate.evidence import ChangeContext, old_texts, run_tests
from repopilot.code.languages import is_test_path
from repopilot.sandbox.controls.mutants import Mutant, changed_lines, line_mutants, new_ranges, one_line
from repopilot.sandbox.runners.runner_table import (
    LANGUAGES,
    language_of_tests,
)
from repopilot.tools.file_change import Changes, texts_of
from repopilot.tools.test_suites import TestSelection
from repopilot.trace import Step
from repopilot.types import FileChange, TestRun

_MOST_FILES = 4
_MOST_FAULTS = 3
_MOST_DRAWN = 24
"""Candidate faults, of which _MOST_FAULTS are taken."""
_PATIENCE = 3
"""The control may take this many times the time limit of a run."""


@dataclass(frozen=True, slots=True)
class ControlledRun:
    """A run judged by a control, the changed files in which no fault turned a test red, and the ids of the tests that a
    fault in new code turned red."""

    run: TestRun
    unexercised: tuple[str, ...] = ()
    noticing: frozenset[str] = frozenset()


async def with_control(
    context: ChangeContext,
    changes: Changes,
    tests: TestSelection,
    run: TestRun,
    step: Step,
    turned: Collection[str] = (),
) -> ControlledRun:
    """Verify a pass: inject faults into the changed lines, one at a time, until one in each file turns a test red.
    Faults in new code come first; the reason says when a fault is in code that the change left as it was.

    Args:
        context: the task and the repository.
        changes: the version that passed.
        tests: its tests.
        run: their run; what isn't a pass is returned as it is.
        step: the runs are its children.
        turned: ids of tests that fail, or can't run, without the change; they are named first.

    Returns:
        The run, `genuine` when a fault was noticed, with the reason in `control`, else with the reason in `reasons`.

    Raises:
        SandboxError: nothing can be run.
        StorageError: the files can't be written.
    """
    if run.reasons or run.ended != "finished" or not run.passed:
        return ControlledRun(run)
    texts = texts_of(changes)
    noticed: list[tuple[bool, str]] = []
    unexercised: list[str] = []
    noticing = set[str]()
    tried = 0
    language = tests.suite.language if tests.suite else None
    deadline = time.monotonic() + _PATIENCE * _longest_run(language, context)
    for path, mutants in _faults(changes, language, context).items():
        for mutant, is_new in mutants:
            if time.monotonic() > deadline:
                break
            tried += 1
            files = texts | {path: mutant.text}
            mutated = await run_tests(context, files, tests, f"control {tried}", step, verify=False)
            red = _turned_red(run, mutated)
            if test := next((name for name in red if name in turned), next(iter(red), "")):
                values = {
                    "path": path,
                    "line": mutant.line,
                    "before": one_line(mutant.before),
                    "after": one_line(mutant.after),
                }
                key = "noticed" if is_new else "noticed_old"
                noticed.append((is_new, i18n.message(f"generate.control.{key}", test=test, **values)))
                noticing |= set(red) if is_new else set()
                break
        else:
            unexercised.append(path)
    if noticed:
        _, control = max(noticed, key=itemgetter(0))
        run = replace(run, genuine=True, control=control)
        return ControlledRun(run, tuple(unexercised), frozenset(noticing))
    none = "only_tests" if all(is_test_path(path) for path in texts) else "impossible"
    why = f"generate.control.{'unnoticed' if tried else none}"
    return ControlledRun(replace(run, reasons=(i18n.message(why, count=tried),)))


def _longest_run(language: str | None, context: ChangeContext) -> float:
    return context.workspace.settings.test_timeout_s * (LANGUAGES[language].patience if language else 1)


def _faults(changes: Changes, language: str | None, context: ChangeContext) -> dict[str, list[tuple[Mutant, bool]]]:
    """Mutants of the changed lines by path, those in new code first, each with whether it is in new code; for the files
    with the most changed lines."""
    before = old_texts(changes, context.workspace)
    code = [c for c in changes if c.change != "deleted" and not is_test_path(c.path)]
    code = [change for change in code if language_of_tests(change.path) == language]
    code.sort(key=lambda change: -change.diff.count("\n+"))
    found = {c.path: _faults_of(before.get(c.path, ""), c) for c in code[:_MOST_FILES]}
    return {path: mutants for path, mutants in found.items() if mutants}


def _faults_of(old: str, change: FileChange) -> list[tuple[Mutant, bool]]:
    """Mutants of a changed file, and whether each is in new code."""
    new = new_ranges(old, change.content)
    made = line_mutants(change.content, change.path, changed_lines(old, change.content), _MOST_DRAWN)
    marked = [(mutant, any(mutant.start < end and start < mutant.end for start, end in new)) for mutant in made]
    return sorted(marked, key=lambda each: not each[1])[:_MOST_FAULTS]


def _turned_red(green: TestRun, mutated: TestRun) -> list[str]:
    """The tests that passed and fail with a fault. A file that can't be loaded, or code that doesn't compile, shows
    nothing: its tests are not named."""
    return [name for name in mutated.tests("failed") if green.outcomes.get(name) == "passed"]
