"""Splits text into index tokens: identifiers and their parts, stemmed. The same for chunks and queries."""

from __future__ import annotations

import re
import threading
from functools import lru_cache

import Stemmer

WORD = re.compile(r"\w+")
LONGEST = 64

_PART = re.compile(r"[A-Z]+(?=[A-Z][a-z])|[A-Z]?[a-z]+|[A-Z]+|\d+|[^\W\d_a-zA-Z]+")
_WIDE = re.compile("[\u3040-\u30ff\u3400-\u9fff\uac00-\ud7af]")
_local = threading.local()


def words(text: str) -> list[str]:
    """The identifiers and words of a text, unchanged, in order."""
    return WORD.findall(text)


@lru_cache(maxsize=1 << 18)
def expand(word: str) -> tuple[str, ...]:
    """The index tokens of one word: its stem; for a compound identifier also itself in lower case, and its parts.

    Scripts without spaces (Chinese, Japanese, Korean) give character pairs. Words that are too long to be
    names (hashes, encoded data) give nothing.
    """
    if len(word) > LONGEST:
        return ()
    if _WIDE.search(word):
        word = word.lower()
        return tuple(dict.fromkeys(word[i : i + 2] for i in range(max(1, len(word) - 1))))
    parts = [part.lower() for part in _PART.findall(word)]
    if len(parts) < 2:
        return (_stem(parts[0] if parts else word.lower()),)
    compound = word.strip("_").lower()
    return tuple(dict.fromkeys((compound, *(_stem(part) for part in parts if len(part) > 1))))


def _stem(word: str) -> str:
    # A Snowball stemmer keeps state while it works, so every thread has its own.
    stemmer = getattr(_local, "stemmer", None)
    if stemmer is None:
        stemmer = _local.stemmer = Stemmer.Stemmer("english", 0)
    return stemmer.stemWord(word)
