"""Plans: how many of the files that a real feature touched the plan names, against a plain search, on real histories.

    python -m bench.plans CASES.jsonl MIRRORS_DIR --home DIR [--split tuning held] [--show]

CASES.jsonl holds {"repo", "commit", "split"} a line; MIRRORS_DIR/REPO/repo is a bare clone. The request is the
commit's subject and body, the gold the files it touched that exist before it; the index is of the parent commit, whose
history ends there. Checkouts and indexes are kept in `--home` for the next run. `top k` are the first files of a
search, as many as the plan names. No model is used.
"""

from __future__ import annotations

import argparse
import asyncio
import json
import re
import subprocess
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from pathlib import Path

from repopilot import trace
from repopilot.agents.planning.agent import plan
from repopilot.openings import open_index
from repopilot.repo.snapshot import open_source
from repopilot.repo.source import parse_source
from repopilot.results import Plan
from repopilot.retrieval.search import search
from repopilot.runtime import Runtime
from repopilot.settings import Settings
from repopilot.workspace import Workspace

_DEPTH = 100


@dataclass(frozen=True, slots=True)
class Case:
    """A feature of a real history: its text, its files that existed before it, and the tree before it."""

    name: str
    split: str
    text: str
    gold: frozenset[str]
    root: Path


def main() -> None:
    arguments = _arguments()
    settings = Settings(home=arguments.home).model_copy(update={"ollama_url": "", "llm_url": ""})
    cases = [c for c in _cases(arguments) if c.split in arguments.split]
    with Runtime(settings) as runtime:
        rows = [asyncio.run(_measured(case, runtime, arguments.show)) for case in cases]
    for split in arguments.split:
        _print_table(split, [row for case, row in zip(cases, rows, strict=True) if case.split == split])


def _arguments() -> argparse.Namespace:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("cases", type=Path)
    parser.add_argument("mirrors", type=Path)
    parser.add_argument("--home", type=Path, required=True)
    parser.add_argument("--split", nargs="+", default=["tuning", "held"])
    parser.add_argument("--show", action="store_true")
    return parser.parse_args()


def _cases(arguments: argparse.Namespace) -> Iterator[Case]:
    for line in arguments.cases.read_text("utf-8").splitlines():
        entry = json.loads(line)
        yield read_case(arguments.mirrors / entry["repo"] / "repo", entry, arguments.home / "trees")


def read_case(mirror: Path, entry: dict, trees: Path) -> Case:
    """A case, its tree checked out at the parent commit.

    Args:
        mirror: the bare clone.
        entry: {"repo", "commit", "split"}.
        trees: the folder of the checkouts.

    Returns:
        The case.
    """
    commit, name = entry["commit"], f"{entry['repo']}@{entry['commit']}"
    root = trees / name
    if not root.exists():
        _git(mirror, "clone", "--quiet", "--shared", "--no-checkout", str(mirror), str(root))
        _git(root, "checkout", "--quiet", "--detach", f"{commit}^")
    text = _git(mirror, "log", "-1", "--format=%s%n%n%b", commit)
    text = re.sub(r"(?m)^(?:\* |Co-authored-by|Signed-off-by|Merge |Closes|---).*$|\(#\d+\)", "", text).strip()
    touched = _git(mirror, "diff", "--name-only", f"{commit}^", commit).split("\n")
    return Case(name, entry["split"], text, frozenset(p for p in touched if p and (root / p).is_file()), root)


def _git(folder: Path, *arguments: str) -> str:
    done = subprocess.run(["git", "-C", str(folder), *arguments], capture_output=True, check=True)
    return done.stdout.decode("utf-8", "replace")


async def _measured(case: Case, runtime: Runtime, show: bool) -> dict[str, tuple[float, float]]:
    """(recall, precision) by method."""
    snapshot = open_source(parse_source(str(case.root)), runtime.settings)
    index = open_index(snapshot, runtime, lambda _: None, wait=True)
    workspace = Workspace(snapshot, index, runtime.settings)
    async with trace.root(lambda _: None, "turn") as step:
        answer = await plan(case.text, workspace, step)
    made = answer.result
    assert isinstance(made, Plan)
    files = list(dict.fromkeys(f for part in made.parts for f in part.files))
    found = search(index, case.text, _DEPTH).files
    if show:
        print(f"== {case.name}: {case.text.splitlines()[0]}\ngold: {sorted(case.gold)}\n{answer.text}\n")
    return {
        "plan": _scores(files, case.gold),
        "top k": _scores(found[: len(files)], case.gold),
        "top 3": _scores(found[:3], case.gold),
        "top 5": _scores(found[:5], case.gold),
        "top 8": _scores(found[:8], case.gold),
        "asked": (float(not made.parts), 0.0),
        "files": (float(len(files)), 0.0),
    }


def _scores(files: Sequence[str], gold: frozenset[str]) -> tuple[float, float]:
    right = len(gold & set(files))
    return right / len(gold), right / max(1, len(files))


def _print_table(split: str, rows: Sequence[dict[str, tuple[float, float]]]) -> None:
    print(f"{split}: {len(rows)} features")
    for name in rows[0] if rows else ():
        recall, precision = (sum(row[name][i] for row in rows) / len(rows) for i in (0, 1))
        print(f"  {name:8} {recall:.2f} {precision:.2f}")


if __name__ == "__main__":
    main()
