"""Jest and Vitest, whose JSON reports have the same form."""

from __future__ import annotations

import json
from collections.abc import Iterator, Mapping
from dataclasses import replace
from itertools import islice
from typing import Any

from repopilot.code.formats.data_formats import table, tables
from repopilot.sandbox.job_spec import SandboxProgram
from repopilot.sandbox.output.bounded_json import json_of
from repopilot.sandbox.output.plain_text import plain
from repopilot.sandbox.runners.runner_form import (
    MOST_TESTS,
    ProgramReport,
    RunPlan,
    inside_repository,
    number_of,
    outcome,
    within_bounds,
)
from repopilot.sandbox.verdict import TestOutcome

_REPORT = "{work}/report.json"
_MEMBERS = "vitest.members.mjs"
_JEST_TAKES = ("--config", "-c", "--rootDir", "--env", "--testEnvironment", "--preset")
_VITEST_TAKES = ("--config", "-c", "--root", "-r", "--environment")
_MOST_PARTS = 20
"""Most titles around a test, and most messages of its failure, that are read."""
_OUTCOMES = {"passed": "passed", "failed": "failed", "pending": "skipped", "skipped": "skipped", "todo": "skipped"}


def jest_command(plan: RunPlan) -> SandboxProgram:
    """The program that runs the tests of a plan with Jest."""
    options = ("--json", f"--outputFile={_REPORT}", "--runInBand", "--ci", "--coverage=false", "--watchAll=false")
    places = ("--watchman=false", "--cacheDirectory={work}/jest")
    own = plan.project.options("jest", _JEST_TAKES)
    settings = [f"{{root}}/{path}" for path in plan.projects.values()]
    projects = ("--projects", *settings) if settings else own
    # Without this a test's path would be a pattern.
    chosen = ("--runTestsByPath", *(f"{{root}}/{test}" for test in plan.tests)) if plan.tests else ()
    program = _with_node(plan, "jest/bin/jest.js", (*projects, *options, *places, *chosen))
    # Starts where the member's own script does: transformers search for their settings from there upwards.
    there = {"PWD": f"{{root}}/{next(iter(plan.projects))}"} if len(settings) == 1 else {}
    return replace(program, variables={**program.variables, **there})


def vitest_command(plan: RunPlan) -> SandboxProgram:
    """The program that runs the tests of a plan with Vitest."""
    options = (
        "run",
        "--reporter=json",
        "--reporter=default",
        f"--outputFile.json={_REPORT}",
        "--coverage.enabled=false",
    )
    processes = ("--no-file-parallelism", "--pool=forks")
    own = plan.project.options("vitest", _VITEST_TAKES, ("--globals",))
    settings = (f"--config={{root}}/{_MEMBERS}",) if _of_vitest(plan) else own
    return _with_node(plan, "vitest/vitest.mjs", (*options, *processes, *settings, *plan.tests))


def vitest_settings(plan: RunPlan) -> Mapping[str, str]:
    """A Vitest configuration that lists the workspace members with settings of their own."""
    projects = [
        {"extends": f"./{path}", "root": f"./{folder}", "test": {"dir": folder}}  # dir starts at the top
        for folder, path in _of_vitest(plan).items()
    ]
    text = f"export default {{ test: {{ projects: {json.dumps(projects)} }} }};\n"
    return {_MEMBERS: text} if projects else {}


def _of_vitest(plan: RunPlan) -> dict[str, str]:
    """The members with settings for Vitest; those in a package.json are Jest's."""
    return {folder: path for folder, path in plan.projects.items() if not path.endswith("package.json")}


def _with_node(plan: RunPlan, module: str, arguments: tuple[str, ...]) -> SandboxProgram:
    flags = plan.project.options("node", ("--conditions",), ("--experimental-",))
    variables = {**plan.node_variables, "CI": "true"}
    return SandboxProgram(
        (str(plan.program), *flags, f"{{root}}/node_modules/{module}", *arguments), variables, _REPORT
    )


@within_bounds
def read(raw: bytes, root: str) -> ProgramReport:
    """Read the JSON report of Jest or Vitest."""
    report = table(json_of(raw))
    found = (each for result in tables(report.get("testResults")) for each in _outcomes(result, root))
    return ProgramReport(tuple(islice(found, MOST_TESTS)), isinstance(report.get("testResults"), list))


def _outcomes(result: Mapping[str, Any], root: str) -> Iterator[TestOutcome]:
    """The outcomes of one test file."""
    path = inside_repository(result.get("name"), root)
    tests = tables(result.get("assertionResults"))
    if result.get("status") == "failed" and not any(test.get("status") == "failed" for test in tests):
        yield outcome(path, "", "failed", 0, (result.get("message"), result.get("message")))
    for test in tests:
        status = _OUTCOMES.get(str(test.get("status")))
        if status is None:
            continue
        above = test.get("ancestorTitles")
        names = [*(above if isinstance(above, list) else ()), test.get("title")]
        messages = test.get("failureMessages")
        text = "\n".join(plain(each) for each in messages[:_MOST_PARTS]) if isinstance(messages, list) else ""
        title = " > ".join(plain(name) for name in names[-_MOST_PARTS:] if name)
        yield outcome(path, title, status, number_of(test.get("duration")) / 1000, (_first(text), text))


def _first(text: str) -> str:
    """A failure without its stack."""
    return text.partition("\n    at ")[0].strip()
