"""Lists the files of a snapshot that are worth reading, the most useful first, and why the others are skipped."""

from __future__ import annotations

import os
import stat
import threading
from collections.abc import Iterable, Iterator, MutableMapping
from dataclasses import dataclass
from pathlib import Path, PurePosixPath

from repopilot import i18n
from repopilot.code.languages import file_kind, is_test_path, language_of, language_of_script
from repopilot.errors import Cancelled, SourceError
from repopilot.foreign_text import is_plain_name
from repopilot.redaction.redact import redacted
from repopilot.redaction.secret_paths import secret_name
from repopilot.repo import git_command, local
from repopilot.repo.git_command import GitFailed
from repopilot.repo.paths.path_rules import (
    PathPatterns,
    is_binary_name,
    is_inside,
    manifest_folders,
    reason_to_skip,
    usefulness,
)
from repopilot.repo.project_file import NAME, fits, project_file
from repopilot.repo.read import blob_id, read_bytes
from repopilot.settings import Settings
from repopilot.types import Skip, Snapshot, SourceFile

_MOST_SEARCHED = 32 << 20
"""The largest file that is searched for a name, in bytes."""
# path → (mtime in ns, size, inode, hash): lets a second walk skip reading what has not been touched
Hashes = MutableMapping[str, tuple[int, int, int, str]]


@dataclass(frozen=True, slots=True)
class _Entry:
    """One listed file. `hash` is '' for local files until they turn out to be worth reading."""

    path: str
    size: int
    hash: str = ""
    skip: str = ""
    stamp: tuple[int, int, int] = (0, 0, 0)
    executable: bool = False

    @property
    def file(self) -> SourceFile:
        return SourceFile(self.path, self.size, self.hash, language_of(self.path) or "", file_kind(self.path))


def walk(
    snapshot: Snapshot, settings: Settings, *, cancel: threading.Event | None = None, hashes: Hashes | None = None
) -> tuple[list[SourceFile], list[Skip]]:
    """List the files of a snapshot.

    Args:
        snapshot: the repository.
        settings: `max_file_kb` and the include and exclude patterns.
        cancel: ends the walk once set.
        hashes: kept by the caller; saves hashing local files that have not changed. Entries of files that are gone
            are removed.

    Returns:
        The files to read, the most useful folders first, and all others with the reason why not, sorted by path.

    Raises:
        SourceError: the snapshot can't be listed, or holds too many files.
        Cancelled: `cancel` was set.
    """
    listed = _committed_files(snapshot) if snapshot.git_dir else _local_files(snapshot)
    entries = list(_until(cancel, listed))
    paths = [entry.path for entry in entries]
    manifests = manifest_folders(paths)
    patterns = PathPatterns(settings.include, settings.exclude)
    own = project_file(snapshot).options
    hashes = {} if hashes is None else hashes
    files: list[SourceFile] = []
    skips: list[Skip] = []
    largest = settings.max_file_kb << 10
    programs = [e for e in entries if e.executable and not e.skip and not PurePosixPath(e.path).suffix]
    scripts = _script_languages(
        snapshot, [e for e in programs if not reason_to_skip(e.path, e.size, largest, manifests, script=True)]
    )
    for entry in _until(cancel, entries):
        reason = entry.skip or patterns.reason_to_skip(entry.path)
        is_script = entry.path in scripts
        reason = reason or reason_to_skip(entry.path, entry.size, largest, manifests, script=is_script)
        if not reason and entry.path != NAME and fits(entry.path, own.exclude):
            reason = i18n.message("repo.skip.project_file")
        digest = "" if reason else entry.hash or _local_hash(snapshot, entry, hashes)
        if reason or not digest:
            skips.append(Skip(redacted(entry.path), reason or i18n.message("repo.skip.unreadable")))
        else:
            language = language_of(entry.path) or scripts.get(entry.path, "")
            files.append(SourceFile(entry.path, entry.size, digest, language, file_kind(entry.path)))
    for removed in hashes.keys() - {file.path for file in files}:
        del hashes[removed]
    first = {file.path for file in files if fits(file.path, own.first)}
    return sorted(files, key=lambda f: (f.path not in first, usefulness(f.path))), sorted(skips, key=lambda s: s.path)


def _script_languages(snapshot: Snapshot, entries: Iterable[_Entry]) -> dict[str, str]:
    """The languages of the files that tell it by their first line (`#!`) and not by their name."""
    unnamed = [entry.file for entry in entries if not language_of(entry.path)]
    first = {file.path: (data or b"")[:200].partition(b"\n")[0] for file, data in read_bytes(snapshot, unnamed)}
    found = {path: language_of_script(line.decode("utf-8", "replace")) for path, line in first.items()}
    return {path: language for path, language in found.items() if language}


def searched_files(snapshot: Snapshot, settings: Settings) -> list[SourceFile]:
    """The regular files that are searched for a name: also those that aren't worth reading, but no secret, excluded or
    ignored ones, and no binary ones such as pictures. Their hashes are '' for a local folder.

    Args:
        snapshot: the repository.
        settings: the exclude patterns.

    Raises:
        SourceError: the snapshot can't be listed, or holds too many files.
    """
    patterns = PathPatterns((), settings.exclude)
    listed = _committed_files(snapshot) if snapshot.git_dir else _local_files(snapshot)
    kept = (e for e in listed if not e.skip and not secret_name(e.path) and not patterns.reason_to_skip(e.path))
    return [entry.file for entry in kept if not is_binary_name(entry.path) and entry.size <= _MOST_SEARCHED]


