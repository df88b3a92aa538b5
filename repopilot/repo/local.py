"""Local folders: a git work tree, a folder inside one, a bare repository, or no repository at all. Never written to."""

from __future__ import annotations

import hashlib
import os
from collections.abc import Iterator
from pathlib import Path

from pathspec import GitIgnoreSpec

from repopilot.errors import SourceError
from repopilot.repo import git_command
from repopilot.repo.git_command import GitFailed
from repopilot.settings import Settings
from repopilot.types import Snapshot, Source

UNVERSIONED = "unversioned"
MAX_FILES = 500_000


def open_folder(source: Source, settings: Settings) -> Snapshot:
    """The folder as it lies on disk, committed or not. Raises SourceError when it can't be read or is empty."""
    root = source.path
    assert root is not None
    try:
        if not any(root.iterdir()):
            raise SourceError(f"The folder {root} is empty.")
    except OSError as error:
        raise SourceError(
            f"The folder {root} can't be read: {error.strerror or error}.", "Check its permissions."
        ) from error
    key = f"{root.name or 'root'}-{hashlib.sha256(str(root).encode()).hexdigest()[:10]}"
    if is_bare(root):
        return _open_bare(source, root, key)
    name = source.name
    return Snapshot(
        key=key, name=name, commit=folder_commit(root), root=root, ref=branch_of(root), subdir=source.subdir
    )


def is_bare(path: Path) -> bool:
    """Whether a folder is a git directory itself (a bare repository, or a `.git` folder)."""
    return (path / "HEAD").is_file() and (path / "objects").is_dir() and (path / "refs").is_dir()


def _open_bare(source: Source, git_dir: Path, key: str) -> Snapshot:
    try:
        args = ["rev-parse", "--verify", "--quiet", "--end-of-options", f"{source.ref or 'HEAD'}^{{commit}}"]
        commit = git_command.run(git_dir, args, git_command.reading()).decode().strip()
    except GitFailed as error:
        wanted = f"no branch, tag or commit “{source.ref}”" if source.ref else "no commit yet"
        raise SourceError(f"{source.name} has {wanted}.") from error
    place = f"{key}-{hashlib.sha256(source.ref.encode()).hexdigest()[:8]}" if source.ref else key
    return Snapshot(
        key=place,
        name=source.name.removesuffix(".git"),
        commit=commit,
        git_dir=git_dir,
        ref=source.ref,
        subdir=source.subdir.strip("/"),
    )


def git(root: Path, *args: str, ok: tuple[int, ...] = (0,)) -> bytes:
    """Run git in a work tree, with the filters its own configuration defines switched off. Raises GitFailed."""
    return git_command.run(root, args, git_command.reading(_no_filters(root)), bare=False, ok=ok)


def _no_filters(root: Path) -> dict[str, str]:
    """Configuration that empties every filter command of the repository: comparing files would run them."""
    args = ["config", "--null", "--name-only", "--get-regexp", r"^filter\."]
    listed = git_command.run(root, args, git_command.reading(), bare=False, ok=(0, 1, 128)).decode("utf-8", "replace")
    drivers = {key.rpartition(".")[0] for key in listed.split("\0") if key}
    off = {}
    for driver in drivers:
        off |= {f"{driver}.clean": "", f"{driver}.smudge": "", f"{driver}.process": "", f"{driver}.required": "false"}
    return off


def is_work_tree(root: Path) -> bool:
    """Whether the folder lies in a git work tree, and is not one of its ignored folders."""
    try:
        inside = git_command.run(
            root, ["rev-parse", "--is-inside-work-tree"], git_command.reading(), bare=False
        ).strip()
    except GitFailed:
        return False
    return inside == b"true" and not _is_ignored(root)


def _is_ignored(root: Path) -> bool:
    try:
        git_command.run(root, ["check-ignore", "-q", "."], git_command.reading(), bare=False)
    except GitFailed:
        return False
    return True


