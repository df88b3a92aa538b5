"""Splits a question of several parts into the parts, to be searched one by one. Pure.

A part must be able to stand alone: two content words, or a name. What can't is left with its neighbour.
"""

from __future__ import annotations

import re

from repopilot.index.tokens import words
from repopilot.retrieval.query.query_words import STOP_EN, STOP_FR

MOST_PARTS = 5
LONGEST = 4000
"""Longer texts are not questions of parts but pasted matter; neither are those with several lines of code."""
LEAST_WORDS = 2

_ASKING = (
    r"(?:how|what|where|why|when|which|who|does|do|is|are|can|could|should|explain|describe|show|tell|find|list"
    r"|comment|où|pourquoi|quand|quel(?:le)?s?|qui|qu'est-ce|est-ce|explique[rz]?|décris|montre|trouve|liste)"
)
_SENTENCE = re.compile(r"(?<=[?!;])\s+|(?<=[a-zà-ÿ0-9)`\"»])\.\s+(?=[A-ZÀ-Þ\"`«])|\n\s*\n|\n\s*(?:[-*•]|\d+[.)])\s+")
_JOINED = re.compile(
    rf"\s*(?:,\s*(?:and|but|or|et|mais|ou)?|\s(?:and|et|or|ou|but|mais))(?:\s+(?:also"
    rf"|aussi))?\s+(?={_ASKING}\b)",
    re.I,
)
_VERSUS = re.compile(r"\s(?:vs\.?|versus|compared (?:to|with)|as opposed to|par rapport à)\s", re.I)
_BETWEEN = re.compile(
    r"(?:differences?|relationships?|relations?|interactions?|connection|distinction|différences?|relations?|interactions?"
    r"|liens?)\s(?:between|entre)\s(?P<things>[^?!]{7,600})",
    re.I,
)
_AND = re.compile(r"\s(?:and|et)\s", re.I)
_AND_THE = re.compile(r"\s(?:and|et)\s+(?=(?:the|an?|how|le|la|les|une?|comment)\s|l'|`)", re.I)
_CODE = re.compile(r"^(?: {4,}|\t)|[{};]\s*$", re.M)
_NAME = re.compile(r"`[^`]+`|\w+_\w+|\b[a-z]+[A-Z]\w*|\b[A-Z][a-z]+[A-Z]\w*|\w\.\w|\w\(\)")


def parts(question: str) -> tuple[str, ...]:
    """The parts of a question that asks for several things.

    Args:
        question: the text of a question: sentences, a list, "how …, and where …?", "A vs B", "the difference between A
            and B".

    Returns:
        At most MOST_PARTS parts in their order, each a stretch of the question; () for a question of one part.
    """
    if len(question) > LONGEST or len(_CODE.findall(question)) > 1:
        return ()
    found = [piece for sentence in _SENTENCE.split(question.replace("’", "'")) for piece in _split(sentence)]
    whole = _standing(found)
    return tuple(whole[:MOST_PARTS]) if len(whole) > 1 else ()


def _split(sentence: str) -> list[str]:
    """A sentence along "…, and how …", "A vs B" or "between A and B"."""
    between = _BETWEEN.search(sentence)
    if between:
        return _two_things(between["things"])
    pieces = _JOINED.split(sentence)
    return pieces if len(pieces) > 1 else _VERSUS.split(sentence)


def _two_things(text: str) -> list[str]:
    """A and B of "A and B", where A may contain an "and" itself: an article begins B."""
    for pattern in (_AND_THE, _AND):
        pieces = pattern.split(text, maxsplit=1)
        if len(pieces) > 1:
            return pieces
    return [text]


def _standing(pieces: list[str]) -> list[str]:
    """The pieces that can stand alone, stripped; others are put to the piece before them, or after where none is."""
    found: list[str] = []
    waiting = ""
    for piece in pieces:
        text = f"{waiting} {piece.strip()}".strip()
        if _stands_alone(piece):
            found.append(text)
            waiting = ""
        elif found:
            found[-1] = f"{found[-1]} {piece.strip()}".strip()
        else:
            waiting = text
    return found


def _stands_alone(piece: str) -> bool:
    content = {word.lower() for word in words(piece)} - STOP_EN - STOP_FR
    return len(content) >= LEAST_WORDS or bool(_NAME.search(piece))
