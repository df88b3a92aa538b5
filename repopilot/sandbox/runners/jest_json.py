"""Jest and Vitest, whose JSON reports have the same form."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from typing import Any

from repopilot.sandbox.job_spec import SandboxProgram
from repopilot.sandbox.runners.runner_form import (
    NODE_VARIABLES,
    ProgramReport,
    RunPlan,
    entries,
    inside_repository,
    json_of,
    mapping,
    outcome,
)
from repopilot.sandbox.verdict import TestOutcome

_REPORT = "{work}/report.json"
_OUTCOMES = {"passed": "passed", "failed": "failed", "pending": "skipped", "skipped": "skipped", "todo": "skipped"}


def jest_command(plan: RunPlan) -> SandboxProgram:
    """The program that runs the tests of a plan with Jest."""
    options = ("--json", f"--outputFile={_REPORT}", "--runInBand", "--ci", "--coverage=false", "--watchAll=false")
    places = ("--watchman=false", "--cacheDirectory={work}/jest")
    # Without this a test's path would be a pattern.
    chosen = ("--runTestsByPath", *plan.tests) if plan.tests else ()
    return _with_node(plan, "jest/bin/jest.js", (*options, *places, *chosen))


def vitest_command(plan: RunPlan) -> SandboxProgram:
    """The program that runs the tests of a plan with Vitest."""
    options = ("run", "--reporter=json", f"--outputFile={_REPORT}", "--coverage.enabled=false")
    processes = ("--no-file-parallelism", "--pool=forks")
    return _with_node(plan, "vitest/vitest.mjs", (*options, *processes, *plan.tests))


def _with_node(plan: RunPlan, module: str, arguments: tuple[str, ...]) -> SandboxProgram:
    flags = plan.project.options("node", ("--conditions",), ("--experimental-",))
    variables = {**NODE_VARIABLES, "CI": "true"}
    return SandboxProgram(
        (str(plan.program), *flags, f"{{root}}/node_modules/{module}", *arguments), variables, _REPORT
    )


def read(raw: bytes, root: str) -> ProgramReport:
    """Read the JSON report of Jest or Vitest."""
    report = mapping(json_of(raw))
    found = [each for result in entries(report.get("testResults")) for each in _outcomes(result, root)]
    return ProgramReport(tuple(found), isinstance(report.get("testResults"), list))


def _outcomes(result: Mapping[str, Any], root: str) -> Iterator[TestOutcome]:
    """The outcomes of one test file."""
    path = inside_repository(result.get("name"), root)
    tests = entries(result.get("assertionResults"))
    if result.get("status") == "failed" and not any(test.get("status") == "failed" for test in tests):
        yield outcome(path, "", "failed", 0, (result.get("message"), result.get("message")))
    for test in tests:
        status = _OUTCOMES.get(str(test.get("status")))
        if status is None:
            continue
        above = test.get("ancestorTitles")
        names = [*(above if isinstance(above, list) else ()), test.get("title")]
        messages = test.get("failureMessages")
        text = "\n".join(str(each) for each in messages) if isinstance(messages, list) else ""
        seconds = (test.get("duration") or 0) / 1000 if isinstance(test.get("duration"), (int, float)) else 0
        yield outcome(path, " > ".join(str(name) for name in names if name), status, seconds, (_first(text), text))


def _first(text: str) -> str:
    """A failure without its stack."""
    return text.partition("\n    at ")[0].strip()
