"""AVA, started by our program inside/ava_reporter.mjs, which reports the file of each test."""

from __future__ import annotations

from repopilot.sandbox.job_spec import SandboxProgram
from repopilot.sandbox.runners.runner_form import RunPlan

_REPORT = "{work}/ava-report.jsonl"


def command(plan: RunPlan) -> SandboxProgram:
    """The program that runs the tests of a plan."""
    variables = {**plan.node_variables, "CI": "true"}
    ava = "{root}/node_modules/ava"
    return SandboxProgram(
        (str(plan.program), "{inside}/ava_reporter.mjs", ava, _REPORT, *plan.tests), variables, _REPORT
    )
