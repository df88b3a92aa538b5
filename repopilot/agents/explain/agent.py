"""Explain: the evidence first, an answer by code where code knows, then a model's words where they add to it."""

from __future__ import annotations

import asyncio
from collections.abc import Sequence
from dataclasses import replace
from functools import partial
from typing import Literal, NamedTuple

from repopilot import i18n
from repopilot.agents.explain.agent_answer import AgentAnswer, agent_answer
from repopilot.agents.explain.code_findings import Findings, excerpts_of, find
from repopilot.agents.explain.context import WEAK_COVERAGE, focused_context, question_coverage
from repopilot.agents.explain.grounding import (
    absent_names,
    absent_proper_names,
    files_holding,
    in_skipped_files,
    leads_here,
)
from repopilot.agents.explain.prose import Prose, write_prose
from repopilot.agents.explain.render import (
    absence_note,
    absent_names_note,
    citations_of,
    places_markdown,
    sentence_markdown,
    share_checked,
)
from repopilot.code.languages import file_kind, is_test_path
from repopilot.foreign_text import FENCED, code_block
from repopilot.results import Answer, Explanation
from repopilot.trace import Step
from repopilot.types import Citation, Evidence, Excerpt
from repopilot.workspace import Workspace

Origin = Literal["model", "code", "extractive", "absent"]


_QUOTED = 4
"""Lines of a document quoted at the beginning of an answer for somebody who reads no code."""
_LEAST_PROSE = 4
"""The minimum number of words of such a line: a heading says nothing."""


class _Basis(NamedTuple):
    """What an answer is based on: the places with all their lines, the share of the question that they cover, and the
    names in the question that occur nowhere."""

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
        The answer: what code knows, what the model adds to it, and the evidence, under the numbers that both cite. The
        text of a model that doesn't use tools is a draft below what code found; it never replaces that.
    """
    found = await find(question, workspace, step)
    for_reader = workspace.settings.audience == "reader"
    if for_reader and found.code is None:
        found = _documents_first(found)
    if workspace.uses_tools and (found.code is None or for_reader or _wants_words(found)):
        return await _told_by_agent(found, workspace, step)
    if for_reader:
        step.degrade(i18n.message("explain.degraded.no_plain_words"))
    if found.results.query.other_language:
        step.degrade(i18n.message("explain.degraded.other_language"))
    if absent := await asyncio.to_thread(_absent_proper_names, found, workspace):
        return absent
    basis = await asyncio.to_thread(_basis, found, workspace)
    if found.code is None and (not basis.excerpts or (basis.absent and basis.coverage < WEAK_COVERAGE)):
        return await asyncio.to_thread(_absent, found, workspace, basis.absent)
    lead = _lead(found, for_reader)
    await _show(lead, step)
    if found.code is not None and not _wants_words(found):
        return _answer(found, workspace, lead, "code")
    return await _with_draft(found, basis, lead, workspace, step)


def _documents_first(found: Findings) -> Findings:
    """The findings with documents before code, then other files, and tests last."""
    order = {"doc": 0, "code": 1, "schema": 1}
    places = sorted(
        found.evidence, key=lambda place: 3 if is_test_path(place.path) else order.get(file_kind(place.path), 2)
    )
    return replace(found, evidence=tuple(replace(place, number=n) for n, place in enumerate(places, 1)))


def _wants_words(found: Findings) -> bool:
    """Whether a computed answer leaves something to say: the question asks why."""
    return _form(found) == "reason"


async def _told_by_agent(found: Findings, workspace: Workspace, step: Step) -> Answer:
    """The answer in the words of a model that looks around with tools; where it has none, the reason and the best
    place."""
    if found.code is not None:
        await _show(_lead(found), step)
    told = await agent_answer(
        found, workspace, step, lambda so_far: step.publish(_agent_words(found, workspace, so_far))
    )
    if told.sentences:
        return _agent_words(found, workspace, told)
    if found.code is None and not found.evidence:
        return await asyncio.to_thread(_absent, found, workspace, [])
    lead = "\n\n".join((*_agent_notes(told, found.language), _lead(found)))
    return _answer(found, workspace, lead, "extractive", interrupted=told.outcome == "failed")


def _agent_words(found: Findings, workspace: Workspace, told: AgentAnswer) -> Answer:
    """The answer with an agent model's sentences. Where none of them names code, the answer is marked as written for
    somebody who doesn't read code."""
    notes = [*([_lead(found)] if found.code is not None else []), *_agent_notes(told, found.language)]
    layout = (*(f"{note}\n\n" for note in notes), *told.layout)
    lead = "".join(
        piece if isinstance(piece, str) else sentence_markdown(told.sentences[piece - 1], found.language)
        for piece in layout
    )
    lead = f"{lead.strip()}\n\n*{share_checked(told.sentences, found.language)}*"
    explained = Explanation(
        interrupted=told.outcome == "noted",
        lead=lead,
        layout=layout,
        cited=len(told.citations),
        form=_form(found),
        for_reader=bool(told.sentences) and not any("`" in sentence.text for sentence in told.sentences),
    )
    return replace(
        _explained(explained, told.evidence, told.citations, workspace, found.language), sentences=told.sentences
    )


