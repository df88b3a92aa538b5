"""Local folders: a git work tree, a folder inside one, a bare repository, or no repository at all. Read only."""

from __future__ import annotations

import hashlib
import os
from collections.abc import Iterator, Mapping
from contextlib import closing
from itertools import takewhile
from pathlib import Path

from pathspec import GitIgnoreSpec

from repopilot import i18n
from repopilot.errors import SourceError
from repopilot.repo import git_command
from repopilot.repo.git_command import GitFailed
from repopilot.repo.paths.git_patterns import ignore_spec
from repopilot.types import Snapshot, Source

UNVERSIONED = "unversioned"
MAX_FILES = 500_000
_LINE_ENDS = ("core.autocrlf", "core.eol")


def open_folder(source: Source) -> Snapshot:
    """The snapshot of a local folder as it is on disk, with uncommitted changes.

    Raises:
        SourceError: the folder can't be read or is empty, or a bare repository has no such commit.
    """
    root = source.path
    assert root is not None
    try:
        if not any(root.iterdir()):
            raise SourceError(i18n.message("repo.folder_empty", folder=root))
    except OSError as error:
        raise SourceError(
            i18n.message("repo.folder_unreadable", folder=root, error=error.strerror or error),
            i18n.message("repo.check_permissions"),
        ) from error
    key = folder_key(root)
    if is_bare(root):
        return _open_bare(source, root, key)
    commit, branch = folder_head(root)
    return Snapshot(key=key, name=source.name, commit=commit, root=root, ref=branch, subdir=source.subdir)


def folder_key(root: Path) -> str:
    """The key that a local folder's data is stored under."""
    return f"{root.name or 'root'}-{hashlib.sha256(str(root).encode()).hexdigest()[:10]}"


def is_bare(path: Path) -> bool:
    """Whether a folder is a git directory itself (a bare repository, or a `.git` folder)."""
    return (path / "HEAD").is_file() and (path / "objects").is_dir() and (path / "refs").is_dir()


def _open_bare(source: Source, git_dir: Path, key: str) -> Snapshot:
    commit = git_command.resolve(git_dir, source.ref or "HEAD")
    if commit is None:
        missing = "repo.no_such_ref" if source.ref else "repo.no_commit"
        raise SourceError(i18n.message(missing, name=source.name, ref=source.ref))
    return Snapshot(
        key=f"{key}-{hashlib.sha256(source.ref.encode()).hexdigest()[:8]}" if source.ref else key,
        name=source.name.removesuffix(".git"),
        commit=commit,
        git_dir=git_dir,
        ref=source.ref,
        subdir=source.subdir.strip("/"),
    )


def run_git(root: Path, *args: str, variables: Mapping[str, str] | None = None) -> bytes:
    """Run git in a work tree, with all configured filters switched off, the user's options for line endings, and
    further environment `variables`. Raises GitFailed."""
    env = git_command.reading(_own_configuration(root)) | dict(variables or {})
    return git_command.run(root, args, env, bare=False)


def _own_configuration(root: Path) -> dict[str, str]:
    """Configuration that empties every filter command, which comparing files would run, and keeps the user's options
    for line endings: without them a file with Windows line endings would count as changed."""
    args = ["config", "--null", "--get-regexp", r"^(filter\..*|core\.(autocrlf|eol))$"]
    env = with_users_configuration()
    listed = git_command.run(root, args, env, bare=False, ok=(0, 1, 128)).decode("utf-8", "replace")
    values = {key: value for key, _, value in (each.partition("\n") for each in listed.split("\0") if each)}
    off = {key: values.pop(key) or "true" for key in _LINE_ENDS if key in values}
    drivers = {key.rpartition(".")[0] for key in values}
    for driver in drivers:
        off |= {f"{driver}.clean": "", f"{driver}.smudge": "", f"{driver}.process": "", f"{driver}.required": "false"}
    return off


def with_users_configuration() -> dict[str, str]:
    """The environment for `git config`, which starts no program, to read also what the user and the machine set."""
    return {name: value for name, value in git_command.reading().items() if name not in git_command.OTHERS_OFF}


def is_work_tree(root: Path) -> bool:
    """Whether the folder is in a git work tree and not ignored by it."""
    try:
        ignored = git_command.run(root, ["check-ignore", "."], bare=False, ok=(0, 1))
    except GitFailed:  # no work tree
        return False
    return not ignored