def copied_files(snapshot: Snapshot, settings: Settings) -> dict[SourceFile, bool]:
    """The files of a clone that code under test may read, and whether each is executable: also binary ones such as
    pictures, and files of tests that are named like secrets, such as certificates.

    Args:
        snapshot: the clone.
        settings: the exclude patterns.

    Raises:
        SourceError: the snapshot can't be listed, or holds too many files.
    """
    patterns = PathPatterns((), settings.exclude)
    kept = (e for e in _committed_files(snapshot) if not e.skip and not patterns.reason_to_skip(e.path))
    return {e.file: e.executable for e in kept if is_test_path(e.path) or not secret_name(e.path)}


def _until(cancel: threading.Event | None, entries: Iterable[_Entry]) -> Iterator[_Entry]:
    for number, entry in enumerate(entries):
        if number % 256 == 0 and cancel is not None and cancel.is_set():
            raise Cancelled(i18n.message("repo.stopped"))
        yield entry


def _committed_files(snapshot: Snapshot) -> Iterator[_Entry]:
    """The tree of the snapshot's commit. Paths stay relative to the repository's root, also below `subdir`."""
    args = ["ls-tree", "-r", "-z", "-l", "--full-tree", snapshot.commit]
    if snapshot.subdir:
        args += ["--", f"{snapshot.subdir}/"]
    found = 0
    for record in _records(snapshot.clone, args):
        found += 1
        if found > local.MAX_FILES:
            raise SourceError(
                i18n.message("repo.too_many_files", limit=local.MAX_FILES),
                i18n.message("repo.choose_subfolder"),
            )
        yield _tree_entry(record)
    if not found and snapshot.subdir:
        raise SourceError(
            i18n.message("repo.no_such_folder", folder=snapshot.subdir), i18n.message("repo.check_spelling")
        )


def _records(git_dir: Path, args: list[str]) -> Iterator[bytes]:
    """The NUL-separated output of a git command, streamed, so that a huge tree costs no memory."""
    try:
        yield from git_command.records(git_dir, args)
    except GitFailed as error:
        raise SourceError(
            i18n.message("repo.not_listed", error=error.stderr.strip()[-200:]), i18n.message("repo.open_again")
        ) from error


def _tree_entry(record: bytes) -> _Entry:
    meta, _, name = record.partition(b"\t")
    mode, _, digest, size = meta.split()
    path, skip = _decoded(name)
    if mode == b"120000":
        skip = i18n.message("repo.skip.symlink")
    elif mode == b"160000":
        skip = i18n.message("repo.skip.submodule")
    elif not size.isdigit():
        skip = skip or i18n.message("repo.skip.not_cloned")
    return _Entry(path, int(size) if size.isdigit() else 0, digest.decode(), skip, executable=mode == b"100755")


def _decoded(name: bytes) -> tuple[str, str]:
    """A path, and why its file isn't read whatever its content, '' for no reason. Git itself never stores a path that
    leads out of the repository, but a crafted repository may have one."""
    try:
        path = name.decode("utf-8")
    except UnicodeDecodeError:
        return name.decode("utf-8", "replace"), i18n.message("repo.skip.name_not_utf8")
    if not is_inside(path):
        return path, i18n.message("repo.skip.outside")
    return path, "" if is_plain_name(path) else i18n.message("repo.skip.hidden_in_name")


def _local_files(snapshot: Snapshot) -> Iterator[_Entry]:
    base = os.fsencode(snapshot.folder)
    prefix = f"{snapshot.subdir}/".encode() if snapshot.subdir else b""
    try:
        for name in local.list_paths(snapshot.folder):
            if name.startswith(prefix):
                entry = _local_entry(base, name)
                if entry is not None:
                    yield entry
    except GitFailed as error:
        raise SourceError(i18n.message("repo.folder_not_listed", error=error)) from error


def _local_entry(base: bytes, name: bytes) -> _Entry | None:
    """A file on disk; None when it has been deleted since it was listed."""
    path, skip = _decoded(name)
    try:
        found = os.lstat(base + b"/" + name)
    except OSError:
        return None
    if stat.S_ISLNK(found.st_mode):
        skip = i18n.message("repo.skip.symlink")
    elif stat.S_ISDIR(found.st_mode):
        skip = i18n.message("repo.skip.submodule")
    elif not stat.S_ISREG(found.st_mode):
        skip = i18n.message("repo.skip.not_regular")
    stamp = found.st_mtime_ns, found.st_size, found.st_ino
    return _Entry(path, found.st_size, "", skip, stamp, executable=bool(found.st_mode & stat.S_IXUSR))


def _local_hash(snapshot: Snapshot, entry: _Entry, hashes: Hashes) -> str:
    """The git blob id of the file's bytes on disk, '' when it can't be read."""
    known = hashes.get(entry.path)
    if known is not None and known[:3] == entry.stamp:
        return known[3]
    try:
        with open(f"{snapshot.folder}/{entry.path}", "rb", buffering=0) as file:  # pathlib doubles the time of a walk
            data = file.read()
    except OSError:
        return ""
    digest = blob_id(data)
    hashes[entry.path] = (*entry.stamp, digest)
    return digest
