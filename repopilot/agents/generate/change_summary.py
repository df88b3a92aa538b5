"""A model's summary of its own change, checked like an answer against the changed files."""

from __future__ import annotations

import asyncio
from collections.abc import Mapping
from dataclasses import replace

from repopilot.agents.coding.agent import LoopEdit
from repopilot.agents.explain.answer_check import CheckedPart, check_answer
from repopilot.agents.explain.cited_prose import parts_of
from repopilot.agents.explain.known_names import known_names
from repopilot.agents.explain.lines_read import LinesRead, seen_in_calls, words_told
from repopilot.foreign_text import code_span, visible
from repopilot.index.store import Index
from repopilot.repo.patches.diff_hunks import hunks_of
from repopilot.results import Sentence
from repopilot.sandbox.controls.mutants import changed_lines
from repopilot.tools.working_copy import WorkingCopy

LONGEST_SUMMARY = 4000
"""Characters."""


async def checked_summary(edit: LoopEdit, task: str, copy: WorkingCopy) -> tuple[Sentence, ...]:
    """The sentences of a model's summary, each with the new lines that it rests on.

    Args:
        edit: the change with its summary.
        task: as the user wrote it; a summary may repeat its names and numbers.
        copy: where the change was made; it is reset to that change.

    Raises:
        RepoPilotError: the copy can't be indexed.
    """
    return await asyncio.to_thread(_checked, edit, task, copy)


def _checked(edit: LoopEdit, task: str, copy: WorkingCopy) -> tuple[Sentence, ...]:
    if copy.changes() != edit.changes:
        copy.undo(copy.steps)
        copy.write(edit.changes)
    workspace = copy.workspace
    read = _read_of(edit, task, copy.original.index)
    parts = parts_of(visible(edit.summary.strip())[:LONGEST_SUMMARY])
    return tuple(_sentence(each) for each in check_answer(parts, known_names(read, task, workspace)) if each.status)


def _read_of(edit: LoopEdit, task: str, before: Index) -> LinesRead:
    """The lines of changed files, new lines first, since names are looked up there first; then the lines of other files
    that tools showed. The task and the removed lines also count as read."""
    seen = seen_in_calls(before, (), edit.records)
    lines: dict[str, Mapping[int, str]] = {}
    for each in edit.changes:
        rows = dict(enumerate(each.content.removesuffix("\n").split("\n"), 1))
        new = changed_lines(before.text(each.path) or "", each.content)
        lines[each.path] = dict(sorted(rows.items(), key=lambda row: row[0] not in new))
    lines.update({path: rows for path, rows in seen.lines.items() if path not in lines})
    hunks = (hunk for each in edit.changes for hunk in hunks_of(each))
    gone = "\n".join(row[1:] for hunk in hunks for row in hunk.lines if row.startswith("-"))
    return replace(seen, lines=lines, told=seen.told | words_told(f"{task}\n{gone}"), results=f"{seen.results}\n{gone}")


def _sentence(checked: CheckedPart) -> Sentence:
    assert checked.status is not None
    places = tuple(each.place for each in checked.places)
    passage = checked.passage
    meant = [at or written for at, written in zip(checked.cited, passage.places, strict=True)]
    text = passage.cited_as([code_span(at.shown) for at in meant], [code_span(at.shown) for at in checked.added])
    return Sentence(" ".join(text.split()), checked.status, checked.why, places)
