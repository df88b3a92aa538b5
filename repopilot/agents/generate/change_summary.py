"""What a model says of its own change, checked like an answer against the files as they are after it."""

from __future__ import annotations

import asyncio

from repopilot.agents.coding.agent import LoopEdit
from repopilot.agents.explain.answer_check import CheckedPart, check_answer
from repopilot.agents.explain.cited_prose import parts_of
from repopilot.agents.explain.known_names import known_names
from repopilot.agents.explain.lines_read import LinesRead
from repopilot.code.mutation.syntax_mutants import changed_lines
from repopilot.foreign_text import code_span, visible
from repopilot.index.store import Index
from repopilot.results import Sentence
from repopilot.tools.file_change import Changes
from repopilot.tools.working_copy import WorkingCopy

LONGEST_SUMMARY = 4000
"""Characters."""


async def checked_summary(edit: LoopEdit, task: str, copy: WorkingCopy) -> tuple[Sentence, ...]:
    """The sentences of a model's summary, each with the new lines that it rests on.

    Args:
        edit: the change with its summary.
        task: as the user wrote it; a summary may repeat its names and numbers.
        copy: where the change was made. It is brought back to that state.

    Raises:
        RepoPilotError: the copy can't be indexed.
    """
    return await asyncio.to_thread(_checked, edit, task, copy)


def _checked(edit: LoopEdit, task: str, copy: WorkingCopy) -> tuple[Sentence, ...]:
    if copy.changes() != edit.changes:
        copy.undo(copy.steps)
        copy.write(edit.changes)
    workspace = copy.workspace
    read = _lines_after(edit.changes, copy.original.index)
    parts = parts_of(visible(edit.summary.strip())[:LONGEST_SUMMARY])
    return tuple(_sentence(each) for each in check_answer(parts, known_names(read, task, workspace)) if each.status)


def _lines_after(changes: Changes, before: Index) -> LinesRead:
    """The lines of changed files, the new ones first: a name is looked for there first."""
    lines = {}
    for each in changes:
        rows = dict(enumerate(each.content.removesuffix("\n").split("\n"), 1))
        new = changed_lines(before.text(each.path) or "", each.content)
        lines[each.path] = dict(sorted(rows.items(), key=lambda row: row[0] not in new))
    return LinesRead(lines)


def _sentence(checked: CheckedPart) -> Sentence:
    assert checked.status is not None
    places = tuple(each.place for each in checked.places)
    text = " ".join(checked.passage.bare.split())
    shown = (f"{at.path}:{at.start}" + f"-{at.end}" * (at.end > at.start) for at in checked.places)
    cited = f" ({', '.join(map(code_span, shown))})" if places else ""
    return Sentence(f"{text}{cited}", checked.status, checked.why, places)