def _agent_notes(told: AgentAnswer, language: str) -> list[str]:
    """The notes above an agent model's words that say why they are no answer."""
    if told.outcome == "answered":
        contradicted = bool(told.sentences) and all(each.status == "contradicted" for each in told.sentences)
        return [i18n.text("explain.all_contradicted", language)] if contradicted else []
    return [i18n.text(f"explain.agent.{told.outcome}", language, why=i18n.translated(told.failure, language))]


async def _with_draft(found: Findings, basis: _Basis, lead: str, workspace: Workspace, step: Step) -> Answer:
    """What code found, and below it a model's draft, where one answers and its sentences hold."""
    origin: Origin = "code" if found.code else "extractive"
    if workspace.model is None:
        step.degrade(i18n.message("explain.degraded.no_model"))
        return _answer(found, workspace, lead, origin)
    heading = i18n.text("explain.draft", found.language, model=workspace.model.name)
    prose, found = await _prose(found, basis, workspace, step, heading)
    failed = bool(prose.failure)
    if not prose.text:
        return _answer(found, workspace, lead, origin, interrupted=failed)
    draft = "\n\n".join([prose.text, *_notes(workspace, basis.absent, prose.failure, found.language)])
    return _answer(found, workspace, lead, "model", prose.citations, interrupted=failed, draft=draft)


async def _prose(
    found: Findings, basis: _Basis, workspace: Workspace, step: Step, heading: str = ""
) -> tuple[Prose, Findings]:
    """What the model writes about the evidence, below a heading, and the findings as it read them."""
    if basis.coverage < WEAK_COVERAGE:
        step.degrade(i18n.message("explain.degraded.weak"))
    assert workspace.model is not None
    packed = await asyncio.to_thread(focused_context, found, basis.excerpts, workspace, workspace.model)
    found = replace(found, pack=packed)
    return await write_prose(found, basis.coverage, workspace, step, heading), found


def _absent_proper_names(found: Findings, workspace: Workspace) -> Answer | None:
    """The answer that the repository lacks what is asked about; None where that isn't known, where code is sure of
    its answer, and for a question about the whole repository."""
    query = found.results.query
    sure = (found.code and found.code.sure) or leads_here(found.results)
    if sure or query.kind == "overview" or query.other_language:
        return None
    lacking = absent_proper_names(found.question, workspace.index)
    names = _absent_names(found, workspace) if lacking else []
    return _absent(found, workspace, names, lacking) if lacking else None


def _absent_names(found: Findings, workspace: Workspace) -> list[str]:
    """The names in the question that no indexed file holds."""
    holding = partial(files_holding, workspace.resolver)
    return absent_names(found.question, workspace.index, found.results, holding)


def _basis(found: Findings, workspace: Workspace) -> _Basis:
    excerpts = excerpts_of(found, workspace)
    return _Basis(excerpts, question_coverage(found, excerpts), _absent_names(found, workspace))


def _quoted_words(place: Evidence) -> str:
    """The words of a document, or of a definition's comment, at a place; '' where there are too few."""
    prose = "\n".join(line for _, line in place.lines)
    lines = (line.strip() for line in FENCED.sub("", prose).splitlines())
    said = [line for line in lines if line[:1].isalpha() and len(line.split()) >= _LEAST_PROSE]
    words = " ".join(said[:_QUOTED]) if file_kind(place.path) == "doc" else place.summary
    return f"> {words} [{place.number}]" if len(words.split()) >= _LEAST_PROSE else ""


