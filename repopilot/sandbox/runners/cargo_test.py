"""`cargo test`: unit tests and integration tests; no documentation tests, which are compiled one by one."""

from __future__ import annotations

import re
from collections.abc import Mapping, Sequence

from repopilot.sandbox.job_spec import SandboxProgram
from repopilot.sandbox.output.bounded_json import lines_of
from repopilot.sandbox.output.plain_text import plain
from repopilot.sandbox.runners.runner_form import MOST_TESTS, ProgramReport, RunPlan, outcome, within_bounds
from repopilot.sandbox.verdict import TestOutcome

_BINARY = re.compile(r"^\s+Running (?:unittests )?(\S+) \(")
_TEST = re.compile(r"^test (.{1,300}?)(?: - should panic)? \.\.\. (ok|FAILED|ignored)\b")
_OUTPUT = re.compile(r"^---- (.{1,300}?) std(?:out|err) ----$")
_ENDS_OUTPUT = re.compile(r"^(?:failures:|test result: )")
_ENDED = re.compile(r"^test result: ")
_ERROR = re.compile(r"^error(?:\[E\d+\])?: ")
_RESULTS = {"ok": "passed", "FAILED": "failed", "ignored": "skipped"}
_LONGEST_LINE = 2_000
_LINES_KEPT = 30


def command(plan: RunPlan) -> SandboxProgram:
    """The program that runs the tests of a plan: those of all targets, since all are compiled anyway."""
    configuration = plan.packages.parent / "config.toml" if plan.packages else None
    options = ("--config", str(configuration)) if configuration and configuration.exists() else ()
    toolchain = plan.program.parent.parent
    variables = {
        "CARGO_HOME": "{work}/cargo",
        "CARGO_TARGET_DIR": "{work}/target",
        "CARGO_TERM_COLOR": "never",
        "CARGO_INCREMENTAL": "0",
        "CARGO_PROFILE_DEV_DEBUG": "0",
        "CARGO_PROFILE_TEST_DEBUG": "0",
        "CARGO_BUILD_JOBS": "2",
        "RUST_TEST_THREADS": "2",
        "RUSTC": str(toolchain / "bin" / "rustc"),
        "PATH": f"{toolchain / 'bin'}:/usr/bin:/bin",
    }
    arguments = (str(plan.program), *options, "test", "--offline", "--tests", "--no-fail-fast")
    return SandboxProgram(arguments, variables)


@within_bounds
def read(raw: bytes, root: str) -> ProgramReport:
    """Read cargo's output: the tests of each binary, by the binary's source file."""
    lines = [plain(line.decode("utf-8", "replace"), _LONGEST_LINE) for line in lines_of(raw)]
    binary = ""
    started = 0
    ended = 0
    results: list[tuple[str, str, str]] = []
    outputs: dict[tuple[str, str], list[str]] = {}
    failing: list[str] | None = None
    for line in lines:
        if found := _BINARY.match(line):
            binary = found[1]
            started = started + 1
            failing = None
        elif found := _OUTPUT.match(line):
            failing = outputs.setdefault((binary, found[1]), [])
        elif _ENDS_OUTPUT.match(line):
            ended = ended + bool(_ENDED.match(line))
            failing = None
        elif failing is not None:
            if len(failing) < _LINES_KEPT and line.strip() and not line.startswith("note: "):
                failing.append(line)
        elif (found := _TEST.match(line)) and binary and len(results) < MOST_TESTS:
            results.append((binary, found[1], _RESULTS[found[2]]))
    tests = [_outcome(path, name, result, outputs) for path, name, result in results]
    if not started and (problem := _compiler_error(lines)):
        tests.append(outcome("Cargo.toml", "", "failed", 0, (problem, problem)))
    return ProgramReport(tuple(tests), started > 0 and started == ended)


def _outcome(path: str, name: str, result: str, outputs: Mapping[tuple[str, str], Sequence[str]]) -> TestOutcome:
    said = outputs.get((path, name), ())
    return outcome(path, name, result, 0, ("\n".join(said[:6]), "\n".join(said)))


def _compiler_error(lines: Sequence[str]) -> str:
    """The first error of the compiler, '' for none."""
    first = next((number for number, line in enumerate(lines) if _ERROR.match(line)), None)
    return "" if first is None else "\n".join(lines[first : first + 8]).strip()
