"""The router's classifier, learnt from the examples in `bench/data/routing_train.jsonl`.

Beside the intents it knows two kinds of follow-ups: `PROCEED` ("go ahead") and `SAME` ("and the other one?").
"""

from __future__ import annotations

from repopilot.retrieval.query import learnt

PROCEED = "PROCEED"
SAME = "SAME"


def chances(question: str) -> dict[str, float]:
    """The chance of each intent, and of the follow-ups.

    Args:
        question: as the user wrote it.

    Returns:
        The chances by label; their sum is 1.
    """
    return learnt.chances(question, __package__)
