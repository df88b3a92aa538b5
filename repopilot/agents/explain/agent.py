"""Explain: the evidence first, an answer by code where code knows, then a model's words where they add to it."""

from __future__ import annotations

import asyncio
import re
from collections.abc import Sequence
from dataclasses import replace
from typing import Literal, NamedTuple

from repopilot import i18n
from repopilot.agents.explain.absence import absent_technologies
from repopilot.agents.explain.code_findings import Findings, excerpts_of, find, find_with_suggested_words
from repopilot.agents.explain.context import FAINT_COVERAGE, WEAK_COVERAGE, focused_context, question_coverage
from repopilot.agents.explain.forms.project.list_question import asks_for_several, list_question
from repopilot.agents.explain.further_places import look_further
from repopilot.agents.explain.grounding import absent_names
from repopilot.agents.explain.prose import write_prose
from repopilot.agents.explain.render import absence_note, absent_names_note, citations_of, evidence_markdown
from repopilot.agents.explain.self_assessment import seems_answerable
from repopilot.results import Answer, Explanation
from repopilot.retrieval.cite import Excerpt
from repopilot.trace import Step
from repopilot.types import Citation
from repopilot.workspace import Workspace

_EXPLAIN = re.compile(r"\W*(?:explain|explique[rz]?)\b", re.I)
Origin = Literal["model", "code", "extractive", "absent"]
WithoutProse = Literal["extractive", "weak", "failed", "unusable", "unsure", "no_list"]


class _Basis(NamedTuple):
    """What a question rests on: the places with all lines, the share of the question in them, and the names in it that
    occur nowhere."""

    excerpts: tuple[Excerpt, ...]
    coverage: float
    absent: list[str]


async def explain(question: str, workspace: Workspace, step: Step) -> Answer:
    """Answer a question about the repository.

    Args:
        question: as the user asked it.
        workspace: the repository. Without a model, or where it fails before its first word, the evidence is the answer.
        step: the step of the work.

    Returns:
        The answer: what code knows, what the model adds to it, and the evidence, under the numbers that both cite.
    """
    found = await find(question, workspace, step)
    if absent := await asyncio.to_thread(_absent_technologies, found, workspace):
        return absent
    if not workspace.uses_tools:
        found = await find_with_suggested_words(found, workspace, step)
    answer = _answer_with_code if found.code is not None else _answer_from_places
    return await answer(found, workspace, step)


async def _answer_with_code(found: Findings, workspace: Workspace, step: Step) -> Answer:
    """The answer by code; a model adds to it only where how or why is asked."""
    await _show(_code_text(found), step)
    if not (found.results.query.asks_for == "explained" or _EXPLAIN.match(found.question)):
        return _answer(found, workspace, "", "code")
    return await _with_model(found, await asyncio.to_thread(_basis, found, workspace), workspace, step)


async def _answer_from_places(found: Findings, workspace: Workspace, step: Step) -> Answer:
    """The answer where code has only places to show: by a model, or the places as they are."""
    basis = await asyncio.to_thread(_basis, found, workspace)
    if not basis.excerpts or (basis.absent and basis.coverage < WEAK_COVERAGE):
        return _absent(found, workspace, basis.absent)
    if not workspace.uses_tools and _asks_for_a_list(found.question):
        return _without_prose(found, workspace, "no_list")
    return await _with_model(found, basis, workspace, step)


def _absent_technologies(found: Findings, workspace: Workspace) -> Answer | None:
    """The answer that the repository lacks what is asked about; None where that isn't known, where code is sure of
    its answer, and where all of the repository is asked about."""
    if (found.code and found.code.sure) or found.results.query.kind == "overview":
        return None
    lacking = absent_technologies(found.question, workspace.index)
    names = absent_names(found.question, workspace.index, found.results) if lacking else []
    return _absent(found, workspace, names, lacking) if lacking else None


def _basis(found: Findings, workspace: Workspace) -> _Basis:
    excerpts = excerpts_of(found, workspace)
    absent = absent_names(found.question, workspace.index, found.results)
    return _Basis(excerpts, question_coverage(found, excerpts), absent)


def _asks_for_a_list(question: str) -> bool:
    """Whether all of something is asked for: a small model names some of it as if it were all."""
    asked = list_question(question)
    return not asked.single if asked else asks_for_several(question)


