"""RSpec, Minitest and test-unit, with what the system has installed: started by inside/ruby_tests.rb."""

from __future__ import annotations

from repopilot.sandbox.job_spec import SandboxProgram
from repopilot.sandbox.runners.runner_form import REPORT, RunPlan


def command(plan: RunPlan) -> SandboxProgram:
    """The program that runs the tests of a plan."""
    variables = {"PATH": f"{plan.program.parent}:/usr/bin:/bin", "LANG": "C.UTF-8"}
    return SandboxProgram((str(plan.program), "{inside}/ruby_tests.rb", REPORT, *plan.tests), variables, REPORT)
