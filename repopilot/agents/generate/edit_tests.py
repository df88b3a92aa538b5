"""Run the repository's own tests over the edits of a task, and tell what they broke from what failed before."""

from __future__ import annotations

from collections.abc import Sequence

from repopilot import i18n
from repopilot.agents.editing.edits import Changes, texts_of
from repopilot.agents.generate.evidence import Examination, TestedChanges, definitions_changed, run_tests
from repopilot.agents.generate.scoring import newly_failed
from repopilot.agents.testing.selection import covering_tests, is_test_file
from repopilot.code.languages import is_test_path
from repopilot.results import TestReport
from repopilot.trace import Step

MOST_TEST_FILES = 6
_MOST_CODE_FILES = 8


async def choose_by_tests(examination: Examination, candidates: Sequence[Changes], step: Step) -> TestedChanges:
    """Choose the first version of an edit that breaks no test of the repository.

    A test that fails without the change as well is no evidence against it.

    Args:
        examination: the task and the repository.
        candidates: versions, the best first; at least one.
        step: the step of the work.

    Returns:
        The chosen version with the run of its tests; of versions that all break some, the one that breaks the fewest.

    Raises:
        SandboxError: nothing can be run.
        StorageError: the files can't be written.
    """
    tests = tests_of(candidates[0], examination)
    if not tests:
        step.degrade(i18n.message("generate.no_covering_tests"))
        return TestedChanges(candidates[0], TestReport(stopped_because=i18n.message("generate.no_covering_tests")))
    async with step.child("tests", "agent", ", ".join(tests)) as testing:
        red_before: tuple[str, ...] | None = None
        results: list[tuple[int, TestedChanges]] = []
        for number, changes in enumerate(candidates, 1):
            texts = _texts(tests, changes, examination)
            run = await run_tests(examination, changes, texts, f"version {number}", testing)
            if newly_failed(run, ()) and red_before is None:
                unchanged = _texts(tests, (), examination)
                old = await run_tests(examination, (), unchanged, "without the change", testing)
                red_before = tuple(sorted(newly_failed(old, ())))
            report = TestReport(run, protected=True, tests=texts, red_before=red_before or ())
            results.append((len(newly_failed(run, red_before or ())), TestedChanges(changes, report)))
            if not results[-1][0]:
                break
        broken, chosen = min(results, key=lambda result: result[0])
        testing.note(versions=len(results), broken=broken, genuine=chosen.report.genuine)
    return chosen


def tests_of(changes: Changes, examination: Examination) -> list[str]:
    """The test files that cover a change, and those that it changes: paths, at most MOST_TEST_FILES."""
    own = [c.path for c in changes if c.change != "deleted" and _is_runnable(c.path)]
    code = [c for c in changes if c.path.endswith(".py") and not is_test_path(c.path)]
    code.sort(key=lambda c: -c.diff.count("\n+"))
    index = examination.workspace.index
    covering: list[str] = []
    for change in code[:_MOST_CODE_FILES]:
        names = {d.name.rpartition(".")[2] for d in definitions_changed((change,), examination.workspace)}
        covering += covering_tests(index, change.path, names)
    gone = {c.path for c in changes if c.change == "deleted"}
    return [path for path in dict.fromkeys((*own, *covering)) if path not in gone][:MOST_TEST_FILES]


def _is_runnable(path: str) -> bool:
    return path.endswith(".py") and is_test_file(path) and is_test_path(path)


def _texts(tests: Sequence[str], changes: Changes, examination: Examination) -> dict[str, str]:
    new = texts_of(changes)
    return {path: new[path] if path in new else examination.workspace.index.text(path) or "" for path in tests}
