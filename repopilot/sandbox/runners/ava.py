"""AVA, started by our program inside/ava_reporter.mjs, which reports the file of each test."""

from __future__ import annotations

from repopilot.sandbox.job_spec import SandboxProgram
from repopilot.sandbox.runners.runner_form import REPORT, RunPlan


def command(plan: RunPlan) -> SandboxProgram:
    """The program that runs the tests of a plan."""
    variables = {**plan.node_variables, "CI": "true"}
    ava = "{root}/node_modules/ava"
    return SandboxProgram((str(plan.program), "{inside}/ava_reporter.mjs", ava, REPORT, *plan.tests), variables, REPORT)
