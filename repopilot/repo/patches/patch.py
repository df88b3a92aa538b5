"""Unified diffs as values: what a patch changes. Pure."""

from __future__ import annotations

import re
from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from typing import Literal

from repopilot import i18n
from repopilot.errors import SourceMalformed
from repopilot.redaction.redact import redacted

Status = Literal["added", "deleted", "modified", "renamed"]
_HUNK = re.compile(r"@@ -(\d+)(?:,(\d+))? \+(\d+)(?:,(\d+))? @@")
_PLAIN_PATH = re.compile(r"[A-Za-z0-9 _./+@,=~#%^&()\[\]{}!$;'-]+")
_MARKS = (
    "--- ",
    "+++ ",
    "rename from ",
    "rename to ",
    "copy to ",
    "new file mode ",
    "deleted file mode ",
    "Binary files ",
    "GIT binary patch",
)


@dataclass(frozen=True, slots=True)
class Hunk:
    """A run of changed lines. Line numbers are 1-based; `lines` keep their first character: ' ', '+' or '-'."""

    old_start: int
    new_start: int
    new_lines: int
    lines: tuple[str, ...]


@dataclass(frozen=True, slots=True)
class FileDiff:
    """One file's change.

    Attributes:
        path: bytes that aren't UTF-8 are replaced by U+FFFD.
        old_path: differs from `path` only when renamed.
        status: what happened to the file.
        hunks: what changed in it; () for a binary file.
        binary: whether git takes it for one.
        left_out: whether a version of it is too large to be in the clone, or to be read from the disk; `hunks` is then
            unknown.
    """

    path: str
    old_path: str
    status: Status
    hunks: tuple[Hunk, ...] = ()
    binary: bool = False
    left_out: bool = False


def added_lines(diff: FileDiff) -> frozenset[int]:
    """The numbers, in the new file, of the lines the change added or rewrote."""
    return _marked_lines((hunk.new_start, hunk.lines) for hunk in diff.hunks)


def removed_lines(diff: FileDiff) -> frozenset[int]:
    """The numbers, in the old file, of the lines the change removed or rewrote."""
    swapped = str.maketrans("+-", "-+")
    return _marked_lines((hunk.old_start, [line[:1].translate(swapped) for line in hunk.lines]) for hunk in diff.hunks)


def _marked_lines(hunks: Iterable[tuple[int, Sequence[str]]]) -> frozenset[int]:
    """The numbers of the lines with a plus; lines with a minus aren't counted."""
    found = set()
    for number, lines in hunks:
        for line in lines:
            if line.startswith("+"):
                found.add(number)
            number += not line.startswith("-")
    return frozenset(found)


def parse_patch(text: str) -> list[FileDiff]:
    """The files that a unified diff (plain, git's, or a mailed patch) changes. Raises SourceMalformed on other text."""
    files = read_diff(text)
    if not files:
        raise SourceMalformed(i18n.message("repo.not_a_patch"), i18n.message("repo.give_unified_diff"))
    return [file for file in files if file.hunks or file.binary or file.status != "modified"]


def read_diff(text: str) -> list[FileDiff]:
    """Every file of a unified diff, in its order, including files of which only the mode changes.

    Names are read as git writes them: quoted where they hold a quote, a backslash or a control character, else as they
    are, up to a tab. So no name, whatever it contains, is taken for another or for a line of the diff.

    Args:
        text: the diff; prose around it is ignored.

    Returns:
        The files; none where the text has no diff.

    Raises:
        SourceMalformed: a hunk belongs to no file, or has other lines than its head says.
    """
    lines = text.replace("\r\n", "\n").removesuffix("\n").split("\n")
    found: list[FileDiff] = []
    head: list[str] = []
    hunks: list[Hunk] = []
    at = 0
    while at < len(lines):
        if match := _HUNK.match(lines[at]):
            if not _named(head):
                raise _malformed(at)
            hunk, at = _hunk(lines, at, match)
            hunks.append(hunk)
            continue
        begins = _begins_file(lines, at, head)
        if begins:
            found += [_file_diff(head, hunks)] if head else []
            head = []
            hunks = []
        if begins or (head and not hunks):
            head.append(lines[at])
        at += 1
    return [*found, _file_diff(head, hunks)] if head else found


