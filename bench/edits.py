"""Edits: how often a task becomes the right change of a real repository, and how soon, by model.

    python -m bench.edits TASKS_DIR TREES_DIR [--models none 1.5b …] [--groups a b c] [--only NAME …] [--tasks ID …]
                          [--until diff] [--with-test] [--venvs DIR] [--home DIR] [--json OUT] [--quiet]
    python -m bench.edits TASKS_DIR TREES_DIR --validate [--groups …] [--only NAME …] [--tasks ID …] [--venvs DIR]

TASKS_DIR holds NAME.jsonl (see bench/data/edits/README.md), TREES_DIR/NAME a clone of the repository at its commit,
VENVS/NAME its virtual environment or its `node_modules`. `--home` is a data directory with the models installed, which
also keeps the indexes for the next run. A model is `none`, a size of the built-in family, a known name, or a GGUF
file. `--until diff` ends with the first diff, without debate, tests and impact. `--quiet` prints totals only.
`--with-test` puts the tests of a task of group b into its tree, and names the failing one in the task.

resolved: the hidden check and the repository's own tests pass, nothing else changed or broke; parses: there is a diff
and its files parse; wrong: there is one, and it isn't resolved; wrong_verified: the tests' pass was shown as verified,
and the hidden check fails; asked: the program asked which place is meant, and was told the one that the reference
changes. Seconds count from the task to the first diff shown (diff_s) and to the verdict (verdict_s).

`--validate` runs no model: every check must fail on the unchanged tree and pass on the reference patch.
"""

from __future__ import annotations

import argparse
import asyncio
import json
import subprocess
import sys
import time
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import asdict, dataclass, replace
from operator import itemgetter
from pathlib import Path

from bench.answers import chosen_model
from bench.edit_checks import Checked, Tools, changed_lines, checked, reference_changes
from bench.edit_scores import scored, table
from repopilot import trace
from repopilot.assistant import answer
from repopilot.code.languages import is_test_path
from repopilot.errors import RepoPilotError
from repopilot.llm.resources import ModelResources
from repopilot.openings import open_index
from repopilot.repo.snapshot import open_source
from repopilot.repo.source import parse_source
from repopilot.results import Answer, Generation
from repopilot.runtime import Runtime
from repopilot.settings import Settings
from repopilot.types import FileChange
from repopilot.workspace import Workspace, usable_environment

_PROSE_STEP = "explain"
_WARM_UP = "Set NO_SUCH_NAME to 1"
_SECONDS_A_TASK = 900


@dataclass(frozen=True, slots=True)
class Case:
    """A task, the tree it is for, and how that tree's tests are run. The result is checked in `checked_in`, where that
    is another tree: one without the task's tests."""

    task: Mapping
    tree: Path
    tools: Tools
    checked_in: Path | None = None


@dataclass(frozen=True, slots=True)
class Attempt:
    """What the program made of a task."""

    changes: tuple[FileChange, ...] = ()
    genuine: bool = False
    diff_s: float | None = None
    verdict_s: float | None = None
    why: str = ""
    by_code: bool | None = None
    choices: tuple[str, ...] = ()


def main() -> None:
    arguments = _arguments()
    settings = Settings(home=arguments.home) if arguments.home else Settings()
    settings = settings.model_copy(update={"ollama_url": "", "llm_url": ""})
    cases = list(_cases(arguments, settings.home / "edit-trees"))
    if arguments.validate:
        raise SystemExit(_validate(cases))
    found = {}
    with Runtime(settings) as runtime:
        workspaces = {case.tree: _workspace(case, runtime) for case in cases}
        for model in arguments.models:
            found[model] = asyncio.run(_run(model, cases, workspaces, arguments))
    for title, rows in found.items():
        _print_tables(title, rows, arguments.quiet)
    if arguments.json:
        arguments.json.write_text(json.dumps(found, indent=1, ensure_ascii=False), "utf-8")


def _arguments() -> argparse.Namespace:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("tasks_dir", type=Path, metavar="TASKS_DIR")
    parser.add_argument("trees", type=Path)
    parser.add_argument("--models", nargs="+", default=["none"])
    parser.add_argument("--groups", nargs="+", default=["a", "b", "c"])
    parser.add_argument("--only", nargs="+", default=[], metavar="NAME")
    parser.add_argument("--tasks", nargs="+", default=[], metavar="ID")
    parser.add_argument("--until", choices=["diff", "verdict"], default="verdict")
    parser.add_argument("--with-test", action="store_true")
    parser.add_argument("--venvs", type=Path)
    parser.add_argument("--home", type=Path)
    parser.add_argument("--json", type=Path)
    parser.add_argument("--quiet", action="store_true")
    parser.add_argument("--validate", action="store_true")
    return parser.parse_args()


