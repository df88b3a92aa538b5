"""Does the model think that the excerpts answer the question? One constrained token, whose probability is the answer.

Kadavath et al., "Language Models (Mostly) Know What They Know", 2022 (arXiv:2207.05221). The prompt is that of the
explanation with one more line, so the engine reads the excerpts only once for both.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

from repopilot.agents.explain.code_findings import Findings
from repopilot.agents.explain.context import prompt_messages
from repopilot.errors import ModelError
from repopilot.llm import structured
from repopilot.prompts import render
from repopilot.trace import Step
from repopilot.workspace import Workspace

if TYPE_CHECKING:
    from llama_index.core.llms import ChatMessage

LEAST_SURE = 0.6
"""Below this, sentences of the 1.5B model name the wrong thing more often than the right one: of 120 questions it was
wrong in 9 of 28 that it was sure of, and in 31 of 43 others."""
_WORDS = ("yes", "no")


async def seems_answerable(found: Findings, coverage: float, workspace: Workspace, step: Step) -> bool:
    """Ask the model whether the excerpts hold the answer.

    Args:
        found: what was found, packed, with at least one excerpt.
        coverage: of `question_coverage`.
        workspace: the repository, with its model.
        step: the step of the agent; gets a step for the question.

    Returns:
        False where the model is not sure of it; True as well where its server gives no probabilities, or it fails:
        then it fails again where its words are wanted, and is said there.
    """
    model = workspace.model
    if model is None or model.kind != "embedded":
        return True
    async with step.child("assess", "llm") as assessing:
        try:
            word, confidence = await structured.choose_word(
                model, assessment_messages(workspace, found, coverage), _WORDS, assessing
            )
        except ModelError as error:
            assessing.note(failed=str(error))
            return True
        sure = confidence if word == "yes" else 1.0 - confidence
        assessing.note(answerable=round(sure, 3))
        return word is None or sure >= LEAST_SURE


def assessment_messages(workspace: Workspace, found: Findings, coverage: float) -> list[ChatMessage]:
    """The prompt of the explanation with the question whether the excerpts answer it.

    Args:
        workspace: the repository and the conversation.
        found: what was found, with its pack.
        coverage: of `question_coverage`.
    """
    from llama_index.core.llms import ChatMessage

    *before, last = prompt_messages(workspace, found, coverage)
    return [*before, ChatMessage(role=last.role, content=f"{last.content}\n\n{render('explain_answerable')}")]
