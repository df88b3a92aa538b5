"""Data types of test runners for other languages, and helpers to read their reports. Pure."""

from __future__ import annotations

import math
import posixpath
from collections.abc import Callable, Mapping
from dataclasses import dataclass, field
from functools import wraps
from pathlib import Path

from repopilot.project.node_project import NodeProject
from repopilot.sandbox.job_spec import SandboxProgram
from repopilot.sandbox.output.bounded_json import ReportExceedsBounds
from repopilot.sandbox.output.plain_text import LONGEST_TEXT, plain
from repopilot.sandbox.verdict import TestOutcome

REPORT = "{work}/report.jsonl"
"""The file that a reporter of ours writes, a line of JSON for each test."""
MOST_TESTS = 20_000
"""Most tests that are read from a report."""
NODE_VARIABLES = {"NODE_ENV": "test", "OPENSSL_CONF": "/dev/null"}
"""Environment of every Node process; some levels can't read the system's OpenSSL configuration."""
LONGEST_ID = 400
LONGEST_MESSAGE = 2_000


@dataclass(frozen=True, slots=True)
class ProgramReport:
    """A runner's outcomes in order, and whether its report is complete."""

    outcomes: tuple[TestOutcome, ...] = ()
    ended: bool = False


@dataclass(frozen=True, slots=True)
class RunPlan:
    """The tests to run.

    Attributes:
        program: the path of the runner's program.
        tests: paths of test files; () for all tests.
        project: what package.json declares, for a JavaScript runner.
        packages: the folder with the packages that were installed, None for none.
    """

    program: Path
    tests: tuple[str, ...] = ()
    project: NodeProject = field(default_factory=NodeProject)
    packages: Path | None = None

    @property
    def node_variables(self) -> dict[str, str]:
        """Environment of a test run by Node: the variables of the test script, and a PATH as in npm's scripts."""
        own = self.project.variables
        path = f"{{root}}/node_modules/.bin:{self.program.parent}:/usr/bin:/bin"
        options = f"--require={{inside}}/network_interfaces.cjs {own.get('NODE_OPTIONS', '')}".rstrip()
        return {**NODE_VARIABLES, **own, "NODE_OPTIONS": options, "PATH": path}

    @property
    def projects(self) -> dict[str, str]:
        """The workspace members that contain the tests and have settings of their own: settings file by folder."""
        folders = {posixpath.dirname(path): path for path in self.project.projects}
        chosen = (each for each in folders if any(test.startswith(f"{each}/") for test in self.tests))
        return {each: folders[each] for each in chosen} if self.tests else folders


@dataclass(frozen=True, slots=True)
class Runner:
    """A test runner.

    Attributes:
        name: its usual name.
        language: a key of `LANGUAGES` in runner_table.py.
        used_by: whether a project uses it.
        command: the program that runs the tests of a plan.
        read: reads the report, from the program's output and the folder of the code inside.
        written: texts by path of the files that it needs in the copy of the repository.
    """

    name: str
    language: str
    used_by: Callable[[NodeProject], bool]
    command: Callable[[RunPlan], SandboxProgram]
    read: Callable[[bytes, str], ProgramReport]
    written: Callable[[RunPlan], Mapping[str, str]] = lambda plan: {}


Read = Callable[[bytes, str], ProgramReport]


def within_bounds(read: Read) -> Read:
    """Let a reader return an empty report where the report exceeds the bounds of bounded_json.py."""

    @wraps(read)
    def bounded(raw: bytes, root: str) -> ProgramReport:
        try:
            return read(raw, root)
        except ReportExceedsBounds:
            return ProgramReport()

    return bounded


def outcome(path: object, name: object, result: str, seconds: object, failure: tuple[object, object]) -> TestOutcome:
    """One outcome with its texts made plain and short.

    Args:
        path: of the test file, inside the repository.
        name: of the test, '' for the file as a whole.
        result: passed, failed or skipped.
        seconds: its duration as the runner says.
        failure: the message, and the longer text with the place.
    """
    file = plain(path, LONGEST_ID)
    test = " ".join(plain(name, LONGEST_ID).split())
    took = number_of(seconds)
    took = took if 0 <= took < 1e6 else 0.0
    message = plain(failure[0], LONGEST_MESSAGE) if result == "failed" else ""
    text = plain(failure[1], LONGEST_TEXT) if result == "failed" else ""
    identity = f"{file}::{test}" if test else file
    return TestOutcome(identity, "call" if test else "collect", result, took, text=text, message=message)


def number_of(value: object) -> float:
    """The value where it is a finite number that a float can hold, else 0."""
    if not isinstance(value, (int, float)) or abs(value) > 1e300 or math.isnan(value):
        return 0.0
    return float(value)


def inside_repository(path: object, root: str) -> str:
    """A path as seen from the top of the repository."""
    return plain(path, LONGEST_ID).removeprefix("file://").removeprefix(f"{root}/")
