"""A model that uses tools looks around before it explains: the places it names become evidence where they exist."""

from __future__ import annotations

import asyncio
import re
from collections.abc import Sequence
from dataclasses import replace

from repopilot.agents import loop
from repopilot.agents.explain.code_findings import Findings
from repopilot.agents.explain.evidence_places import LINES, evidence_rows
from repopilot.index.store import Index
from repopilot.prompts import render
from repopilot.tools.registry import Desk
from repopilot.tools.toolbox import toolbox
from repopilot.tools.working_copy import working_copy
from repopilot.trace import Step
from repopilot.types import Evidence
from repopilot.workspace import Workspace

MOST_PLACES = 12
LONGEST_PLACE = 120
"""Lines; a model that names a whole file has named no place."""
_PLACE = re.compile(r"([\w@+./-]+\.\w+):(\d{1,6})(?:[-–](\d{1,6}))?")


async def look_further(found: Findings, workspace: Workspace, step: Step) -> tuple[Findings, str]:
    """Let the model look around with the tools that change nothing.

    Args:
        found: what code found, which the model is told.
        workspace: the repository, with a model that calls tools.
        step: the step of the agent; the evidence noted last in it counts.

    Returns:
        The findings with the places first that the model names and that exist; the same where it names none. And, as a
        message, that the model doesn't answer any more, '' where it does.
    """
    assert workspace.model is not None
    budget, system = loop.Budget.of(workspace.settings), render("loop_look", name=workspace.snapshot.name)
    looking = [tool for tool in toolbox() if tool.kind == "look"]
    known = "\n".join(f"{e.path}:{e.start_line}-{e.end_line} {e.symbol}".strip() for e in found.evidence)
    async with step.child("look around", "agent", found.question) as working, working_copy(workspace) as copy:
        desk = Desk(workspace, copy, budget, working)
        task = f"{found.question}\n\nFound so far:\n{known}"
        done = await loop.run(task, desk, workspace.model, looking, system, budget, loop.ASKINGS)
        if done.note:
            working.degrade(done.note)
    async with step.child("read", "tool", found.question) as showing:
        named = await asyncio.to_thread(places_in, done.summary or done.text, workspace.index)
        evidence = joined(named, found.evidence)
        showing.note(evidence=evidence_rows(evidence), commit=workspace.index.commit)
    return replace(found, evidence=evidence), done.note if done.ended == "silent" else ""


def places_in(text: str, index: Index) -> tuple[Evidence, ...]:
    """The places that a text names as `path:start-end` and that the repository has, each once."""
    found: dict[tuple[str, int, int], Evidence] = {}
    for path, first, last in _PLACE.findall(text):
        start, end = int(first), int(last or first)
        lines = index.lines(path, start, end) if path in index.files and 0 < end - start + 1 <= LONGEST_PLACE else None
        if lines and lines.count("\n") == end - start:
            shown = tuple(enumerate(lines.split("\n")[: LINES[0]], start))
            found.setdefault((path, start, end), Evidence(0, path, start, end, _symbol_at(index, path, start), shown))
    return tuple(found.values())


def joined(first: Sequence[Evidence], then: Sequence[Evidence]) -> tuple[Evidence, ...]:
    """Two lists of places as one, numbered from 1, without those of the second that lie in one of the first."""
    rest = [place for place in then if not any(_within(place, other) for other in first)]
    return tuple(replace(place, number=n) for n, place in enumerate([*first, *rest][:MOST_PLACES], 1))


def _within(place: Evidence, other: Evidence) -> bool:
    return place.path == other.path and other.start_line <= place.start_line <= place.end_line <= other.end_line


def _symbol_at(index: Index, path: str, line: int) -> str:
    """The innermost definition around a line, '' for none."""
    around = [s for s in index.outline(path) if s.start_line <= line <= s.end_line]
    return max(around, key=lambda s: s.start_line).qualified if around else ""
