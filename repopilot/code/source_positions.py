"""Positions of syntax nodes in characters; Python's parser counts lines and UTF-8 bytes. Pure."""

from __future__ import annotations

import ast
import re
from bisect import bisect_right


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
        return self._offset(*place[:2]), self._offset(*place[2:])

    def line(self, offset: int) -> int:
        """The line of a character, 1-based."""
        return bisect_right(self._starts, offset)

    def _offset(self, line: int, column: int) -> int:
        text = self._lines[line - 1]
        return self._starts[line - 1] + (column if text.isascii() else len(text.encode()[:column].decode()))