def _lead(found: Findings, for_reader: bool = False) -> str:
    """What code found: its computed answer, the outline of the repository, or the best place. For somebody who doesn't
    read code: the prose of the best place that has any."""
    if found.code is not None:
        origin = "from_code" if found.code.sure else "likely_from_code"
        return f"{found.code.text}\n\n{i18n.text(f'explain.{origin}', found.language)}"
    if found.map:
        return code_block(found.map, "text")
    said = map(_quoted_words, found.evidence) if for_reader else ()
    quoted = next(filter(None, said), "")
    return quoted or best_match(found.evidence[0], found.language)


def best_match(place: Evidence, language: str) -> str:
    """The lead that names the best place."""
    name = f" · `{place.symbol}`" if place.symbol else ""
    return i18n.text("explain.best_match", language, place=f"`{place.place}`{name} [{place.number}]")


def _absent(found: Findings, workspace: Workspace, names: Sequence[str], technologies: Sequence[str] = ()) -> Answer:
    """The answer that the repository doesn't hold what is asked about, above the nearest places; where files that the
    index skips hold it, their places."""
    if skipped := in_skipped_files((*names, *technologies), workspace):
        places = tuple(
            Evidence(n, at.span.path, at.line, at.line, "", ((at.line, at.source),)) for n, at in enumerate(skipped, 1)
        )
        listed = ", ".join(f"`{place.path}:{place.start_line}` [{place.number}]" for place in places)
        called = ", ".join(f"`{name}`" for name in (*names, *technologies))
        note = i18n.text("explain.in_skipped", found.language, names=called, places=listed)
        return _answer(replace(found, code=None, evidence=places), workspace, note, "extractive")
    unread = found.results.query.other_language and not names
    note = (
        i18n.text("explain.degraded.other_language", found.language)
        if unread
        else absence_note(workspace.index, names, found.language, technologies)
    )
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
    draft: str = "",
) -> Answer:
    """The answer composed of the lead, a model's draft below it, and the evidence."""
    result = Explanation(origin, interrupted=interrupted, lead=lead, draft=draft, form=_form(found))
    return _explained(result, found.evidence, citations, workspace, found.language)


def _form(found: Findings) -> str:
    return found.code.form if found.code else ""


def _explained(
    result: Explanation,
    evidence: Sequence[Evidence],
    citations: Sequence[Citation],
    workspace: Workspace,
    language: str,
) -> Answer:
    result = replace(result, for_reader=result.for_reader or workspace.settings.audience == "reader")
    below = places_markdown(result, evidence, language)
    text = "\n\n".join(filter(None, (result.lead, result.draft, below)))
    cited = {citation.number: citation for citation in citations}
    places = (cited.get(c.number, c) for c in citations_of(evidence, workspace.index.commit))
    return Answer(text, tuple(places), evidence=tuple(evidence), result=result)


async def _show(text: str, step: Step) -> None:
    async with step.child("answer from the code", "answer") as answering:
        await answering.write(text)


def _absent_note(names: Sequence[str], workspace: Workspace, language: str) -> str:
    """Says that no indexed file holds some names, and where they occur in files that the index skips."""
    places = {name: in_skipped_files([name], workspace) for name in names}
    said = []
    if nowhere := [name for name in names if not places[name]]:
        said.append(absent_names_note(nowhere, workspace.index, language))
    for name, found in places.items():
        if found:
            listed = ", ".join(f"`{at.span.path}:{at.line}`" for at in found)
            said.append(i18n.text("explain.in_skipped", language, names=f"`{name}`", places=listed))
    return " ".join(said)


def _notes(workspace: Workspace, absent: Sequence[str], failure: str, language: str) -> list[str]:
    """Paragraphs below the model's text: which names occur nowhere, and that the text broke off."""
    notes = [_absent_note(absent, workspace, language)] if absent else []
    return [*notes, i18n.text("explain.cut_off", language, why=failure)] if failure else notes
