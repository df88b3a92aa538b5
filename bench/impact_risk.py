"""Does the risk of an impact report tell changes that were soon fixed or reverted from those that were not?

    python -m bench.impact_risk mine MIRRORS > bench/data/impact_risk.jsonl
    python -m bench.impact_risk measure MIRRORS [--half held] [--features FILE]

MIRRORS holds bare clones as OWNER+NAME/repo. A positive is a commit some lines of which were changed, within the next
LATER commits, by a commit that says it fixes or reverts something (blame of the lines it replaces). Its control is a
commit of the same repository with about as many changed lines that was not followed so. The risk is that of the
report of the commit's diff on the state before it. Printed is the area under the ROC curve of the risk's points, with
that of the change's size beside it, which the controls are chosen to make useless. Repositories are split in halves.
"""

from __future__ import annotations

import argparse
import json
import math
import re
import subprocess
import sys
import tempfile
from collections import defaultdict
from collections.abc import Iterator, Sequence
from dataclasses import asdict, dataclass
from pathlib import Path
from typing import Any

import numpy as np

from repopilot.agents.impact.assess import assess
from repopilot.agents.impact.change import changes_of_diffs
from repopilot.agents.impact.fix_history import is_fix
from repopilot.code.languages import file_kind, is_test_path
from repopilot.index.build.job import IndexRequest
from repopilot.repo import history
from repopilot.repo.patches.patch import parse_patch
from repopilot.runtime import Runtime
from repopilot.settings import Settings
from repopilot.types import Snapshot

DATA = Path(__file__).parent / "data" / "impact_risk.jsonl"
LATER = 30
_SCANNED, _MOST_PER_REPOSITORY = 3000, 10
_MOST_FILES, _MOST_LINES, _FEWEST_LINES = 8, 300, 3
_SHORT, _HISTORY = 12, 200
_HUNK = re.compile(r"^@@ -(\d+)(?:,(\d+))? ", re.MULTILINE)


@dataclass(frozen=True, slots=True)
class Case:
    """A commit; `fix` is the commit that fixed it soon, '' for a control; `lines` are its changed lines of code."""

    repository: str
    commit: str
    fix: str
    lines: int


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("work", choices=("mine", "measure"))
    parser.add_argument("mirrors", type=Path)
    parser.add_argument("--without", nargs="*", default=[], help="repositories that are not mined")
    parser.add_argument("--half", choices=("open", "held"), default="open")
    parser.add_argument("--features", type=Path, help="also write what the risk is made of, as JSON lines")
    arguments = parser.parse_args()
    if arguments.work == "mine":
        for root in sorted(arguments.mirrors.glob("*/repo")):
            if root.parent.name not in arguments.without:
                for case in _mined(root):
                    print(json.dumps(asdict(case)), flush=True)
        return
    cases = [Case(**json.loads(line)) for line in DATA.read_text("utf-8").splitlines()]
    halves = {name: ("open", "held")[n % 2] for n, name in enumerate(sorted({c.repository for c in cases}))}
    _measure([c for c in cases if halves[c.repository] == arguments.half], arguments.mirrors, arguments.features)


def _git(root: Path, *arguments: str) -> str:
    done = subprocess.run(["git", "-C", str(root), *arguments], capture_output=True, check=True)
    return done.stdout.decode("utf-8", "replace")


