"""Candidates for `bench/data/mined_reviews.jsonl`: changes that brought a defect, and changes that were never mended.

    python -m bench.mine_reviews CLONES [--repos OWNER/NAME …] [--since YEAR] > candidates.jsonl

CLONES holds bare clones as OWNER+NAME/repo. A fix is a commit whose subject says so and which removes a few lines of
code; blame of those lines names the change that brought them, if one change brought them all (SZZ). It is a candidate
where it is of reviewable size. A clean candidate is of like size and at least a year old, and each block of lines that
it added to code stands in the newest state word for word. A person reads both kinds before one becomes data.
"""

from __future__ import annotations

import argparse
import json
import re
import subprocess
import sys
from collections import Counter
from collections.abc import Iterator
from dataclasses import asdict, dataclass, replace
from pathlib import Path

from bench.mined_reviews import half_of
from repopilot.agents.impact.fix_history import is_fix
from repopilot.code.languages import file_kind, is_test_path

MOST_ADDED = 400
MOST_FILES = 15
_FEWEST_ADDED = 5
_MOST_ADDED_CLEAN = 200
_FIX_LINES = 25
_FIX_FILES = 3
_SCANNED = 2500
_YEAR_S = 365 * 86400
_FAULT = re.compile(
    r"\b(crash|panic|regression|leak|deadlock|race|hang|incorrect|wrong|broken|overflow|fail|missing|handle|bug|infinite"
    r"|lost|ignored|bypass|null|undefined|exception|error|invalid)\w*",
    re.IGNORECASE,
)
_HUNK = re.compile(r"^@@ -(\d+)(?:,(\d+))? \+(\d+)(?:,(\d+))? ", re.MULTILINE)
_BLAMED = re.compile(r"^([0-9a-f]{40}) (\d+) \d+")


@dataclass(frozen=True, slots=True)
class Candidate:
    """A change to read. `fix`, `path` and `line` (in the state after the change) are empty for a clean one."""

    repository: str
    half: str
    commit: str
    date: str
    added: int
    files: int
    subject: str
    fix: str = ""
    fix_subject: str = ""
    path: str = ""
    line: int = 0
    removed: int = 0
    tested: bool = False


@dataclass(frozen=True, slots=True)
class _Commit:
    """A commit; `added` and `files` count code that is no test, `all_added` and `all_files` everything."""

    name: str
    time: int
    date: str
    subject: str
    message: str
    added: int
    files: int
    all_added: int
    all_files: int
    tests: bool

    @property
    def fits(self) -> bool:
        """Whether it is of reviewable size."""
        return self.added >= _FEWEST_ADDED and self.all_added <= MOST_ADDED and self.all_files <= MOST_FILES

    @property
    def mends(self) -> bool:
        """Whether it says that it mends a fault, and is small."""
        said = is_fix(self.subject) or (_FAULT.search(self.subject) is not None and is_fix(self.message))
        return said and 0 < self.added <= 3 * _FIX_LINES


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("clones", type=Path)
    parser.add_argument("--repos", nargs="*", default=[])
    parser.add_argument("--since", type=int, default=2015)
    arguments = parser.parse_args()
    for root in sorted(arguments.clones.glob("*/repo")):
        repository = root.parent.name.replace("+", "/")
        if not arguments.repos or repository in arguments.repos:
            for candidate in _candidates(root, repository, arguments.since):
                print(json.dumps(asdict(candidate)), flush=True)


def git(root: Path, *arguments: str, check: bool = True) -> str:
    """What git says of a bare clone; without `check` as far as it came."""
    done = subprocess.run(["git", "-C", str(root), *arguments], capture_output=True, check=check)
    return done.stdout.decode("utf-8", "replace")


def _log(root: Path, since: int) -> list[_Commit]:
    """The commits, the newest first, up to one of which the clone lacks a file."""
    form = "--format=%x1e%H%x1f%ct%x1f%cs%x1f%s%x1f%B%x1f"
    text = git(root, "log", "--no-merges", f"--since={since}-01-01", f"-{_SCANNED}", "--numstat", form, check=False)
    return [_commit(part) for part in text.split("\x1e")[1:]]


