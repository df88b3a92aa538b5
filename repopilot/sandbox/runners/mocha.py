"""Mocha, with a reporter of ours (inside/mocha_reporter.cjs): its own JSON reporter writes no file before 9.2."""

from __future__ import annotations

from repopilot.sandbox.job_spec import SandboxProgram
from repopilot.sandbox.runners.runner_form import REPORT, RunPlan

_TAKEN = (
    "--config",
    "--require",
    "-r",
    "--import",
    "--loader",
    "--ui",
    "-u",
    "--timeout",
    "-t",
    "--file",
    "--extension",
)
_IGNORED = ("--reporter", "-R", "--reporter-option", "-O", "--grep", "-g", "--fgrep", "-f", "--jobs", "-j")
_SWITCHES = ("--check-leaks", "--recursive", "--experimental-", "--exit")


def command(plan: RunPlan) -> SandboxProgram:
    """The program that runs the tests of a plan."""
    options = plan.project.options("mocha", _TAKEN, _SWITCHES)
    tests = plan.tests or plan.project.operands("mocha", (*_TAKEN, *_IGNORED))
    reporter = ("--reporter", "{inside}/mocha_reporter.cjs", "-O", f"output={REPORT}", "--no-color", "--no-parallel")
    before_10 = plan.packages is not None and not (plan.packages / "mocha/bin/mocha.js").exists()
    program = f"{{root}}/node_modules/mocha/bin/{'mocha' if before_10 else 'mocha.js'}"
    return SandboxProgram((str(plan.program), program, *options, *reporter, *tests), plan.node_variables, REPORT)
