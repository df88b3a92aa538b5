"""Which tests cover a change, and how they are run."""

from __future__ import annotations

import asyncio
import re
from collections import Counter
from collections.abc import Collection, Iterable, Mapping, Sequence
from dataclasses import dataclass, replace
from pathlib import Path

from repopilot import i18n
from repopilot.code.languages import file_kind, is_test_path
from repopilot.errors import SandboxError
from repopilot.impact.change import Change
from repopilot.impact.changed_definitions import changed_definitions
from repopilot.impact.codebase import codebase_of
from repopilot.impact.covering_tests import all_tests, is_test_file, reaching_tests
from repopilot.impact.dependents import affected_places, covering_tests
from repopilot.index.store import Index
from repopilot.project_environment import declared_packages, packages_for_tests
from repopilot.sandbox.async_runner import run_in_sandbox, run_suite_in_sandbox
from repopilot.sandbox.environments.package_install import installer_name
from repopilot.sandbox.run import ChosenTests
from repopilot.sandbox.run_program import RunnerSuite
from repopilot.sandbox.runners.runner_table import (
    LANGUAGES,
    find_program,
    is_run_as_test,
    language_of_tests,
    runner_of,
)
from repopilot.tools.file_change import Changes, texts_of
from repopilot.types import TestRun
from repopilot.workspace import Workspace

MOST_TEST_FILES = 6
_MOST_CODE_FILES = 8
_MOST_OF_A_SUITE = 12
RUST_TESTS = re.compile(r"#\[(?:cfg\(|\w+::)?test\b")
"""Tests beside the code."""


@dataclass(frozen=True, slots=True)
class TestSelection:
    """The tests to run: `files` of pytest, or the `suite` of another runner."""

    __test__ = False

    files: tuple[str, ...] = ()
    suite: RunnerSuite | None = None

    @property
    def paths(self) -> tuple[str, ...]:
        """Of the test files; none for all tests of a suite."""
        return self.suite.tests if self.suite else self.files

    def __bool__(self) -> bool:
        return bool(self.suite or self.files)

    def __str__(self) -> str:
        return ", ".join(self.paths) or (self.suite.language if self.suite else "")


def tests_of_changes(changes: Changes, workspace: Workspace, named: Sequence[str] = ()) -> TestSelection:
    """The tests that a change brings or edits, those that are named, and those that cover it.

    Args:
        changes: the version.
        workspace: the repository as it is.
        named: paths of test files of Python that are to run in any case.

    Returns:
        Those of one language, that of most of the change.

    Raises:
        SandboxError: as `runner_suite`.
    """
    index, language = workspace.index, suite_language(changes)
    gone = {change.path for change in changes if change.change == "deleted"}
    if language and (suite := _suite_of(changes, gone, language, workspace)):
        return TestSelection(suite=suite)
    python = [change for change in changes if change.path.endswith(".py")]
    python.sort(key=lambda change: -change.diff.count("\n+"))
    own = [change.path for change in python if is_test_path(change.path) and is_test_file(change.path)]
    covering: list[str] = []
    for change in [each for each in python if not is_test_path(each.path)][:_MOST_CODE_FILES]:
        changed = changed_definitions(change.path, index.text(change.path) or "", change.content)
        covering += reaching_tests(index, change.path, {each.name.rpartition(".")[2] for each in changed})
    found = [path for path in dict.fromkeys((*own, *named, *covering)) if path not in gone]
    return TestSelection(tuple(found[:MOST_TEST_FILES]))


def tests_near(paths: Sequence[str], workspace: Workspace) -> list[str]:
    """Test files of one language, that of the first path whose tests are run: those among the paths, then those that
    cover the others, and any where there are none. Where nothing is run, test files that no runner is known for."""
    index = workspace.index
    first = next((path for path in paths if path.endswith(".py") or language_of_tests(path)), "")
    language = language_of_tests(first)
    every = all_tests(index) if first.endswith(".py") else _all_of(language, index)
    if not first:
        every = (all_tests(index) or every)[:1]
        every = every or [path for path in index.files if is_test_path(path) and file_kind(path) == "code"]
    if first.endswith(".py"):
        covering = [test for path in paths if path.endswith(".py") for test in reaching_tests(index, path)]
    else:
        covering = _covering(paths, workspace)
    return [path for path in dict.fromkeys((*paths, *covering)) if path in every][:MOST_TEST_FILES] or every[:1]