def _commit(part: str) -> _Commit:
    name, time, date, subject, message, numbers = part.split("\x1f")
    rows = [row.split("\t") for row in numbers.strip().splitlines()]
    counted = [(int(row[0]), row[2]) for row in rows if len(row) == 3 and row[0] != "-"]
    code = [added for added, path in counted if _is_code(path)]
    everything = sum(added for added, _ in counted)
    tests = any(is_test_path(path) for _, path in counted)
    return _Commit(name, int(time), date, subject, message, sum(code), len(code), everything, len(rows), tests)


def _is_code(path: str) -> bool:
    return file_kind(path) == "code" and not is_test_path(path) and "=>" not in path


def _candidates(root: Path, repository: str, since: int) -> Iterator[Candidate]:
    """Those of one repository."""
    log = _log(root, since)
    known = {commit.name: commit for commit in log}
    mended: set[str] = set()
    told: set[str] = set()
    for fix in log:
        if not fix.mends:
            continue
        brought, lines = _blamed(root, fix.name)
        commits = {name for name, _ in brought}
        mended |= commits
        removed = sum(brought.values())
        if len(commits) != 1 or removed > _FIX_LINES or len(brought) > _FIX_FILES:
            continue
        name, path = brought.most_common(1)[0][0]
        if name in known and name not in told and known[name].fits:
            told.add(name)
            found = _candidate(repository, known[name])
            yield replace(
                found,
                fix=fix.name,
                fix_subject=fix.subject,
                path=path,
                line=lines[name, path],
                removed=removed,
                tested=fix.tests,
            )
    for commit in log:
        old = log[0].time - commit.time >= _YEAR_S
        small = commit.added >= 2 * _FEWEST_ADDED and commit.all_added <= _MOST_ADDED_CLEAN and commit.fits
        if old and small and commit.name not in mended and not is_fix(commit.subject) and _stands(root, commit.name):
            yield _candidate(repository, commit)


def _candidate(repository: str, commit: _Commit) -> Candidate:
    return Candidate(
        repository, half_of(repository), commit.name, commit.date, commit.added, commit.all_files, commit.subject
    )


def _blamed(root: Path, fix: str) -> tuple[Counter[tuple[str, str]], dict[tuple[str, str], int]]:
    """How many lines of code that a fix removes each change and file of it brought, and the first of those lines."""
    brought: Counter[tuple[str, str]] = Counter()
    lines: dict[tuple[str, str], int] = {}
    for name, part in _files(root, fix, "---"):
        spans = [(int(m[1]), int(m[2] or 1)) for m in _HUNK.finditer(part)]
        ranges = [f"-L{start},{start + count - 1}" for start, count in spans if count]
        if not ranges:
            continue
        try:
            blame = git(root, "blame", "-w", "-p", *ranges, f"{fix}^", "--", name)
        except subprocess.CalledProcessError:  # a submodule or a link
            continue
        for commit, path, line in _origins(blame):
            brought[commit, path] += 1
            lines.setdefault((commit, path), line)
    return brought, lines


def _origins(blame: str) -> Iterator[tuple[str, str, int]]:
    """The commit, path and line from which each blamed line is."""
    paths: dict[str, str] = {}
    for block in re.split(r"^\t.*\n", blame, flags=re.MULTILINE):
        head = _BLAMED.match(block)
        if head is not None:
            path = re.search(r"^filename (.+)$", block, re.MULTILINE)
            if path is not None:
                paths[head[1]] = path[1]
            yield head[1], paths[head[1]], int(head[2])


def _files(root: Path, commit: str, side: str) -> Iterator[tuple[str, str]]:
    """The files of code that a commit changes, each with its part of the diff; `side` is `---` or `+++`."""
    for part in re.split(r"^diff --git ", git(root, "show", "-U0", "--format=", commit), flags=re.MULTILINE)[1:]:
        name = re.search(rf"^{re.escape(side)} [ab]/(.+)$", part, re.MULTILINE)
        if name is not None and _is_code(name[1]):
            yield name[1], part


def _stands(root: Path, commit: str) -> bool:
    """Whether every block that a commit added to code stands in the newest state word for word."""
    for name, part in _files(root, commit, "+++"):
        try:
            text = git(root, "show", f"HEAD:{name}")
        except subprocess.CalledProcessError:  # moved or deleted since
            return False
        for hunk in re.split(r"^@@ .*\n", part, flags=re.MULTILINE)[1:]:
            block = "\n".join(line[1:] for line in hunk.splitlines() if line.startswith("+"))
            if block not in text:
                return False
    return True


if __name__ == "__main__":
    sys.exit(main())
