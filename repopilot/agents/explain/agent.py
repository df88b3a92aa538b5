"""Explain: answer a question from excerpts, streamed, with citations that code has verified."""

from __future__ import annotations

import re
from collections.abc import Sequence

from repopilot import i18n
from repopilot.agents.explain.context import WEAK_COVERAGE, evidence_of, prompt_messages, question_coverage
from repopilot.agents.explain.grounding import (
    absent_names,
    copies_excerpts,
    mark_own_snippets,
    should_stop,
    without_invented_names,
)
from repopilot.agents.explain.render import absent_answer, absent_names_note, extractive_answer, with_call_path
from repopilot.agents.exploration import Exploration, explore
from repopilot.errors import ModelError
from repopilot.llm.backend import ChatOptions
from repopilot.llm.model import Model
from repopilot.llm.stream import chat
from repopilot.results import Answer, Explanation
from repopilot.retrieval.cite import verify
from repopilot.trace import Step
from repopilot.types import Citation
from repopilot.workspace import Workspace

_ABSENT_REPLY = re.compile(r"\W*not\s+in\s+this\s+repository\W*", re.I)


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
    text, failure = await _ask(question, workspace, workspace.model, found, coverage, step)
    if _ABSENT_REPLY.fullmatch(text):
        return absent_answer(index, found, absent)
    text = _usable_text(_ABSENT_REPLY.sub("", text), workspace, found, failure, step)
    if not text:
        return extractive_answer(index, found, "failed" if failure else "unusable")
    if coverage < WEAK_COVERAGE:
        step.degrade(i18n.message("explain.degraded.weak"))
    checked, citations = await _verify(text, workspace, found, step)
    language = found.language
    checked = mark_own_snippets(checked.strip(), found.pack.excerpts, language)
    text = "\n\n".join([checked, *_notes(workspace, absent, failure, language)])
    evidence = evidence_of(found, citations, index)
    return Answer(text, citations, evidence=evidence, result=Explanation(interrupted=bool(failure)))


async def _ask(
    question: str, workspace: Workspace, model: Model, found: Exploration, coverage: float, step: Step
) -> tuple[str, str]:
    """The model's raw text, streamed into an answer step, and why it broke off ('' when it did not)."""
    messages = prompt_messages(question, workspace, found, coverage)
    async with step.child("answer", "answer") as answering:
        try:
            # The delimiter in a reply means that the model has begun to copy its context.
            text = await chat(
                model,
                messages,
                answering,
                ChatOptions(workspace.settings.max_answer_tokens, stop=(found.pack.mark,)),
                halt=lambda so_far: should_stop(so_far, found.pack.excerpts),
            )
            return text, ""
        except ModelError as error:
            answering.note(failed=str(error))
            return error.partial, i18n.reason(error)


def _usable_text(text: str, workspace: Workspace, found: Exploration, failure: str, step: Step) -> str:
    """The part of the model's text that may be shown, '' for none. The trace reports what is left out."""
    if failure:
        step.degrade(i18n.message("explain.degraded.cut_off", why=failure))
    elif not text.strip():
        step.degrade(i18n.message("explain.degraded.empty"))
    text, invented = without_invented_names(text, workspace.index, found.pack.excerpts)
    if invented:
        step.degrade(i18n.message("explain.degraded.invented", count=invented))
    if copies_excerpts(text, found.pack.excerpts):
        step.degrade(i18n.message("explain.degraded.copied"))
        return ""
    return text.strip()


async def _verify(text: str, workspace: Workspace, found: Exploration, step: Step) -> tuple[str, tuple[Citation, ...]]:
    async with step.child("verify citations", "tool") as checking:
        checked, citations = verify(text, found.pack.excerpts, workspace.index.commit, workspace.index.symbols)
        checking.note(
            supported=sum(c.supported for c in citations), unsupported=sum(not c.supported for c in citations)
        )
    return checked, citations


def _notes(workspace: Workspace, absent: Sequence[str], failure: str, language: str) -> list[str]:
    """Paragraphs below the model's text: names that occur nowhere, and that it broke off."""
    notes = [absent_names_note(absent, workspace.index, language)] if absent else []
    return [*notes, i18n.text("explain.cut_off", language, why=failure)] if failure else notes
