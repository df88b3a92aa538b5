"""Edits by code on the subjects of real commits: how many there are, and how many do what the commit did.

    python -m bench.commit_subjects MIRROR_DIR SCRATCH [--only OWNER+NAME …] [--most N] [--json OUT]

MIRROR_DIR/OWNER+NAME/repo is a bare clone with its history. Small commits whose subject reads like a task for code
(rename, set, remove, replace, …) are given to `exact_edit` on the tree before them, in clones below SCRATCH. An edit is
`same` where every file it changes is as the commit left it, `part` where some are, else `differs`: that may be right
all the same, so these are printed for a reader. `asks` is an edit that is refused or wants to know more, `none` goes to
a model. Most subjects say less than a task would, so that `none` says little; what counts is that few are wrong.
"""

from __future__ import annotations

import argparse
import json
import re
import subprocess
from collections import Counter
from collections.abc import Iterator
from dataclasses import asdict, dataclass
from pathlib import Path

from repopilot.agents.editing.exact.recognise import exact_edit
from repopilot.errors import RepoPilotError
from repopilot.repo.snapshot import open_source
from repopilot.repo.source import parse_source
from repopilot.runtime import Runtime
from repopilot.settings import Settings
from repopilot.workspace import Workspace, open_index

_TASK = re.compile(
    r"(?:renam|raise|increas|decreas|lower|reduce|bump the|set |change |make |remove |delete |move |replace |"
    r"use .* instead|export |drop |add .* to (?:__all__|the list|exports?))",
    re.I,
)
_NO_TASK = re.compile(r"typo|spelling|\bdocs?\b|readme|changelog|version|ci\b|dependenc|support for", re.I)
_CODE = re.compile(r"\.(?:py|js|mjs|jsx|ts|tsx|go|rs|java)$")
_NUMBER = re.compile(r"\s*\(#?\d+\)$|\s*(?:closes? )?#\d+\.?$", re.I)
_COMMITS, _MOST_FILES, _MOST_LINES = 6000, 6, 24


@dataclass(frozen=True, slots=True)
class Tried:
    """A commit, and what became of its subject as a task."""

    repository: str
    commit: str
    task: str
    kind: str
    detail: str


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("mirror", type=Path)
    parser.add_argument("scratch", type=Path)
    parser.add_argument("--only", nargs="*")
    parser.add_argument("--most", type=int, default=100, help="commits of a repository")
    parser.add_argument("--json", type=Path)
    arguments = parser.parse_args()
    rows = list(tried(arguments.mirror, arguments.scratch, arguments.only, arguments.most))
    for row in (r for r in rows if r.kind in ("part", "differs")):
        print(f"{row.repository} {row.commit[:10]} {row.kind}: {row.task}\n{row.detail}")
    print(dict(Counter(row.kind for row in rows)))
    if arguments.json:
        arguments.json.write_text(json.dumps([asdict(row) for row in rows], indent=1), "utf-8")


def tried(mirror: Path, scratch: Path, only: list[str] | None, most: int) -> Iterator[Tried]:
    """Try the commits of some repositories.

    Args:
        mirror: the folder of the bare clones.
        scratch: gets the trees and the indexes.
        only: the repositories, as `owner+name`; None for all.
        most: how many commits of each, newest first.
    """
    settings = Settings(_env_file=None, home=scratch / "home")  # type: ignore[call-arg]
    with Runtime(settings) as runtime:
        for clone in sorted(mirror.glob("*/repo")):
            name = clone.parent.name
            if only and name not in only:
                continue
            tree = scratch / name
            if not tree.exists():
                subprocess.run(["git", "clone", "-q", str(clone), str(tree)], check=True)
            for commit, subject in _subjects(clone)[:most]:
                _git(tree, "checkout", "-qf", f"{commit}~1")
                yield _try(name, commit, _NUMBER.sub("", subject).strip(), tree, runtime)


def _subjects(clone: Path) -> list[tuple[str, str]]:
    """The small commits whose subject reads like a task for code."""
    log = _git(clone, "log", "--no-merges", f"-n{_COMMITS}", "--format=%x01%H %s", "--numstat")
    found = []
    for block in log.split("\x01")[1:]:
        head, *rest = block.strip().split("\n")
        commit, _, subject = head.partition(" ")
        files = [line.split("\t") for line in rest if line.strip()]
        lines = sum(int(a) + int(b) for a, b, _ in files if a != "-")
        small = 0 < len(files) <= _MOST_FILES and lines <= _MOST_LINES and all(a != "-" for a, _, _ in files)
        if small and _TASK.match(subject) and not _NO_TASK.search(subject) and any(_CODE.search(f[2]) for f in files):
            found.append((commit, subject))
    return found


def _try(name: str, commit: str, task: str, tree: Path, runtime: Runtime) -> Tried:
    snapshot = open_source(parse_source(str(tree)), runtime.settings)
    workspace = Workspace(snapshot, open_index(snapshot, runtime, lambda progress: None), runtime.settings)
    try:
        outcome = exact_edit(task, workspace)
    except RepoPilotError as error:
        return Tried(name, commit, task, "asks", str(error))
    if outcome is None:
        return Tried(name, commit, task, "none", "")
    same = [c.content.strip() == _git(tree, "show", f"{commit}:{c.path}").strip() for c in outcome.changes]
    kind = "same" if all(same) else "part" if any(same) else "differs"
    return Tried(name, commit, task, kind, "\n".join(c.diff for c in outcome.changes))


def _git(folder: Path, *arguments: str) -> str:
    """What git prints; '' where it fails, as for a file that a commit doesn't have."""
    run = subprocess.run(["git", "-C", str(folder), *arguments], capture_output=True, check=False)
    return run.stdout.decode("utf-8", "replace") if run.returncode == 0 else ""


if __name__ == "__main__":
    main()
