"""Merges changes with what others did to the same files in the meantime: nobody's later work is overwritten."""

from __future__ import annotations

import tempfile
from collections.abc import Iterator, Sequence
from dataclasses import dataclass, replace
from difflib import SequenceMatcher
from pathlib import Path

from repopilot import i18n
from repopilot.errors import StorageError
from repopilot.redaction.redact import MARK, redacted
from repopilot.redaction.restore import restored
from repopilot.repo import git_command
from repopilot.repo.patches.diff_hunks import before_change
from repopilot.repo.text_encoding import any_text
from repopilot.types import FileChange

_CONFLICTS = range(1, 128)
"""Exit statuses of git merge-file that count conflicts."""


@dataclass(frozen=True, slots=True)
class MergedChange:
    """A change, ready to be written.

    Attributes:
        file: the change, merged with what others changed in other lines.
        by_others: whether others changed the file since the change was made.
        conflicts: where others changed the lines that the change is about, as `path:first-last` of the file on disk.
    """

    file: FileChange
    by_others: bool = False
    conflicts: tuple[str, ...] = ()


def merged(file: FileChange, target: Path) -> MergedChange:
    """Merge a change with the present content of its file. Blocking.

    Args:
        file: the change; its diff tells the text that it was made from.
        target: where the file lies.

    Raises:
        StorageError: the file can't be read, or the texts can't be merged.
    """
    there = _text_of(target, file.path)
    base = _with_secrets(before_change(file), there)
    ours = None if file.change == "deleted" else _with_secrets(file.content, there)
    if there in (base, ours):
        return MergedChange(file)
    if base is None or ours is None or there is None:
        return MergedChange(file, True, (file.path,))
    together = _three_way(base, ours, there)
    if together is None:
        places = tuple(f"{file.path}:{first}-{last}" for first, last in _touched(base, ours, there))
        return MergedChange(file, True, places or (file.path,))
    return MergedChange(replace(file, content=together), True)


def _text_of(target: Path, path: str) -> str | None:
    """The text of a file, None where there is none. Raises StorageError."""
    try:
        return any_text(target.read_bytes(), path) if target.exists() else None
    except OSError as error:
        raise StorageError(i18n.message("repo.not_written", path=path, error=error.strerror)) from error


def _with_secrets(text: str | None, there: str | None) -> str | None:
    """A text that was stored without the file's secrets, with the secrets put back."""
    return restored(text, redacted(there), there)[0] if text and there and MARK in text else text


def _three_way(base: str, ours: str, theirs: str) -> str | None:
    """The text with both changes; None where they conflict."""
    with tempfile.TemporaryDirectory(prefix="repopilot-merge-", ignore_cleanup_errors=True) as name:
        folder = Path(name)
        for side, text in (("ours", ours), ("base", base), ("theirs", theirs)):
            (folder / side).write_bytes(text.encode("utf-8", "surrogatepass"))
        command = ["merge-file", "--stdout", "--quiet", "ours", "base", "theirs"]
        try:
            done = git_command.run(folder, command, bare=False)
        except git_command.GitFailed as error:
            if error.status in _CONFLICTS:
                return None
            raise StorageError(i18n.message("repo.not_merged", error=error)) from error
    return done.decode("utf-8", "surrogatepass")


def _touched(base: str, ours: str, theirs: str) -> Iterator[tuple[int, int]]:
    """The first and last lines in `theirs` of each place where both changed the base."""
    own = [(start, end) for start, end, _, _ in _changed(base, ours)]
    for start, end, first, last in _changed(base, theirs):
        if any(start <= own_end and own_start <= end for own_start, own_end in own):
            yield first + 1, max(first + 1, last)


def _changed(old: str, new: str) -> Sequence[tuple[int, int, int, int]]:
    pieces = SequenceMatcher(None, old.split("\n"), new.split("\n"), autojunk=False).get_opcodes()
    return [(i1, i2, j1, j2) for tag, i1, i2, j1, j2 in pieces if tag != "equal"]