def _begins_file(lines: Sequence[str], at: int, head: Sequence[str]) -> bool:
    """Whether a line outside of hunks is the first of another file."""
    if lines[at].startswith("diff --git "):
        return True
    pair = lines[at].startswith("--- ") and at + 1 < len(lines) and lines[at + 1].startswith("+++ ")
    return pair and (not head or _named(head))


def _named(head: Sequence[str]) -> bool:
    return any(line.startswith("+++ ") for line in head)


def _malformed(at: int) -> SourceMalformed:
    return SourceMalformed(i18n.message("repo.malformed_patch", line=at + 1), i18n.message("repo.give_unified_diff"))


def _hunk(lines: Sequence[str], at: int, head: re.Match[str]) -> tuple[Hunk, int]:
    """A hunk and the number of the line after it. Raises SourceMalformed if its line counts are wrong."""
    old_start, old, new_start, new_lines = (int(number or 1) for number in head.groups())
    new = new_lines
    found: list[str] = []
    while old > 0 or new > 0:
        at += 1
        line = lines[at] if at < len(lines) else "end"
        sign = line[:1] or " "  # with diff.suppressBlankEmpty, git omits the space of an empty line
        if sign == "\\":
            continue
        old -= sign in " -"
        new -= sign in " +"
        if sign not in " +-" or old < 0 or new < 0:
            raise _malformed(at)
        found.append(sign + line[1:])
    return Hunk(old_start, new_start, new_lines, safe_lines(found)), at + 1


def _file_diff(head: Sequence[str], hunks: Sequence[Hunk]) -> FileDiff:
    marks = {mark: line[len(mark) :] for line in head for mark in _MARKS if line.startswith(mark)}
    first, second = _names_of(head[0])
    old_path = _path(marks["rename from "]) if "rename from " in marks else _stripped(marks.get("--- ", first))
    path = _path(marks["rename to "]) if "rename to " in marks else _stripped(marks.get("+++ ", second))
    status: Status = "modified"
    if "new file mode " in marks or "copy to " in marks or old_path == "/dev/null":
        status = "added"
        old_path = path
    elif "deleted file mode " in marks or path == "/dev/null":
        status = "deleted"
        path = old_path
    elif path != old_path:
        status = "renamed"
    return FileDiff(path, old_path, status, tuple(hunks), "Binary files " in marks or "GIT binary patch" in marks)


def _names_of(line: str) -> tuple[str, str]:
    """The two names in a `diff --git` line, which are equal unless other lines give them; ('', '') for another line."""
    names = line.removeprefix("diff --git ")
    if names == line:
        return "", ""
    if quoted := re.fullmatch(r'("(?:[^"\\]|\\.)*") ("(?:[^"\\]|\\.)*")', names):
        return quoted[1], quoted[2]
    half = len(names) // 2
    if _stripped(names[:half]) == _stripped(names[half + 1 :]):
        return names[:half], names[half + 1 :]
    first, _, second = names.rpartition(" b/")
    return first, f"b/{second}"


def safe_lines(lines: Sequence[str]) -> tuple[str, ...]:
    """Lines of a hunk without secrets, each with its first character."""
    safe = redacted("\n".join(line[1:] for line in lines)).split("\n")
    return tuple(line[:1] + text for line, text in zip(lines, safe, strict=True))


def _stripped(name: str) -> str:
    """A path of a diff's header without its a/ or b/."""
    return re.sub(r"^[abciow]/", "", _path(name))


def _path(name: str) -> str:
    """A path in a diff, without git's quoting. It ends at a tab, after which plain diffs give the time."""
    if quoted := re.match(r'"((?:[^"\\]|\\.)*)"', name):
        return _unquoted(quoted[1])
    return name.partition("\t")[0]


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


def quoted_path(path: str) -> str:
    """A path as git writes it in a patch: in C quotes where it contains anything unusual."""
    if _PLAIN_PATH.fullmatch(path):
        return path
    data = path.encode("utf-8", "surrogateescape")
    escaped = (chr(byte) if 32 <= byte < 127 and chr(byte) not in '"\\' else f"\\{byte:03o}" for byte in data)
    return f'"{"".join(escaped)}"'
