"""Runs tests, type checkers and commands in the sandbox from asynchronous code."""

from __future__ import annotations

import threading
from collections.abc import Mapping, Sequence
from functools import partial
from pathlib import Path

from repopilot.background import in_thread
from repopilot.sandbox.formatters import Formatter, unformatted
from repopilot.sandbox.run import ChosenTests, run_pytest
from repopilot.sandbox.run_program import RunnerSuite, run_suite
from repopilot.sandbox.run_shell import ShellNeeds, ShellRun, run_shell
from repopilot.sandbox.type_checkers import TypeChecker, TypeReport, check_types
from repopilot.settings import Settings
from repopilot.types import Environment, TestRun


async def run_in_sandbox(
    files: Mapping[str, str | bytes],
    tests: Sequence[str] | ChosenTests,
    settings: Settings,
    inputs: Path | None = None,
    environment: Environment | None = None,
    *,
    verify: bool = True,
) -> TestRun:
    """Run `run_pytest` in a thread. When the task is cancelled, the sandbox ends before the cancellation is raised.

    Args:
        files: texts by path, which replace those of `inputs`.
        tests: paths of the test files, among `files` or in `inputs`.
        settings: the sandbox level and the time limit.
        inputs: a folder with the rest of the repository.
        environment: what the repository's tests need.
        verify: as in `run_pytest`.

    Returns:
        The judged run.

    Raises:
        SandboxError: no level works, or a path is refused.
        StorageError: the files can't be written.
    """
    cancel = threading.Event()
    work = partial(run_pytest, inputs=inputs, cancel=cancel, environment=environment, verify=verify)
    return await in_thread(partial(work, files, tests, settings), cancel)


async def run_suite_in_sandbox(
    files: Mapping[str, str | bytes], suite: RunnerSuite, settings: Settings, inputs: Path | None = None
) -> TestRun:
    """Run `run_suite` in a thread, with its arguments and errors. A cancelled task ends the sandbox first."""
    cancel = threading.Event()
    return await in_thread(partial(run_suite, files, suite, settings, inputs, cancel), cancel)


async def check_types_in_sandbox(checker: TypeChecker, files: Mapping[str, str], settings: Settings) -> TypeReport:
    """Run `check_types` in a thread, with its arguments and errors. A cancelled task ends the sandbox first."""
    cancel = threading.Event()
    return await in_thread(partial(check_types, checker, files, settings, cancel), cancel)


async def check_format_in_sandbox(formatter: Formatter, files: Mapping[str, str], settings: Settings) -> dict[str, str]:
    """Run `unformatted` in a thread, with its arguments and errors. A cancelled task ends the sandbox first."""
    cancel = threading.Event()
    return await in_thread(partial(unformatted, formatter, files, settings, cancel), cancel)


async def run_shell_in_sandbox(
    command: str, seconds: float, inputs: Path | None, needs: ShellNeeds, settings: Settings
) -> ShellRun:
    """Run `run_shell` in a thread, with its arguments and errors. A cancelled task ends the sandbox first."""
    cancel = threading.Event()
    return await in_thread(partial(run_shell, command, seconds, inputs, needs, settings, cancel), cancel)
