"""The router's classifier, learnt from the examples in `bench/data/routing_train.jsonl`.

Beside the intents it knows two kinds of follow-ups, `PROCEED` ("go ahead") and `SAME` ("and the other one?"), and
`FRAGMENT`, the part of a sentence that asks for nothing by itself ("which takes too long").
"""

from __future__ import annotations

from repopilot.retrieval.query import learnt

PROCEED = "PROCEED"
SAME = "SAME"
FRAGMENT = "FRAGMENT"


def chances(question: str) -> dict[str, float]:
    """The chance of each intent, of the follow-ups, and that it is a fragment.

    Args:
        question: as the user wrote it.

    Returns:
        The chances by label; their sum is 1.
    """
    return learnt.chances(question, __package__)
