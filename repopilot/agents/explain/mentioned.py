"""What a question mentions with `@`: files, definitions, the uncommitted changes, the last commit. Their lines are
evidence, before the places that the search finds."""

from __future__ import annotations

import re
from collections.abc import Iterator
from dataclasses import replace

from repopilot.agents.explain.evidence_places import LINES, evidence_of_lines
from repopilot.errors import RepoPilotError
from repopilot.i18n import message, reason
from repopilot.index.store import Index
from repopilot.repo import history
from repopilot.types import Evidence, innermost
from repopilot.workspace import Workspace

_LINES = re.compile(r"(\d{1,9})(?:-(\d{1,9}))?")
MOST_MENTIONS = 8
STATES = {"diff": ("HEAD", None), "commit": ("HEAD~1", "HEAD")}
"""What `@diff` and `@commit` compare; None is the folder as it lies on disk."""
_MENTION = re.compile(r"(?<![\w@])@(?P<path>[^\s:@,;?!)]+)(?::(?P<name>[\w.$-]*[\w$]))?")


def mentioned_places(question: str, workspace: Workspace, first: int) -> tuple[list[Evidence], list[str]]:
    """The places that a question mentions, and messages about mentions that lead nowhere. Blocking.

    Args:
        question: as the user asked it.
        workspace: the repository.
        first: the number of the first place.

    Returns:
        The places of at most MOST_MENTIONS mentions, and a message for each that has none.
    """
    found: list[Evidence] = []
    problems: list[str] = []
    mentions = _mentions(question)
    for path, name in mentions[:MOST_MENTIONS]:
        if path in STATES and not name:
            try:
                found += _changed(workspace, *STATES[path])
            except RepoPilotError as error:
                problems.append(message("explain.mention_unreadable", path=path, error=reason(error)))
        elif path in workspace.index.files:
            found += _named(workspace.index, path, name)
        elif "/" in path or "." in path:
            problems.append(message("explain.mention_gone", path=path))
    if len(mentions) > MOST_MENTIONS:
        problems.append(message("explain.mentions_left_out", count=len(mentions) - MOST_MENTIONS, most=MOST_MENTIONS))
    places = {(each.path, each.start_line, each.end_line): each for each in found}
    return [replace(each, number=number) for number, each in enumerate(places.values(), first)], problems


def with_chips(question: str) -> str:
    """The question as Markdown, its mentions as code."""
    return _MENTION.sub(lambda mention: mention[0] if "`" in mention[0] else f"`{mention[0]}`", question)


def _mentions(question: str) -> list[tuple[str, str]]:
    """(path, name) of each mention, once each; the name '' where it mentions no definition."""
    found = ((match["path"].rstrip("."), match["name"] or "") for match in _MENTION.finditer(question))
    return list(dict.fromkeys(found))


def _named(index: Index, path: str, name: str) -> Iterator[Evidence]:
    """A definition of a file, some of its lines, or the file."""
    last = (index.text(path) or "").count("\n") + 1
    if not name:
        yield evidence_of_lines(index, 0, (path, 1, last), "", LINES[0])
    elif lines := _LINES.fullmatch(name):
        start = int(lines[1])
        if 1 <= start <= last:
            yield _lines(index, path, start, max(start, min(int(lines[2] or start), last)), LINES[0])
    elif symbol := next((s for s in index.outline(path) if name in (s.qualified, s.name)), None):
        yield evidence_of_lines(index, 0, (path, symbol.start_line, symbol.end_line), symbol.qualified, LINES[0])


def _lines(index: Index, path: str, start: int, end: int, most: int) -> Evidence:
    """Lines of a file, with the name of the definition around their middle."""
    symbol = innermost(index.outline(path), (start + end) // 2)
    return evidence_of_lines(index, 0, (path, start, end), symbol.qualified if symbol else "", most)


def _changed(workspace: Workspace, base: str, head: str | None) -> Iterator[Evidence]:
    """The changed lines between two states, as far as the index has them. Raises RepoPilotError."""
    for diff in history.diff(workspace.snapshot, base, head, workspace.settings):
        last = (workspace.index.text(diff.path) or "").count("\n") + 1
        for hunk in diff.hunks if diff.path in workspace.index.files else ():
            start = max(1, hunk.new_start)
            end = min(last, hunk.new_start + max(1, hunk.new_lines) - 1)
            if start <= end:
                yield _lines(workspace.index, diff.path, start, end, LINES[1])
