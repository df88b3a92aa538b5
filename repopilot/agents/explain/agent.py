"""Explain: the evidence first, an answer by code where code knows, then a model's words where they add to it."""

from __future__ import annotations

import re
from collections.abc import Sequence
from dataclasses import replace
from typing import Literal

from repopilot import i18n
from repopilot.agents.explain.absence import absent_technologies
from repopilot.agents.explain.code_findings import Findings, excerpts_of, find
from repopilot.agents.explain.context import FAINT_COVERAGE, WEAK_COVERAGE, focused_context, question_coverage
from repopilot.agents.explain.forms.project.list_question import list_question
from repopilot.agents.explain.grounding import absent_names
from repopilot.agents.explain.prose import write_prose
from repopilot.agents.explain.render import absence_note, absent_names_note, citations_of, evidence_markdown
from repopilot.llm.model import Model
from repopilot.results import Answer, Explanation
from repopilot.trace import Step
from repopilot.types import Citation
from repopilot.workspace import Workspace

_EXPLAIN = re.compile(r"\W*(?:explain|explique[rz]?)\b", re.I)
Origin = Literal["model", "code", "extractive", "absent"]
WithoutProse = Literal["extractive", "weak", "failed", "unusable", "no_list"]


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
    absent = absent_names(question, workspace.index, found.results)
    lacking = absent_technologies(question, workspace.index) if _may_lack(found) else []
    excerpts = excerpts_of(found, workspace)
    coverage = question_coverage(question, found, excerpts)
    if found.code is None and (not excerpts or coverage == 0.0 or (absent and coverage < WEAK_COVERAGE)):
        return _absent(found, workspace, absent)
    if lacking:
        return _absent(found, workspace, absent, lacking)
    if found.code is not None:
        await _show(_code_text(found), step)
    if not _needs_prose(found):
        return _answer(found, workspace, "", "code")
    if found.code is None and _asks_for_a_list(question):
        return _without_prose(found, workspace, "no_list")
    if workspace.model is None:
        step.degrade(i18n.message("explain.degraded.no_model"))
        return _without_prose(found, workspace, "weak" if coverage < FAINT_COVERAGE else "extractive")
    if coverage < WEAK_COVERAGE:
        step.degrade(i18n.message("explain.degraded.weak"))
    return await _with_prose(found, workspace, workspace.model, absent, coverage, step)


def _may_lack(found: Findings) -> bool:
    """Whether the repository may lack what is asked about: not where code has answered, or all of it is asked about."""
    return not (found.code and found.code.sure) and found.results.query.kind != "overview"


def _needs_prose(found: Findings) -> bool:
    """Whether a model has something to add: to an answer by code only where the question asks how or why."""
    explained = found.results.query.asks_for == "explained" or _EXPLAIN.match(found.question)
    return found.code is None or bool(explained)


def _asks_for_a_list(question: str) -> bool:
    """Whether all of something is asked for: a small model names some of it as if it were all."""
    asked = list_question(question)
    return asked is not None and not asked.single


async def _with_prose(
    found: Findings, workspace: Workspace, model: Model, absent: Sequence[str], coverage: float, step: Step
) -> Answer:
    packed = focused_context(found, excerpts_of(found, workspace), workspace, model)
    prose = await write_prose(found.question, replace(found, pack=packed), coverage, workspace, step)
    if not prose.text:
        # A small model denies what is there, too: its word alone is no reason to say so.
        why: WithoutProse = "failed" if prose.failure else "weak" if prose.absent else "unusable"
        return _without_prose(found, workspace, why)
    lead = "\n\n".join([prose.text, *_notes(workspace, absent, prose.failure, found.language)])
    return _answer(found, workspace, lead, "model", prose.citations, interrupted=bool(prose.failure))


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
