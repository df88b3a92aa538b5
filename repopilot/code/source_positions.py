"""Positions of syntax nodes in characters; Python's parser counts lines and UTF-8 bytes. Pure."""

from __future__ import annotations

import ast
import re
from bisect import bisect_right
from collections.abc import Iterable
from typing import NamedTuple


class Replacement(NamedTuple):
    """A new text for the characters [start, end) of a source."""

    start: int
    end: int
    text: str


def replaced(text: str, replacements: Iterable[Replacement]) -> str:
    """The text with each replacement made once; of two that overlap, only the earlier one."""
    parts = []
    at = 0
    for start, end, new in sorted(dict.fromkeys(replacements)):
        if start >= at:
            parts += [text[at:start], new]
            at = end
    return "".join([*parts, text[at:]])


class SourcePositions:
    """Turns the positions of nodes into characters of `text`, the source that they were parsed from."""

    def __init__(self, text: str) -> None:
        self.text = text
        self._starts = [0, *(m.end() for m in re.finditer(r"\r\n|\r|\n", text))]
        ends = [*self._starts[1:], len(text)]
        self._lines = [text[a:b] for a, b in zip(self._starts, ends, strict=True)]

    def span(self, node: ast.AST) -> tuple[int, int]:
        """Where a node begins and ends."""
        place = (node.lineno, node.col_offset, node.end_lineno, node.end_col_offset)  # type: ignore[attr-defined]
        return self.offset(*place[:2]), self.offset(*place[2:])

    def line(self, offset: int) -> int:
        """The line of a character, 1-based."""
        return bisect_right(self._starts, offset)

    def offset(self, line: int, column: int) -> int:
        """The character at a line and a column as `ast` counts them: from 1, and in bytes from 0."""
        text = self._lines[line - 1]
        return self._starts[line - 1] + (column if text.isascii() else len(text.encode()[:column].decode()))


def rows_of(text: str) -> list[str]:
    """The lines of a text without their ends, as tree-sitter, git and editors count them: unlike `str.splitlines`, form
    feeds and other separators end none."""
    return [row.removesuffix("\r") for row in text.removesuffix("\n").split("\n")] if text else []


def line_at(text: str, offset: int) -> int:
    """The number of the line an offset is in."""
    return text.count("\n", 0, offset) + 1
