"""Splits text into index tokens: identifiers and their parts, stemmed. The same for chunks and queries."""

from __future__ import annotations

import re
import threading
import unicodedata
from functools import lru_cache

import Stemmer

WORD = re.compile(r"\w+")
_ASCII_WORD = re.compile(r"\w+", re.ASCII)
"""The same for ASCII text, and faster."""
LONGEST = 64

NAME_PART = re.compile(r"[A-Z]?[a-z]+|[A-Z]+(?![a-z])|\d+")
"""A part of an ASCII name: `HTTPServer2` has HTTP, Server and 2."""

_WIDE_SHAPE = "語"
_CASELESS_SHAPE = "ª"
_PART = re.compile(rf"[A-Z]+(?=[A-Z][a-z])|[A-Z]?[a-z]+|[A-Z]+|\d+|{_WIDE_SHAPE}+|{_CASELESS_SHAPE}+")
_WIDE = re.compile("[\u3040-\u30ff\u3400-\u9fff\uac00-\ud7af]")
_local = threading.local()


def words(text: str) -> list[str]:
    """The identifiers and words of a text, in order, with accents composed (NFC), otherwise unchanged."""
    return _ASCII_WORD.findall(text) if text.isascii() else WORD.findall(unicodedata.normalize("NFC", text))


def words_by_line(text: str) -> list[list[str]]:
    """The words of each line of a text."""
    if text.isascii():
        return list(map(_ASCII_WORD.findall, text.split("\n")))
    return list(map(WORD.findall, unicodedata.normalize("NFC", text).split("\n")))


def tokens_of(text: str) -> set[str]:
    """The index tokens of a text, each once."""
    return {token for word in words(text) for token in expand(word)}


@lru_cache(maxsize=1 << 18)
def expand(word: str) -> tuple[str, ...]:
    """The index tokens of one word: its stem; for a compound identifier, the whole in lower case and the stems of its
    parts.

    Scripts without spaces (Chinese, Japanese, Korean) give character pairs. Words that are too long to be
    names (hashes, encoded data) give nothing.
    """
    if len(word) > LONGEST:
        return ()
    parts = _parts(word)
    if _WIDE.search(word):
        return tuple(dict.fromkeys(token for part in parts for token in _pairs_or_stem(part)))
    if len(parts) < 2:
        return (stemmed(parts[0] if parts else word.lower()),)
    compound = word.strip("_").lower()
    return tuple(dict.fromkeys((compound, *(stemmed(part) for part in parts if len(part) > 1))))


def stems(name: str) -> list[str]:
    """The stems of the words that a name consists of."""
    return [stemmed(part) for part in _parts(name)]


def _parts(word: str) -> list[str]:
    if word.isascii():
        return [part.lower() for part in _PART.findall(word)]
    return [word[start:end].lower() for start, end in part_spans(word)]


def part_spans(word: str) -> list[tuple[int, int]]:
    """Where the parts of a word are, cut at underscores, digits, camel-case humps of any alphabet, and changes of
    script."""
    shapes = word if word.isascii() else "".join(map(_shape, word))
    return [part.span() for part in _PART.finditer(shapes)]


def _shape(character: str) -> str:
    """The character that represents the class of a character in `_PART`."""
    if character.isascii():
        return character
    if _WIDE.match(character):
        return _WIDE_SHAPE
    if character.isdigit():
        return "0"
    return "A" if character.isupper() else "a" if character.islower() else _CASELESS_SHAPE


def _pairs_or_stem(part: str) -> list[str]:
    if not _WIDE.match(part):
        return [stemmed(part)]
    return [part[i : i + 2] for i in range(max(1, len(part) - 1))]


def stemmed(word: str, language: str = "english") -> str:
    """The stem of a word by Snowball's rules of a language."""
    # A stemmer keeps state while it works, so every thread has its own.
    stemmers = _local.__dict__
    if language not in stemmers:
        stemmers[language] = Stemmer.Stemmer(language, 0)
    return stemmers[language].stemWord(word)