def _mined(root: Path) -> Iterator[Case]:
    log = _git(root, "log", "--no-merges", "--topo-order", f"-{_SCANNED}", "--format=%H %s").splitlines()
    position = {line[:40]: n for n, line in enumerate(log)}
    sizes = {line[:40]: _size(root, line[:40]) for line in log}
    followed: dict[str, str] = {}
    for line in log:
        commit, subject = line[:40], line[41:]
        if is_fix(subject) and 0 < sizes[commit] <= _MOST_LINES:
            for blamed in _blamed(root, commit):
                if 0 < position.get(blamed, 0) - position[commit] <= LATER:
                    followed.setdefault(blamed, commit)
    able = [c for c in position if _FEWEST_LINES <= sizes[c] <= _MOST_LINES]
    positives = [c for c in able if c in followed]
    step = max(1, len(positives) // _MOST_PER_REPOSITORY)
    free = [c for c in able if c not in followed and position[c] >= LATER]
    for commit in positives[::step][:_MOST_PER_REPOSITORY]:
        control = min(
            free, key=lambda c: (abs(math.log(sizes[c] / sizes[commit])), abs(position[c] - position[commit]))
        )
        free.remove(control)
        yield Case(root.parent.name, commit[:_SHORT], followed[commit][:_SHORT], sizes[commit])
        yield Case(root.parent.name, control[:_SHORT], "", sizes[control])


def _size(root: Path, commit: str) -> int:
    """Changed lines of existing code; 0 for a commit of too many files, or with none."""
    rows = [row.split("\t") for row in _git(root, "show", "--numstat", "--format=", commit).splitlines()]
    code = [row for row in rows if len(row) == 3 and _is_code(row[2]) and row[0] != "-"]
    if not code or len(code) > _MOST_FILES or not any(int(row[1]) for row in code):
        return 0
    return sum(int(row[0]) + int(row[1]) for row in code)


def _is_code(path: str) -> bool:
    return file_kind(path) == "code" and not is_test_path(path) and "=>" not in path


def _blamed(root: Path, fix: str) -> set[str]:
    """The commits that wrote the lines of code which a commit replaces."""
    found: set[str] = set()
    for diff in re.split(r"^diff --git ", _git(root, "show", "-U0", "--format=", fix), flags=re.MULTILINE)[1:]:
        name = re.search(r"^--- a/(.+)$", diff, re.MULTILINE)
        spans = [(int(m[1]), int(m[2] or 1)) for m in _HUNK.finditer(diff)]
        ranges = [f"-L{start},{start + count - 1}" for start, count in spans if count]
        if name and _is_code(name[1]) and ranges:
            found |= _authors(root, ranges, f"{fix}^", name[1])
    return found


def _authors(root: Path, ranges: Sequence[str], commit: str, path: str) -> set[str]:
    try:
        blame = _git(root, "blame", "-s", "-l", *ranges, commit, "--", path)
    except subprocess.CalledProcessError:  # a submodule, or a link
        return set()
    return {line[:40] for line in blame.splitlines() if not line.startswith("^")}


def _measure(cases: Sequence[Case], mirrors: Path, features: Path | None) -> None:
    by_repository: dict[str, list[Case]] = defaultdict(list)
    for case in cases:
        by_repository[case.repository].append(case)
    points: list[tuple[Case, float]] = []
    out = features.open("w") if features else None
    with tempfile.TemporaryDirectory() as folder:
        settings = Settings(home=Path(folder) / "home", workers=1, history_commits=0, dense=False)
        for name, group in by_repository.items():
            root = Path(folder) / name
            _git(mirrors, "clone", "-q", "--shared", str(mirrors / name / "repo"), str(root))
            log = _git(root, "rev-list", "--topo-order", "HEAD").split()
            position = {commit[:_SHORT]: number for number, commit in enumerate(log)}
            ordered = sorted(group, key=lambda case: position[case.commit])
            found = list(_risks(ordered, name, root, settings))
            points += [(case, float(row["points"])) for case, row in found]
            for case, row in found if out else ():
                print(json.dumps({**asdict(case), **row}), file=out, flush=True)
            _print_row(name, [(case, float(row["points"])) for case, row in found])
    _print_row("all", points)


def _risks(cases: Sequence[Case], name: str, root: Path, settings: Settings) -> Iterator[tuple[Case, dict[str, Any]]]:
    runtime = Runtime(settings)
    try:
        for case in cases:
            _git(root, "checkout", "-q", "-f", f"{case.commit}^")
            snapshot = Snapshot(f"bench-{name}", name, _git(root, "rev-parse", "HEAD").strip(), root=root)
            index = runtime.index_jobs.build(IndexRequest(snapshot, settings), until="instant")
            patch = "diff --git ".join(["", *_diffs(root, case.commit)])
            past = history.commits(snapshot, _HISTORY)
            report = assess(index, changes_of_diffs(parse_patch(patch), index), past)
            keys = {getattr(reason.text, "key", ""): reason.points for reason in report.risks}
            yield case, {"level": report.risk, "points": sum(keys.values()), "reasons": keys}
    finally:
        runtime.close()


def _diffs(root: Path, commit: str) -> Iterator[str]:
    for diff in re.split(r"^diff --git ", _git(root, "show", "--format=", commit), flags=re.MULTILINE)[1:]:
        if _is_code(diff.split("\n", 1)[0].rpartition(" b/")[2]):
            yield diff


def _print_row(name: str, points: Sequence[tuple[Case, float]]) -> None:
    followed = [(p, c.lines) for c, p in points if c.fix]
    others = [(p, c.lines) for c, p in points if not c.fix]
    risk = auc([p for p, _ in followed], [p for p, _ in others])
    size = auc([n for _, n in followed], [n for _, n in others])
    print(
        f"{name:28s} followed {len(followed):4d} controls {len(others):4d}  AUC risk {risk:.3f} size {size:.3f}",
        flush=True,
    )


def auc(positives: Sequence[float], negatives: Sequence[float]) -> float:
    """How often a positive has more than a negative, ties as half."""
    if not positives or not negatives:
        return math.nan
    first, second = np.array(positives)[:, None], np.array(negatives)[None, :]
    return float((first > second).mean() + (first == second).mean() / 2)


if __name__ == "__main__":
    sys.exit(main())
