"""What a model that uses tools is told of the conversation before its task. Pure."""

from __future__ import annotations

from collections.abc import Sequence

from repopilot.prompts import below_text
from repopilot.results import Turn

TURNS_TOLD = 2
QUESTION_CHARACTERS = 1_000
ANSWER_CHARACTERS = 2_000
DIFF_CHARACTERS = 4_000
"""For the diffs of all files of an answer together: its change needn't have been accepted."""


def with_last_turns(task: str, turns: Sequence[Turn]) -> str:
    """A task below the last questions with their answers, which are marked as data; refused ones are left out.

    Args:
        task: what a model is asked.
        turns: the conversation before it, oldest first.

    Returns:
        The task alone where it is the first one.
    """
    told = [turn for turn in turns if turn.intent != "REFUSE"][-TURNS_TOLD:]
    return below_text("loop_last_turns", task, "\n\n".join(map(_told, told)))


def _told(turn: Turn) -> str:
    diffs = "".join(file.diff for file in turn.files)
    parts = [
        f"The user: {turn.question[:QUESTION_CHARACTERS]}",
        f"The answer: {turn.answer[:ANSWER_CHARACTERS]}",
        *([f"The change:\n{diffs[:DIFF_CHARACTERS]}"] if diffs else []),
    ]
    return "\n".join(parts)