def _cases(arguments: argparse.Namespace, kept: Path) -> Iterator[Case]:
    commands = dict(_test_commands(arguments.tasks_dir.parent / "repositories.tsv"))
    for file in sorted(arguments.tasks_dir.glob("*.jsonl")):
        name = file.stem
        if arguments.only and name not in arguments.only:
            continue
        environment = (arguments.venvs / name).resolve() if arguments.venvs else None
        tools = Tools(commands[name], environment)
        for task in map(json.loads, file.read_text("utf-8").splitlines()):
            wanted = task["group"] in arguments.groups and (not arguments.tasks or task["id"] in arguments.tasks)
            if wanted:
                tree = _tree(arguments.trees / name, task.get("commit", ""), kept)
                case = Case({"repository": name, **task}, tree, tools)
                yield _with_test(case, kept) if arguments.with_test and task.get("failing") else case


def _test_commands(file: Path) -> Iterator[tuple[str, tuple[str, ...]]]:
    for line in file.read_text("utf-8").splitlines()[1:]:
        name, *_, command = line.split("\t")
        yield name, tuple(command.split())


def _tree(clone: Path, commit: str, kept: Path) -> Path:
    """The repository at the commit that a task starts from, '' for the pinned one; kept with its index."""
    if not commit:
        return clone.resolve()
    tree = kept / f"{clone.name}-{commit[:12]}"
    if not tree.exists():
        subprocess.run(["git", "clone", "-q", "--shared", "--no-checkout", str(clone), str(tree)], check=True)
        subprocess.run(["git", "-C", str(tree), "checkout", "-q", "-B", "main", commit], check=True)
    return tree.resolve()


def _with_test(case: Case, kept: Path) -> Case:
    """The task with its failing test in the tree, and with its name in the text."""
    tree = kept / f"{case.task['id']}-with-test"
    if not tree.exists():
        subprocess.run(["git", "clone", "-q", "--shared", str(case.tree), str(tree)], check=True)
        for change in reference_changes(case.task, case.tree):
            if is_test_path(change.path):
                (tree / change.path).parent.mkdir(parents=True, exist_ok=True)
                (tree / change.path).write_text(change.content, "utf-8", newline="")
        subprocess.run(["git", "-C", str(tree), "add", "-A"], check=True)
        author = ["-c", "user.name=bench", "-c", "user.email=bench@localhost"]
        subprocess.run(["git", "-C", str(tree), *author, "commit", "-q", "-m", "Add a test"], check=True)
    told = {**case.task, "task": f"{case.task['task']}\n\nThis test fails: {case.task['failing']}"}
    return Case(told, tree.resolve(), case.tools, case.tree)


def _validate(cases: Sequence[Case]) -> int:
    """Print the tasks whose check does not tell the reference from the unchanged tree. The number of them."""
    bad = 0
    for case in cases:
        problem = _problem(case)
        bad += bool(problem)
        print(f"{case.task['id']:28s} {problem or 'ok'}", flush=True)
    return bad


def _problem(case: Case) -> str:
    before = checked(case.task, (), case.tree, case.tools)
    if before.resolved:
        return "passes on the unchanged tree"
    after = checked(case.task, reference_changes(case.task, case.tree), case.tree, case.tools)
    return "" if after.resolved else f"fails on the reference: {asdict(after)}"


def _workspace(case: Case, runtime: Runtime) -> Workspace:
    """The indexed repository with the environment of its tests, without a model."""
    folder = case.tools.environment
    python = folder / "bin" / "python" if folder is not None else None
    named = {"test_python": str(python)} if python is not None and python.exists() else {}
    settings = runtime.settings.model_copy(update=named)
    snapshot = open_source(parse_source(str(case.tree)), settings)
    index = open_index(snapshot, runtime, lambda progress: None)
    environment = usable_environment(snapshot, settings) if named else None
    embedder = runtime.embedders.choose(settings)
    return Workspace(snapshot, index, settings, embedder=embedder, environment=environment)


async def _run(
    name: str, cases: Sequence[Case], workspaces: Mapping[Path, Workspace], arguments: argparse.Namespace
) -> list[dict]:
    """Give every task to the program. The replies of one run are not those of another."""
    resources = ModelResources()
    try:
        model = await chosen_model(name, next(iter(workspaces.values())).settings, resources)
        rows: list[dict] = []
        for workspace in workspaces.values():  # what is loaded once is not the first task's time
            await attempted(_WARM_UP, workspace, "diff")
        for case in cases:
            made = await _tried(arguments.until, case, replace(workspaces[case.tree], model=model))
            verdict = await asyncio.to_thread(_verdict, case, made)
            rows.append(_row(case, made, verdict))
            resolved = sum(row["resolved"] for row in rows)
            print(f"{name} {len(rows)}/{len(cases)} resolved {resolved}", end="\r", file=sys.stderr)
        return rows
    finally:
        resources.close()


