"""Commit-like tasks: the message of a later commit as the query, the source files it changed as the answer.

The tree that is searched is laid out at a commit T, WANTED_COMMITS source-changing commits back. A task whose commit
changed at most MOST_FUNCTIONS functions also names the lines, as they stand in the tree at T.
"""

from __future__ import annotations

import random
import re
from collections.abc import Callable, Collection, Iterable, Iterator, Sequence
from pathlib import Path

from bench.datasets.functions import Function, functions_in
from bench.datasets.repository import Change, changes, git, is_source, unique

WANTED_COMMITS, WANTED_TASKS, LEAST_TASKS = 250, 120, 30
MOST_FILES, MOST_FUNCTIONS, LEAST_WORDS, LONGEST_QUERY = 8, 2, 3, 1500
HISTORY = 3000
FURTHER_BACK = (500, 1000)
MOST_LATER = 4000
_TRAILER = re.compile(
    r"^\s*(?:[A-Z][\w-]*-by|Change-Id|PR-URL|Refs?|Reviewed-on|(?:Fixes|Closes|Resolves|Close|Fix|Ref)"
    r"(?=:?\s+(?:#|https?://|\w+/\w+#)))\b.*$|^\s*https?://\S+\s*$|^\s*-{3,}\s*$",
    re.IGNORECASE | re.MULTILINE,
)
_NUMBER = re.compile(r"\s*\((?:[\w-]+/[\w-]+)?(?:#|GH-|gh-|bpo-)\d+\)|\s*(?:https?://)\S+/(?:pull|issues|commit)/\S+")
_NO_TASK = re.compile(
    r"^(?:revert\b|reapply\b|merge\b|bump\b|release\b|prepare (?:for )?release|version \d|v?\d+\.\d+|"
    r"(?:chore|build|fix)\(deps|update dependenc|chore: (?:release|bump)|\[?auto|back to dev|"
    r"update (?:changelog|authors)|\[?pre-commit|typos?\b|fix typos?\b|(?:re)?format\b|lint\b|update copyright)",
    re.IGNORECASE,
)
_BOT = re.compile(r"\[bot\]|\bbot\b|dependabot|renovate|pre-commit-ci|github-actions", re.IGNORECASE)
_GAP = re.compile(r"\n{3,}")
_HUNK = re.compile(r"^@@ -(\d+)(?:,(\d+))? \+", re.MULTILINE)


def query_of(change: Change) -> str:
    """Subject and body of a commit without trailers, links and numbers of pull requests."""
    subject, body = _NUMBER.sub("", change.subject).strip(), _NUMBER.sub("", _TRAILER.sub("", change.body))
    body = _GAP.sub("\n\n", body).strip()
    return f"{subject}\n\n{body}".strip()[:LONGEST_QUERY]


def is_task(change: Change) -> bool:
    """Whether a commit says what it does: no revert, release, formatting or work of a bot."""
    words = _NUMBER.sub("", change.subject).split()
    return len(words) >= LEAST_WORDS and not _NO_TASK.match(change.subject) and not _BOT.search(change.author)


def gold_files(change: Change, files: Collection[str]) -> list[str]:
    """The source files of a tree that a commit touched; none where it touched more than MOST_FILES."""
    touched = [path for path in change.paths if is_source(path)]
    found = [path for path in touched if path in files]
    return found if len(touched) <= MOST_FILES else []


def base(clone: Path, pinned: str) -> str:
    """The commit T that the tasks begin after: the pinned one or, where too few tasks follow it, the parent of the
    WANTED_COMMITS-th newest commit that changed source files, or of an older one.

    Args:
        clone: the bare clone.
        pinned: a commit, or ''.

    Returns:
        Its hash, or the pinned revision as given.
    """
    recent = [c.sha for c in changes(clone, "HEAD", MOST_LATER) if any(is_source(path) for path in c.paths)]
    older = [f"{recent[n - 1]}^" for n in (WANTED_COMMITS, *FURTHER_BACK) if n <= len(recent)]
    candidates = [pinned] * bool(pinned) + [git(clone, "rev-parse", revision).strip() for revision in older]
    enough = (commit for commit in candidates if len(_candidates(clone, commit)) >= LEAST_TASKS)
    return next(enough, candidates[-1])


