"""What the query sets need of a bare clone, and of the files laid out from it."""

from __future__ import annotations

import os
import subprocess
import tempfile
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from pathlib import Path

from repopilot.code.generated import generated_name
from repopilot.code.languages import file_kind, is_doc_path, is_example_path, is_test_path, language_of

LARGEST_FILE = 1_000_000


@dataclass(frozen=True, slots=True)
class Change:
    """A commit without merges, with the paths it touched; `at` in seconds since the epoch."""

    sha: str
    at: int
    author: str
    subject: str
    body: str
    paths: tuple[str, ...]


def git(repository: Path, *arguments: str, env: dict[str, str] | None = None, check: bool = True) -> str:
    """The output of a git command on a bare clone; bytes that are no UTF-8 are replaced."""
    command = ["git", "--git-dir", str(repository), *arguments]
    done = subprocess.run(command, capture_output=True, check=check, env={**os.environ, **(env or {})})
    return done.stdout.decode("utf-8", "replace")


def changes(repository: Path, revisions: str, most: int) -> list[Change]:
    """The newest commits of a revision or range, without merges, newest first."""
    form = "--format=%x1e%H%x1f%ct%x1f%an%x1f%s%x1f%b%x1f"
    log = ("log", "-z", "--no-merges", "--no-renames", "--name-only", f"--max-count={most}", form, revisions)
    found = []
    for record in git(repository, *log).split("\x1e")[1:]:
        sha, at, author, subject, body, paths = record.split("\x1f", 5)
        names = tuple(path for path in paths.strip("\0\n").split("\0") if path)
        found.append(Change(sha, int(at), author, subject, body.strip(), names))
    return found


def lay_out(repository: Path, commit: str, folder: Path) -> None:
    """Write the files of a commit below an empty folder. Files that the clone lacks are left out."""
    folder.mkdir(parents=True)
    with tempfile.TemporaryDirectory() as scratch:
        env = {"GIT_INDEX_FILE": str(Path(scratch) / "index")}
        git(repository, "read-tree", commit, env=env)
        git(repository, f"--work-tree={folder}", "checkout-index", "--all", "--force", env=env, check=False)


def is_source(path: str) -> bool:
    """Whether a path is code that people edit: no test, documentation, example, generated or configuration file."""
    judged = (is_test_path, is_doc_path, is_example_path, generated_name)
    return bool(language_of(path)) and file_kind(path) == "code" and not any(rule(path) for rule in judged)


def files_below(root: Path) -> list[str]:
    """The POSIX paths of the regular files of a laid out tree, sorted."""
    found = (path for path in root.rglob("*") if path.is_file() and not path.is_symlink())
    return sorted(path.relative_to(root).as_posix() for path in found)


def sources(root: Path) -> Iterator[tuple[str, str]]:
    """Path and text of the readable source files of a tree, in the order of their paths."""
    for path in files_below(root):
        if is_source(path) and (root / path).stat().st_size <= LARGEST_FILE:
            yield path, (root / path).read_bytes().decode("utf-8", "replace")


def unique(items: Sequence[list]) -> list[list]:
    """The items without repetitions, in their order."""
    return [item for number, item in enumerate(items) if item not in items[:number]]
