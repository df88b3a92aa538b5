"""How much of a question's meaning a text holds: its index terms, weighted by how rare they are in the repository."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from dataclasses import dataclass
from math import fsum

from repopilot.index.store import Index
from repopilot.index.tokens import tokens_of
from repopilot.retrieval.query.parse import Query
from repopilot.retrieval.ranked_places import token_weights


@dataclass(frozen=True, slots=True)
class TermWeights:
    """The terms of a question and their weights."""

    weights: Mapping[str, float]

    @property
    def total(self) -> float:
        """The weight of all terms."""
        return sum(self.weights.values())

    def without(self, terms: Iterable[str]) -> TermWeights:
        """The other terms."""
        left_out = frozenset(terms)
        return TermWeights({term: weight for term, weight in self.weights.items() if term not in left_out})

    def of(self, text: str) -> frozenset[str]:
        """The terms that a text holds."""
        return frozenset(tokens_of(text) & self.weights.keys())

    def total_of(self, terms: Iterable[str], factor: float = 1.0) -> float:
        """The weight of some terms, times a factor."""
        return factor * fsum(self.weights[term] for term in terms)


def term_weights(index: Index, query: Query, *, unknown: bool = False) -> TermWeights:
    """The terms of a parsed question.

    Args:
        index: says how rare each is.
        query: the question, as the search understood it: with its French terms in English, too.
        unknown: count the terms that the repository doesn't have, too. They weigh most, and nothing can hold them.
    """
    rarity = index.lexical.rarity
    weights = token_weights(index.lexical, query.terms)
    if unknown:
        rarest = float(rarity.max()) if len(rarity) else 1.0
        weights |= {term: weight * rarest for term, weight in query.terms.items() if term not in weights}
    return TermWeights(weights)
