"""The forms of questions about the project as such: dependencies, commands, lists, tests, history."""

from __future__ import annotations

from collections.abc import Callable

from repopilot.agents.explain.forms.code_answer import CodeAnswer, Inquiry
from repopilot.agents.explain.forms.project.change_answers import answer_change
from repopilot.agents.explain.forms.project.command_answers import answer_command
from repopilot.agents.explain.forms.project.dependency_answers import answer_dependency
from repopilot.agents.explain.forms.project.list_answers import answer_list
from repopilot.agents.explain.forms.project.member_answers import answer_members
from repopilot.agents.explain.forms.project.tests_answers import answer_tests

_ANSWERERS: tuple[Callable[[Inquiry], CodeAnswer | None], ...] = (
    answer_change,
    answer_dependency,
    answer_command,
    answer_tests,
    answer_list,
    answer_members,
)
"""In the order in which they are tried: those of narrow forms first."""
_LONGEST = 40
"""Words. A longer text is more than one plain question."""


def answer_project_form(inquiry: Inquiry) -> CodeAnswer | None:
    """Answer a question about the project as such; None for all others, and where its files don't hold the answer."""
    if len(inquiry.question.split(maxsplit=_LONGEST)) > _LONGEST:
        return None
    return next((found for answerer in _ANSWERERS if (found := answerer(inquiry)) is not None), None)
