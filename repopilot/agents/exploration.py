"""Search the repository for a question, as every agent does first."""

from __future__ import annotations

import asyncio

from repopilot.agents.follow_up import resolve
from repopilot.llm.backend import backend_of
from repopilot.llm.model import Model
from repopilot.retrieval.search import Results, search
from repopilot.trace import Step
from repopilot.types import Hit
from repopilot.workspace import Workspace

READING_S = 10.0
"""How long an agent model of measured speed may read the places found before it begins."""
TOKENS_A_PLACE = 250
"""Tokens of a typical place; an agent model's context divided by this is the number of places to search for."""
MOST_PLACES = 60
"""The most places to search for, however large the context is."""
_DEFAULT_TOKENS = 1100


async def retrieve(question: str, workspace: Workspace, step: Step, *, documentation: bool = False) -> Results:
    """Search, in a step of its own.

    Args:
        question: as the user asked it. For a follow-up, the question that it stands for is searched.
        workspace: the repository and the conversation.
        step: the step of the agent.
        documentation: as for `search`.

    Returns:
        The ranked hits.
    """
    searched = resolve(question, workspace.turns)
    async with step.child("retrieve", "retrieval", searched) as searching:
        results = await asyncio.to_thread(
            search,
            workspace.index,
            searched,
            depth(workspace),
            embedder=workspace.embedder,
            documentation=documentation,
        )
        searching.note(
            kind=results.query.kind,
            commit=workspace.index.commit,
            hits=[hit_row(hit) for hit in results.hits],
            seconds=dict(results.seconds),
        )
        if results.compared:
            searching.note(compared_by_meaning="{}/{}".format(*results.compared))
        for note in results.notes:
            searching.degrade(note)
    return results


def context_tokens(model: Model | None) -> int:
    """How many tokens of excerpts the model is given: at most a third of its context window. A small model is given
    few, an agent model as many as it reads in READING_S, and an agent model on a remote server that whole third."""
    if model is None:
        return _DEFAULT_TOKENS
    room = model.context_window // 3
    backend = backend_of(model)
    few = backend.excerpt_tokens
    if model.way == "agent" and model.speed is not None:
        few = max(few, model.speed.prompt_tokens_within(READING_S))
    elif model.way == "agent" and not backend.is_measured:
        few = room
    return min(few, room)


def depth(workspace: Workspace) -> int:
    """How many places to search for: as many as `search_depth` says; where an agent model is used and that isn't set,
    as many as fill the model's context."""
    settings = workspace.settings
    if not workspace.uses_tools or "search_depth" in settings.model_fields_set:
        return settings.search_depth
    return max(settings.search_depth, min(MOST_PLACES, context_tokens(workspace.model) // TOKENS_A_PLACE))


def hit_row(hit: Hit) -> dict[str, object]:
    """A hit as JSON, without its text: its place, its score and the contributions to the score."""
    c = hit.chunk
    return {
        "path": c.path,
        "start_line": c.start_line,
        "end_line": c.end_line,
        "symbol": c.symbol,
        "score": round(hit.score, 3),
        "why": {name: round(value, 3) for name, value in hit.why.items()},
        "lines": [list(lines) for lines in hit.lines],
    }
