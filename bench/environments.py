"""Tests of popular repositories, measured without any preparation: what is fetched, how long until they ran, which ran.

    python -m bench.environments FOLDER [--half open|closed] [--names OWNER/NAME …] [--drawn N] [--home DIR]

FOLDER has a bare clone `NAME.git` of each repository of `bench/data/popular_repositories.txt`, which is served on
loopback and opened by its address. What its tests need is fetched as a change would have it fetched. Then N files of
code are drawn, spread over all, and `run_tests` runs the tests near each, as the loop does before a change; those of
the first once more, with an edit of a file that no test reads. A repository counts when all but one of the drawn files
have tests that ran, at least nine of ten of these tests passed, and none turned by the edit. Prints a table in
Markdown, progress on standard error.
"""

from __future__ import annotations

import argparse
import asyncio
import sys
import tempfile
import time
from collections import Counter
from collections.abc import Sequence
from dataclasses import dataclass, field
from pathlib import Path

sys.path.insert(0, str(Path(__file__).parent.parent / "tests"))
from support.git_server import serve

from repopilot import trace
from repopilot.code.languages import is_doc_path, is_example_path, is_test_path
from repopilot.errors import RepoPilotError
from repopilot.openings import open_index
from repopilot.project_environment import environment_document, fetch_for_tests, needed_packages
from repopilot.repo.snapshot import open_source
from repopilot.repo.source import parse_source
from repopilot.runtime import Runtime
from repopilot.sandbox.runners.runner_table import language_of_tests
from repopilot.settings import Settings
from repopilot.tools import registry
from repopilot.tools.registry import ToolContext
from repopilot.tools.run_tests import RUN_TESTS
from repopilot.tools.test_suites import tests_near
from repopilot.tools.toolbox import toolbox
from repopilot.tools.working_copy import working_copy
from repopilot.workspace import Workspace

LIST = Path(__file__).parent / "data" / "popular_repositories.txt"
ENOUGH = 0.9
LEAST_DEFINITIONS = 2
LONGEST_NOTE = 400
UNREAD = "unread_by_tests.txt"


@dataclass(slots=True)
class Row:
    """The measurement of one repository.

    Attributes:
        name: of the repository.
        fetching: seconds until what its tests need was there.
        packages: how many were fetched.
        megabytes: their size.
        first: seconds that the tests near the first drawn file took, with the state before.
        near: of how many drawn files tests ran.
        drawn: how many were drawn.
        passed: tests.
        failed: tests, and files that can't be collected.
        turned: tests whose outcome an edit that none reads has changed.
        notes: what went wrong, and what was left out.
    """

    name: str
    fetching: float = 0.0
    packages: int = 0
    megabytes: float = 0.0
    first: float = 0.0
    near: int = 0
    drawn: int = 0
    passed: int = 0
    failed: int = 0
    turned: int = 0
    notes: list[str] = field(default_factory=list)

    @property
    def counts(self) -> bool:
        enough = self.passed >= ENOUGH * (self.passed + self.failed)
        return enough and 0 < self.near >= self.drawn - 1 and not self.turned


def popular(half: str | None = None) -> list[str]:
    """The names of the listed repositories, `owner/name`: of the open or the closed half, or all."""
    lines = [line.split() for line in LIST.read_text("utf-8").splitlines() if not line.startswith("#")]
    return [name for kind, name in lines if half in (None, kind)]


