"""Runs a repository's type checker in the sandbox: mypy, which is installed with us, or the repository's TypeScript.

A result means something only compared with the result for the unchanged repository: packages may be missing.
"""

from __future__ import annotations

import os
import re
import sys
import threading
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Any, NamedTuple

from repopilot import i18n
from repopilot.code.formats.data_formats import table, toml_tables
from repopilot.errors import SandboxError
from repopilot.project.setup_files import config_sections
from repopilot.sandbox.job_spec import KEPT, MB, SandboxLimits, SandboxProgram
from repopilot.sandbox.levels import level
from repopilot.sandbox.run_program import CopiedRun, RunnerSuite, node_program, run_in_copy, why_failed
from repopilot.sandbox.runners.runner_table import LANGUAGES
from repopilot.settings import Settings
from repopilot.types import Environment

_PATIENCE = 4.0
"""Factor on the time limit of tests, as the whole program is checked."""
_MYPY_LIMITS = SandboxLimits(memory=2048 * MB)
_MYPY_ERROR = re.compile(r"^(?P<path>[^:\n]{1,400}):(?P<line>\d{1,7})(?::\d+)?: error: (?P<message>.{1,1000})$", re.M)
_TSC_ERROR = re.compile(r"^(?P<path>[^(\n]{1,400})\((?P<line>\d{1,7}),\d+\): error (?P<message>.{1,1000})$", re.M)
_TSC_FILE = re.compile(r"^(?P<path>(?!/|node_modules/)[^(:\n]{1,400}\.[cm]?tsx?)$", re.M)
_MYPY_FILES = ("mypy.ini", ".mypy.ini", "setup.cfg")
_WHOLE = frozenset({"files", "packages", "modules"})
_LARGEST = 1024 * 1024


@dataclass(frozen=True, slots=True)
class TypeDiagnostic:
    """One error of a type checker. `line` counts from 1."""

    path: str
    line: int
    message: str


class TypeReport(NamedTuple):
    """What a run found.

    Attributes:
        errors: in order.
        files: files in which it checked every use of a name; empty for a checker that skips untyped code.
    """

    errors: tuple[TypeDiagnostic, ...] = ()
    files: frozenset[str] = frozenset()


@dataclass(frozen=True, slots=True)
class TypeChecker:
    """A type checker, ready to run.

    Attributes:
        name: its usual name.
        run: the program with what it needs.
        errors: finds `path`, `line` and `message` in what it prints.
        statuses: the exit statuses of a complete check.
        files: finds `path` of each checked file; None where it doesn't list them.
    """

    name: str
    run: CopiedRun
    errors: re.Pattern[str]
    statuses: frozenset[int]
    files: re.Pattern[str] | None = None


def mypy_checker(
    inputs: Path, paths: Sequence[str], environment: Environment | None, kept: Path | None = None
) -> TypeChecker | None:
    """Mypy as a repository configures it.

    Args:
        inputs: the repository.
        paths: the files to check where the configuration names none.
        environment: the packages that the repository needs, None for none.
        kept: the folder of its cache between runs, None for no cache.

    Returns:
        The type checker, None where the repository doesn't configure mypy, or there is nothing to check.
    """
    options = _mypy_options(inputs)
    if options is None:
        return None
    found = [os.path.realpath(folder) for folder in environment.packages] if environment else []
    arguments = ("--no-error-summary", "--no-pretty", "--no-color-output", "--hide-error-context", "--show-error-codes")
    store = f"--cache-dir={{work}}/{KEPT}", "--sqlite-cache"  # few files, as they are copied in and out
    whole = bool(_WHOLE & set(options))
    if not (whole or paths):
        return None
    targets = () if whole else tuple(paths)
    program = SandboxProgram(
        (sys.executable, "-s", "-P", "-B", "-m", "mypy", *store, *arguments, "--", *targets),
        {"PYTHONPATH": os.pathsep.join(found)},
        readable=tuple(map(Path, found)),
    )
    return TypeChecker(
        "mypy",
        CopiedRun(program, _MYPY_LIMITS, environment.files if environment else {}, None, inputs, kept=kept),
        _MYPY_ERROR,
        frozenset({0, 1}),
    )


def typescript_checker(inputs: Path, suite: RunnerSuite) -> TypeChecker | None:
    """A TypeScript project's compiler, for checking only; None without tsconfig.json, installed compiler or Node."""
    program = node_program(suite.packages, "typescript/bin/tsc", ("--noEmit", "--pretty", "false", "--listFiles"))
    if program is None or not (inputs / "tsconfig.json").is_file():
        return None
    limits = LANGUAGES["javascript"].limits
    run = CopiedRun(program, limits, suite.written, suite.node_modules, inputs, suite.links)
    return TypeChecker("tsc", run, _TSC_ERROR, frozenset({0, 1, 2}), _TSC_FILE)


def check_types(
    checker: TypeChecker, files: Mapping[str, str], settings: Settings, cancel: threading.Event
) -> TypeReport:
    """Run a type checker over a version of the repository. Blocking.

    Args:
        checker: what to run.
        files: the changed texts by path.
        settings: sandbox level, consent and time limit.
        cancel: ends the run once set.

    Returns:
        Its report.

    Raises:
        SandboxError: no level works, or the checker failed.
        StorageError: the files can't be written.
        Cancelled: `cancel` was set.
    """
    limits = replace(checker.run.limits, seconds=_PATIENCE * settings.test_timeout_s)
    outcome, top = run_in_copy(files, replace(checker.run, limits=limits), level(settings), cancel)
    said = outcome.report.decode("utf-8", "replace").replace(f"{top}/", "")
    if outcome.ended != "finished" or outcome.status not in checker.statuses:
        why = why_failed(outcome, limits, said)
        raise SandboxError(i18n.message("sandbox.types_unchecked", name=checker.name, why=why))
    errors = (
        TypeDiagnostic(found["path"], int(found["line"]), found["message"]) for found in checker.errors.finditer(said)
    )
    listed = checker.files.finditer(said) if checker.files else ()
    return TypeReport(tuple(errors), frozenset(found["path"] for found in listed))


def _mypy_options(inputs: Path) -> Mapping[str, Any] | None:
    """The repository's options for mypy, None where it has none."""
    options = table(toml_tables(_text(inputs / "pyproject.toml")).get("tool")).get("mypy")
    if isinstance(options, dict):
        return options
    found = (config_sections(_text(inputs / name)) for name in _MYPY_FILES)
    return next((sections["mypy"] for sections in found if "mypy" in sections), None)


def _text(path: Path) -> str:
    """The text of a file of the repository; '' where it is missing, too large or a link, which may lead anywhere."""
    if path.is_symlink() or not path.is_file() or path.stat().st_size > _LARGEST:
        return ""
    return path.read_text("utf-8", "replace")
