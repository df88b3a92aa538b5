"""Syntax colours: the text of a file as lines of pieces, each with the class that the style sheet colours. Pure."""

from __future__ import annotations

from functools import cache, lru_cache
from typing import Any

from pygments.lexers import TextLexer, get_lexer_for_filename
from pygments.token import Comment, Keyword, Name, Number, String
from pygments.util import ClassNotFound

LONGEST = 400_000
"""Longest text that is coloured, in characters; a longer one is shown plain."""
_CLASSES: tuple[tuple[Any, str], ...] = (
    (Comment, "c"),
    (String, "s"),
    (Keyword, "k"),
    (Number, "n"),
    (Name.Function, "f"),
    (Name.Class, "f"),
    (Name.Tag, "k"),
    (Name.Attribute, "f"),
    (Name.Decorator, "f"),
)

Line = list[list[str]]
"""Pieces of a line: [class, text], the class '' for plain text."""


@lru_cache(maxsize=32)
def highlighted(path: str, text: str) -> list[Line]:
    """The lines of a text with syntax colours.

    Args:
        path: of the file; its name determines the language.
        text: the whole text, so that multi-line strings are recognized.

    Returns:
        The lines. They are cached: don't change them.
    """
    lines: list[Line] = [[]]
    for kind, value in _tokens(path, text):
        for at, part in enumerate(value.split("\n")):
            if at:
                lines.append([])
            if part:
                _append(lines[-1], kind, part)
    return lines


def _append(line: Line, kind: str, text: str) -> None:
    if line and line[-1][0] == kind:
        line[-1][1] += text
    else:
        line.append([kind, text])


def _tokens(path: str, text: str) -> list[tuple[str, str]]:
    if len(text) > LONGEST:
        return [("", text)]
    try:
        lexer = get_lexer_for_filename(path.rpartition("/")[2])
    except ClassNotFound:
        lexer = TextLexer()
    return [(_class_of(kind), value) for _, kind, value in lexer.get_tokens_unprocessed(text)]


@cache
def _class_of(kind: Any) -> str:
    return next((name for parent, name in _CLASSES if kind in parent), "")
