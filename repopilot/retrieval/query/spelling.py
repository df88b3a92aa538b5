"""Corrects misspelt words of a query to words of the repository. Pure over the arrays of the lexical index.

The distance is that of Damerau and Levenshtein in its restricted form (optimal string alignment), computed for all
candidates at once. The index has stems only, so a word is compared with every stem followed by a usual ending.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from functools import cache
from pathlib import Path
from typing import TYPE_CHECKING

import numpy as np

from repopilot.index.tokens import expand

if TYPE_CHECKING:
    from repopilot.index.lexical import LexicalIndex

LEAST_LETTERS, LONG_WORD, LONGEST = 5, 8, 24
"""Words of LEAST_LETTERS letters and more may differ by one edit, those of LONG_WORD and more by two; words longer than
LONGEST are not corrected."""
ALPHABET = "abcdefghijklmnopqrstuvwxyz"
ENDINGS = (
    "",
    *("s es ed ing er ers or ors e y ies ied ion ions ation ations ment ments able ably ly al ally ity".split()),
    *("ities ive ively ness ance ence ful ic ical ize izes ized izing izer ization ise ised ising isation".split()),
    *("alize alized alizes alizing alization ate ates ated ating ator ators ative".split()),
)
"""What the English stemmer takes off the end of words."""
FAR = 99
OFTEN = 4.0
"""The logarithm, to base 2, of the number of passages from which on a word occurs often."""


_BITS = np.zeros(256, np.uint32)
_BITS[97:123] = np.uint32(1) << np.arange(26, dtype=np.uint32)
"""A bit for each letter a–z."""


@dataclass(frozen=True, slots=True, eq=False)
class Vocabulary:
    """The tokens that words are corrected to, by first letter.

    `numbers` int32 (n,) are those of the index; `letters` uint8 (n, LONGEST), 0 after the last; `lengths` int16 (n,);
    `masks` uint32 (n,): the set of letters; `starts` int (27,): those that begin with letter l are `starts[l]` up to
    `starts[l + 1]`.
    """

    numbers: np.ndarray
    letters: np.ndarray
    lengths: np.ndarray
    masks: np.ndarray
    starts: np.ndarray


def vocabulary(lexical: LexicalIndex) -> Vocabulary:
    """The tokens of an index that consist of three or more letters a–z and nothing else."""
    found = [token for token in lexical.tokens if 3 <= len(token) <= LONGEST and token.isascii() and token.isalpha()]
    letters = np.array(found, f"S{LONGEST}").view(np.uint8).reshape(len(found), LONGEST)
    order = np.argsort(letters[:, 0], kind="stable")
    letters = letters[order]
    masks = np.zeros(len(found), np.uint32)
    for column in letters.T:
        masks |= _BITS[column]
    return Vocabulary(
        numbers=np.array([lexical.tokens[token] for token in found], np.int32)[order],
        letters=letters,
        lengths=np.fromiter(map(len, found), np.int16, len(found))[order],
        masks=masks,
        starts=np.searchsorted(letters[:, 0], np.arange(97, 97 + 27)),
    )


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
    limits = (1,) if len(lower) < LONG_WORD else (1, 2)
    return next((found for limit in limits if (found := _nearest(lower, lexical, words, limit))), "")


def _nearest(lower: str, lexical: LexicalIndex, words: Vocabulary, limit: int) -> str:
    """The likeliest word within a limit of edits, "" for none."""
    candidates = _candidates(lower, words, limit)
    distances, ends = _distances(lower, words.letters[candidates], words.lengths[candidates])
    often = np.diff(lexical.fields["body"].starts)[words.numbers[candidates]]
    # Among equally near ones "parameter" is likelier for "paramter" than "param" + "er", unless it hardly occurs.
    likely = 2 * words.lengths[candidates] + np.minimum(np.log2(1 + often), OFTEN)
    for place in np.lexsort((-likely, distances)):
        if distances[place] > limit:
            break
        found = _spelt(words.letters[candidates[place]], lower, int(ends[place]))
        if found:
            return found
    return ""


def _candidates(word: str, words: Vocabulary, limit: int) -> np.ndarray:
    """The places of the tokens that can be the stem of a word within the limit: by first letter, length and letters."""
    letter = ord(word[0]) - 97
    span = slice(int(words.starts[letter]), int(words.starts[letter + 1]))
    lengths = words.lengths[span]
    strange = np.bitwise_count(words.masks[span] & ~np.uint32(_mask(word)))
    longest_ending = max(map(len, ENDINGS))
    fits = (strange <= limit) & (lengths <= len(word) + limit) & (lengths >= len(word) - limit - longest_ending)
    return span.start + np.nonzero(fits)[0]


def _mask(word: str) -> int:
    return sum(1 << (ord(letter) - 97) for letter in set(word))


def _distances(word: str, letters: np.ndarray, lengths: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
    """The edit distance of a word to the nearest of each stem's forms.

    Args:
        word: m letters.
        letters: uint8 (n, LONGEST), the stems.
        lengths: int (n,), theirs.

    Returns:
        int (n,): distances, FAR for more than two edits; int (n,): where in the word the ending begins.
    """
    table = _alignment(word, letters)
    rest = np.array([_ending_cost(word[at:]) for at in range(len(word) + 1)], np.int16)
    totals = table[lengths, :, np.arange(len(lengths))] + rest
    ends = totals.argmin(1)
    return totals[np.arange(len(lengths)), ends], ends


def _alignment(word: str, letters: np.ndarray) -> np.ndarray:
    """int16 (LONGEST + 1, m + 1, n): the distance of the first i letters of each stem to the first j of the word.

    FAR where i and j differ by more than two.
    """
    wanted = np.frombuffer(word.encode(), np.uint8)
    table = np.full((LONGEST + 1, len(word) + 1, len(letters)), FAR, np.int16)
    for first in range(min(3, len(word) + 1)):
        table[0, first] = first
    longest = int((letters > 0).any(0).sum())
    for i in range(1, min(longest, len(word) + 2) + 1):
        if i <= 2:
            table[i, 0] = i
        for j in range(max(1, i - 2), min(len(word), i + 2) + 1):
            differs = letters[:, i - 1] != wanted[j - 1]
            if wanted[j - 1] == ord("y"):  # the stem of "directory" is "directori"
                differs = differs & (letters[:, i - 1] != ord("i"))
            best = np.minimum(table[i - 1, j - 1] + differs, np.minimum(table[i - 1, j], table[i, j - 1]) + 1)
            if i > 1 and j > 1:
                swapped = (letters[:, i - 1] == wanted[j - 2]) & (letters[:, i - 2] == wanted[j - 1])
                best = np.where(swapped, np.minimum(best, table[i - 2, j - 2] + 1), best)
            table[i, j] = best
    return table


def _ending_cost(text: str) -> int:
    return 0 if text in ENDINGS else 1 if text in _misspelt_endings() else FAR


@cache
def _misspelt_endings() -> Mapping[str, str]:
    """Endings of three and more letters with one edit, and what they should be."""
    found: dict[str, str] = {}
    for ending in (ending for ending in ENDINGS if len(ending) > 2):
        for at in range(len(ending) + 1):
            before, after = ending[:at], ending[at:]
            edited = [before + letter + after for letter in ALPHABET] + [
                before + letter + after[1:] for letter in ALPHABET
            ]
            edited += [before + after[1:], before + after[1:2] + after[:1] + after[2:]]
            for text in edited:
                found.setdefault(text, ending)
    return found


def _spelt(letters: np.ndarray, word: str, end: int) -> str:
    """The stem with the ending of the word; "" where that isn't a form of the stem."""
    stem = letters.tobytes().rstrip(b"\0").decode()
    text = word[end:]
    ending = text if text in ENDINGS else _misspelt_endings().get(text, "")
    forms = [*([f"{stem[:-1]}y"] if stem.endswith("i") and not ending else []), stem + ending]
    return next((form for form in forms if form != word and expand(form) == (stem,)), "")
