"""The learned weights of the signals, a set for each kind of query. bench/train_ranking.py writes weights.json."""

from __future__ import annotations

import json
import re
from collections.abc import Mapping
from dataclasses import dataclass
from functools import cache
from importlib import resources
from typing import Literal

from repopilot.retrieval.query.parse import Query

WeightSet = Literal["lookup", "task", "question", "description"]
"""What is asked: a name, path or stack trace is looked up; a task reads like a commit message; a sentence that asks
nothing describes what is sought, as documentation does; anything else is a question, also a few words."""
FILE = "weights.json"
_LOOKUP = frozenset({"symbol", "path", "traceback"})


@dataclass(frozen=True, slots=True)
class RankingWeights:
    """How passages are ranked and joined.

    Attributes:
        passages: what each signal of a passage adds to its score.
        files: what each signal of a file adds to the scores of its passages.
        same_file: what each better passage of the same file takes from a score: a task wants files, a question also
            their parts.
        joins: whether passages that are near, or of one class, make one place.
        meaning: what the vector most similar to the query's adds to the score of its passage.
        near: the same if all passages have vectors and the nearest ones are searched for; 0: no such search.
    """

    passages: Mapping[str, float]
    files: Mapping[str, float]
    same_file: float
    joins: bool
    meaning: float
    near: float


def weight_set(query: Query) -> WeightSet:
    """The set of weights for a query."""
    if query.kind in _LOOKUP:
        return "lookup"
    states = _is_sentence(query.text)
    if query.kind == "task" and not states:
        return "task"
    return "description" if states and not query.asks else "question"


def _is_sentence(text: str) -> bool:
    """Whether the first paragraph ends like a sentence, as documentation does and the subjects of commits do not."""
    return re.split(r"\n\s*\n", text.strip(), maxsplit=1)[0].rstrip().endswith(".")


def weights_for(query: Query) -> RankingWeights:
    """The weights for a query."""
    return all_weights()[weight_set(query)]


@cache
def all_weights() -> Mapping[str, RankingWeights]:
    """Every set of weights by its name."""
    sets = json.loads(resources.files("repopilot.retrieval.ranking").joinpath(FILE).read_text("utf-8"))
    return {name: RankingWeights(**values) for name, values in sets.items()}
