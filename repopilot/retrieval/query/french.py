"""French technical terms and the English words that identifiers use for them. Pure.

Words are looked up as written, without accents, and by their Snowball stem, so that plurals, conjugations and spellings
without accents find the entry of the word. Terms of several words come first: "mot de passe" doesn't mean "word". The
dictionary is french_terms.txt.
"""

from __future__ import annotations

import re
import unicodedata
from collections.abc import Iterator, Mapping, Sequence
from functools import cache, lru_cache
from pathlib import Path

from repopilot.index.tokens import stemmed
from repopilot.retrieval.query.query_words import STOP_FR

LONGEST_TERM = 4
"""How many words, stop words aside, a term of several words has at most."""


def english_terms(words: Sequence[str]) -> list[tuple[str, tuple[str, ...]]]:
    """The words of a French text with their English terms.

    Args:
        words: the words of a text in their order, as `repopilot.index.tokens.words` splits them.

    Returns:
        Each word that is no stop word, with the English words for it: none for a word that isn't listed. The words of a
        term of several words are joined by a space.
    """
    content = [word for word in words if word.lower() not in STOP_FR and len(word) > 1]
    found: list[tuple[str, tuple[str, ...]]] = []
    at = 0
    while at < len(content):
        length, english = next(_phrases_at(content, at), (1, english_words(content[at])))
        found.append((" ".join(content[at : at + length]), english))
        at += length
    return found


def english_words(word: str) -> tuple[str, ...]:
    """The English words for a French one, whatever its accents and ending; none for a word that isn't listed."""
    terms = _by_key()
    return next((terms[key] for key in _keys(word.lower()) if key in terms), ())


def is_french(word: str) -> bool:
    """Whether a word is a listed French one that isn't English as well; its plural counts."""
    lower = word.lower()
    return lower in _PLAIN_FRENCH or lower.removesuffix("s") in _PLAIN_FRENCH


def without_accents(text: str) -> str:
    """The text with œ and æ in two letters and the accents left out."""
    decomposed = unicodedata.normalize("NFD", text.replace("œ", "oe").replace("æ", "ae"))
    return "".join(character for character in decomposed if not unicodedata.combining(character))


_INFLECTION = re.compile(r"(?:er|ee?s?|s)$")
"""Endings that the stemmer leaves where accents are missing."""


def _entries() -> Iterator[tuple[str, tuple[str, ...], bool]]:
    """(French, English words, whether English has the French word, too) of each line of the dictionary."""
    for line in (Path(__file__).parent / "french_terms.txt").read_text("utf-8").split("\n"):
        french, equals, english = line.partition("=")
        if equals:
            yield french.removeprefix("~"), tuple(english.split()), french.startswith("~")


@lru_cache(maxsize=4096)
def _keys(word: str) -> tuple[str, ...]:
    """The keys of a word in lower case, the most certain first; stems are marked, so that no word equals a stem."""
    plain = without_accents(word)
    stems = without_accents(stemmed(word, "french")), stemmed(plain, "french"), _INFLECTION.sub("", plain)
    return tuple(
        dict.fromkeys((word, plain, plain.removesuffix("s"), *(f"{stem}~" for stem in stems if len(stem) > 2)))
    )


@cache
def _by_key() -> Mapping[str, tuple[str, ...]]:
    """The table of single words by all their keys; words as written come before those that only share a stem."""
    entries = [(_keys(french), english) for french, english, _ in _ENTRIES if " " not in french]
    found: dict[str, tuple[str, ...]] = {}
    for level in range(max(len(keys) for keys, _ in entries)):
        for keys, english in entries:
            if level < len(keys):
                found.setdefault(keys[level], english)
    return found


def _phrase_key(words: Sequence[str]) -> tuple[str, ...]:
    return tuple(stemmed(without_accents(word.lower()), "french") for word in words)


@cache
def _by_phrase() -> Mapping[tuple[str, ...], tuple[str, ...]]:
    found: dict[tuple[str, ...], tuple[str, ...]] = {}
    for french, english, _ in _ENTRIES:
        words = french.replace("'", " ").split()
        content = [word for word in words if word not in STOP_FR and len(word) > 1]
        if len(content) > 1:
            found.setdefault(_phrase_key(content), english)
    return found


def _phrases_at(content: Sequence[str], at: int) -> Iterator[tuple[int, tuple[str, ...]]]:
    """The terms of several words that begin at a word, the longest first, with how many words they have."""
    for length in range(min(LONGEST_TERM, len(content) - at), 1, -1):
        english = _by_phrase().get(_phrase_key(content[at : at + length]))
        if english is not None:
            yield length, english


_ENTRIES = tuple(_entries())
_PLAIN_FRENCH = frozenset(
    key
    for word, english, shared in _ENTRIES
    for key in (word, without_accents(word))
    if key not in english and not shared and " " not in word
)
