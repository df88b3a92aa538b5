"""Tests of popular repositories, measured without any preparation: what is fetched, how long until they ran, which ran.

    python -m bench.environments CHECKOUT … [--files N] [--home DIR]

Of each checkout what its tests need is fetched as a change would have it fetched, and `run_tests` runs N test files
spread over all; then once more, with an edit of a file that no test reads. A repository counts when at least nine of
ten of the tests that ran passed, both times alike. Prints a table in Markdown, progress on standard error.
"""

from __future__ import annotations

import argparse
import asyncio
import re
import sys
import tempfile
import time
from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path

from repopilot import trace
from repopilot.code.languages import is_test_path
from repopilot.errors import RepoPilotError
from repopilot.impact.covering_tests import is_test_file
from repopilot.project_environment import environment_document, fetch_for_tests, needed_packages
from repopilot.repo.snapshot import open_source
from repopilot.repo.source import parse_source
from repopilot.runtime import Runtime
from repopilot.sandbox.runners.runner_table import is_run_as_test
from repopilot.settings import Settings
from repopilot.tools import registry
from repopilot.tools.registry import Desk
from repopilot.tools.toolbox import toolbox
from repopilot.tools.working_copy import working_copy
from repopilot.workspace import Workspace, open_index

ENOUGH = 0.9
UNREAD = "unread_by_tests.txt"


@dataclass(frozen=True, slots=True)
class Row:
    """The measurement of one repository: seconds of the fetch and of both runs, and what the runs said."""

    name: str
    fetching: float = 0.0
    megabytes: float = 0.0
    packages: int = 0
    seconds: tuple[float, float] = (0.0, 0.0)
    passed: int = 0
    failed: int = 0
    ended: str = ""
    turned: int = 0
    note: str = ""

    @property
    def counts(self) -> bool:
        return self.passed > 0 and self.passed >= ENOUGH * (self.passed + self.failed) and not self.turned


def sample(workspace: Workspace, count: int) -> list[str]:
    """Test files spread evenly over all of the language that most are written in."""
    paths = workspace.index.files
    python = sorted(path for path in paths if path.endswith(".py") and is_test_file(path) and is_test_path(path))
    others = sorted(path for path in paths if is_run_as_test(path) and re.search(r"\.(?:test|spec)\.", path))
    others = others or sorted(path for path in paths if is_run_as_test(path))
    tests = max(python, others, key=len)
    step = max(1, len(tests) // count)
    return tests[step // 2 :: step][:count]


async def measure(workspace: Workspace, files: int) -> Row:
    name, started = workspace.snapshot.name, time.monotonic()
    problems = await fetch_for_tests(workspace.snapshot, workspace.index, workspace.settings, lambda _: None)
    fetching = time.monotonic() - started
    needed = await asyncio.to_thread(needed_packages, workspace.snapshot, workspace.index, workspace.settings)
    facts = environment_document(needed, workspace.settings, problems)
    notes = [*problems, *(f"without {entry['requirement']}" for entry in facts["left_out"])]  # type: ignore[attr-defined]
    row = Row(name, fetching, float(facts["megabytes"]), int(facts["packages"]))  # type: ignore[arg-type,call-overload]
    async with trace.root(lambda event: None, "bench") as step, working_copy(workspace) as copy:
        desk = Desk(workspace, copy, None, step)
        arguments = {"paths": sample(workspace, files)}
        try:
            runs, seconds = [], []
            for _ in range(2):
                started = time.monotonic()
                runs.append(await registry.call(registry.find("run_tests", toolbox()), arguments, desk))
                seconds.append(time.monotonic() - started)
                copy.edit({UNREAD: "edited"})
        except RepoPilotError as error:
            return Row(name, fetching, row.megabytes, row.packages, note="; ".join([*notes, str(error)]))
    print(f"{name}: {runs[-1].text}\n", file=sys.stderr, flush=True)
    first, second = (run.data for run in runs)
    return Row(
        name,
        fetching,
        row.megabytes,
        row.packages,
        (seconds[0], seconds[1]),
        int(second["passed"]),  # type: ignore[call-overload]
        int(second["failed"]) + int(second["errors"]),  # type: ignore[call-overload]
        f"{first['ended']}, {second['ended']}",
        len(second["turned_red"]) + len(second["turned_green"]),  # type: ignore[arg-type]
        "; ".join(notes),
    )


def table(rows: Sequence[Row]) -> str:
    lines = [
        "| repository | fetch s | packages | MB | run s | again s | passed | failed | ended | turned | counts | note |",
        "|---|---|---|---|---|---|---|---|---|---|---|---|",
    ]
    for row in rows:
        cells = [
            row.name,
            f"{row.fetching:.0f}",
            row.packages,
            f"{row.megabytes:.0f}",
            *map("{:.0f}".format, row.seconds),
        ]
        cells += [row.passed, row.failed, row.ended, row.turned, "yes" if row.counts else "no", row.note[:300]]
        lines.append(f"| {' | '.join(map(str, cells))} |".replace("\n", " "))
    lines.append(f"\n{sum(row.counts for row in rows)} of {len(rows)} count.")
    return "\n".join(lines)


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("checkouts", nargs="+", type=Path)
    parser.add_argument("--files", type=int, default=6)
    parser.add_argument("--home", type=Path)
    arguments = parser.parse_args()
    rows = []
    with tempfile.TemporaryDirectory() as scratch:
        home = arguments.home or Path(scratch)
        settings = Settings(home=home).model_copy(update={"ollama_url": "", "llm_url": "", "history_commits": 0})
        with Runtime(settings) as runtime:
            for checkout in arguments.checkouts:
                snapshot = open_source(parse_source(str(checkout.resolve())), settings)
                workspace = Workspace(snapshot, open_index(snapshot, runtime, lambda _: None), settings)
                rows.append(asyncio.run(measure(workspace, arguments.files)))
    print(table(rows))


if __name__ == "__main__":
    main()
