"""Generated files: as rows of a diff view, as a patch for `git apply`, as a zip. Pure."""

from __future__ import annotations

import hashlib
import io
import re
import zipfile
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, field
from pathlib import PurePosixPath

from repopilot import i18n
from repopilot.errors import UsageError
from repopilot.i18n.format import count
from repopilot.redaction.shown_diff import shown_diff
from repopilot.types import FileChange
from repopilot.ui.file_ids import is_follow_up

ROWS_SHOWN = 1500
"""Rows of one file in the diff view; the download is complete."""
NO_NEWLINE = "\\ No newline at end of file"
_HUNK = re.compile(r"@@ -(\d+)(?:,(\d+))? \+(\d+)(?:,(\d+))? @@")
_PLAIN = re.compile(r"[A-Za-z0-9 _./+@,=~#%^&()\[\]{}!$;'-]+")


@dataclass(frozen=True, slots=True)
class ShownFiles:
    """The files of an answer by id.

    Attributes:
        answer_id: the id of the answer's message.
        files: by their path, follow-up edits by `follow_up_id`.
        decisions: `accepted` or `rejected` by id, for the files decided on.
        reasons: why a follow-up is needed, by id.
    """

    answer_id: str
    files: Mapping[str, FileChange]
    decisions: Mapping[str, str]
    reasons: Mapping[str, str] = field(default_factory=dict)


def checked_path(path: str) -> str:
    """Return a path that stays inside any folder it is unpacked to. Raises UsageError for every other."""
    parts = PurePosixPath(path).parts
    unsafe = not path or path.startswith("/") or ".." in parts or ".git" in (p.lower() for p in parts)
    if unsafe or re.search(r"[\\\x00-\x1f]|^[A-Za-z]:", path):
        raise UsageError(i18n.message("ui.errors.unsafe_path", path=repr(path)))
    return path


def diff_rows(change: FileChange) -> list[list]:
    """[kind, old line, new line, text] with kind `+`, `-`, ` ` or `@`; line numbers None where there is none.

    The texts are without secrets.
    """
    rows: list[list] = []
    old = new = 0
    for line in shown_diff(_hunks(change), change.content).split("\n"):
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
    """One patch of all files, for `git apply`. Raises UsageError on an unsafe path."""
    return "".join(_file_patch(file) for file in files)


def zipped(files: Iterable[FileChange]) -> bytes:
    """A zip of the new texts; deleted files are not in it. Raises UsageError on an unsafe path."""
    out = io.BytesIO()
    with zipfile.ZipFile(out, "w", zipfile.ZIP_DEFLATED) as archive:
        for file in files:
            name = checked_path(file.path)
            if file.change != "deleted":
                archive.writestr(zipfile.ZipInfo(name), file.content.encode())
    return out.getvalue()


def not_rejected(files: Mapping[str, FileChange], decisions: Mapping[str, str]) -> list[FileChange]:
    """The files a download contains: all that were not rejected; of the follow-ups those that were accepted.

    An accepted follow-up takes the place of the file of its path, which it contains.
    """
    chosen: dict[str, FileChange] = {}
    for id, file in files.items():
        decision = decisions.get(id)
        if decision == "accepted" if is_follow_up(id) else decision != "rejected":
            chosen[file.path] = file
    return list(chosen.values())


def blob_id(content: bytes) -> str:
    """Git's id of a file's content, which is the `hash` of indexed files."""
    return hashlib.sha1(b"blob %d\0" % len(content) + content, usedforsecurity=False).hexdigest()


def files_props(shown: ShownFiles, folder: str, language: str) -> dict:
    """Props of the element `DiffView`.

    Args:
        shown: the files.
        folder: where accepted files are written, '' for a clone, where they are only marked.
        language: of the reader.
    """
    own = sum(not is_follow_up(id) for id in shown.files)
    return {
        "answer": shown.answer_id,
        "title": count(own, "file", language),
        "note": i18n.text("ui.diff.folder" if folder else "ui.diff.clone", language, folder=folder),
        "files": [_file_props(id, shown, folder, language) for id in shown.files],
        "words": i18n.section("ui.diff.words", language),
    }


def _file_props(id: str, shown: ShownFiles, folder: str, language: str) -> dict:
    file, decision = shown.files[id], shown.decisions.get(id, "")
    rows = diff_rows(file)
    added, removed = counts(rows)
    more = len(rows) - ROWS_SHOWN
    outcome = "written" if decision == "accepted" and folder else decision
    return {
        "id": id,
        "path": file.path,
        "follow_up": i18n.said(shown.reasons.get(id, ""), language),
        "change": i18n.text(f"ui.diff.{file.change}", language),
        "deleted": file.change == "deleted",
        "added": added,
        "removed": removed,
        "rows": rows[:ROWS_SHOWN],
        "more": i18n.text("ui.diff.more", language, count=more) if more > 0 else "",
        "decision": decision,
        "outcome": i18n.text(f"ui.diff.{outcome}", language) if outcome else "",
        "download": i18n.text("ui.diff.download", language, path=file.path),
    }


def _hunks(change: FileChange) -> str:
    """The hunks without file headers, computed from the content for a new file without a diff."""
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
    """A path as git writes it in a patch: in C quotes where it contains anything unusual."""
    if _PLAIN.fullmatch(path):
        return path
    escaped = "".join(
        chr(byte) if 32 <= byte < 127 and chr(byte) not in '"\\' else f"\\{byte:03o}" for byte in path.encode()
    )
    return f'"{escaped}"'
