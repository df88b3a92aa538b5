"""Commits a change on top of a commit of a clone, and pushes it as a new branch. No work tree, no hooks."""

from __future__ import annotations

from collections.abc import Callable, Iterable
from contextlib import suppress
from pathlib import Path

from repopilot import i18n
from repopilot.errors import SourceError, UsageError
from repopilot.repo import git_command
from repopilot.repo.clone import clone_lock, fetch_limits, remote_of
from repopilot.repo.git_command import GitFailed, Supervision
from repopilot.repo.patches.apply import new_content
from repopilot.repo.publish.changed_tree import ADDRESS, NAME, changed_tree
from repopilot.repo.remote import network
from repopilot.repo.remote.fetch import list_refs, storing
from repopilot.settings import Settings
from repopilot.types import FileChange, Snapshot

MOST_BRANCHES = 50


def push_branch(
    snapshot: Snapshot,
    wanted: str,
    files: Iterable[FileChange],
    message: str,
    settings: Settings,
    *,
    onto_branch: bool = False,
    fork: tuple[str, Callable[[str], object]] | None = None,
) -> tuple[str, str]:
    """Commit files on top of a clone's commit, and push that as a branch of its origin or of a fork.

    Args:
        snapshot: a clone that RepoPilot made.
        wanted: the name of the branch; a number is appended if the remote already has one of that name.
        files: the change.
        message: of the commit.
        settings: how remotes are reached.
        onto_branch: push to the existing branch of that name, whose tip must be the clone's commit; other work is
            never overwritten.
        fork: an address to push to instead of the origin, and a function that creates a branch there at the clone's
            commit. It is called if the fork has no ref at that commit: from a shallow clone, git can push only commits
            on top of one that the remote has.

    Returns:
        (the branch, the commit).

    Raises:
        UsageError: a file can't be written as it is.
        SourceError: the remote refuses, or can't be reached.
        StorageError: the clone can't be written.
    """
    git_dir = snapshot.clone
    limits = fetch_limits(settings)
    remote = network.check(fork[0], settings) if fork else remote_of(git_dir, settings, None)
    with clone_lock(git_dir, limits), storing():
        commit = _commit(git_dir, snapshot.commit, list(files), message)
        taken = list_refs(git_dir, remote, limits).commits
        names = (wanted if n == 1 else f"{wanted}-{n}" for n in range(1, MOST_BRANCHES))
        branch = wanted if onto_branch else next((name for name in names if f"refs/heads/{name}" not in taken), "")
        if not branch:
            raise UsageError(i18n.message("repo.branch.exists", name=wanted))
        started = fork is not None and snapshot.commit not in taken.values()
        if fork and started:
            fork[1](branch)

        def push(what: str, *options: str) -> None:
            args = ["push", "--quiet", "--no-verify", *options, "--", remote.url, f"{what}:refs/heads/{branch}"]
            patience = Supervision(settings.clone_timeout_s)
            git_command.run(git_dir, args, git_command.fetching(remote), supervision=patience)

        try:
            push(commit)
        except GitFailed as error:
            if started:  # nothing was pushed: remove the branch that was created for it, if the host allows that
                with suppress(GitFailed):
                    push("", f"--force-with-lease=refs/heads/{branch}:{snapshot.commit}")
            raise SourceError(
                i18n.message("repo.push_refused", name=branch, error=str(error)[:300]),
                i18n.message("repo.push_refused_hint"),
            ) from error
    return branch, commit


def _commit(git_dir: Path, base: str, files: list[FileChange], message: str) -> str:
    """The commit of the base's tree with the changes. Raises GitFailed."""

    def git(variables: dict[str, str], *args: str) -> str:
        return _git(git_dir, variables, *args).decode().strip()

    def content(file: FileChange, old: str) -> bytes:
        return new_content(_git(git_dir, {}, "cat-file", "blob", old) if old else None, file)

    changes = {file.path: file for file in files}
    tree = changed_tree(git, base, changes, content, lambda _: "--no-filters", "--missing-ok")
    identity = (("NAME", NAME), ("EMAIL", ADDRESS))
    who = {f"GIT_{role}_{part}": value for role in ("AUTHOR", "COMMITTER") for part, value in identity}
    return git(who, "commit-tree", tree, "-p", base, "-m", message)


def _git(git_dir: Path, variables: dict[str, str], *args: str) -> bytes:
    return git_command.run(git_dir, list(args), git_command.reading() | variables)
