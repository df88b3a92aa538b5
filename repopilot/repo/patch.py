"""Unified diffs as values: what a patch changes. Pure."""

from __future__ import annotations

import re
from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from typing import Any, Literal

from repopilot import i18n
from repopilot.errors import SourceError, SourceMalformed
from repopilot.redaction.redact import redacted

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


def parse_patch(text: str) -> list[FileDiff]:
    """The files that a unified diff (plain, git's, or a mailed patch) changes. Raises SourceError on any other text."""
    files = [_file_diff(file) for file in _parsed(text)]
    if not files:
        raise SourceMalformed(i18n.message("repo.not_a_patch"), i18n.message("repo.give_unified_diff"))
    return [file for file in files if file.hunks or file.binary or file.status != "modified"]


def with_names(text: str, names: Sequence[tuple[Status, str, str]]) -> list[FileDiff]:
    """Parse git's own diff, whose files are known exactly.

    Args:
        text: the output of `git diff -p`.
        names: (status, old path, path) of each file, in the same order, from `git diff --raw`.

    Raises:
        SourceError: the text is malformed, or has another number of files.
    """
    files = list(_parsed(text))
    if len(files) != len(names):
        raise SourceError(i18n.message("repo.diff_unreadable"), i18n.message("repo.report_bug"))
    return [
        FileDiff(path, old_path, status, _hunks(file), bool(file.is_binary_file))
        for file, (status, old_path, path) in zip(files, names, strict=True)
    ]


def _parsed(text: str) -> Iterable[Any]:
    import unidiff

    try:
        return unidiff.PatchSet(text.replace("\r\n", "\n"))
    except (unidiff.UnidiffParseError, ValueError, IndexError) as error:
        raise SourceMalformed(
            i18n.message("repo.malformed_patch", error=str(error).strip()[:200]),
            i18n.message("repo.give_unified_diff"),
        ) from error


def _file_diff(file: Any) -> FileDiff:
    path, old_path = _stripped(file.target_file), _stripped(file.source_file)
    status: Status = "modified"
    if file.is_added_file or old_path == "/dev/null":
        status, old_path = "added", path
    elif file.is_removed_file or path == "/dev/null":
        status, path = "deleted", old_path
    elif path != old_path:
        status = "renamed"
    return FileDiff(path, old_path, status, _hunks(file), bool(file.is_binary_file))


def _hunks(file: Any) -> tuple[Hunk, ...]:
    return tuple(Hunk(h.source_start, h.source_length, h.target_start, h.target_length, _hunk_lines(h)) for h in file)


def _hunk_lines(hunk: Iterable[Any]) -> tuple[str, ...]:
    return safe_lines(
        [(line.line_type or " ") + line.value.removesuffix("\n") for line in hunk if line.line_type != "\\"]
    )


def safe_lines(lines: Sequence[str]) -> tuple[str, ...]:
    """Lines of a hunk without secrets, each with its first character."""
    safe = redacted("\n".join(line[1:] for line in lines)).split("\n")
    return tuple(line[:1] + text for line, text in zip(lines, safe, strict=True))


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
