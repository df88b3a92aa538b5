"""Removes a section of a document: its heading, all below it, and its entries in tables of contents."""

from __future__ import annotations

import re
from collections.abc import Iterator, Sequence

from repopilot.agents.editing.exact.exact_task import ExactTask, NamedPlace
from repopilot.agents.editing.exact.lines.changelog_entries import LogHeading, headings_of
from repopilot.agents.editing.exact.locate import check_editable, path_named
from repopilot.agents.editing.exact.sources import Patch, Sources
from repopilot.code.languages import file_kind
from repopilot.types import Edit

_REMOVING = r"remove|delete|drop|strip|cut|get rid of|supprime[rz]?|retire[rz]?|enl[eè]ve[rz]?|removing|deleting"
_TITLE = r"«\s*[^»]+?\s*»|“[^”]+”|\"[^\"]+\"|`[^`]+`|'[^']+'"
_TASK = re.compile(
    rf"\b(?:{_REMOVING})\b(?:(?!\b(?:from|in|to|de|dans)\b)[^.\"«“`']){{0,40}}"
    rf"(?:(?P<before>{_TITLE})\s+(?:sub-?)?section|"
    rf"(?:sous-)?section\s+(?:(?:on|about|called|named|titled|sur)\s+)?(?P<after>{_TITLE}))",
    re.I | re.S,
)
_MORE_WORK = re.compile(
    r"\b(?:add|rename|move|replace|put|create|write|if|unless|except|ajoute\w*|remplace\w*|renomme\w*|si|sauf)\b", re.I
)
_PATH = re.compile(r"[\w./-]+\.\w+\b")


def section_removal(task: str, sources: Sources) -> Iterator[ExactTask]:
    """The section that a task wants removed.

    Args:
        task: as the user wrote it.
        sources: the files.
    """
    found = _TASK.search(task)
    if found is None or _MORE_WORK.search(task.replace(found["before"] or found["after"], "")):
        return
    title = (found["before"] or found["after"]).strip("«»“”\"'` ")
    named = [path for word in _PATH.findall(task) if (path := path_named(word, sources.workspace.index))]
    documents = named or [p for p in sources.workspace.index.files if file_kind(p) == "doc"]
    holding = [p for p in documents if (s := sources.get(p)) is not None and _heading(s.text.split("\n"), title)]
    if len(holding) == 1:
        yield ExactTask("remove_section", title, "section", "", "", (NamedPlace(holding[0], "file"),))


def remove_section(task: ExactTask, sources: Sources) -> Patch | None:
    """Remove a section of a document.

    Args:
        task: of kind remove_section, with the title in `name` and the document in `places`.
        sources: the files.

    Returns:
        The change; None where the document has no such section, or several.
    """
    path = task.places[0].name
    source = sources.get(path)
    if source is None:
        return None
    check_editable(path, task, sources)
    rows = source.text.split("\n")
    heading = _heading(rows, task.name)
    if heading is None:
        return None
    patch = Patch()
    _remove(rows, heading.line, _end(rows, heading), path, patch)
    slug = re.sub(r"[^\w\- ]", "", heading.text.lower()).replace(" ", "-")
    for number, row in enumerate(rows):
        if re.fullmatch(rf"\s*(?:[-*+]|\d+\.)\s+\[[^\]]*\]\(#{re.escape(slug)}\)\s*", row):
            _remove(rows, number, number + 1, path, patch)
    patch.edits.append(Edit("remove_section", path, heading.text))
    return patch


def _heading(rows: Sequence[str], title: str) -> LogHeading | None:
    """The one heading of a title."""
    found = [h for h in headings_of(rows) if h.mark != "**" and _plain(h.text) == _plain(title)]
    return found[0] if len(found) == 1 else None


def _plain(title: str) -> str:
    return " ".join(re.sub(r"[`*_]", "", title).lower().split())


def _end(rows: Sequence[str], heading: LogHeading) -> int:
    """The line behind a section; blank lines at the end of the document are its own."""
    below = (h.line for h in headings_of(rows) if h.line > heading.line and h.level <= heading.level)
    return next(below, len(rows))


def _remove(rows: Sequence[str], first: int, last: int, path: str, patch: Patch) -> None:
    if last == len(rows):  # the blank lines above become the last ones
        while first and not rows[first - 1].strip():
            first -= 1
        last -= 1 if not rows[-1] else 0
    start, end = (len("".join(f"{row}\n" for row in rows[:n]).encode("utf-8")) for n in (first, last))
    patch.replace(path, start, end, "")
