"""`node --test`, with a reporter of ours (inside/node_reporter.mjs)."""

from __future__ import annotations

from dataclasses import replace

from repopilot.code.formats.data_formats import table
from repopilot.sandbox.job_spec import SandboxProgram
from repopilot.sandbox.output.bounded_json import json_of, lines_of
from repopilot.sandbox.runners.runner_form import (
    MOST_TESTS,
    REPORT,
    ProgramReport,
    RunPlan,
    inside_repository,
    outcome,
    within_bounds,
)

_TAKEN = ("--import", "--require", "-r", "--loader", "--experimental-loader", "--conditions", "-C")


OUTSIDE = "node --enable-source-maps --import={inside}/repository_sources.mjs --test"
"""A test script that runs any test or program of tests, compiling what it imports: see the module it names."""


def program_command(plan: RunPlan) -> SandboxProgram:
    """The program that runs test files that are programs by themselves, each of which passes by its exit status."""
    program = command(replace(plan, project=replace(plan.project, scripts={"test": OUTSIDE})))
    return replace(program, variables={**program.variables, "TEST_PROGRAMS": "1"})


def command(plan: RunPlan) -> SandboxProgram:
    """The program that runs the tests of a plan."""
    options = plan.project.options("node", _TAKEN, ("--experimental-", "--enable-source-maps"))
    reporter = ("--test-reporter={inside}/node_reporter.mjs", f"--test-reporter-destination={REPORT}")
    # Two files at a time, whatever the number of cores: each has a process with about ten threads.
    arguments = (str(plan.program), *options, "--test", "--test-concurrency=2", *reporter)
    return SandboxProgram((*arguments, *(f"./{test}" for test in plan.tests)), plan.node_variables, REPORT)


@within_bounds
def read(raw: bytes, root: str) -> ProgramReport:
    """Read the lines of our reporter."""
    events = [table(json_of(line)) for line in lines_of(raw, MOST_TESTS)]
    found = [
        outcome(
            inside_repository(event["file"], root),
            event.get("name"),
            str(event["outcome"]),
            event.get("seconds"),
            (event.get("message"), event.get("stack")),
        )
        for event in events
        if "file" in event and event.get("outcome") in ("passed", "failed", "skipped")
    ]
    return ProgramReport(tuple(found), bool(events) and events[-1].get("end") is True)
