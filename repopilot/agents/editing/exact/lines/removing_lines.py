"""Removes a line from a file that is a list of lines, or has lists of lines."""

from __future__ import annotations

import re
from collections.abc import Sequence

from repopilot import i18n
from repopilot.agents.editing.exact.exact_task import ExactTask
from repopilot.agents.editing.exact.locate import check_editable, path_named, task_paths
from repopilot.agents.editing.exact.sources import Patch, Sources
from repopilot.code.languages import file_kind
from repopilot.errors import GenerationFailed
from repopilot.types import Edit

_BULLET = re.compile(r"(?P<indent>\s*)(?:[-*+•]|\d+[.)])\s+(?:\[[ xX]\]\s+)?")
_LINES = re.compile(r"(?:^|/)(?:\.\w*ignore|\.env[\w.]*|requirements[^/]*|constraints[^/]*|CODEOWNERS|MANIFEST\.in)$")


def remove_line(task: ExactTask, sources: Sources) -> Patch | None:
    """Remove a line that a task names by its text, or by a part that no other line has.

    Args:
        task: of kind remove_line: the file in `name` or `places`, the line or its distinctive part in `new`.
        sources: the files.

    Returns:
        The change; None where the file is code, or several lines are meant.

    Raises:
        GenerationFailed: no line has the text.
    """
    path = _path(task, sources)
    source = sources.get(path) if path is not None else None
    wanted = task.new.strip().strip("`").strip()
    if path is None or source is None or not wanted:
        return None
    if file_kind(path) == "code" and not _LINES.search(path):
        return None
    check_editable(path, task, sources)
    rows = source.text.split("\n")
    found = _lines_meant(rows, wanted, path)
    if not found:
        raise GenerationFailed(i18n.message("exact.no_such_name_in", name=wanted, place=path))
    if len(found) > 1:
        return None
    first, last = found[0], _last_of(rows, found[0])
    if not (rows[first - 1 : first] or [""])[0].strip() and not "".join(rows[last + 1 : last + 2]).strip():
        last += 1 if last + 2 < len(rows) else 0
    patch = Patch()
    start, end = (len("".join(f"{row}\n" for row in rows[:n]).encode("utf-8")) for n in (first, last + 1))
    patch.replace(path, start, min(end, len(source.data)), "")
    patch.edits.append(Edit("remove_line", path, i18n.message("exact.line", line=first + 1), rows[first].strip()))
    return patch


def _path(task: ExactTask, sources: Sources) -> str | None:
    name = task.name.strip().removeprefix("./")
    found = path_named(name, sources.workspace.index) if name else next(iter(task_paths(task, sources)), None)
    return found or (name if name and sources.get(name) is not None else None)


def _lines_meant(rows: Sequence[str], wanted: str, path: str) -> list[int]:
    """The lines that are the text, else the bullets, the requirements, the lines with it as a whole word."""
    plain = wanted.strip("\"'")
    word = re.compile(rf"(?<![\w.-]){re.escape(plain)}(?![\w-])")
    name = re.compile(rf"{re.escape(plain)}\s*(?:[<>=!~\[;#@].*)?", re.I)
    ways = (
        lambda row: row.strip() == wanted,
        lambda row: _BULLET.sub("", row, count=1).strip() == plain,
        lambda row: _LINES.search(path) is not None and name.fullmatch(row.strip()) is not None,
        lambda row: word.search(row) is not None and not row.lstrip().startswith("#"),
    )
    for fits in ways:
        found = [n for n, row in enumerate(rows) if fits(row)]
        if found:
            return found
    return []


def _last_of(rows: Sequence[str], first: int) -> int:
    """The last line of a bullet that goes on, indented more than its mark."""
    bullet = _BULLET.match(rows[first])
    last = first
    while bullet and last + 1 < len(rows) and rows[last + 1].strip():
        indent = len(rows[last + 1]) - len(rows[last + 1].lstrip())
        if indent <= len(bullet["indent"]):
            break
        last += 1
    return last
