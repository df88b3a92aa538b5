"""`go test -json`."""

from __future__ import annotations

import re
from collections import defaultdict
from pathlib import PurePosixPath

from repopilot.code.formats.data_formats import table
from repopilot.sandbox.job_spec import SandboxProgram
from repopilot.sandbox.output.bounded_json import json_of, lines_of
from repopilot.sandbox.output.plain_text import LONGEST_TEXT, plain
from repopilot.sandbox.runners.runner_form import (
    MOST_TESTS,
    ProgramReport,
    RunPlan,
    outcome,
    within_bounds,
)
from repopilot.sandbox.verdict import TestOutcome

_RESULTS = {"pass": "passed", "fail": "failed", "skip": "skipped"}
_MOST_LINES = 400_000
_LONGEST_NAME = 1_000
_BUILDS = ("build-output", "build-fail")
"""What Go 1.24 and later say of builds; before, the compiler's plain lines stand between the events."""
_BUILD = re.compile(r"# \[?([^\s\[\]]+)\]?(?: \[\S+\])?$")
"""The heading of what is said of a package's build, maybe of that for the tests of another."""
_UNBUILT = re.compile(r"\[(?:build|setup) failed\]")


def command(plan: RunPlan) -> SandboxProgram:
    """The program that runs the tests of a plan: all those in the packages of its test files."""
    packages = dict.fromkeys(f"./{PurePosixPath(test).parent}" for test in plan.tests)
    variables = {
        "GOCACHE": "{work}/go-cache",
        "GOPATH": "{work}/go",
        "GOPROXY": "off",
        "GOTOOLCHAIN": "local",
        "GOFLAGS": "-mod=mod",
        "GOMAXPROCS": "2",
        "PATH": f"{plan.program.parent}:/usr/bin:/bin",
    }
    if plan.packages:
        variables["GOMODCACHE"] = str(plan.packages)
    return SandboxProgram((str(plan.program), "test", "-json", "-p", "2", *(packages or ("./...",))), variables)


@within_bounds
def read(raw: bytes, root: str) -> ProgramReport:
    """Read the events of `go test -json`; tests are named by their package."""
    said: dict[tuple[str, str], str] = defaultdict(str)
    builds: dict[str, str] = defaultdict(str)
    found: list[TestOutcome] = []
    packages = set()
    ended = set()
    red = set()
    building = other = ""
    for line in lines_of(raw, _MOST_LINES):
        event = table(json_of(line))
        action, package, test = (plain(event.get(key), _LONGEST_NAME) for key in ("Action", "Package", "Test"))
        if not action or action in _BUILDS:
            row = plain(event.get("Output")) if action else line.decode("utf-8", "replace")[:500] + "\n"
            heading = _BUILD.match(f"# {plain(event.get('ImportPath'), _LONGEST_NAME)}" if action else row)
            building = heading[1] if heading else building
            if len(builds[building]) < LONGEST_TEXT:
                builds[building] += row
            other += row if len(other) < LONGEST_TEXT else ""
            continue
        packages.add(package)
        text = said[package, test]
        if action == "output" and len(text) < LONGEST_TEXT:
            said[package, test] = text + plain(event.get("Output"))
        elif action in _RESULTS and len(found) < MOST_TESTS:
            said.pop((package, test), "")
            if test:
                message = "\n".join(
                    row.strip() for row in text.splitlines() if not row.lstrip().startswith(("===", "---"))
                )
                found.append(outcome(package, test, _RESULTS[action], event.get("Elapsed"), (message, text)))
                if action == "fail":
                    red.add(package)
            else:
                ended.add(package)
                if action == "fail" and package not in red:
                    broken = _BUILD.match(f"# {plain(event.get('FailedBuild'), _LONGEST_NAME)}")
                    why = builds.get(broken[1] if broken else package) or (other if _UNBUILT.search(text) else text)
                    found.append(outcome(package, "", "failed", 0, (why or other, why or other)))
    packages = {package for package in packages if "[" not in package} - {""}
    return ProgramReport(tuple(found), bool(packages) and packages <= ended)
