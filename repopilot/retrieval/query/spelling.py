"""Corrects misspelt words of a query to words of the repository. Pure over the lexical index.

The distance is that of Damerau and Levenshtein in its restricted form (optimal string alignment). The index has stems
only, so a word is compared with every stem followed by a usual ending.
"""

from __future__ import annotations

import math
from collections.abc import Iterator, Mapping, Sequence
from functools import cache
from pathlib import Path
from typing import TYPE_CHECKING

from rapidfuzz import process
from rapidfuzz.distance import OSA

from repopilot.index.tokens import expand

if TYPE_CHECKING:
    from repopilot.index.lexical import LexicalIndex

LEAST_LETTERS, LONG_WORD, LONGEST = 5, 8, 24
"""Words of LEAST_LETTERS letters and more may differ by one edit, those of LONG_WORD and more by two; words longer than
LONGEST are not corrected."""
ENDINGS = (
    "",
    *("s es ed ing er ers or ors e y ies ied ion ions ation ations ment ments able ably ly al ally ity".split()),
    *("ities ive ively ness ance ence ful ic ical ize izes ized izing izer ization ise ised ising isation".split()),
    *("alize alized alizes alizing alization ate ates ated ating ator ators ative".split()),
)
"""What the English stemmer takes off the end of words."""
MOST_EDITS = 2
OFTEN = 4.0
"""The logarithm, to base 2, of the number of passages from which on a word occurs often."""

Vocabulary = Mapping[str, Sequence[str]]
"""The tokens that words are corrected to, by first letter."""


def vocabulary(lexical: LexicalIndex) -> Vocabulary:
    """The tokens of an index that consist of three or more letters a–z and nothing else."""
    found: dict[str, list[str]] = {}
    for token in lexical.tokens:
        if 3 <= len(token) <= LONGEST and token.isascii() and token.isalpha():
            found.setdefault(token[0], []).append(token)
    return found


def known(word: str, lexical: LexicalIndex) -> bool:
    """Whether a word occurs in the index, or is a common English one; of a compound identifier, any part of it."""
    return any(token in lexical.tokens or token in common_stems() for token in expand(word))


@cache
def common_stems() -> frozenset[str]:
    """Stems of common English words, made by bench/common_words.py."""
    return frozenset((Path(__file__).parent / "common_words.txt").read_text("utf-8").split())


def correction(word: str, lexical: LexicalIndex, words: Vocabulary) -> str:
    """The word of the repository nearest to a misspelt one.

    Args:
        word: one word.
        lexical: the lexical index.
        words: its vocabulary.

    Returns:
        A word that begins with the same letter and differs by at most one edit (two for long words): the nearest, then
        the one with the longest and commonest stem; "" where there is none, and for a known word.
    """
    lower = word.lower()
    if not LEAST_LETTERS <= len(lower) <= LONGEST or not (lower.isascii() and lower.isalpha()) or known(word, lexical):
        return ""
    forms = dict(_forms(lower, words))
    limit = 1 if len(lower) < LONG_WORD else MOST_EDITS
    found = process.extract(lower, forms.keys(), scorer=OSA.distance, score_cutoff=limit, limit=None)
    # Among equally near ones "parameter" is likelier for "paramter" than "param" + "er", unless it hardly occurs.
    ranked = sorted(found, key=lambda each: (each[1], -_likelihood(forms[each[0]], lexical)))
    return next((form for form, _, _ in ranked if expand(form) == (forms[form],)), "")


def _forms(word: str, words: Vocabulary) -> Iterator[tuple[str, str]]:
    """Every stem with every ending that makes it about as long as a word, and the stem."""
    for stem in words.get(word[0], ()):
        for ending in ENDINGS:
            if abs(len(stem) + len(ending) - len(word)) <= MOST_EDITS:
                yield stem + ending, stem
        if stem.endswith("i"):  # the stem of "directory" is "directori"
            yield f"{stem[:-1]}y", stem


def _likelihood(stem: str, lexical: LexicalIndex) -> float:
    often = len(lexical.fields["body"].of(lexical.tokens[stem])[0])
    return 2 * len(stem) + min(math.log2(1 + often), OFTEN)
