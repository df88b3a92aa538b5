"""What the patterns of whole tasks share: parts that may follow each other in any order, and the words of a purpose.

Pure.
"""

from __future__ import annotations

import re
from collections.abc import Mapping

PEOPLE = (
    r"(?:callers?|users?|people|we|you|one|handlers?|clients?|consumers?|code|subclasses|applications|tools|"
    r"error handlers|calling code|(?:les |l' )?appelants?|(?:les )?utilisateurs|on|l' on|(?:le )?code)"
)
FURTHER = re.compile(
    r"\b(?:when|if|unless|whenever|while|except|without|instead|but|disable|enable|turn|change|override|raise|"
    r"si|quand|lorsque?|sauf|sans|mais)\b"
)
"""Words after which a purpose is a wish for more."""
_SEPARATORS = re.compile(r"(?: ?, ?(?:and |et )?| and | et | )")


def part(form: str) -> re.Pattern[str]:
    """The pattern of a part, which ends where a word does."""
    return re.compile(rf"(?:{form})(?=[ ,]|$)")


def following(words: str, parts: Mapping[str, re.Pattern[str]]) -> dict[str, re.Match[str]] | None:
    """What follows the head of a task.

    Args:
        words: the rest of its shape.
        parts: what it may be made of, each once, in any order.

    Returns:
        The parts that are there; None where something isn't understood.
    """
    found: dict[str, re.Match[str]] = {}
    at = 0
    while at < len(words):
        step = _next_part(words, at, {n: p for n, p in parts.items() if n not in found})
        if step is None:
            return None
        found[step[0]] = step[1]
        at = step[1].end()
    return found


def _next_part(words: str, at: int, parts: Mapping[str, re.Pattern[str]]) -> tuple[str, re.Match[str]] | None:
    separated = _SEPARATORS.match(words, at)
    for start in [at, *([separated.end()] if separated else [])]:
        for name, pattern in parts.items():
            match = pattern.match(words, start)
            if match is not None:
                return name, match
    return None
