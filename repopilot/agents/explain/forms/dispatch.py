"""Tries the forms of questions that code can answer, in order."""

from __future__ import annotations

from collections.abc import Callable

from repopilot.agents.explain.forms.call_path import call_path_answer
from repopilot.agents.explain.forms.code_answer import CodeAnswer, Inquiry
from repopilot.agents.explain.forms.code_forms import answer_code_form
from repopilot.agents.explain.forms.project.answerers import answer_project_form
from repopilot.i18n import Language
from repopilot.retrieval.search import Results
from repopilot.workspace import Workspace

Answerer = Callable[[Inquiry], CodeAnswer | None]
"""Answers the questions of its form; None for all others, and where the code doesn't hold the answer."""

ANSWERERS: tuple[Answerer, ...] = (call_path_answer, answer_project_form, answer_code_form)
"""In the order in which they are tried: those of narrow forms first."""


def answer_by_code(question: str, results: Results, workspace: Workspace, language: Language) -> CodeAnswer | None:
    """Answer a question from symbols, code graph and texts alone.

    Args:
        question: as the user asked it.
        results: what the search found for it.
        workspace: the repository.
        language: to answer in.

    Returns:
        The answer; None where the question has no known form, or the code doesn't hold the answer for certain.

    Raises:
        IndexFailed: the index is damaged.
    """
    inquiry = Inquiry(question, results, workspace, language)
    return next((answer for answerer in ANSWERERS if (answer := answerer(inquiry)) is not None), None)
