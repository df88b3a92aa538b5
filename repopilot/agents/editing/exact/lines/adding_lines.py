"""Adds a line to a file where such lines stand."""

from __future__ import annotations

import posixpath
import re
from collections.abc import Iterator, Sequence

from repopilot import i18n
from repopilot.agents.editing.exact.entries import sorted_position
from repopilot.agents.editing.exact.exact_task import ExactTask
from repopilot.agents.editing.exact.lines.changelog_entries import LogEntry, changelog_entry, headings_of
from repopilot.agents.editing.exact.locate import check_editable, path_named, task_paths
from repopilot.agents.editing.exact.mentions import is_history
from repopilot.agents.editing.exact.sources import Patch, Sources, SourceText
from repopilot.agents.editing.exact.wording.task_tokens import capitalized
from repopilot.code.languages import file_kind
from repopilot.errors import GenerationFailed
from repopilot.types import Edit

_LISTS = re.compile(
    r"(?:^|/)(?:\.\w*ignore|\.env[\w.]*|requirements[^/]*|constraints[^/]*|CODEOWNERS|MANIFEST\.in|\.mailmap)$"
)
_HISTORY = re.compile(r"(?:change ?log|changes|history|news|release.?notes)$", re.I)
_FRAGMENTS = re.compile(r"towncrier|should \*?not\*? be adding|do \*?not\*? add changelog", re.I)

_LOG = (
    r"(?:(?:the\s+|le\s+)?(?P<{0}>change ?log|release notes|journal)|(?:the\s+)?`?(?P<{0}_path>[\w./-]*\.\w+|[A-Z]+)`?)"
)
"""The changelog, by what it is called or by its path; `{0}` begins the names of its groups."""
_ENTRY = re.compile(
    r"\W*(?:please\s+|can you\s+)?(?:add|write|put|insert|ajoute[rz]?|[ée]cri[rstvez]+)\s+(?:an?\s+|une?\s+)?"
    r"(?:new\s+)?(?P<log>change ?log\s+|release[- ]notes?\s+)?(?:entry|item|line|note|bullet|entr[ée]e|ligne)"
    rf"(?:\s+(?:to|in|into|dans|au|à)\s+{_LOG.format('before')})?"
    r"(?:\s*:\s*|\s+(?:on|about|for|saying|that says|reading|sur|pour|qui dit)?:?\s*(?=[\"“«']))"
    r"(?:[\"“«']\s?(?P<quoted>[^\"”»\n]+?)\s?[\"”»']|(?P<plain>[^\"“«\n]+?))"
    rf"(?:\s+(?:to|in|into|dans|au|à)\s+{_LOG.format('after')})?\s*\.?\s*",
    re.I,
)
"""A wish for an entry: its text is in quotes, or stands behind a colon."""


_QUOTED = r"[\"“«]\s?(?P<quoted>[^\"”»\n]+?)\s?[\"”»]"
_UNDER = (
    r"(?:\s+(?:to|under|in|for|à|sous|dans|pour)\s+(?:the\s+)?(?:version\s+|section\s+)*"
    r"(?P<section>v?\d[\w.]*|unreleased))?"
)
_SAID_ENTRIES = (
    re.compile(
        r"\W*(?:please\s+|also\s+)*(?:document|mention|note|record|announce|say|write|[ée]cri[srtvez]+|not\w+|mentionn\w+|"
        rf"indiqu\w+)\s+(?:in|dans)\s+{_LOG.format('before')}\s+(?:that|que|qu['’])\s*(?P<plain>[^\n]+?)\s*\.?\s*",
        re.I,
    ),
    re.compile(
        rf"\W*{_LOG.format('before')}\s*:\s*(?:please\s+)?(?:add|insert|ajoute[rz]?)\s+{_QUOTED}{_UNDER}\s*\.?\s*", re.I
    ),
)
"""`Document in the changelog that …`; `changelog: add "…" to 3.2.4`."""


def _said_entry(task: str) -> Iterator[ExactTask]:
    for match in (found for pattern in _SAID_ENTRIES if (found := pattern.fullmatch(task))):
        said = match.groupdict()
        path = said["before_path"] or ""
        if said["before"] or _HISTORY.search(posixpath.splitext(path)[0]):
            text = said.get("quoted") or said.get("plain") or ""
            section = {"section": said["section"]} if said.get("section") else {}
            yield ExactTask("add_line", path or "CHANGELOG", "", capitalized(text), extra=section)


def entry_to_log(task: str) -> Iterator[ExactTask]:
    """The entry that a task wants in the change log: `add a changelog entry: …`. Pure.

    Args:
        task: as the user wrote it.
    """
    yield from _said_entry(task)
    found = _ENTRY.fullmatch(task)
    if found is None:
        return
    path = found["before_path"] or found["after_path"] or ""
    is_log = found["log"] or found["before"] or found["after"] or _HISTORY.search(posixpath.splitext(path)[0])
    if is_log:
        yield ExactTask("add_line", path or "CHANGELOG", "", found["quoted"] or found["plain"])


