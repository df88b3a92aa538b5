"""Texts of code taken apart outside of their brackets. Pure."""

from __future__ import annotations

from collections.abc import Iterator


def split_outside(text: str, separator: str, opening: str = "([{", closing: str = ")]}") -> Iterator[str]:
    """The parts between the separators that stand outside of brackets, as they are written.

    Args:
        text: of code without its comments.
        separator: a character.
        opening: the brackets that count.
        closing: those that close them.
    """
    depth = 0
    start = 0
    for at, character in enumerate(text):
        depth += (character in opening) - (character in closing)
        if character == separator and not depth:
            yield text[start:at]
            start = at + 1
    yield text[start:]


def closed_at(text: str, opening: str = "([{", closing: str = ")]}") -> int:
    """Where the bracket is closed that was opened before a text; the text's length where it isn't.

    Args:
        text: of code without its comments.
        opening: the brackets that count.
        closing: those that close them.
    """
    depth = 1
    for at, character in enumerate(text):
        depth += (character in opening) - (character in closing)
        if not depth:
            return at
    return len(text)
