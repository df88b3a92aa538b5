"""Unified diffs as values: what a patch changes, and whether it fits a snapshot. Pure but for `check_patch`."""

from __future__ import annotations

import re
from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from typing import Literal

from repopilot.errors import SourceError
from repopilot.repo.read import read_raw
from repopilot.types import Snapshot

Status = Literal["added", "deleted", "modified", "renamed"]


@dataclass(frozen=True, slots=True)
class Hunk:
    """A run of changed lines. Line numbers are 1-based; `lines` keep their first character: ' ', '+' or '-'."""

    old_start: int
    old_lines: int
    new_start: int
    new_lines: int
    lines: tuple[str, ...]


@dataclass(frozen=True, slots=True)
class FileDiff:
    """One file's change. `old_path` differs from `path` only when renamed; binary files have no hunks."""

    path: str
    old_path: str
    status: Status
    hunks: tuple[Hunk, ...] = ()
    binary: bool = False


def added_lines(diff: FileDiff) -> frozenset[int]:
    """The numbers, in the new file, of the lines the change added or rewrote."""
    found = set()
    for hunk in diff.hunks:
        number = hunk.new_start
        for line in hunk.lines:
            if line.startswith("+"):
                found.add(number)
            if not line.startswith("-"):
                number += 1
    return frozenset(found)


def touched_lines(diff: FileDiff) -> frozenset[int]:
    """The numbers, in the old file, of removed lines, and of the line before each pure insertion."""
    found = set()
    for hunk in diff.hunks:
        number = hunk.old_start
        for line in hunk.lines:
            if line.startswith("-"):
                found.add(number)
            elif line.startswith("+"):
                found.add(max(number - 1, 1))
            if not line.startswith("+"):
                number += 1
    return frozenset(found)


def parse_patch(text: str) -> list[FileDiff]:
    """The files a unified diff (plain, git's, or a mailed patch) changes. Raises SourceError on a malformed one."""
    files = [_file_diff(file) for file in _parsed(text)]
    if not files:
        raise SourceError("This is not a patch: no changed file was found in it.", "Give a unified diff (git diff).")
    return [file for file in files if file.hunks or file.binary or file.status != "modified"]


def with_names(text: str, names: Sequence[tuple[Status, str, str]]) -> list[FileDiff]:
    """The same for git's own output, where (status, old path, path) are known exactly, in the same order."""
    files = list(_parsed(text))
    if len(files) != len(names):
        raise SourceError("git's diff could not be read.", "Report this as a fault of RepoPilot.")
    return [
        FileDiff(path, old_path, status, _hunks(file), bool(file.is_binary_file))
        for file, (status, old_path, path) in zip(files, names, strict=True)
    ]


def _parsed(text: str) -> Iterable:
    import unidiff

    try:
        return unidiff.PatchSet(text.replace("\r\n", "\n"))
    except (unidiff.UnidiffParseError, ValueError, IndexError) as error:
        raise SourceError(
            f"The patch is malformed: {str(error).strip()[:200]}.", "Give a unified diff (git diff)."
        ) from error


def _file_diff(file) -> FileDiff:
    path, old_path = _stripped(file.target_file), _stripped(file.source_file)
    status: Status = "modified"
    if file.is_added_file or old_path == "/dev/null":
        status, old_path = "added", path
    elif file.is_removed_file or path == "/dev/null":
        status, path = "deleted", old_path
    elif path != old_path:
        status = "renamed"
    return FileDiff(path, old_path, status, _hunks(file), bool(file.is_binary_file))


def _hunks(file) -> tuple[Hunk, ...]:
    return tuple(
        Hunk(h.source_start, h.source_length, h.target_start, h.target_length,
             tuple((line.line_type or " ") + line.value.removesuffix("\n") for line in h if line.line_type != "\\"))
        for h in file
    )  # fmt: skip


def _stripped(name: str) -> str:
    """A path of a patch's header, unquoted as git quotes, without its a/ or b/."""
    if len(name) > 1 and name[0] == name[-1] == '"':
        name = _unquoted(name[1:-1])
    return re.sub(r"^[abciow]/", "", name)


def _unquoted(name: str) -> str:
    simple = {
        "n": b"\n",
        "t": b"\t",
        "r": b"\r",
        '"': b'"',
        "\\": b"\\",
        "a": b"\a",
        "b": b"\b",
        "f": b"\f",
        "v": b"\v",
    }
    out = b""
    for part in re.findall(r"\\[0-7]{3}|\\.|[^\\]+|\\", name, re.DOTALL):
        if re.fullmatch(r"\\[0-7]{3}", part):
            out += bytes([int(part[1:], 8) & 255])
        elif part.startswith("\\") and part[1:] in simple:
            out += simple[part[1:]]
        else:
            out += part.encode()
    return out.decode("utf-8", "replace")


def check_patch(snapshot: Snapshot, diffs: Sequence[FileDiff]) -> list[str]:
    """Why the changes don't fit the snapshot, one sentence each; empty when every hunk's old lines are found."""
    return [problem for diff in diffs for problem in _misfits(snapshot, diff)]


def _misfits(snapshot: Snapshot, diff: FileDiff) -> list[str]:
    try:
        lines = read_raw(snapshot, diff.old_path).decode("utf-8", "replace").splitlines()
    except SourceError:
        lines = None
    if diff.status == "added":
        return [f"{diff.path} is already there."] if lines is not None else []
    if lines is None:
        return [f"{diff.old_path} is not in the repository at this commit."]
    return [f"{diff.old_path}: the lines expected at line {hunk.old_start} are not there."
            for hunk in diff.hunks if not _fits(hunk, lines)]  # fmt: skip


def _fits(hunk: Hunk, lines: Sequence[str]) -> bool:
    """At its place, or moved as a whole to another, as `git apply` would accept."""
    old = [line[1:].rstrip("\r") for line in hunk.lines if not line.startswith("+")]
    start = max(hunk.old_start - 1, 0)
    if list(lines[start : start + len(old)]) == old:
        return True
    return any(list(lines[at : at + len(old)]) == old for at in range(len(lines) - len(old) + 1))