def drawn(workspace: Workspace, count: int) -> list[str]:
    """Files with code of the language that most are written in, spread evenly over all."""
    index = workspace.index
    code = [path for path in sorted(index.files) if _is_drawn(path) and len(index.outline(path)) >= LEAST_DEFINITIONS]
    languages = Counter(_language(path) for path in code)
    code = [path for path in code if _language(path) == languages.most_common(1)[0][0]]
    step = max(1, len(code) // count)
    return code[step // 2 :: step][:count]


def _is_drawn(path: str) -> bool:
    beside = is_test_path(path) or is_doc_path(path) or is_example_path(path) or path.endswith((".d.ts", "setup.py"))
    return bool(_language(path)) and not beside


def _language(path: str) -> str | None:
    return "python" if path.endswith(".py") else language_of_tests(path)


async def measure(name: str, workspace: Workspace, count: int) -> Row:
    row = Row(name)
    started = time.monotonic()
    problems = await fetch_for_tests(workspace.snapshot, workspace.index, workspace.settings, lambda _: None)
    row.fetching = time.monotonic() - started
    needed = await asyncio.to_thread(needed_packages, workspace.snapshot, workspace.index, workspace.settings)
    facts = environment_document(needed, workspace.settings, problems)
    row.packages = int(facts["packages"])  # type: ignore[call-overload]
    row.megabytes = float(facts["megabytes"])  # type: ignore[arg-type]
    row.notes = [*problems, *(f"without {entry['requirement']}" for entry in facts["left_out"])]  # type: ignore[attr-defined]
    paths = drawn(workspace, count)
    row.drawn = len(paths)
    async with trace.root(lambda event: None, "bench") as step:
        for number, path in enumerate(paths):
            async with working_copy(workspace) as copy:
                context = ToolContext(workspace, copy, step)
                try:
                    await run_near(path, context, row, again=number == 0)
                except RepoPilotError as error:
                    row.notes.append(f"{path}: {error}")
    return row


async def run_near(path: str, context: ToolContext, row: Row, *, again: bool) -> None:
    """Run the tests near a drawn file, and add what came of it to the row."""
    near = tests_near([path], context.workspace)
    print(f"{row.name}: {path}: {', '.join(near)}", file=sys.stderr, flush=True)
    if not near:
        row.notes.append(f"{path}: no tests near")
        return
    started = time.monotonic()
    run = await registry.call(registry.find(RUN_TESTS, toolbox()), {"paths": near}, context)
    row.first = row.first or time.monotonic() - started
    print(f"{time.monotonic() - started:.0f} s: {run.text}\n", file=sys.stderr, flush=True)
    passed = int(run.data["passed"])  # type: ignore[call-overload]
    failed = int(run.data["failed"]) + int(run.data["errors"])  # type: ignore[call-overload]
    row.near += bool(passed)
    row.passed += passed
    row.failed += failed
    if run.data["ended"] != "finished":
        row.notes.append(f"{path}: {run.data['ended']}")
    if not passed:
        row.notes.append(f"{path}: {run.text}")
    if again:
        context.working_copy.edit({UNREAD: "edited"})
        second = await registry.call(registry.find(RUN_TESTS, toolbox()), {"paths": near}, context)
        row.turned = len(second.data["turned_red"]) + len(second.data["turned_green"])  # type: ignore[arg-type]


def table(rows: Sequence[Row]) -> str:
    lines = [
        "| repository | counts | first run s | fetch s | packages | MB | ran near | passed | failed | turned | notes |",
        "|---|---|---|---|---|---|---|---|---|---|---|",
    ]
    for row in rows:
        cells: list[object] = [row.name, "yes" if row.counts else "no"]
        cells += [f"{row.fetching + row.first:.0f}", f"{row.fetching:.0f}", row.packages, f"{row.megabytes:.0f}"]
        cells += [f"{row.near}/{row.drawn}", row.passed, row.failed, row.turned, "; ".join(row.notes)[:LONGEST_NOTE]]
        lines.append(f"| {' | '.join(map(str, cells))} |".replace("\n", " "))
    lines.append(f"\n{sum(row.counts for row in rows)} of {len(rows)} count.")
    return "\n".join(lines)


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("folder", type=Path)
    parser.add_argument("--half", choices=("open", "closed"))
    parser.add_argument("--names", nargs="*", help="instead of the listed ones")
    parser.add_argument("--drawn", type=int, default=3)
    parser.add_argument("--home", type=Path)
    arguments = parser.parse_args()
    rows = []
    with tempfile.TemporaryDirectory() as scratch, serve(arguments.folder.resolve()) as server:
        home = arguments.home or Path(scratch)
        settings = Settings(home=home, allow_http=True, allow_private_hosts=True)
        settings = settings.model_copy(update={"ollama_url": "", "llm_url": "", "history_commits": 0})
        with Runtime(settings) as runtime:
            for name in arguments.names or popular(arguments.half):
                source = parse_source(f"{server.url}/{name.rpartition('/')[2]}.git")
                snapshot = open_source(source, settings)
                workspace = Workspace(snapshot, open_index(snapshot, runtime, lambda _: None), settings)
                rows.append(asyncio.run(measure(name, workspace, arguments.drawn)))
                print(table(rows[-1:]), file=sys.stderr, flush=True)
    print(table(rows))


if __name__ == "__main__":
    main()
