"""Maps each character of a notebook's cells to its place in the stored notebook. Pure.

This allows names in cells to be found, resolved and renamed while the rest of the file stays unchanged.
"""

from __future__ import annotations

import json
import re
from bisect import bisect_right
from collections.abc import Iterator
from functools import lru_cache
from typing import NamedTuple

from tree_sitter import Node

from repopilot.code.formats.notebook import as_python
from repopilot.code.syntax import parse_data, text_of

_PARSE_S = 5.0
_LETTER = re.compile(
    r"\\u[dD][89abAB][0-9a-fA-F]{2}\\u[dD][c-fC-F][0-9a-fA-F]{2}|\\u[0-9a-fA-F]{4}|\\[^u]|[^\\\"]", re.DOTALL
)


class _Letter(NamedTuple):
    """A character of a cell, and the characters [start, end) of the notebook that stand for it."""

    text: str
    start: int
    end: int


class CellText:
    """The text of several cells, each followed by a line end."""

    def __init__(self) -> None:
        self._parts: list[str] = []
        self._starts: list[int] = []
        self._ends: list[int] = []

    @property
    def text(self) -> str:
        """The text as readers of the notebook see it."""
        return "".join(self._parts)

    def stored(self, start: int, end: int) -> tuple[int, int]:
        """The characters of the notebook that stand for those of the text in [start, end)."""
        if not self._starts:
            return 0, 0
        first = min(start, len(self._starts) - 1)
        return self._starts[first], self._ends[end - 1] if end > start else self._starts[first]

    def shown(self, place: int) -> int:
        """The character of the text at a place of the notebook, or the last one before it."""
        return max(0, bisect_right(self._starts, place) - 1)

    def add(self, letters: list[_Letter], *, is_code: bool) -> None:
        """Append a cell; lines that only IPython understands become comments."""
        rows = "".join(letter.text for letter in letters).split("\n")
        at = 0
        for row, seen in zip(rows, as_python(rows) if is_code else rows, strict=True):
            known = letters[at : at + len(row)] or letters[-1:]
            at += len(row) + 1
            if not known:
                continue
            before = [known[0]] * (len(seen) - len(row))
            placed = [*before, *known, known[-1]][: len(seen)]
            placed += [known[-1]] * (len(seen) + 1 - len(placed))
            self._parts += [seen, "\n"]
            self._starts += [letter.start for letter in placed]
            self._ends += [letter.end for letter in placed]


@lru_cache(maxsize=16)
def read_cells(text: str) -> tuple[CellText, CellText]:
    """The code of a notebook as one Python text, and the text of its other cells.

    Args:
        text: the notebook as it is stored. Nothing is found in a damaged one.
    """
    code = CellText()
    other = CellText()
    data = text.encode("utf-8", "surrogatepass")
    tree = parse_data(data, "json", _PARSE_S)
    byte = 0
    place = 0
    for cell in _cells(tree.root_node, data) if tree is not None else ():
        kind = _child(cell, "cell_type", data)
        source = _child(cell, "source", data)
        letters: list[_Letter] = []
        for node in source.children if source is not None and source.type == "array" else [source]:
            if node is not None and node.type == "string":
                place += len(data[byte : node.start_byte].decode("utf-8", "surrogatepass"))
                byte = node.start_byte
                letters += _letters(place, data[node.start_byte : node.end_byte].decode("utf-8", "surrogatepass"))
        is_code = kind is not None and text_of(kind, data) == '"code"'
        (code if is_code else other).add(letters, is_code=is_code)
    return code, other


def _cells(root: Node, data: bytes) -> Iterator[Node]:
    for document in root.named_children:
        cells = _child(document, "cells", data)
        yield from (cell for cell in (cells.named_children if cells is not None else ()) if cell.type == "object")


def _child(node: Node, key: str, data: bytes) -> Node | None:
    """The value of a key of an object."""
    for pair in node.named_children:
        name = pair.child_by_field_name("key")
        value = pair.child_by_field_name("value")
        if name is not None and value is not None and text_of(name, data) == f'"{key}"':
            return value
    return None


def _letters(place: int, literal: str) -> Iterator[_Letter]:
    """The characters that a quoted JSON string stands for."""
    for found in _LETTER.finditer(literal, 1, len(literal) - 1):
        yield _Letter(_decoded(found[0]), place + found.start(), place + found.end())


def _decoded(letter: str) -> str:
    if not letter.startswith("\\"):
        return letter
    try:
        found = str(json.loads(f'"{letter}"'))
        return found if len(found) == 1 and not "\ud800" <= found <= "\udfff" else "\ufffd"
    except ValueError:
        return letter[-1]
