"""What kind of edit a task asks for, learnt from the tasks in `bench/data/edits`. A small model mistakes many tasks for
a rename, so kinds that are unlikely by the examples aren't offered to it."""

from __future__ import annotations

from repopilot.retrieval.query import learnt

LEAST = 0.15
"""The probability, with all kinds equally frequent, below which a task doesn't ask for a kind."""


def asked_for(task: str) -> frozenset[str]:
    """The kinds of edit that a task may ask for.

    Args:
        task: as the user wrote it.

    Returns:
        Of `rename`, `move`, `delete`, `change_signature`, `set_value`, `text`, `add` and `other`.
    """
    return frozenset(kind for kind, chance in learnt.chances(task, __package__).items() if chance >= LEAST)
