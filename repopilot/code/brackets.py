"""Splits code outside its brackets, and finds where brackets close. Pure."""

from __future__ import annotations

from collections.abc import Iterator


def split_outside(text: str, separator: str, opening: str = "([{", closing: str = ")]}") -> Iterator[str]:
    """The parts of a text between the separators outside brackets, unchanged.

    Args:
        text: code without its comments.
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
    """Where the bracket opened before a text is closed; the text's length if it isn't closed.

    Args:
        text: code without its comments.
        opening: the brackets that count.
        closing: those that close them.
    """
    depth = 1
    for at, character in enumerate(text):
        depth += (character in opening) - (character in closing)
        if not depth:
            return at
    return len(text)
