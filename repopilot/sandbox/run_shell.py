"""Runs a shell command in the sandbox on a copy of the repository, and reports what it changed."""

from __future__ import annotations

import base64
import binascii
import os
import shutil
import sys
import threading
from collections.abc import Mapping
from dataclasses import dataclass, field, replace
from pathlib import Path

from repopilot import i18n
from repopilot.code.formats.data_formats import table
from repopilot.errors import SandboxError
from repopilot.project.declaration_parts import texts
from repopilot.redaction.secret_paths import secret_name
from repopilot.sandbox import stage, supervise
from repopilot.sandbox.job_spec import MB, SandboxLimits, SandboxProgram
from repopilot.sandbox.levels import STRONG, level
from repopilot.sandbox.output.bounded_json import json_of
from repopilot.sandbox.run_program import CopiedRun, RunnerSuite, run_in_copy
from repopilot.sandbox.runners.runner_table import installed_program, runner_of
from repopilot.settings import Settings
from repopilot.types import Environment

_LIMITS = SandboxLimits(memory=2048 * MB, file=256 * MB, disk=1024 * MB, processes=128, descriptors=1024)


@dataclass(frozen=True, slots=True)
class ShellNeeds:
    """What commands of a repository need.

    Attributes:
        environment: its Python packages, None for none.
        suites: test suites of its other languages, with their packages.
        files: texts by path that replace those of the folder.
    """

    environment: Environment | None = None
    suites: tuple[RunnerSuite, ...] = ()
    files: Mapping[str, str] = field(default_factory=dict)


@dataclass(frozen=True, slots=True)
class ShellRun:
    """How a command ended.

    Attributes:
        status: its exit status.
        output: standard output and error, shortened in the middle.
        stopped: a message saying why it was stopped; '' where it ended by itself.
        files: contents of the files that it wrote, by path.
        deleted: paths of the files that it deleted.
        special: paths that are not, or no longer, regular files, such as links.
        refused: a message saying why its changes can't be used; '' where they can.
        seconds: wall time.
    """

    status: int
    output: str
    stopped: str = ""
    files: Mapping[str, bytes] = field(default_factory=dict)
    deleted: tuple[str, ...] = ()
    special: tuple[str, ...] = ()
    refused: str = ""
    seconds: float = 0.0


def strong_level(settings: Settings) -> bool:
    """Whether commands may run here: unlike tests, they need more than resource limits."""
    try:
        return level(settings) in STRONG
    except SandboxError:
        return False


def run_shell(
    command: str, seconds: float, inputs: Path | None, needs: ShellNeeds, settings: Settings, cancel: threading.Event
) -> ShellRun:
    """Run a shell command in a copy of a folder. Blocking; no process of it is left when it returns.

    Args:
        command: as typed at the top of the repository.
        seconds: its time limit.
        inputs: the folder, which stays as it is; None where the files of `needs` are all there is.
        needs: the packages to provide.
        settings: the sandbox level.
        cancel: ends the run once set.

    Returns:
        How it ended. Changes by a command that exceeded a limit are discarded.

    Raises:
        SandboxError: no strong level works here, or the folder is too large.
        StorageError: the copy can't be written.
        Cancelled: `cancel` was set.
    """
    achieved = level(settings)
    if achieved not in STRONG:
        raise SandboxError(i18n.message("command_tool.weak"), i18n.message("sandbox.run_doctor"))
    run = _run(command, replace(_LIMITS, seconds=seconds), inputs, needs)
    outcome, top = run_in_copy(needs.files, run, achieved, cancel)
    output = outcome.output.replace(f"{top}/", "")
    stopped = supervise.why_stopped(outcome, run.limits) if outcome.ended != "finished" else ""
    ended = ShellRun(outcome.status, output, stopped, seconds=round(outcome.seconds, 1))
    return ended if stopped else _with_changes(ended, table(json_of(outcome.report)))


def _with_changes(ended: ShellRun, report: Mapping[str, object]) -> ShellRun:
    """Add the changes from the report, which the command may have forged."""
    if isinstance(count := report.get("count"), int):
        return replace(ended, refused=i18n.message("command_tool.too_much", count=count))
    if "files" not in report:
        why = str(report.get("error") or "")[:200] or i18n.message("command_tool.no_report")
        return replace(ended, refused=i18n.message("command_tool.unread", why=why))
    try:
        written = {str(path): base64.b64decode(str(text)) for path, text in table(report["files"]).items()}
    except (binascii.Error, ValueError):
        return replace(ended, refused=i18n.message("command_tool.unread", why=i18n.message("command_tool.no_report")))
    deleted, special = (texts(report.get(name)) for name in ("deleted", "special"))
    return replace(ended, files=written, deleted=deleted, special=special)


def _run(command: str, limits: SandboxLimits, inputs: Path | None, needs: ShellNeeds) -> CopiedRun:
    """The shell with the programs and packages that tests of the repository get."""
    python, folders, readable = _python(needs.environment)
    links = {f"{{work}}/bin/{name}": str(python) for name in ("python", "python3")}
    paths = ["{root}/node_modules/.bin", "{work}/bin", *(f"{each}/bin" for each in folders)]
    variables: dict[str, str] = {"PYTEST_DISABLE_PLUGIN_AUTOLOAD": "", "OPENSSL_CONF": "/dev/null"}
    written: dict[str, str] = {}
    node = RunnerSuite("javascript")
    behind: list[str] = []
    for suite in needs.suites:
        found = installed_program(suite.language)
        if found is None:  # the command itself will report that it is missing
            continue
        tool, own = found
        readable = (*readable, *own, *suite.readable)
        paths.append(str(tool.parent))
        if suite.language == "javascript":
            node = suite
            paths.insert(0, str(suite.plan(tool).program.parent))
        else:
            own_program = _runner_program(suite, tool)
            behind.append(own_program.variables.get("PATH", ""))
            variables |= own_program.variables
            readable = (*readable, *own_program.readable)
        written |= suite.written
    written |= needs.environment.files if needs.environment else {}
    variables["PATH"] = os.pathsep.join((*paths, *filter(None, behind), "/usr/local/bin", "/usr/bin", "/bin"))
    if folders:
        variables["PYTHONPATH"] = os.pathsep.join(folders)
    shell = shutil.which("bash", path="/bin:/usr/bin") or "/bin/sh"
    program = SandboxProgram(
        (shell, "-c", command), variables, readable=readable, links=links, caches=tuple(sorted(stage.LEFT_OUT))
    )
    return CopiedRun(program, limits, written, node.node_modules, inputs, node.links, secret_name)


def _runner_program(suite: RunnerSuite, tool: Path) -> SandboxProgram:
    """A language's test runner with its variables and folders; empty if not installed, as most commands don't need
    it."""
    try:
        return runner_of(suite.language, suite.project).command(suite.plan(tool))
    except SandboxError:
        return SandboxProgram(())


def _python(environment: Environment | None) -> tuple[Path, list[str], tuple[Path, ...]]:
    """The interpreter for commands, its package folders, and the folders it reads; never our own packages."""
    own = Path(os.path.realpath(sys.executable))
    if environment is None:
        return own, [], ()
    folders = [os.path.realpath(each) for each in environment.packages]
    return environment.interpreter or own, folders, (*map(Path, folders), *environment.readable)