async def _tried(until: str, case: Case, workspace: Workspace) -> Attempt:
    """What the program makes of a task within `_SECONDS_A_TASK`. Asked for the place, it is told the reference's."""
    task = case.task["task"]
    try:
        made = await asyncio.wait_for(attempted(task, workspace, until), _SECONDS_A_TASK)
        place = meant_place(made.choices, case.task["reference"], workspace)
        if not place:
            return made
        told = await asyncio.wait_for(attempted(f"{task} @{place}", workspace, until), _SECONDS_A_TASK)
        return replace(told, choices=made.choices)
    except (RepoPilotError, TimeoutError) as error:
        return Attempt(why=f"{type(error).__name__}: {error}")


async def attempted(task: str, workspace: Workspace, until: str) -> Attempt:
    """Give a task to the program as `repopilot generate` does.

    Args:
        task: as the user types it.
        workspace: the repository and the model.
        until: `verdict` to stop when only prose is still to come, or `diff` to stop when a diff is published, or when
            it is clear that there will be none.

    Returns:
        The files and when they came, or why there are none.
    """
    events: list[tuple[float, trace.Event]] = []
    enough = asyncio.Event()
    began = time.perf_counter()

    def sink(event: trace.Event) -> None:
        events.append((time.perf_counter() - began, event))
        prose = isinstance(event, trace.Started) and event.name == _PROSE_STEP
        if prose or (until == "diff" and isinstance(event, trace.Published)):  # nothing changes after the prose begins
            enough.set()

    async def work() -> None:
        async with trace.root(sink, "bench") as step:
            step.publish(await answer(task, workspace, step, "GENERATE"))

    running, waiting = asyncio.create_task(work()), asyncio.create_task(enough.wait())
    try:
        await asyncio.wait((running, waiting), return_when=asyncio.FIRST_COMPLETED)
        if running.done():
            running.result()
    finally:
        running.cancel()
        waiting.cancel()
        await asyncio.gather(running, waiting, return_exceptions=True)
    return _attempt(events)


def _attempt(events: Sequence[tuple[float, trace.Event]]) -> Attempt:
    answers = [(s, e.answer) for s, e in events if isinstance(e, trace.Published) and isinstance(e.answer, Answer)]
    results = [(s, a.files, a.result) for s, a in answers if isinstance(a.result, Generation)]
    if not results:
        errors = [e.error for _, e in events if isinstance(e, trace.Finished) and e.state == "error"]
        return Attempt(why=errors[0] if errors else "no answer")
    _, files, last = results[-1]
    return Attempt(
        files,
        last.tests is not None and last.tests.genuine,
        next((s for s, files, _ in results if files), None),
        next((s for s, _, result in results if result.verdict), None),
        last.failure,
        last.by_code,
        last.choices,
    )


def meant_place(choices: Sequence[str], reference: str, workspace: Workspace) -> str:
    """The place that a user would choose who has the reference in mind.

    Args:
        choices: the places offered, as `path:Symbol`.
        reference: the patch.
        workspace: the repository.

    Returns:
        The first of them that the patch changes, '' for none.
    """
    for choice in choices:
        path, _, symbol = choice.partition(":")
        changed = changed_lines(reference, path)
        for found in workspace.index.outline(path) if symbol else ():
            if found.qualified == symbol and any(found.start_line <= line <= found.end_line for line in changed):
                return choice
        if not symbol and changed:
            return choice
    return ""


def _verdict(case: Case, made: Attempt) -> Checked:
    if not made.changes:
        return Checked(False, (), False, False)
    return checked(case.task, made.changes, case.checked_in or case.tree, case.tools)


def _row(case: Case, made: Attempt, verdict: Checked) -> dict:
    shown = {name: case.task.get(name) for name in ("id", "repository", "group", "kind", "language", "model", "task")}
    row = {
        **shown,
        "changed": [c.path for c in made.changes],
        "diff": "".join(c.diff for c in made.changes),
        "genuine": made.genuine,
        "diff_s": made.diff_s,
        "verdict_s": made.verdict_s,
        "by_code": made.by_code,
        "asked": bool(made.choices),
        "why": made.why,
        **asdict(verdict),
    }
    return {**row, **scored(row)}


def _print_tables(title: str, rows: Sequence[Mapping], quiet: bool) -> None:
    print(f"\nmodel {title}")
    print(table(rows, itemgetter("group"), "group"))
    print("\n" + table(rows, lambda row: f"{row['group']} {'model' if row['model'] else 'no model'}", "needs"))
    print("\n" + table(rows, lambda row: f"{row['group']} {row['kind']}", "kind"))
    if not quiet:
        print("\n" + table(rows, itemgetter("repository"), "repository"))
        for row in rows:
            if not row["resolved"]:
                print(f"  {row['id']:24s} {'wrong' if row['changed'] else 'no diff':8s} {row['why'][:120]}")


if __name__ == "__main__":
    main()
