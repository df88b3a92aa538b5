"""Generated files: as rows of a diff view, as a patch for `git apply`, as a zip. Pure."""

from __future__ import annotations

import hashlib
import io
import re
import zipfile
from collections.abc import Iterable, Mapping, Sequence
from pathlib import PurePosixPath

from repopilot.errors import UsageError
from repopilot.types import FileChange

ROWS_SHOWN = 1500
"""Rows of one file in the diff view; the download holds everything."""
NO_NEWLINE = "\\ No newline at end of file"
_HUNK = re.compile(r"@@ -(\d+)(?:,(\d+))? \+(\d+)(?:,(\d+))? @@")
_PLAIN = re.compile(r"[A-Za-z0-9 _./+@,=~#%^&()\[\]{}!$;'-]+")


def checked_path(path: str) -> str:
    """A path that stays inside any folder it is unpacked to. Raises UsageError on every other."""
    parts = PurePosixPath(path).parts
    unsafe = not path or path.startswith("/") or ".." in parts or ".git" in (p.lower() for p in parts)
    if unsafe or re.search(r"[\\\x00-\x1f]|^[A-Za-z]:", path):
        raise UsageError(f"{path!r} is not a path inside the repository; it is not offered.")
    return path


def diff_rows(change: FileChange) -> list[list]:
    """[kind, old line, new line, text] with kind `+`, `-`, ` ` or `@`; line numbers None where there is none."""
    rows: list[list] = []
    old = new = 0
    for line in _hunks(change).split("\n"):
        hunk = _HUNK.match(line)
        if hunk:
            old, new = int(hunk[1]), int(hunk[3])
            rows.append(["@", None, None, line])
        elif line.startswith("+"):
            rows.append(["+", None, new, line[1:]])
            new += 1
        elif line.startswith("-"):
            rows.append(["-", old, None, line[1:]])
            old += 1
        elif line.startswith(" "):
            rows.append([" ", old, new, line[1:]])
            old, new = old + 1, new + 1
    return rows


def counts(rows: Sequence[Sequence]) -> tuple[int, int]:
    """Added and removed lines."""
    return sum(row[0] == "+" for row in rows), sum(row[0] == "-" for row in rows)


def patch(files: Iterable[FileChange]) -> str:
    """One patch of all files, as `git apply` takes it. Raises UsageError on an unsafe path."""
    return "".join(_file_patch(file) for file in files)


def zipped(files: Iterable[FileChange]) -> bytes:
    """A zip of the whole new texts; deleted files are not in it. Raises UsageError on an unsafe path."""
    out = io.BytesIO()
    with zipfile.ZipFile(out, "w", zipfile.ZIP_DEFLATED) as archive:
        for file in files:
            name = checked_path(file.path)
            if file.change != "deleted":
                archive.writestr(zipfile.ZipInfo(name), file.content.encode())
    return out.getvalue()


def chosen(files: Mapping[str, FileChange], decided: Mapping[str, str]) -> list[FileChange]:
    """What a download holds: everything that was not rejected."""
    return [file for path, file in files.items() if decided.get(path) != "rejected"]


def blob_id(content: bytes) -> str:
    """Git's id of a file's content, the `hash` of indexed files."""
    return hashlib.sha1(b"blob %d\0" % len(content) + content, usedforsecurity=False).hexdigest()


def files_props(answer: str, files: Mapping[str, FileChange], decided: Mapping[str, str], folder: str) -> dict:
    """Props of the element `DiffView`. `folder` is where accepted files are written, '' where they are only kept."""
    return {
        "answer": answer,
        "folder": folder,
        "files": [_file_props(file, decided.get(file.path, "")) for file in files.values()],
    }


def _file_props(file: FileChange, decision: str) -> dict:
    rows = diff_rows(file)
    added, removed = counts(rows)
    return {
        "path": file.path,
        "change": file.change,
        "added": added,
        "removed": removed,
        "rows": rows[:ROWS_SHOWN],
        "more": max(0, len(rows) - ROWS_SHOWN),
        "decision": decision,
    }


def _hunks(change: FileChange) -> str:
    """The hunks alone: without file headers, and made from the content where a new file came without any."""
    start = re.search(r"^@@ ", change.diff, re.MULTILINE)
    if start:
        return change.diff[start.start() :]
    if change.change != "added" or not change.content:
        return ""
    lines = change.content.split("\n")
    ended = lines[-1] == ""
    lines = lines[:-1] if ended else lines
    body = "".join(f"+{line}\n" for line in lines)
    return f"@@ -0,0 +1,{len(lines)} @@\n{body}" + ("" if ended else NO_NEWLINE + "\n")


def _file_patch(file: FileChange) -> str:
    path = checked_path(file.path)
    old, new = _quoted("a/" + path), _quoted("b/" + path)
    head = [f"diff --git {old} {new}"]
    if file.change == "added":
        head.append("new file mode 100644")
    if file.change == "deleted":
        head.append("deleted file mode 100644")
    hunks = _hunks(file)
    if hunks:
        head.append("--- " + ("/dev/null" if file.change == "added" else old))
        head.append("+++ " + ("/dev/null" if file.change == "deleted" else new))
    return "\n".join(head) + "\n" + (hunks.rstrip("\n") + "\n" if hunks else "")


def _quoted(path: str) -> str:
    """As git writes a path in a patch: in C quotes where it holds anything unusual."""
    if _PLAIN.fullmatch(path):
        return path
    escaped = "".join(
        chr(byte) if 32 <= byte < 127 and chr(byte) not in '"\\' else f"\\{byte:03o}" for byte in path.encode()
    )
    return f'"{escaped}"'