def add_line(task: ExactTask, sources: Sources) -> Patch | None:
    """Add a line to a list of lines, a change log or a document.

    Args:
        task: of kind add_line: the file in `name` or `places`, the line in `new`, perhaps a heading in `extra` as
            `section`.
        sources: the files.

    Returns:
        The change; None where the task names no file that holds lines.

    Raises:
        GenerationFailed: the line is there, the file or heading isn't, or others write the file.
    """
    line = task.new.strip("\n").strip("`") if task.new.count("`") == 2 else task.new.strip("\n")
    path = _path(task, sources)
    if path is None or not line.strip():
        return None
    source = sources.get(path)
    patch = Patch()
    if source is None:
        if not re.search(r"(?:^|/)\.\w*ignore$", path):
            raise GenerationFailed(i18n.message("exact.no_file", path=path))
        patch.added[path] = f"{line}\n"
        patch.edits.append(Edit("add_file", path, "", line))
        return patch
    check_editable(path, task, sources)
    rows = source.text.split("\n")
    if line.strip() in (row.strip() for row in rows):
        raise GenerationFailed(i18n.message("exact.already_there", name=line.strip(), path=path))
    entry = _entry(source, rows, line, task.extra.get("section", ""))
    if entry is None:
        return None
    _splice(source, rows, entry, patch)
    patch.edits.append(Edit("add_text", path, i18n.message("exact.line", line=entry.start + 1), line))
    return patch


def _path(task: ExactTask, sources: Sources) -> str | None:
    """The file that a task names: by its path, or as the change log."""
    index = sources.workspace.index
    name = task.name.strip().removeprefix("./")
    paths = task_paths(task, sources) if not name else []
    if paths:
        return paths[0]
    found = path_named(name, index)
    if found is not None or not re.fullmatch(r"[\w.-]+(?:/[\w.-]+)*", name.replace(" ", "")):
        return found
    if _HISTORY.fullmatch(posixpath.splitext(name)[0]):
        wanted = posixpath.splitext(name)[0].lower()
        logs = sorted(
            (p for p in index.files if is_history(p)),
            key=lambda p: (p.count("/"), posixpath.splitext(posixpath.basename(p))[0].lower() != wanted, p),
        )
        others = [n for n in ("CHANGELOG", "CHANGES", "HISTORY", "NEWS") if sources.get(n) is not None]
        return next(iter([*[p for p in logs if "/" not in p], *others, *logs]), None)
    return name if "." in name or sources.get(name) is not None else None


def _entry(source: SourceText, rows: list[str], line: str, section: str) -> LogEntry | None:
    path = source.path
    if is_history(path) or _HISTORY.search(posixpath.splitext(path)[0]):
        if _FRAGMENTS.search("\n".join(rows[:60])):
            raise GenerationFailed(i18n.message("exact.from_fragments", path=path))
        entry = changelog_entry(source.text, line, section)
        if entry is not None:
            return entry
    if _LISTS.search(path):
        return _in_list(rows, line, section, path)
    if file_kind(path) == "doc" or section:
        return _in_document(rows, line, section, path)
    return LogEntry(_end(rows), _end(rows), [line]) if file_kind(path) != "code" else None


def _end(rows: Sequence[str]) -> int:
    """The line behind the last one with text."""
    at = len(rows)
    while at and not rows[at - 1].strip():
        at -= 1
    return at


def _in_list(rows: list[str], line: str, section: str, path: str) -> LogEntry:
    """Into a list of patterns or requirements: under its comment, in order where the lines are in order."""
    start, end = 0, _end(rows)
    if section:
        heads = [n for n, row in enumerate(rows) if row.startswith("#") and section.lower() in row.lower()]
        if not heads:
            raise GenerationFailed(i18n.message("exact.no_such_name_in", name=section, place=path))
        start = heads[0] + 1
        end = next((n for n in range(start, len(rows)) if not rows[n].strip()), end)
    lines = [n for n in range(start, end) if rows[n].strip() and not rows[n].startswith("#")]
    broken = any(not rows[n].strip() or rows[n].startswith("#") for n in range(lines[0], end)) if lines else True
    at = sorted_position([rows[n].lower() for n in lines], line.lower()) if not broken else len(lines)
    place = lines[at] if at < len(lines) else end
    return LogEntry(place, place, [line])


def _in_document(rows: list[str], line: str, section: str, path: str) -> LogEntry:
    """Behind the last line of a section, or of the document; as a bullet where the lines there are bullets."""
    headings = headings_of(rows)
    start, end = 0, _end(rows)
    if section:
        head = next((h for h in headings if h.text.lower() == section.lower()), None)
        head = head or next((h for h in headings if section.lower() in h.text.lower()), None)
        if head is None:
            raise GenerationFailed(i18n.message("exact.no_such_name_in", name=section, place=path))
        start = head.behind
        stop = next((h.line for h in headings if h.line >= start), len(rows))
        end = _end(rows[:stop])
    last = rows[end - 1] if end else ""
    bullet = re.match(r"(?P<mark>\s*(?:[-*+]|\d+\.)\s+)", last)
    numbered = re.match(r"(?P<indent>\s*)(?P<number>\d+)(?P<rest>\.\s+)", last)
    if numbered and not re.match(r"\d+\.", line):
        mark = f"{numbered['indent']}{int(numbered['number']) + 1}{numbered['rest']}"
        return LogEntry(end, end, [mark + line])
    if bullet:
        return LogEntry(end, end, [bullet["mark"] + re.sub(r"^[-*+]\s+", "", line)])
    return LogEntry(end, end, [line] if end <= start and rows[end:end] else ["", line])


def _splice(source: SourceText, rows: list[str], entry: LogEntry, patch: Patch) -> None:
    """Replace whole lines."""
    start = len("\n".join(rows[: entry.start]).encode("utf-8"))
    new = "\n".join(entry.rows)
    if entry.end > entry.start:
        first = start + (1 if entry.start else 0)
        old = len("\n".join(rows[entry.start : entry.end]).encode("utf-8"))
        patch.replace(source.path, first, first + old, new)
    elif entry.start == 0:
        patch.replace(source.path, 0, 0, f"{new}\n")
    else:
        patch.replace(source.path, start, start, f"\n{new}")
