"""Puts a change on a branch of a local repository, on request only. Work tree, index and HEAD stay as they are."""

from __future__ import annotations

import re
from collections.abc import Iterable, Iterator, Mapping
from functools import partial
from pathlib import Path

from repopilot import i18n
from repopilot.errors import StorageError, UsageError
from repopilot.repo import git_command, local
from repopilot.repo.git_command import GitFailed
from repopilot.repo.patches.apply import merged_changes, new_content, safe_target
from repopilot.repo.patches.diff_hunks import hunks_of
from repopilot.repo.publish.changed_tree import ADDRESS, NAME, changed_tree
from repopilot.types import FileChange

_NO_COMMIT = "0" * 40


def create_branch(root: Path, name: str, files: Iterable[FileChange], message: str) -> str:
    """Commit a change on top of HEAD, on a new branch.

    Args:
        root: the local folder, in a git work tree; the paths of the files are relative to it.
        name: of the branch, which must not exist.
        files: the change.
        message: of the commit.

    Returns:
        The id of the commit.

    Raises:
        UsageError: the folder is no git repository or has no commit, the branch exists, one of the files has changes
            that are not committed, or it can't be written as it is (see `apply.new_content`).
        StorageError: a file can't be read, a later commit changed the same lines, or git can't write the objects.
    """
    changes = tuple(files)
    try:
        top = Path(local.run_git(root, "rev-parse", "--show-toplevel").decode().rstrip("\n"))
        prefix = local.run_git(root, "rev-parse", "--show-prefix").decode().rstrip("\n")
        head = local.run_git(root, "rev-parse", "--verify", "--quiet", "HEAD^{commit}").decode().strip()
    except GitFailed as error:
        raise UsageError(i18n.message("repo.branch.no_commit", folder=root)) from error
    paths = {prefix + file.path: file for file in changes}
    try:
        _check(top, name, paths)
        paths = {prefix + file.path: file for file in _with_later_commits(root, changes)}
        tree = changed_tree(partial(_git, top), head, paths, partial(_content, root), lambda path: f"--path={path}")
        commit = _git(top, _identity(top), "commit-tree", tree, "-p", head, "-m", message)
        _git(top, {}, "update-ref", f"refs/heads/{name}", commit, _NO_COMMIT)
    except (GitFailed, OSError) as error:
        raise StorageError(i18n.message("repo.branch.failed", name=name, error=error)) from error
    return commit


def branch_name(task: str) -> str:
    """A branch named after a task."""
    slug = "-".join(re.findall(r"[a-z0-9]+", task.lower())[:6])
    return f"repopilot/{slug or 'change'}"


def _check(top: Path, name: str, paths: Mapping[str, FileChange]) -> None:
    """Raises UsageError for a branch that exists, or a file with changes that the commit would take along."""
    if git_command.resolve(top, f"refs/heads/{name}", bare=False) is not None:
        raise UsageError(i18n.message("repo.branch.exists", name=name))
    literal = [f":(top,literal){path}" for path in paths]
    changed = _git(top, {}, "status", "--porcelain", "--untracked-files=all", "--", *literal)
    if changed:
        raise UsageError(i18n.message("repo.branch.uncommitted", path=changed.split("\n")[0][3:].strip() or changed))


def _with_later_commits(root: Path, changes: Iterable[FileChange]) -> Iterator[FileChange]:
    """The changes, merged with what was committed since they were made. One without hunks doesn't tell what it was made
    from."""
    for change in changes:
        yield merged_changes(root, [change])[0].file if hunks_of(change) else change


def _content(root: Path, file: FileChange, _: str) -> bytes:
    """The bytes of a changed file as the work tree would have them; git then filters them as it filters files from
    there. The old blob can't take the place of the old file, since its line ends and encoding may differ."""
    target = safe_target(root, file.path)
    return new_content(target.read_bytes() if target.exists() else None, file)


def _identity(top: Path) -> dict[str, str]:
    """The user's name and email address, from wherever git reads their configuration, else RepoPilot's."""
    env = local.with_users_configuration()
    found = {}
    for part, default in (("name", NAME), ("email", ADDRESS)):
        try:
            value = git_command.run(top, ["config", f"user.{part}"], env, bare=False).decode("utf-8", "replace").strip()
        except GitFailed:
            value = ""
        for who in ("AUTHOR", "COMMITTER"):
            found[f"GIT_{who}_{part.upper()}"] = value or default
    return found


def _git(top: Path, variables: Mapping[str, str], *args: str) -> str:
    return local.run_git(top, *args, variables=variables).decode("utf-8", "replace").strip("\n")
