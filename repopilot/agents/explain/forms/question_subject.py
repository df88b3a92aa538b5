"""What a question is about: the weights of its words in this repository, and how much of them a text holds."""

from __future__ import annotations

import re
from collections.abc import Iterable, Iterator
from dataclasses import dataclass

from repopilot.index.lexical import LexicalIndex
from repopilot.index.tokens import expand, tokens_of, words
from repopilot.retrieval.query.french import english_terms
from repopilot.retrieval.query.parse import Query
from repopilot.retrieval.query.query_words import STOP_EN
from repopilot.retrieval.query.synonyms import SYNONYMS

_RARITY_OF_UNKNOWN = 4.0
"""A word that the repository doesn't hold weighs as much as a rare one: a text that lacks it isn't about it."""


@dataclass(frozen=True, slots=True)
class Subject:
    """The words of a question that say what it is about.

    `alternatives` are index tokens of each word, any of which stands for it: of a French word also those of its English
    translations. `weights` has the weight of each word.
    """

    alternatives: tuple[frozenset[str], ...]
    weights: tuple[float, ...]

    def __bool__(self) -> bool:
        return bool(self.weights)

    def share(self, text: str) -> float:
        """How much of the subject a text holds, 0–1 by weight; 1 for an empty subject."""
        return self.share_of(tokens_of(text))

    def share_of(self, tokens: Iterable[str]) -> float:
        """The same for the tokens of a text."""
        if not self.weights:
            return 1.0
        held = set(tokens)
        found = sum(weight for any_of, weight in zip(self.alternatives, self.weights, strict=True) if any_of & held)
        return found / sum(self.weights)


def subject_of(query: Query, lexical: LexicalIndex, form: re.Pattern[str] | None = None) -> Subject:
    """Read what a question is about.

    Args:
        query: the question as it is parsed.
        lexical: gives the rarity of words.
        form: the words that only say which form the question has; they are left out.

    Returns:
        The subject; an empty one where the question has no other words.
    """
    rest = words(form.sub(" ", query.text) if form else query.text)
    french = query.language == "fr"
    pairs = english_terms(rest) if french else [(word, ()) for word in rest if word.lower() not in STOP_EN]
    weights: dict[frozenset[str], float] = {}
    for word, english in pairs:
        any_of = _spellings(word, english)
        if any_of and len(word) > 1:
            weights.setdefault(any_of, _weight(any_of, lexical))
    return Subject(tuple(weights), tuple(weights.values()))


def _spellings(word: str, english: tuple[str, ...]) -> frozenset[str]:
    """The index tokens that stand for a word: its own, those of its translations, and their synonyms."""
    first = [expand(part)[:1] for part in (word, *english, *_american(word))]
    found = {token for tokens in first for token in tokens}
    return frozenset(found.union(*(SYNONYMS.get(token, ()) for token in found)))


def _american(word: str) -> Iterator[str]:
    """The American spelling of a British one: code mostly has that."""
    changed = re.sub(
        r"(?<=[a-z]{3})is(?=e[ds]?$|ing$|ation)",
        "iz",
        re.sub(r"(?<=[a-z][lvb])our(?=s?$|ed$|ing$)|(?<=behavi)our", "or", word),
    )
    if changed != word:
        yield changed


def _weight(any_of: frozenset[str], lexical: LexicalIndex) -> float:
    known = [float(lexical.rarity[lexical.tokens[token]]) for token in any_of if token in lexical.tokens]
    return min(known, default=_RARITY_OF_UNKNOWN)
