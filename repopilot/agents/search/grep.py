"""Exact search: every line that matches a pattern, by file."""

from __future__ import annotations

import asyncio
import time
from collections.abc import Mapping
from itertools import groupby
from typing import Any

from repopilot.agents.coding.typed_commands import read_command
from repopilot.agents.search.render import evidence_of, search_markdown
from repopilot.i18n import message
from repopilot.results import Answer
from repopilot.retrieval.query.parse import reply_language
from repopilot.retrieval.result_page import PAGE
from repopilot.tools.looking.text_lines import matching_lines
from repopilot.tools.working_copy import working_copy
from repopilot.trace import Step
from repopilot.types import MarkedLine, RankedPlace, SearchReport
from repopilot.workspace import Workspace

MOST_LISTED = 1000
"""Lines that are listed; all are counted."""
_MOST_CITED = 12


async def grep(query: str, workspace: Workspace, step: Step) -> Answer:
    """List the lines that match, without any model.

    Args:
        query: what is typed behind `/grep`.
        workspace: the repository; its models are not asked.
        step: the step of the work.

    Returns:
        The lines as text, the first as evidence and, in `result`, all as a SearchReport.

    Raises:
        UsageError: the pattern is no regular expression, takes too long, or there is no such file.
    """
    async with step.child("grep", "tool", query) as searching:
        report = await grep_report(query, workspace)
        searching.note(matches=report.total, files=report.files)
    text = search_markdown(report, reply_language("", workspace.settings))
    return Answer(text, evidence=evidence_of(report)[:_MOST_CITED], result=report)


async def grep_report(query: str, workspace: Workspace, count: int = PAGE) -> SearchReport:
    """Look for the lines that match.

    Args:
        query: what is typed behind `/grep`.
        workspace: the repository.
        count: how many files at most.

    Returns:
        A place for each file.

    Raises:
        UsageError: as `grep` does.
    """
    started = time.perf_counter()
    command = read_command(f"/grep {query}")
    arguments: Mapping[str, Any] = command.arguments if command else {}
    async with working_copy(workspace) as copy:
        found = await asyncio.to_thread(matching_lines, copy, **arguments, limit=MOST_LISTED)
    by_file = [(path, list(rows)) for path, rows in groupby(found.rows, key=lambda row: row["path"])]
    places = tuple(_place(number, path, rows) for number, (path, rows) in enumerate(by_file[:count], 1))
    listed = len(found.rows)
    return SearchReport(
        query=query,
        words=query,
        places=places,
        total=found.total,
        files=len(found.counts),
        more=len(by_file) > count,
        notes=(message("search.lines_left_out", listed=listed, total=found.total),) if listed < found.total else (),
        seconds=time.perf_counter() - started,
        commit=workspace.index.commit,
        exact=True,
    )


def _place(number: int, path: str, rows: list[dict[str, Any]]) -> RankedPlace:
    lines = tuple(MarkedLine(row["line"], row["text"], tuple(map(tuple, row["marks"]))) for row in rows)
    first = lines[0].number
    last = lines[-1].number
    return RankedPlace(number, path, first, last, "", path, "", "", "", 0.0, {}, lines, "")