def folder_commit(root: Path) -> str:
    """The commit of a folder's HEAD, with `+dirty` where the folder differs from it, or `unversioned`."""
    if not is_work_tree(root):
        return UNVERSIONED
    try:
        head = git(root, "rev-parse", "--verify", "--quiet", "HEAD").decode().strip()
        changed = git(
            root, "status", "--porcelain", "-z", "--untracked-files=normal", "--ignore-submodules=all", "--", "."
        )
    except GitFailed:
        return UNVERSIONED
    return f"{head}+dirty" if changed else head


def branch_of(root: Path) -> str | None:
    """The branch a work tree has checked out; None when detached or no repository."""
    try:
        return (
            git_command.run(root, ["symbolic-ref", "--short", "-q", "HEAD"], git_command.reading(), bare=False)
            .decode()
            .strip()
        )
    except GitFailed:
        return None


def names(root: Path) -> Iterator[bytes]:
    """The paths under a folder that git would not ignore, relative to it. Raises SourceError beyond MAX_FILES."""
    if is_work_tree(root):
        listed = git(root, "ls-files", "-z", "--cached", "--others", "--exclude-standard", "--deduplicate", "--", ".")
        yield from (name for name in listed.split(b"\0") if name)
    else:
        yield from _walk_plain(root)


def _walk_plain(root: Path) -> Iterator[bytes]:
    """Every file under a folder without git, minus what its (nested) `.gitignore` files exclude."""
    count = 0
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
            if entry.name == ".git" or _ignored(path + "/" if is_folder else path, specs):
                continue
            if is_folder:
                pending.append((path + "/", specs))
                continue
            count += 1
            if count > MAX_FILES:
                raise SourceError(f"The folder holds more than {MAX_FILES:,} files.", "Choose a folder inside it.")
            yield os.fsencode(path)


def _own_ignore(root: Path, folder: str) -> tuple[tuple[str, GitIgnoreSpec], ...]:
    file = root / folder / ".gitignore"
    try:
        if file.is_symlink() or not file.is_file():
            return ()
        lines = file.read_text("utf-8", "replace").splitlines()
    except OSError:
        return ()
    return ((folder, GitIgnoreSpec.from_lines(lines)),)


def _ignored(path: str, specs: tuple[tuple[str, GitIgnoreSpec], ...]) -> bool:
    """The innermost `.gitignore` that says anything about the path decides."""
    for folder, spec in reversed(specs):
        verdict = spec.check_file(path[len(folder) :]).include
        if verdict is not None:
            return verdict
    return False


def fingerprint(snapshot: Snapshot) -> str:
    """A digest of a folder's file names, times and sizes, and of its HEAD: cheap, and changes when any file does."""
    assert snapshot.root is not None
    digest = hashlib.sha256(branch_head(snapshot.root).encode())
    base = os.fsencode(snapshot.root)
    for name in sorted(names(snapshot.root)):
        try:
            found = os.lstat(base + b"/" + name)
        except OSError:
            continue  # deleted since it was listed
        digest.update(b"%b\0%d\0%d\0" % (name, found.st_mtime_ns, found.st_size))
    return digest.hexdigest()


def branch_head(root: Path) -> str:
    """The commit of HEAD, '' where there is none."""
    try:
        return (
            git_command.run(root, ["rev-parse", "--verify", "-q", "HEAD"], git_command.reading(), bare=False)
            .decode()
            .strip()
        )
    except GitFailed:
        return ""


def changed(snapshot: Snapshot, since: str = "") -> bool:
    """Whether a local folder differs from what the snapshot described.

    With `since`, an earlier `fingerprint`, any change counts; without it only HEAD moving and the folder becoming
    clean or dirty. Always False for clones, which change only by being opened again.
    """
    if snapshot.root is None:
        return False
    return fingerprint(snapshot) != since if since else folder_commit(snapshot.root) != snapshot.commit