async def _with_model(found: Findings, basis: _Basis, workspace: Workspace, step: Step) -> Answer:
    coverage = basis.coverage
    if workspace.uses_tools:
        found = await look_further(found, workspace, step)
        basis = await asyncio.to_thread(_basis, found, workspace)
    if workspace.model is None:
        step.degrade(i18n.message("explain.degraded.no_model"))
        return _without_prose(found, workspace, "weak" if coverage < FAINT_COVERAGE else "extractive")
    if coverage < WEAK_COVERAGE:
        step.degrade(i18n.message("explain.degraded.weak"))
    packed = await asyncio.to_thread(focused_context, found, basis.excerpts, workspace, workspace.model)
    found = replace(found, pack=packed)
    certain = workspace.uses_tools or _tells_anyway(found)
    if not certain and not await seems_answerable(found, coverage, workspace, step):
        step.degrade(i18n.message("explain.degraded.unsure"))
        return _without_prose(found, workspace, "unsure")
    prose = await write_prose(found, coverage, workspace, step)
    if not prose.text:
        # A small model denies what is there, too: its word alone is no reason to say so.
        why: WithoutProse = "failed" if prose.failure else "weak" if prose.absent else "unusable"
        return _without_prose(found, workspace, why)
    lead = "\n\n".join([prose.text, *_notes(workspace, basis.absent, prose.failure, found.language)])
    return _answer(found, workspace, lead, "model", prose.citations, interrupted=bool(prose.failure))


def _tells_anyway(found: Findings) -> bool:
    """Whether the model isn't asked first if it can tell: an explanation is wanted as such, or all of the repository is
    asked about, of which it always sees a part only."""
    return bool(_EXPLAIN.match(found.question)) or found.results.query.kind == "overview"


def _without_prose(found: Findings, workspace: Workspace, why: WithoutProse) -> Answer:
    """The answer where no model adds to the evidence: there is none, it failed, or its text was unusable."""
    lead = "" if found.code else i18n.text(f"explain.{why}", found.language)
    if found.map:
        lead = f"{lead}\n\n~~~~text\n{found.map}\n~~~~"
    origin: Origin = "code" if found.code else "extractive"
    return _answer(found, workspace, lead, origin, interrupted=why == "failed")


def _absent(found: Findings, workspace: Workspace, names: Sequence[str], technologies: Sequence[str] = ()) -> Answer:
    """The answer that the repository doesn't hold it, above the nearest places."""
    note = absence_note(workspace.index, names, found.language, technologies)
    if found.evidence:
        note = f"{note}\n\n{i18n.text('explain.nearest', found.language)}"
    return _answer(replace(found, code=None), workspace, note, "absent")


def _answer(
    found: Findings,
    workspace: Workspace,
    lead: str,
    origin: Origin,
    citations: Sequence[Citation] = (),
    interrupted: bool = False,
) -> Answer:
    """The answer of its parts: what the code says, the lead below it, the evidence."""
    lead = "\n\n".join(filter(None, (_code_text(found), lead)))
    text = "\n\n".join(filter(None, (lead, evidence_markdown(found.evidence, found.language))))
    cited = {citation.number: citation for citation in citations}
    places = (cited.get(c.number, c) for c in citations_of(found.evidence, workspace.index.commit))
    result = Explanation(origin, interrupted=interrupted, lead=lead, form=found.code.form if found.code else "")
    return Answer(text, tuple(places), evidence=found.evidence, result=result)


def _code_text(found: Findings) -> str:
    if found.code is None:
        return ""
    origin = "from_code" if found.code.sure else "likely_from_code"
    return f"{found.code.text}\n\n{i18n.text(f'explain.{origin}', found.language)}"


async def _show(text: str, step: Step) -> None:
    async with step.child("answer from the code", "answer") as answering:
        await answering.write(text)


def _notes(workspace: Workspace, absent: Sequence[str], failure: str, language: str) -> list[str]:
    """Paragraphs below the model's text: names that occur nowhere, and that it broke off."""
    notes = [absent_names_note(absent, workspace.index, language)] if absent else []
    return [*notes, i18n.text("explain.cut_off", language, why=failure)] if failure else notes
