"""Diffs in a clone that lacks its largest files: git's diff of all other files, and the missing ones by name."""

from __future__ import annotations

import tempfile
from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path

from repopilot.repo import git_command
from repopilot.repo.patches.patch import FileDiff, Status, read_diff

_STATUS: dict[bytes, Status] = {b"A": "added", b"D": "deleted"}
_SUBMODULE = b"160000"


@dataclass(frozen=True, slots=True)
class _Changed:
    """A changed file: the mode and the id of its new version (zeros for none), and the id of its old one."""

    path: bytes
    letter: bytes
    mode: bytes
    old: bytes
    new: bytes


def diff_without_left_out(
    git_dir: Path, command: Sequence[str], old: str, new: str, paths: Sequence[str]
) -> list[FileDiff]:
    """The difference between two commits some of whose files are missing from the repository.

    git can't compare those files. So the old commit is compared with an index that has all changes to other files.

    Args:
        git_dir: the clone.
        command: `diff` and its options.
        old: the commit before.
        new: the commit after it.
        paths: `--` and the paths to narrow the difference to; () for all.

    Returns:
        One value for each changed file; renames are found only among files that are in the repository.

    Raises:
        GitFailed: something else is missing, too.
    """
    env = git_command.reading()
    raw = [*command, "--raw", "-z", "--no-abbrev", "--no-renames", old, new, *paths]
    changed = _changed(git_command.run(git_dir, raw, env))
    missing = _missing(git_dir, changed)
    present = [each for each in changed if not missing & {each.old, each.new}]
    with tempfile.TemporaryDirectory(prefix="repopilot-diff-", ignore_cleanup_errors=True) as folder:
        own = {**env, "GIT_INDEX_FILE": f"{folder}/index"}
        git_command.run(git_dir, ["read-tree", old], own)
        # Deletions first: a folder may take the place of a file.
        records = sorted((each.letter != b"D", b"%b %b\t%b\0" % (each.mode, each.new, each.path)) for each in present)
        given = b"".join(record for _, record in records)
        git_command.run(git_dir, ["update-index", "-z", "--index-info"], own, given=given)
        text = git_command.run(git_dir, [*command, "--cached", "-p", old, *paths], own)
    left_out = [_left_out(each) for each in changed if missing & {each.old, each.new}]
    return read_diff(text.decode("utf-8", "replace")) + left_out


def _left_out(changed: _Changed) -> FileDiff:
    path = changed.path.decode("utf-8", "replace")
    return FileDiff(path, path, _STATUS.get(changed.letter, "modified"), left_out=True)


def _changed(raw: bytes) -> list[_Changed]:
    """The files of `git diff --raw -z --no-renames`."""
    fields = raw.split(b"\0")
    found = []
    for meta, path in zip(fields[::2], fields[1::2], strict=False):
        _, mode, old, new, letter = meta.split(b" ")
        found.append(_Changed(path, letter, mode, old, new))
    return found


def _missing(git_dir: Path, changed: Sequence[_Changed]) -> frozenset[bytes]:
    """The ids of the versions that are not in the repository."""
    ids = {each for one in changed for each in (one.old, one.new) if each.strip(b"0") and one.mode != _SUBMODULE}
    listed = git_command.run(git_dir, ["cat-file", "--batch-check"], given=b"\n".join(sorted(ids)) + b"\n")
    return frozenset(line.split(b" ")[0] for line in listed.split(b"\n") if line.endswith(b" missing"))
