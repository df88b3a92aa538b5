"""Mocha, with its JSON reporter."""

from __future__ import annotations

from repopilot.code.data_formats import table
from repopilot.sandbox.job_spec import SandboxProgram
from repopilot.sandbox.output.bounded_json import json_of
from repopilot.sandbox.runners.runner_form import (
    ProgramReport,
    RunPlan,
    entries,
    inside_repository,
    number_of,
    outcome,
    within_bounds,
)

_REPORT = "{work}/mocha.json"
_TAKEN = ("--require", "-r", "--import", "--loader", "--ui", "-u", "--timeout", "-t", "--file", "--extension")
_IGNORED = ("--reporter", "-R", "--reporter-option", "-O", "--grep", "-g", "--fgrep", "-f", "--config", "--jobs", "-j")
_SWITCHES = ("--check-leaks", "--recursive", "--experimental-", "--exit")
_LISTS = {"passes": "passed", "failures": "failed", "pending": "skipped"}


def command(plan: RunPlan) -> SandboxProgram:
    """The program that runs the tests of a plan."""
    options = plan.project.options("mocha", _TAKEN, _SWITCHES)
    tests = plan.tests or plan.project.operands("mocha", (*_TAKEN, *_IGNORED))
    reporter = ("--reporter", "json", "--reporter-option", f"output={_REPORT}", "--no-color", "--no-parallel")
    arguments = (str(plan.program), "{root}/node_modules/mocha/bin/mocha.js", *options, *reporter, *tests)
    return SandboxProgram(arguments, plan.node_variables, _REPORT)


@within_bounds
def read(raw: bytes, root: str) -> ProgramReport:
    """Read Mocha's JSON report."""
    report = table(json_of(raw))
    found = []
    for name, result in _LISTS.items():
        for test in entries(report.get(name)):
            error = table(test.get("err"))
            seconds = number_of(test.get("duration")) / 1000
            path = inside_repository(test.get("file"), root)
            text = (error.get("message"), error.get("stack"))
            found.append(outcome(path, test.get("fullTitle") or test.get("title"), result, seconds, text))
    return ProgramReport(tuple(found), isinstance(report.get("stats"), dict))
