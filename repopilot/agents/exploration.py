"""One exploration of the repository, shared by all agents of a turn: ranked hits and the excerpts a model reads."""

from __future__ import annotations

import asyncio
import re
from dataclasses import dataclass, replace

from repopilot.llm.model import Model, estimate_tokens
from repopilot.results import Turn
from repopilot.retrieval.pack import Pack, pack
from repopilot.retrieval.repo_map import overview
from repopilot.retrieval.search import Results, search
from repopilot.tools.call_graph import Stop, detect_path_query, hits_on
from repopilot.trace import Step
from repopilot.types import Hit
from repopilot.workspace import Workspace

CONTEXT_TOKENS = {"embedded": 1100, "ollama": 2200, "openai": 6000}
"""Excerpt tokens by kind of model: on a CPU each thousand costs seconds before the first word."""
MAP_SHARE = 3
"""A question about the whole repository gives a third of its tokens to the map."""
_DEFAULT_TOKENS = 1100
_FOLLOW_UP = re.compile(
    r"^\W*(?:and|but|now|also|then|why|et|mais|puis|alors|pourquoi)\W*(?:\w+\W*){0,3}$|"
    r"\b(?:it|its|that|this|these|those|they|them|there|same|above|ça|cela|celui|celle|ceux|il|elle|ils|elles|y)\b",
    re.I,
)
_SHORT = 12
"""Words: a longer question says for itself what it is about."""


@dataclass(frozen=True, slots=True)
class Exploration:
    """What one question found. `pack` holds the excerpts in the order the model reads them; `map` is the outline of
    the repository when the question is about the whole, else ''. `way`: how the one place that the question names
    reaches the other, for a question about that."""

    question: str
    results: Results
    pack: Pack
    map: str = ""
    way: tuple[Stop, ...] = ()


async def explore(question: str, workspace: Workspace, step: Step, k: int = 12) -> Exploration:
    """Search and read, as two visible steps. Raises nothing of its own: no hits is a result."""
    results, way = await _with_way(question, await retrieve(question, workspace, step, k), workspace, step)
    async with step.child("read", "tool", ", ".join(dict.fromkeys(h.chunk.path for h in results.hits))) as reading:
        budget = context_tokens(workspace.model)
        count = workspace.model.count_tokens if workspace.model else estimate_tokens
        outline = ""
        if results.query.kind == "overview":
            outline = await asyncio.to_thread(overview, workspace.index, budget // MAP_SHARE, count)
            budget -= budget // MAP_SHARE
        packed = await asyncio.to_thread(pack, workspace.index, results.hits, count, budget)
        reading.note(
            excerpts=[f"[{e.number}] {e.path}:{e.start_line}-{e.end_line}" for e in packed.excerpts],
            tokens=packed.tokens,
            left_out=packed.left_out,
        )
    return Exploration(question, results, packed, outline, way)


async def retrieve(question: str, workspace: Workspace, step: Step, k: int = 12) -> Results:
    """Ranked hits for the question, with the conversation's last question behind a short follow-up."""
    searched = with_context(question, workspace.turns)
    async with step.child("retrieve", "retrieval", searched) as searching:
        results = await asyncio.to_thread(search, workspace.index, searched, k, embedder=workspace.embedder)
        searching.note(
            kind=results.query.kind,
            commit=workspace.index.commit,
            hits=[hit_row(hit) for hit in results.hits],
            seconds=dict(results.seconds),
        )
        for note in results.notes:
            searching.degrade(note)
    return results


async def _with_way(
    question: str, results: Results, workspace: Workspace, step: Step
) -> tuple[Results, tuple[Stop, ...]]:
    """For a question about how one place reaches another: the way there, in a step of its own, and the results with
    the definitions on it first."""
    names = (*results.query.names, *results.query.paths)
    way = await asyncio.to_thread(detect_path_query, workspace.index, question, names)
    if not way:
        return results, ()
    async with step.child("way through the code graph", "tool", question) as going:
        best = results.hits[0].score if results.hits else 1.0
        hits = await asyncio.to_thread(hits_on, workspace.index, way, best)
        await going.write("\n".join(f"{number}. {stop}" for number, stop in enumerate(way, 1)))
    known = {hit.chunk.id for hit in hits}
    rest = (hit for hit in results.hits if hit.chunk.id not in known)
    return replace(results, hits=(*hits, *rest)), tuple(way)


def with_context(question: str, turns: tuple[Turn, ...]) -> str:
    """A short follow-up ("and where is it called?") means the last question's subject: search for both."""
    return f"{question} {turns[-1].question}" if follows_up(question, turns) else question


def follows_up(question: str, turns: tuple[Turn, ...]) -> bool:
    """Does the question need the one before to be understood?"""
    return bool(turns) and len(question.split()) <= _SHORT and bool(_FOLLOW_UP.search(question))


def context_tokens(model: Model | None) -> int:
    """How many tokens of excerpts the model is given; never more than a third of its window."""
    if model is None:
        return _DEFAULT_TOKENS
    return min(CONTEXT_TOKENS.get(model.kind, _DEFAULT_TOKENS), model.context_window // 3)


def hit_row(hit: Hit) -> dict[str, object]:
    """A hit as JSON, without its text: where it is, its score and what the score is made of."""
    c = hit.chunk
    return {
        "path": c.path,
        "start_line": c.start_line,
        "end_line": c.end_line,
        "symbol": c.symbol,
        "score": round(hit.score, 3),
        "why": {name: round(value, 3) for name, value in hit.why.items()},
    }
