"""Adds to a query what the index knows about its words: corrected spellings, words joined or split. Pure.

`parse` reads the text of a query alone; this looks its words up in the lexical index. Nothing is added that the index
doesn't have.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from dataclasses import replace
from functools import partial
from itertools import pairwise
from typing import TYPE_CHECKING

from repopilot import i18n
from repopilot.index.tokens import expand, words
from repopilot.retrieval.query.french import english_words
from repopilot.retrieval.query.parse import MOST_TERMS, Query
from repopilot.retrieval.query.query_words import STOP_EN, STOP_FR
from repopilot.retrieval.query.spelling import LEAST_LETTERS, LONGEST, Vocabulary, correction, known, vocabulary

if TYPE_CHECKING:
    from collections.abc import Callable

    from repopilot.index.lexical import LexicalIndex
    from repopilot.index.store import Index

CORRECTED = frozenset(("natural", "symbol"))
"""Kinds of queries to which something is added: commits, stack traces and paths name what isn't there yet."""
CORRECTED_WEIGHT, JOINED_WEIGHT = 0.9, 0.5
MOST_WORDS, MOST_CORRECTIONS = 60, 4
LEAST_PART = 2


def expanded_for(index: Index, query: Query) -> Query:
    """`expanded` over an index, whose vocabulary is computed when it is first needed and kept with it."""
    return expanded(query, index.lexical, lambda: index.derived(_vocabulary_of))


def _vocabulary_of(index: Index) -> Vocabulary:
    return vocabulary(index.lexical)


def expanded(query: Query, lexical: LexicalIndex, vocabulary_of_index: Callable[[], Vocabulary]) -> Query:
    """The query with what the index knows about its words.

    Args:
        query: a parsed query.
        lexical: the lexical index to search.
        vocabulary_of_index: gives its vocabulary, computed once; called only when a word is unknown.

    Returns:
        The query with further terms and, for a misspelt name, further names. All terms and names that it had are kept.
        Notes say which words were corrected.
    """
    if query.kind not in CORRECTED or query.frames:
        return query
    spellings = corrections(query, lexical, vocabulary_of_index)
    found: dict[str, float] = {}
    for spelling in spellings.values():
        _add(found, spelling, CORRECTED_WEIGHT, lexical)
    for spelling in _joined(query, lexical):
        _add(found, spelling, JOINED_WEIGHT, lexical)
    terms = {**found, **query.terms}
    strongest = sorted(terms, key=lambda token: -terms[token])[:MOST_TERMS]
    notes = tuple(
        i18n.message("retrieval.corrected", word=word, correction=spelling) for word, spelling in spellings.items()
    )
    return replace(
        query,
        terms={token: terms[token] for token in sorted({*strongest, *query.terms})},
        names=tuple(dict.fromkeys((*query.names, *_corrected_names(query, spellings)))),
        notes=(*query.notes, *notes),
    )


def corrections(
    query: Query, lexical: LexicalIndex, vocabulary_of_index: Callable[[], Vocabulary]
) -> Mapping[str, str]:
    """What the words of a query that neither the index nor English knows are taken for.

    Args:
        query: a parsed query.
        lexical: the lexical index to search.
        vocabulary_of_index: gives its vocabulary.

    Returns:
        For at most MOST_CORRECTIONS words as written: a word or several words of the index.
    """
    found: dict[str, str] = {}
    for word in dict.fromkeys(words(query.text)[:MOST_WORDS]):
        lower = word.lower()
        if not LEAST_LETTERS <= len(word) <= LONGEST or not lower.isascii() or not lower.isalpha():
            continue
        if lower in STOP_EN or (query.language == "fr" and _is_french(lower)) or known(word, lexical):
            continue
        right = _as_name(lower, lexical) or correction(word, lexical, vocabulary_of_index()) or _split(lower, lexical)
        if right:
            found[word] = right
        if len(found) == MOST_CORRECTIONS:
            break
    return found


def _add(found: dict[str, float], spelling: str, weight: float, lexical: LexicalIndex) -> None:
    for token in (token for word in words(spelling) for token in expand(word)):
        if token in lexical.tokens:
            found[token] = max(found.get(token, 0.0), weight)


def _is_french(word: str) -> bool:
    return word in STOP_FR or bool(english_words(word))


def _joined(query: Query, lexical: LexicalIndex) -> Iterator[str]:
    """Neighbouring words that the index writes as one: "time out", "request context"."""
    lower = [word.lower() for word in words(query.text)[:MOST_WORDS]]
    for first, second in pairwise(lower):
        if min(len(first), len(second)) < LEAST_PART or (first in STOP_EN and second in STOP_EN):
            continue
        yield from (spelling for spelling in (first + second, f"{first}_{second}") if spelling in lexical.tokens)


def _as_name(word: str, lexical: LexicalIndex) -> str:
    """The name that is written like the word but with underscores: "dbname" for `db_name`."""
    for at in range(LEAST_PART, len(word) - LEAST_PART + 1):
        spelling = f"{word[:at]}_{word[at:]}"
        if spelling in lexical.tokens:
            return spelling
    return ""


def _split(word: str, lexical: LexicalIndex) -> str:
    """Two words of the index that make the word; of several pairs, the one whose rarer word is the most frequent."""
    often = partial(_passages, lexical=lexical)
    pairs = [(word[:at], word[at:]) for at in range(LEAST_PART + 1, len(word) - LEAST_PART)]
    best = max(pairs, key=lambda pair: min(map(often, pair)), default=("", ""))
    return " ".join(best) if min(map(often, best)) else ""


def _passages(word: str, lexical: LexicalIndex) -> int:
    """How many passages have a word."""
    number = lexical.tokens.get(expand(word)[0]) if word else None
    return 0 if number is None else len(lexical.fields["body"].of(number)[0])


def _corrected_names(query: Query, spellings: Mapping[str, str]) -> Iterator[str]:
    for name in query.names:
        if name in spellings and " " not in spellings[name]:
            yield spellings[name]
