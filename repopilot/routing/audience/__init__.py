"""The audience of an answer, learnt from the examples in `bench/data/audience_train.jsonl`."""

from __future__ import annotations

from dataclasses import replace

from repopilot.retrieval.query import learnt
from repopilot.workspace import Workspace

SURE = 0.6
"""Least chance that a question is for somebody who reads no code, who is then shown none."""
_UNSAID = 0.2
"""Below this chance, a question doesn't say for whom it is."""
_LONGEST = 7
"""The most words at the beginning or end of a question that say for whom it is."""
_LEAST = 3
"""The fewest words left of a question without them."""
_ENDS = (":", ",", ";", "–", "—")
"""The endings of opening words that say for whom a question is."""


def is_for_reader(question: str) -> bool:
    """Whether a question says that its answer is for somebody who doesn't read code ("for a product manager").

    Args:
        question: as the user wrote it.
    """
    return _chance(question) >= SURE


def for_its_reader(question: str, workspace: Workspace) -> tuple[str, Workspace]:
    """Set a workspace to answer somebody who reads no code, where a question says so.

    Args:
        question: as the user wrote it.
        workspace: the repository.

    Returns:
        The question, without its audience unless a model that uses tools reads it; and the workspace.
    """
    if not is_for_reader(question):
        return question, workspace
    settings = workspace.settings.model_copy(update={"audience": "reader"})
    return question if workspace.uses_tools else without_audience(question), replace(workspace, settings=settings)


def without_audience(question: str) -> str:
    """A question without the words at its beginning or end that say for whom it is, which would mislead a search.

    Args:
        question: one that says so.

    Returns:
        The longest rest that doesn't say so; the question where no rest does.
    """
    words = question.split()
    for end in (number for number, word in enumerate(words[:_LONGEST], 1) if word.endswith(_ENDS)):
        rest = " ".join(words[end:])
        if len(words) - end >= _LEAST and is_for_reader(" ".join(words[:end])) and _chance(rest) < _UNSAID:
            return rest
    for count in range(1, min(_LONGEST, len(words) - _LEAST) + 1):
        for rest in (" ".join(words[:-count]), " ".join(words[count:])):
            if _chance(rest) < _UNSAID:
                return rest
    return question


def _chance(question: str) -> float:
    return learnt.chances(question, __name__)["reader"]
