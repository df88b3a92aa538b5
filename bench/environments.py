"""Environments of popular packages, measured: how many can be built, and run the package's own tests in the sandbox.

    python -m bench.environments [NAME …] [--checkouts DIR] [--files N] [--home DIR]

Of a package with a folder DIR/NAME that checkout is used, of any other its source distribution, which is fetched from
the package index and must contain tests. Of each, N test files spread over all are run one by one. A package counts
when its environment was built, at least nine of ten of the tests that ran passed, and at least one file's pass was
verified. Prints a table in Markdown, progress on standard error.
"""

from __future__ import annotations

import argparse
import subprocess
import sys
import tarfile
import tempfile
import threading
import time
from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path

from repopilot.code.dependencies.project_version import built_files
from repopilot.code.dependencies.python_project import read_project
from repopilot.code.languages import is_test_path
from repopilot.errors import RepoPilotError
from repopilot.sandbox.environments.environment_build import BuildRequest, build_environment
from repopilot.sandbox.environments.environment_store import list_environments, load_environment
from repopilot.sandbox.run import run_pytest
from repopilot.settings import Settings
from repopilot.types import Environment, TestRun

PACKAGES = (
    "flask click httpx attrs requests tomlkit cachetools sqlparse pluggy jinja2 werkzeug itsdangerous packaging "
    "humanize arrow python-dotenv tabulate jsonschema pyparsing parso wtforms blinker isort mistune starlette"
).split()
ENOUGH = 0.9
LONGEST_S = 120.0


@dataclass(frozen=True, slots=True)
class Row:
    """The measurement of one package."""

    name: str
    built: bool = False
    seconds: float = 0.0
    megabytes: float = 0.0
    runs: tuple[TestRun, ...] = ()
    note: str = ""

    @property
    def counts(self) -> bool:
        passed = sum(run.passed for run in self.runs)
        bad = sum(run.failed + run.errors for run in self.runs)
        return self.built and passed >= ENOUGH * (passed + bad) and any(run.genuine for run in self.runs)


def source(name: str, checkouts: Path | None, scratch: Path) -> Path:
    """The folder of a package's source."""
    if checkouts and (checkouts / name).is_dir():
        return checkouts / name
    target = scratch / name
    command = [
        sys.executable,
        "-m",
        "pip",
        "download",
        "-q",
        "--no-deps",
        "--no-binary",
        ":all:",
    ]
    subprocess.run([*command, "-d", str(target), name], check=False, capture_output=True)
    archive = next(target.glob("*.tar.gz"))
    with tarfile.open(archive) as packed:
        packed.extractall(target, filter="data")
    return next(path for path in target.iterdir() if path.is_dir())


def sample(folder: Path, count: int) -> list[str]:
    """Test files spread evenly over all of a package."""
    paths = sorted(path.relative_to(folder).as_posix() for path in folder.rglob("test*.py"))
    tests = [
        path for path in paths if is_test_path(path) and "def test" in (folder / path).read_text("utf-8", "replace")
    ]
    step = max(1, len(tests) // count)
    return tests[step // 2 :: step][:count]


def measure(name: str, folder: Path, files: int, settings: Settings) -> Row:
    def read(path: str) -> str | None:
        found = folder / path
        return found.read_text("utf-8", "replace") if found.is_file() else None

    project = read_project(read)
    written = built_files(project.version or "0.0.0", read)
    started = time.monotonic()
    try:
        environment = load_environment(project, settings, written)
        if environment is None:
            request = BuildRequest(project, settings, files=written)
            environment = build_environment(request, lambda _: None, threading.Event())
    except RepoPilotError as error:
        return Row(name, note=str(error))
    facts = list_environments(settings)[environment.key]
    runs = tuple(one_run(folder, test, environment, settings) for test in sample(folder, files))
    note = "; ".join(f"without {entry.requirement}" for entry in environment.left_out)
    print(f"{name}: {time.monotonic() - started:.1f} s", file=sys.stderr)
    return Row(name, True, facts.seconds, facts.megabytes, runs, note)


def one_run(folder: Path, test: str, environment: Environment, settings: Settings) -> TestRun:
    run = run_pytest({}, [test], settings, inputs=folder, environment=environment)
    if not run.genuine:
        last = next((failure.assertion for failure in run.failures), "")[:150].replace("\n", " ")
        reasons = "; ".join(run.reasons[:3])[:300]
        print(f"  {test}: {run.passed}/{run.failed}/{run.errors} {run.ended} {reasons} {last}", file=sys.stderr)
    return run


def table(rows: Sequence[Row]) -> str:
    lines = [
        "| package | built | seconds | MB | files | passed | failed | errors | verified files | counts | note |",
        "|---|---|---|---|---|---|---|---|---|---|---|",
    ]
    for row in rows:
        numbers = [sum(getattr(run, key) for run in row.runs) for key in ("passed", "failed", "errors", "genuine")]
        cells = [row.name, "yes" if row.built else "no", f"{row.seconds:.1f}", f"{row.megabytes:.0f}", len(row.runs)]
        lines.append(f"| {' | '.join(map(str, [*cells, *numbers, 'yes' if row.counts else 'no', row.note]))} |")
    lines.append(f"\n{sum(row.counts for row in rows)} of {len(rows)} count.")
    return "\n".join(lines)


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("names", nargs="*", default=PACKAGES)
    parser.add_argument("--checkouts", type=Path)
    parser.add_argument("--files", type=int, default=6)
    parser.add_argument("--home", type=Path)
    arguments = parser.parse_args()
    settings = Settings(test_timeout_s=LONGEST_S)
    if arguments.home:
        settings = settings.model_copy(update={"home": arguments.home})
    rows = []
    with tempfile.TemporaryDirectory() as scratch:
        for name in arguments.names:
            try:
                rows.append(measure(name, source(name, arguments.checkouts, Path(scratch)), arguments.files, settings))
            except (RepoPilotError, StopIteration) as error:
                rows.append(Row(name, note=f"{type(error).__name__} {error}"))
    print(table(rows))


if __name__ == "__main__":
    main()
