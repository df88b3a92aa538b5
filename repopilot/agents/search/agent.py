"""Search: list the ranked places for a query, without any model."""

from __future__ import annotations

import asyncio
from functools import partial

from repopilot.agents.search.render import evidence_of, search_markdown
from repopilot.results import Answer
from repopilot.retrieval.query.parse import reply_language
from repopilot.retrieval.result_page import search_page
from repopilot.retrieval.skipped_files import lines_with
from repopilot.trace import Step
from repopilot.types import RankedPlace
from repopilot.workspace import Workspace


async def search(question: str, workspace: Workspace, step: Step) -> Answer:
    """Search the repository, in a thread.

    Args:
        question: the query with its filters; '' for examples of queries.
        workspace: the repository; its models are not asked.
        step: the step of the work.

    Returns:
        The places as text, as evidence and, in `result`, as a SearchReport.
    """
    async with step.child("retrieve", "retrieval", question) as searching:
        beyond = partial(lines_with, index=workspace.index, snapshot=workspace.snapshot, settings=workspace.settings)
        report = await asyncio.to_thread(
            search_page, workspace.index, question, embedder=workspace.embedder, beyond=beyond
        )
        searching.note(commit=report.commit, hits=[_row(place) for place in report.places])
    text = search_markdown(report, reply_language(question, workspace.settings))
    return Answer(text, evidence=evidence_of(report), result=report)


def _row(place: RankedPlace) -> dict[str, object]:
    """A place as the retrieval step lists it."""
    return {
        "path": place.path,
        "start_line": place.start_line,
        "end_line": place.end_line,
        "symbol": place.symbol,
        "score": round(place.score, 3),
        "why": dict(place.why),
    }