async def run_selected(
    tests: TestSelection,
    files: Mapping[str, str],
    workspace: Workspace,
    inputs: Path | None,
    *,
    left_out: Sequence[str] = (),
    seconds: float = 0.0,
    verify: bool = False,
) -> TestRun:
    """Run tests in the sandbox, those of them that are there.

    Args:
        tests: which.
        files: texts by path, which replace those of `inputs`.
        workspace: the repository, for its settings and what its tests need.
        inputs: a folder with the repository; None where `files` are all there is.
        left_out: ids of tests of Python that are not run.
        seconds: what the tests took the last time, 0 where nobody knows.
        verify: as in `run_pytest`.

    Raises:
        SandboxError: nothing can be run.
        StorageError: the files can't be written.
    """
    there = tuple(path for path in tests.paths if path in files or (inputs and (inputs / path).is_file()))
    if tests.paths and not there:
        return TestRun(0, 0, 0, 0.0, "limits", "", False)
    if tests.suite:
        suite = replace(tests.suite, tests=there, seconds=seconds)
        return await run_suite_in_sandbox(files, suite, workspace.settings, inputs)
    environment = await asyncio.to_thread(workspace.current_environment)
    chosen = ChosenTests(there, tuple(left_out), seconds)
    return await run_in_sandbox(files, chosen, workspace.settings, inputs, environment, verify=verify)


def suite_language(changes: Changes) -> str | None:
    """The language whose tests a change is tested by; None where Python's are, or none."""
    code = [c for c in changes if c.change != "deleted" and not is_test_path(c.path)] or changes
    if any(change.path.endswith(".py") for change in code):
        return None
    lines = Counter[str]()
    for change in code:
        if language := language_of_tests(change.path):
            lines[language] += change.diff.count("\n+") + 1
    return max(lines, key=lambda language: lines[language], default=None)


def _suite_of(changes: Changes, gone: Collection[str], language: str, workspace: Workspace) -> RunnerSuite | None:
    """The files of tests that a change edits and those that the graph says cover it, else all tests; None where the
    repository has none."""
    own = [c.path for c in changes if c.path not in gone and is_run_as_test(c.path)]
    if not (
        own or _all_of(language, workspace.index) or (language == "rust" and _tests_beside_code(changes, workspace))
    ):
        return None
    covering = (path for path in _covering([c.path for c in changes], workspace) if is_run_as_test(path))
    found = [path for path in dict.fromkeys((*own, *covering)) if path not in gone]
    return runner_suite(language, tuple(found[:_MOST_OF_A_SUITE]), workspace)


def _all_of(language: str | None, index: Index) -> list[str]:
    """The files of tests that a runner runs, of one language or of any."""
    return [path for path in index.files if is_run_as_test(path) and language in (None, language_of_tests(path))]


def _tests_beside_code(changes: Changes, workspace: Workspace) -> bool:
    index = workspace.index
    if any(RUST_TESTS.search(text) for text in texts_of(changes).values()):
        return True
    return any(path.endswith(".rs") and RUST_TESTS.search(index.text(path) or "") for path in index.files)


def runner_suite(language: str, tests: tuple[str, ...], workspace: Workspace) -> RunnerSuite:
    """Test files of one language with the runner and the packages of the repository.

    Args:
        language: of the tests.
        tests: their paths; () for all.
        workspace: the repository as it is.

    Raises:
        SandboxError: there is no manifest at the top, the runner isn't known here, or its program or the packages
            that the tests need are missing.
    """
    find_program(language)  # said before anything is prepared
    declared = (each for each in declared_packages(workspace.snapshot) if each.language == language)
    declaration = next(declared, None)
    if declaration is None:
        if language != "javascript":
            raise SandboxError(i18n.message("generate.no_manifest", program=LANGUAGES[language].program))
        return RunnerSuite(language, tests)
    runner_of(language, declaration.node)
    packages = packages_for_tests(workspace.snapshot, declaration, workspace.index, workspace.settings)
    needed = declaration.requirements or declaration.elsewhere
    if packages is None and needed and (language, declaration.node.runner) != ("javascript", "node"):
        raise SandboxError(
            i18n.message("generate.needs_packages", count=len(needed), program=installer_name(language)),
            i18n.message("generate.needs_packages_hint"),
        )
    return RunnerSuite(language, tests, declaration.node, packages)


def _covering(paths: Iterable[str], workspace: Workspace) -> list[str]:
    """The test files that the graph says cover some files of code."""
    index = workspace.index
    changed = [Change(path, whole=True) for path in paths if path in index.files and not is_test_path(path)]
    if not changed:
        return []
    base = codebase_of(index)
    affected = affected_places(base, changed, workspace.resolver)[0]
    return [test.path for test in covering_tests(base, changed, affected)]
