"""Which tests of another language than Python cover a change, and how they are run."""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Iterable

from repopilot import i18n
from repopilot.code.dependencies.node_test_packages import of_tests
from repopilot.code.languages import is_test_path
from repopilot.errors import SandboxError
from repopilot.impact.change import Change
from repopilot.impact.codebase import codebase_of
from repopilot.impact.dependents import affected_places, covering_tests
from repopilot.project_environment import declared_packages, find_packages
from repopilot.sandbox.environments.package_install import installer_name
from repopilot.sandbox.run_program import RunnerSuite
from repopilot.sandbox.runners.runner_table import (
    LANGUAGES,
    find_program,
    is_run_as_test,
    language_of_tests,
    runner_of,
)
from repopilot.tools.file_change import Changes, texts_of
from repopilot.workspace import Workspace

_MOST_TEST_FILES = 12
RUST_TESTS = re.compile(r"#\[(?:cfg\(|\w+::)?test\b")
"""Tests beside the code."""


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


def suite_of(changes: Changes, language: str, workspace: Workspace) -> RunnerSuite | None:
    """The tests of a change: the files that the graph says cover it and those that it changes, else all tests.

    Args:
        changes: the version.
        language: the language of its tests.
        workspace: the repository as it is.

    Returns:
        The tests; None where the repository has none.

    Raises:
        SandboxError: as `runner_suite`.
    """
    tests = [path for path in workspace.index.files if is_run_as_test(path) and language_of_tests(path) == language]
    own = [c.path for c in changes if c.change != "deleted" and is_run_as_test(c.path)]
    if not (tests or own) and not (language == "rust" and _tests_beside_code(changes, workspace)):
        return None
    return runner_suite(language, _chosen(changes, own, workspace), workspace)


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
    snapshot, settings, index = workspace.snapshot, workspace.settings, workspace.index
    packages = find_packages(snapshot, declaration, settings) or find_packages(
        snapshot, of_tests(declaration, index.files, index.text), settings
    )
    needed = declaration.requirements or declaration.elsewhere
    if packages is None and needed and (language, declaration.node.runner) != ("javascript", "node"):
        raise SandboxError(
            i18n.message("generate.needs_packages", count=len(needed), program=installer_name(language)),
            i18n.message("generate.needs_packages_hint"),
        )
    return RunnerSuite(language, tests, declaration.node, packages)


def tests_covering(paths: Iterable[str], workspace: Workspace) -> list[str]:
    """The test files that the graph says cover some files of code."""
    index = workspace.index
    changed = [Change(path, whole=True) for path in paths if path in index.files and not is_test_path(path)]
    base = codebase_of(index)
    covering = covering_tests(base, changed, affected_places(base, changed, workspace.resolver)[0]) if changed else []
    return [test.path for test in covering]


def _chosen(changes: Changes, own: list[str], workspace: Workspace) -> tuple[str, ...]:
    """The paths of the tests to run; () for all of them."""
    gone = {change.path for change in changes if change.change == "deleted"}
    found = [path for path in tests_covering([c.path for c in changes], workspace) if is_run_as_test(path)]
    return tuple(dict.fromkeys([*own, *(path for path in found if path not in gone)]))[:_MOST_TEST_FILES]
