"""Which paths of a repository are never shown or changed: excluded or ignored ones, links, and possible secrets."""

from __future__ import annotations

import os
from collections.abc import Collection, Iterator
from functools import cache, partial
from pathlib import Path

from pathspec import GitIgnoreSpec

from repopilot import i18n
from repopilot.errors import SourceError
from repopilot.redaction.secret_paths import secret_name
from repopilot.repo import git_command, local
from repopilot.repo.paths.git_patterns import ignore_spec
from repopilot.repo.paths.path_rules import PathPatterns
from repopilot.repo.read import find_raw
from repopilot.settings import Settings
from repopilot.types import Snapshot


def kept_out(path: str, snapshot: Snapshot, settings: Settings) -> str | None:
    """Why a path is kept out, as a message; None when it isn't. Blocking.

    Args:
        path: a POSIX path from the repository's root; there need not be such a file.
        snapshot: the repository.
        settings: the exclude patterns.
    """
    if secret_name(path):
        return i18n.message("repo.skip.secrets")
    if PathPatterns((), settings.exclude).reason_to_skip(path):
        return i18n.message("repo.skip.excluded")
    if snapshot.root is not None and (snapshot.root / path).is_symlink():
        return i18n.message("repo.skip.symlink")
    return i18n.message("repo.skip.ignored") if _is_ignored(path, snapshot) else None


def files_to_copy(root: Path, exclude: Collection[str]) -> Iterator[str]:
    """The paths of a local folder that code under test may read: files tracked by git, also in submodules on disk, and
    untracked files that are neither ignored nor kept out by their names. Blocking.

    Args:
        root: the folder.
        exclude: the exclude patterns of the settings.

    Raises:
        SourceError: git can't list them, or there are too many.
    """
    patterns = PathPatterns((), exclude)
    try:
        tracked = cache(partial(local.tracked_paths, root))
        for path in map(os.fsdecode, local.list_paths(root)):
            if (root / path / ".git").exists():
                yield from (f"{path}/{inner}" for inner in files_to_copy(root / path, exclude))
            elif not (secret_name(path) or patterns.reason_to_skip(path)) or path in tracked():
                yield path
    except git_command.GitFailed as error:
        raise SourceError(i18n.message("repo.folder_not_listed", error=error)) from error


def _is_ignored(path: str, snapshot: Snapshot) -> bool:
    """Whether git ignores a path, or can't tell because the path leads through a link or into a submodule."""
    if snapshot.root is None or not local.is_work_tree(snapshot.root):
        is_committed = snapshot.git_dir is not None and find_raw(snapshot, path) is not None
        return not is_committed and _matches_ignore_file(path, snapshot)
    question = ["check-ignore", "--quiet", "--", f"./{path}"]
    try:
        git_command.run(snapshot.root, question, bare=False, ok=(1,))
    except git_command.GitFailed:
        return True
    return False


def _matches_ignore_file(path: str, snapshot: Snapshot) -> bool:
    """Whether a path or a folder of it matches the `.gitignore` files above it."""
    specs: tuple[tuple[str, GitIgnoreSpec], ...] = ()
    folder = ""
    for part in path.split("/"):
        patterns = find_raw(snapshot, f"{folder}.gitignore")
        if patterns is not None:
            lines = patterns.decode("utf-8", "replace").splitlines()
            specs = (*specs, (folder, ignore_spec(lines)))
        inner = f"{folder}{part}"
        folder = f"{inner}/"
        if local.ignored(inner if inner == path else folder, specs):
            return True
    return False
