"""Generated files: as rows of a diff view, as a patch for `git apply`, as a zip. Pure."""

from __future__ import annotations

import io
import re
import zipfile
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, field
from pathlib import PurePosixPath

from repopilot import i18n
from repopilot.errors import UsageError
from repopilot.i18n.format import count
from repopilot.repo.patches.diff_hunks import Row
from repopilot.tools.file_change import change
from repopilot.types import FileChange
from repopilot.ui.changes.diff_rows import coloured, rows_of
from repopilot.ui.changes.hunks import divisible, hunk_id, hunk_ids, only
from repopilot.ui.file_ids import is_follow_up

ROWS_SHOWN = 1500
"""Rows of one file in the diff view; the download is complete."""


@dataclass(frozen=True, slots=True)
class ShownFiles:
    """The files of an answer by id.

    Attributes:
        answer_id: the id of the answer's message.
        files: by their path, follow-up edits by `follow_up_id`.
        decisions: `accepted` or `rejected` by the id of a file or of a hunk, for those decided on.
        reasons: why a follow-up is needed, by id.
        earlier: what earlier answers of the chat made of the same file, oldest first, by path.
    """

    answer_id: str
    files: Mapping[str, FileChange]
    decisions: Mapping[str, str]
    reasons: Mapping[str, str] = field(default_factory=dict)
    earlier: Mapping[str, Sequence[FileChange]] = field(default_factory=dict)


def checked_path(path: str) -> str:
    """Return a path if it stays inside the folder it is unpacked to. Raises UsageError if it doesn't."""
    parts = PurePosixPath(path).parts
    unsafe = not path or path.startswith("/") or ".." in parts or ".git" in (p.lower() for p in parts)
    if unsafe or re.search(r"[\\\x00-\x1f]|^[A-Za-z]:", path):
        raise UsageError(i18n.message("ui.errors.unsafe_path", path=repr(path)))
    return path


def patch(files: Iterable[FileChange]) -> str:
    """One patch of all files, for `git apply`. Raises UsageError on an unsafe path."""
    return "".join(file.diff for file in files if checked_path(file.path))


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
    """The files a download contains: all files that weren't rejected, without rejected hunks; and the accepted
    follow-ups.

    An accepted follow-up takes the place of the file of its path, which it contains.
    """
    chosen: dict[str, FileChange] = {}
    for id, file in files.items():
        decision = decisions.get(id)
        if decision == "accepted" if is_follow_up(id) else decision != "rejected":
            left = [n for n, each in enumerate(hunk_ids(id, file)) if decisions.get(each) != "rejected"]
            chosen[file.path] = only(file, left)
    return list(chosen.values())


def accepted(id: str, file: FileChange, decisions: Mapping[str, str]) -> FileChange:
    """A file with only its accepted hunks; all of it if it was accepted as a whole."""
    whole = decisions.get(id)
    chosen = [n for n, each in enumerate(hunk_ids(id, file)) if decisions.get(each, whole) == "accepted"]
    return only(file, chosen)


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
        "local": bool(folder),
        "words": i18n.section("ui.diff.words", language),
    }


def _file_props(id: str, shown: ShownFiles, folder: str, language: str) -> dict:
    file = shown.files[id]
    decision = shown.decisions.get(id, "")
    hunks = rows_of(file)
    rows = [row for hunk in hunks for row in hunk]
    more = len(rows) - ROWS_SHOWN
    outcome = "written" if decision == "accepted" and folder else decision
    return {
        "id": id,
        "path": file.path,
        "follow_up": i18n.translated(shown.reasons.get(id, ""), language),
        "change": i18n.text(f"ui.diff.{file.change}", language),
        "deleted": file.change == "deleted",
        "added": sum(row[0] == "+" for row in rows),
        "removed": sum(row[0] == "-" for row in rows),
        "hunks": _hunk_props(id, file, hunks, shown.decisions),
        **_version_props(file, shown.earlier.get(file.path, ()), language),
        "more": i18n.text("ui.diff.more", language, count=more) if more > 0 else "",
        "decision": decision,
        "outcome": i18n.text(f"ui.diff.{outcome}", language) if outcome else "",
        "download": i18n.text("ui.diff.download", language, path=file.path),
    }


def _version_props(file: FileChange, earlier: Sequence[FileChange], language: str) -> dict:
    """Which version of the file it is, and the hunks since the version before, which need no decision."""
    if not earlier or file.change == "deleted" or earlier[-1].content == file.content:
        return {"version": "", "since": []}
    since = rows_of(change(file.path, file.content, earlier[-1].content))
    hunks = [{**each, "single": True} for each in _hunk_props("", file, since, {})]
    return {"version": i18n.text("ui.diff.version", language, number=len(earlier) + 1), "since": hunks}


def _hunk_props(id: str, file: FileChange, hunks: Sequence[Sequence[Row]], decisions: Mapping[str, str]) -> list[dict]:
    """The hunks with their first ROWS_SHOWN rows: {number, rows, decision, single: whether it is decided on with the
    others}."""
    left = ROWS_SHOWN
    single = len(hunks) > 1 and not divisible(file)
    found = []
    for number, rows in enumerate(hunks):
        if left > 0:
            decision = decisions.get(hunk_id(id, number), "")
            shown = coloured(file.path, rows[:left])
            found.append({"number": number, "rows": shown, "decision": decision, "single": single})
        left -= len(rows)
    return found
