"""What a question mentions with `@`: files, definitions, the uncommitted changes, the last commit. Their lines are
evidence, in front of what the search finds."""

from __future__ import annotations

import logging
import re
from collections.abc import Iterator
from dataclasses import replace

from repopilot.agents.explain.evidence_places import LINES, evidence_of_lines
from repopilot.errors import RepoPilotError
from repopilot.index.store import Index
from repopilot.repo import history
from repopilot.repo.patch import FileDiff
from repopilot.types import Evidence, innermost
from repopilot.workspace import Workspace

MOST_MENTIONS = 8
_MENTION = re.compile(r"(?<![\w@])@(?P<path>[^\s:@,;?!)]+)(?::(?P<name>[\w.$-]*[\w$]))?")
log = logging.getLogger(__name__)


def mentioned_places(question: str, workspace: Workspace, first: int) -> list[Evidence]:
    """The places that a question mentions, at most MOST_MENTIONS mentions. Blocking.

    Args:
        question: as the user asked it.
        workspace: the repository.
        first: the number of the first place.
    """
    found: list[Evidence] = []
    for path, name in _mentions(question)[:MOST_MENTIONS]:
        if path in ("diff", "commit") and not name:
            found += _changed(workspace, "HEAD" if path == "diff" else "HEAD~1", None if path == "diff" else "HEAD")
        elif path in workspace.index.files:
            found += _named(workspace.index, path, name)
    places = {(each.path, each.start_line, each.end_line): each for each in found}
    return [replace(each, number=number) for number, each in enumerate(places.values(), first)]


def unknown_mentions(question: str, index: Index) -> list[str]:
    """The paths that a question mentions and the index doesn't have: misspelt, or deleted since."""
    paths = (path for path, _ in _mentions(question))
    return [path for path in paths if ("/" in path or "." in path) and path not in index.files]


def _mentions(question: str) -> list[tuple[str, str]]:
    """(path, name) of each mention, the name '' where it mentions no definition."""
    return [(match["path"].rstrip("."), match["name"] or "") for match in _MENTION.finditer(question)]


def _named(index: Index, path: str, name: str) -> Iterator[Evidence]:
    """A definition of a file, or the file."""
    for symbol in index.outline(path) if name else ():
        if name in (symbol.qualified, symbol.name):
            yield evidence_of_lines(index, 0, (path, symbol.start_line, symbol.end_line), symbol.qualified, LINES[0])
            return
    if not name:
        last = (index.text(path) or "").count("\n") + 1
        yield evidence_of_lines(index, 0, (path, 1, last), "", LINES[0])


def _changed(workspace: Workspace, base: str, head: str | None) -> Iterator[Evidence]:
    """The changed lines between two states, as far as the index has them."""
    try:
        diffs = history.diff(workspace.snapshot, base, head, workspace.settings)
    except RepoPilotError as error:
        log.info("a mentioned change can't be read: %s", error)
        return
    for diff in diffs:
        if diff.path in workspace.index.files:
            yield from _of_diff(workspace.index, diff)


def _of_diff(index: Index, diff: FileDiff) -> Iterator[Evidence]:
    outline, last = index.outline(diff.path), (index.text(diff.path) or "").count("\n") + 1
    for hunk in diff.hunks:
        start, end = max(1, hunk.new_start), min(last, hunk.new_start + max(1, hunk.new_lines) - 1)
        if start <= end:
            symbol = innermost(outline, (start + end) // 2)
            yield evidence_of_lines(index, 0, (diff.path, start, end), symbol.qualified if symbol else "", LINES[1])
