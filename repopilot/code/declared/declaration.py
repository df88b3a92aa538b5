"""One declared thing, as every reader of this package gives it. Pure."""

from __future__ import annotations

import re
from bisect import bisect_right
from dataclasses import dataclass

BUILD = "cmake"
"""The owner of the options of a build."""


@dataclass(frozen=True, slots=True)
class Declaration:
    """Something that a text declares by a name.

    `help` is what the declaration says about it, '' for nothing; `owner` the command that it belongs to, '' where that
    is unknown; `form` what is further written (a route's method, the other spellings of an option).
    """

    name: str
    path: str
    line: int
    help: str = ""
    owner: str = ""
    form: str = ""


_TRIPLE = re.compile(r"\"\"\".*?\"\"\"|\'\'\'.*?\'\'\'", re.S)


def without_comments(text: str, language: str) -> str:
    """A text of the same length in which documentation strings and lines of comment are blank."""
    plain = _TRIPLE.sub(_blank, text) if language == "python" else text
    return re.sub(r"^[ \t]*(?:#(?![\[!])|//|\*|--).*$", _blank, plain, flags=re.M)


def _blank(match: re.Match[str]) -> str:
    return re.sub(r"[^\n]", " ", match[0])


class LineNumbers:
    """The line of each position in a text."""

    def __init__(self, text: str) -> None:
        self._ends = [match.start() for match in re.finditer("\n", text)]

    def at(self, position: int) -> int:
        """The number of the line, from 1, that a position lies in."""
        return bisect_right(self._ends, position - 1) + 1


def closing(text: str, opening: int, longest: int = 20_000) -> int:
    """The position of the bracket that closes the one at `opening`, strings left out; the end of what is read, else."""
    pairs = {"(": ")", "[": "]", "{": "}"}
    open_, close = text[opening], pairs[text[opening]]
    depth, at, end = 0, opening, min(len(text), opening + longest)
    while at < end:
        character = text[at]
        if character in "\"'`":
            at = _end_of_string(text, at, end)
        elif character == open_:
            depth += 1
        elif character == close:
            depth -= 1
            if depth == 0:
                return at
        at += 1
    return end


def _end_of_string(text: str, at: int, end: int) -> int:
    """The position of the quote that closes a string; `at` itself where its line has none, as after a lifetime."""
    quote = text[at]
    triple = quote * 3
    if text.startswith(triple, at):
        found = text.find(triple, at + 3, end)
        return found + 2 if found >= 0 else at + 2
    position = at + 1
    while position < end and (quote == "`" or text[position] != "\n"):
        if text[position] == "\\":
            position += 1
        elif text[position] == quote:
            return position
        position += 1
    return at
