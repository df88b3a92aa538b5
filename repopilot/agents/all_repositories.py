"""Answers from every repository that is indexed here (`/search --all`, `/explain --all`), without a model."""

from __future__ import annotations

import asyncio
import re
from collections.abc import Iterator
from dataclasses import asdict, replace
from functools import partial
from itertools import count

from repopilot import i18n
from repopilot.agents.explain.agent import best_match
from repopilot.agents.explain.evidence_places import LINES, evidence_for
from repopilot.agents.explain.grounding import absent_names, indexed_holding
from repopilot.agents.explain.render import citations_of, evidence_markdown
from repopilot.agents.exploration import hit_row
from repopilot.agents.search.render import evidence_of, search_markdown
from repopilot.errors import UsageError
from repopilot.foreign_text import without_surrogates
from repopilot.index.store import IndexStore
from repopilot.results import Answer, Explanation
from repopilot.retrieval.query.parse import parse
from repopilot.retrieval.search_all import FoundInAll, page_of_all, search_all
from repopilot.runtime import Runtime
from repopilot.trace import Step
from repopilot.types import Evidence, Intent, Route

_OPTION = re.compile(r"(?:--|—)all(?:\s+|$)")  # some keyboards turn two hyphens into a dash


def asked_of_all(text: str) -> str | None:
    """The text after a leading `--all`; None for a text that doesn't begin with it."""
    option = _OPTION.match(text)
    return text[option.end() :].strip() if option else None


async def answer_all(
    question: str, runtime: Runtime, step: Step, intent: Intent, language: str = "", store: IndexStore | None = None
) -> Answer:
    """Search all repositories, or answer a question with their best places.

    Args:
        question: as the user wrote it, without `--all`; it may contain search filters.
        runtime: holds the indexes.
        step: the step of the work.
        intent: SEARCH, or EXPLAIN.
        language: the language of the answer; '' for the one in the settings, else the question's.
        store: the indexes that may be searched; None for all.

    Returns:
        A list of places; or the best match and the evidence, numbered across repositories. Each place has its origin.

    Raises:
        UsageError: a question to EXPLAIN is empty, or the intent is neither of the two.
    """
    question = without_surrogates(question).strip()
    if intent not in _AGENTS or not (question or intent == "SEARCH"):
        raise UsageError(i18n.message("assistant.empty" if intent in _AGENTS else "search.all_where"))
    language = language or runtime.settings.language or parse(question).language
    done = await _AGENTS[intent](question, store or runtime.indexes, step, language)
    return replace(done, route=Route(intent, 1.0, i18n.message("routing.forced"), "forced"))


async def _search(query: str, store: IndexStore, step: Step, language: str) -> Answer:
    async with step.child("retrieve", "retrieval", query):
        report = await asyncio.to_thread(page_of_all, store, query)
    text = search_markdown(report, language)
    return Answer(text, degraded=report.notes, evidence=evidence_of(report), result=report)


async def _explain(question: str, store: IndexStore, step: Step, language: str) -> Answer:
    async with step.child("retrieve", "retrieval", question) as searching:
        found = await asyncio.to_thread(search_all, store, question, len(LINES))
        searching.note(hits=[{"repository": index.name, **hit_row(hit)} for hit, index in found.hits])
    async with step.child("read", "tool", question) as reading:
        evidence = tuple(await asyncio.to_thread(lambda: list(_evidence(found))))
        reading.note(evidence=[asdict(place) for place in evidence])
    async with step.child("answer", "answer") as answering:
        result = await asyncio.to_thread(_lead, question, found, evidence, language)
        await answering.write(result.lead)
    text = "\n\n".join(filter(None, (result.lead, evidence_markdown(evidence, language))))
    notes = (*found.notes, i18n.message("explain.degraded.all"))
    return Answer(text, citations_of(evidence, ""), degraded=notes, evidence=evidence, result=result)


_AGENTS = {"SEARCH": _search, "EXPLAIN": _explain}


def _evidence(found: FoundInAll) -> Iterator[Evidence]:
    results = {index.folder: each for index, each in found.searched}
    numbers = count(1)
    for hit, index in found.hits:
        for place in evidence_for(index, replace(results[index.folder], hits=(hit,))):
            yield replace(place, number=next(numbers), origin=index.origin)


def _lead(question: str, found: FoundInAll, evidence: tuple[Evidence, ...], language: str) -> Explanation:
    """The text above the evidence: the best match, or the names that no repository has."""
    if not evidence:
        return Explanation("absent", lead=i18n.text("explain.absent_in_all", language, count=len(found.searched)))
    holding = ((index, results, partial(indexed_holding, index)) for index, results in found.searched)
    lacking = set.intersection(*(set(absent_names(question, *each)) for each in holding))
    if not lacking:
        return Explanation("extractive", lead=best_match(evidence[0], language))
    names = ", ".join(f"`{name}`" for name in sorted(lacking))
    said = i18n.text("explain.names_absent_in_all", language, names=names, count=len(found.searched))
    return Explanation("absent", lead=f"{said}\n\n{i18n.text('explain.nearest', language)}")