def _candidates(clone: Path, commit: str) -> dict[str, tuple[Change, list[str]]]:
    """Queries after a commit, with their commits and gold files."""
    files = frozenset(git(clone, "ls-tree", "-r", "-z", "--name-only", commit).split("\0"))
    later = changes(clone, f"{commit}..HEAD", MOST_LATER)
    return {query_of(c): (c, gold) for c in later if is_task(c) and (gold := gold_files(c, files))}


def history(past: Iterable[Change]) -> list[dict]:
    """The rows of `history.jsonl`."""
    return [{"sha": c.sha, "at": c.at, "subject": c.subject, "body": c.body, "paths": list(c.paths)} for c in past]


def tasks(clone: Path, commit: str, tree: Path) -> list[dict]:
    """A fixed sample of the tasks of a repository.

    Args:
        clone: the bare clone.
        commit: the commit of the tree.
        tree: where it is laid out.

    Returns:
        {"query", "gold", "ranges", "sha"}: gold has whole files, ranges has lines, or nothing where they are unknown.
    """
    found = _candidates(clone, commit)
    chosen = random.Random(7).sample(sorted(found), min(WANTED_TASKS, len(found)))
    now = functions_of(lambda path: (tree / path).read_bytes().decode("utf-8", "replace"))
    rows = []
    for query in chosen:
        change, gold = found[query]
        rows.append(
            {
                "query": query,
                "gold": [[path, 0, 0] for path in gold],
                "ranges": changed_lines(clone, change, gold, now),
                "sha": change.sha,
            }
        )
    return rows


def functions_of(read: Callable[[str], str]) -> Callable[[str], list[Function]]:
    """Gives the functions of a path, each file read once."""
    known: dict[str, list[Function]] = {}

    def of(path: str) -> list[Function]:
        if path not in known:
            known[path] = functions_in(path, read(path))
        return known[path]

    return of


def changed_lines(clone: Path, change: Change, gold: Sequence[str], now: Callable) -> list[list]:
    """The lines that a commit replaced, in terms of the tree that is searched.

    Args:
        clone: the bare clone.
        change: the commit.
        gold: the paths of the tree it touched.
        now: gives the functions of a path in the tree.

    Returns:
        Places; none where the commit touched more than MOST_FUNCTIONS functions, or one that the tree doesn't have.
    """
    before = functions_of(lambda path: git(clone, "show", f"{change.sha}^:{path}", check=False))
    touched: dict[tuple[str, str], list[tuple[Function, int, int]]] = {}
    for path in gold:
        for first, last in hunks(git(clone, "diff", "-U0", f"{change.sha}^", change.sha, "--", path, check=False)):
            inner = innermost(before(path), first, last)
            if inner:
                touched.setdefault((path, inner.qualified), []).append((inner, first, last))
            if len(touched) > MOST_FUNCTIONS:
                return []
    places = []
    for (path, qualified), ranges in touched.items():
        same = [function for function in now(path) if function.qualified == qualified]
        if len(same) != 1:
            return []
        places += [place for found in ranges if (place := _moved(path, same[0], *found)) not in places]
    return unique(places)


def hunks(diff: str) -> Iterator[tuple[int, int]]:
    """First and last line of the old side of every hunk; of an insertion, the lines around it."""
    for match in _HUNK.finditer(diff):
        first, count = int(match[1]), int(match[2] or 1)
        yield (first, first + count - 1) if count else (max(1, first), first + 1)


def innermost(found: Iterable[Function], first: int, last: int) -> Function | None:
    """The smallest function around a range of lines."""
    around = [f for f in found if f.first <= first and last <= f.last]
    return min(around, key=lambda f: f.last - f.first, default=None)


def _moved(path: str, function: Function, before: Function, first: int, last: int) -> list:
    """The range where its function stands now; the whole function where its text has changed."""
    if function.text != before.text:
        return [path, function.first, function.last]
    shift = function.first - before.first
    return [path, first + shift, last + shift]