def work_tree_top(root: Path) -> Path | None:
    """The top folder of the git work tree that a folder is in; None where it is in none."""
    try:
        top = git_command.run(root, ["rev-parse", "--show-toplevel"], bare=False)
    except GitFailed:
        return None
    return Path(top.decode().strip()).resolve()


def folder_head(root: Path) -> tuple[str, str | None]:
    """What a folder has checked out, by a single `git status`.

    Returns:
        The commit, with `+dirty` where the folder differs from it, or `unversioned`; and the branch, None when detached
        or no repository.
    """
    if not is_work_tree(root):
        return UNVERSIONED, None
    args = ["status", "--porcelain=v2", "--branch", "--no-ahead-behind", "-z"]
    args += ["--untracked-files=normal", "--ignore-submodules=all", "--", "."]
    try:
        records = run_git(root, *args).decode("utf-8", "replace").split("\0")
    except GitFailed:
        return UNVERSIONED, None
    # Only the first records are headers: a file's name may look like one.
    headers = [record.split(" ", 2)[1:] for record in takewhile(lambda record: record.startswith("# "), records)]
    changed = records[len(headers)] != ""
    head = dict(headers)
    commit = UNVERSIONED if head["branch.oid"] == "(initial)" else head["branch.oid"]
    branch = None if head["branch.head"] == "(detached)" else head["branch.head"]
    return f"{commit}+dirty" if changed and commit != UNVERSIONED else commit, branch


def list_paths(root: Path) -> Iterator[bytes]:
    """The paths below a folder that git would not ignore, relative to it.

    Raises:
        SourceError: there are more than MAX_FILES.
        GitFailed: git can't list them.
    """
    own = ("--cached", "--others", "--exclude-standard")
    listed = _listed(root, *own) if is_work_tree(root) else _walk_plain(root)
    for count, name in enumerate(listed):
        if count == MAX_FILES:
            raise SourceError(
                i18n.message("repo.too_many_files", limit=MAX_FILES), i18n.message("repo.choose_subfolder")
            )
        yield name


def tracked_paths(root: Path) -> frozenset[str]:
    """The paths that git tracks below a folder, relative to it; none outside a work tree. Raises GitFailed."""
    return frozenset(map(os.fsdecode, _listed(root, "--cached"))) if is_work_tree(root) else frozenset()


def _listed(root: Path, *which: str) -> Iterator[bytes]:
    args = ["ls-files", "-z", *which, "--deduplicate", "--", "."]
    with closing(git_command.records(root, args, bare=False)) as listed:
        yield from (name for name in listed if name)


def _walk_plain(root: Path) -> Iterator[bytes]:
    """Every file under a folder without git, minus what its (nested) `.gitignore` files exclude."""
    pending: list[tuple[str, tuple[tuple[str, GitIgnoreSpec], ...]]] = [("", ())]
    while pending:
        folder, specs = pending.pop()
        try:
            entries = sorted(os.scandir(root / folder), key=lambda e: e.name)
        except OSError:
            continue  # unreadable or just deleted: nothing in it can be read either
        specs = (*specs, *_own_ignore(root, folder))
        for entry in entries:
            path = f"{folder}{entry.name}"
            is_folder = entry.is_dir(follow_symlinks=False)
            if entry.name == ".git" or ignored(path + "/" if is_folder else path, specs):
                continue
            if is_folder:
                pending.append((path + "/", specs))
                continue
            yield os.fsencode(path)


def _own_ignore(root: Path, folder: str) -> tuple[tuple[str, GitIgnoreSpec], ...]:
    file = root / folder / ".gitignore"
    try:
        if file.is_symlink() or not file.is_file():
            return ()
        lines = file.read_text("utf-8", "replace").splitlines()
    except OSError:
        return ()
    return ((folder, ignore_spec(lines)),)


def ignored(path: str, specs: tuple[tuple[str, GitIgnoreSpec], ...]) -> bool:
    """Whether a path is ignored: the innermost `.gitignore` with a matching pattern decides."""
    for folder, spec in reversed(specs):
        verdict = spec.check_file(path[len(folder) :]).include
        if verdict is not None:
            return verdict
    return False
