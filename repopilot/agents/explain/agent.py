"""Explain: answer a question from excerpts, streamed, with citations that code has verified."""

from __future__ import annotations

from collections.abc import Sequence

from repopilot import i18n
from repopilot.agents.explain.context import WEAK_COVERAGE, evidence_of, question_coverage
from repopilot.agents.explain.grounding import absent_names
from repopilot.agents.explain.prose import write_prose
from repopilot.agents.explain.render import absent_answer, absent_names_note, extractive_answer, with_call_path
from repopilot.agents.exploration import Exploration, explore
from repopilot.results import Answer, Explanation
from repopilot.trace import Step
from repopilot.workspace import Workspace


async def explain(question: str, workspace: Workspace, step: Step) -> Answer:
    """Answer a question about the repository.

    Args:
        question: as the user asked it.
        workspace: the repository. Without a model, or where it fails before its first word, the answer is extractive.
        step: the step of the work.

    Returns:
        The answer. A call path that the question asks for comes first: it comes from the code graph, not from the
        model.
    """
    found = await explore(question, workspace, step)
    answer = await _explain(question, workspace, found, step)
    return with_call_path(answer, found, workspace.index) if found.call_path else answer


async def _explain(question: str, workspace: Workspace, found: Exploration, step: Step) -> Answer:
    index = workspace.index
    absent = absent_names(question, index, found)
    coverage = question_coverage(question, found)
    if not found.pack.excerpts or coverage == 0.0 or (absent and coverage < WEAK_COVERAGE):
        return absent_answer(index, found, absent)
    if workspace.model is None:
        step.degrade(i18n.message("explain.degraded.no_model"))
        return extractive_answer(index, found)
    prose = await write_prose(question, found, coverage, workspace, step)
    if not prose.text:
        if prose.absent:
            return absent_answer(index, found, absent)
        return extractive_answer(index, found, "failed" if prose.failure else "unusable")
    if coverage < WEAK_COVERAGE:
        step.degrade(i18n.message("explain.degraded.weak"))
    text = "\n\n".join([prose.text, *_notes(workspace, absent, prose.failure, found.language)])
    evidence = evidence_of(found, prose.citations, index)
    return Answer(text, prose.citations, evidence=evidence, result=Explanation(interrupted=bool(prose.failure)))


def _notes(workspace: Workspace, absent: Sequence[str], failure: str, language: str) -> list[str]:
    """Paragraphs below the model's text: names that occur nowhere, and that it broke off."""
    notes = [absent_names_note(absent, workspace.index, language)] if absent else []
    return [*notes, i18n.text("explain.cut_off", language, why=failure)] if failure else notes
