"""Tools: whether scripts of a few tool calls do the tasks of bench/data/edits, and how long the calls take.

    python -m bench.tools TREES_DIR SET… [--most-calls 8] [--only NAME …] [--venvs DIR] [--home DIR] [--json OUT]

SET is a folder of bench/data/edits, TREES_DIR/NAME a clone of the repository at its commit. A script is derived from
the task's reference patch (`bench.tool_scripts`): what is renamed, moved or given another signature in Python by one
call each, the rest by texts replaced. It runs on a working copy, and the task's hidden check judges what comes out.
Where a rename alone doesn't do it, it is tried with `everywhere`, too; and where refactoring and texts together are
too many calls, texts alone.

exact: resolved by the refactoring calls alone; resolved: also with texts replaced, at most --most-calls in all; long:
the script would need more calls.
"""

from __future__ import annotations

import argparse
import asyncio
import json
import sys
import time
from collections.abc import Iterator, Mapping, Sequence
from operator import itemgetter
from pathlib import Path
from typing import Any

from bench.edit_checks import Checked, Tools, checked, reference_changes
from bench.edits import Case, _test_commands, _tree
from bench.tool_scripts import Call, refactorings, replacements
from repopilot import trace
from repopilot.errors import RepoPilotError
from repopilot.openings import open_index
from repopilot.repo.snapshot import open_source
from repopilot.repo.source import parse_source
from repopilot.runtime import Runtime
from repopilot.settings import Settings
from repopilot.tools import registry
from repopilot.tools.registry import ToolContext
from repopilot.tools.toolbox import toolbox
from repopilot.tools.working_copy import WorkingCopy, working_copy
from repopilot.workspace import Workspace

EXACT = ("rename", "move", "change_signature")
MOST_CALLS = 8


def main() -> None:
    """Run from the command line."""
    arguments = _arguments()
    settings = Settings(home=arguments.home) if arguments.home else Settings()
    settings = settings.model_copy(update={"ollama_url": "", "llm_url": "", "history_commits": 0})
    rows = []
    with Runtime(settings) as runtime:
        for case in _cases(arguments, settings.home / "edit-trees"):
            rows.append(asyncio.run(_measured(case, _workspace(case.tree, runtime), arguments.most_calls)))
            print(_line(rows[-1]), file=sys.stderr, flush=True)
    for key in ("language", "kind", "group"):
        print(_table(rows, key) + "\n")
    refactored = [row for row in rows if row["kind"] in EXACT and row["language"] == "Python"]
    print(f"Python's renames, moves and signatures: {_share(refactored)}")
    if arguments.json:
        arguments.json.write_text(json.dumps(rows, indent=1, ensure_ascii=False), "utf-8")


def _arguments() -> argparse.Namespace:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("trees", type=Path)
    parser.add_argument("sets", type=Path, nargs="+", metavar="SET")
    parser.add_argument("--most-calls", type=int, default=MOST_CALLS)
    parser.add_argument("--only", nargs="+", default=[], metavar="NAME")
    parser.add_argument("--venvs", type=Path)
    parser.add_argument("--home", type=Path)
    parser.add_argument("--json", type=Path)
    return parser.parse_args()


def _cases(arguments: argparse.Namespace, kept: Path) -> Iterator[Case]:
    for file in (file for folder in arguments.sets for file in sorted(folder.glob("*.jsonl"))):
        name = file.stem
        if not (arguments.trees / name).is_dir() or (arguments.only and name not in arguments.only):
            continue
        command = dict(_test_commands(file.parents[1] / "repositories.tsv"))[name]
        environment = (arguments.venvs / name).resolve() if arguments.venvs else None
        for task in map(json.loads, file.read_text("utf-8").splitlines()):
            tree = _tree(arguments.trees / name, task.get("commit", ""), kept)
            yield Case({"repository": name, **task}, tree, Tools(command, environment))


def _workspace(tree: Path, runtime: Runtime) -> Workspace:
    snapshot = open_source(parse_source(str(tree)), runtime.settings)
    return Workspace(snapshot, open_index(snapshot, runtime, lambda progress: None), runtime.settings)


async def _measured(case: Case, workspace: Workspace, most: int) -> dict[str, Any]:
    """Run a task's script: first the refactoring calls, then the texts that are still missing."""
    after = {change.path: change for change in reference_changes(case.task, case.tree)}
    wanted = {path: None if c.change == "deleted" else c.content for path, c in after.items()}
    async with trace.root(lambda event: None, "bench") as step, working_copy(workspace) as copy:
        context = ToolContext(workspace, copy, step)
        before = {path: copy.text(path) for path in wanted}
        first = refactorings(before, wanted) if case.task["kind"] in EXACT else []
        seconds, failures = await _run(first, context)
        exact = bool(first) and len(first) <= most and _check(case, copy).resolved
        if not exact and any(call.name == "rename_symbol" for call in first):
            copy.undo(len(first))
            first = [_everywhere(call) for call in first]
            seconds, failures = await _run(first, context)
            exact = len(first) <= most and _check(case, copy).resolved
        rest = [] if exact else replacements({path: copy.text(path) for path in wanted}, wanted)
        if len(first) + len(rest) > most >= len(plain := replacements(before, wanted)):
            copy.undo(len(first))
            first, rest = [], plain
        long = len(first) + len(rest) > most
        if not exact and not long:
            failures += (await _run(rest, context))[1]
        verdict = Checked(True, (), True, True) if exact else _check(case, copy)
    shown = {name: case.task.get(name) for name in ("id", "repository", "group", "kind", "language")}
    scores = {"exact": exact, "resolved": not long and verdict.resolved, "long": long, "calls": len(first) + len(rest)}
    return {**shown, **scores, "seconds": seconds, "failures": failures, "output": verdict.output[-300:]}


def _everywhere(call: Call) -> Call:
    more = {"everywhere": True} if call.name == "rename_symbol" else {}
    return Call(call.name, call.arguments | more)


async def _run(calls: Sequence[Call], context: ToolContext) -> tuple[list[float], list[str]]:
    """The seconds of each call, and what was said to those that failed."""
    seconds, failures = [], []
    for call in calls:
        began = time.perf_counter()
        try:
            await registry.call(registry.find(call.name, toolbox()), call.arguments, context)
        except RepoPilotError as error:
            failures.append(f"{call.name} {call.arguments.get('name', '')}: {error.message} {error.hint}"[:300])
        seconds.append(round(time.perf_counter() - began, 2))
    return seconds, failures


def _check(case: Case, copy: WorkingCopy) -> Checked:
    return checked(case.task, copy.changes(), case.tree, case.tools)


def _line(row: Mapping[str, Any]) -> str:
    state = "exact" if row["exact"] else "ok" if row["resolved"] else "long" if row["long"] else "FAILED"
    return f"{row['id']:26} {row['kind']:17} {state:7} {row['calls']:3} calls {row['failures'] or ''}"


def _table(rows: Sequence[Mapping[str, Any]], key: str) -> str:
    values = sorted(set(map(itemgetter(key), rows)))
    return "\n".join(f"{value:18} {_share([row for row in rows if row[key] == value])}" for value in values)


def _share(rows: Sequence[Mapping[str, Any]]) -> str:
    count = max(1, len(rows))
    shares = (f"{name} {sum(row[name] for row in rows) / count:.2f}" for name in ("exact", "resolved", "long"))
    times = sorted(second for row in rows for second in row["seconds"])
    slow = f"; a call takes {times[len(times) // 2]} s, the slowest {times[-1]} s" if times else ""
    return f"{len(rows):4} tasks: {', '.join(shares)}{slow}"


if __name__ == "__main__":
    main()
