"""Cuts long definitions along their structure with LlamaIndex's `CodeSplitter`, and finds the exact lines of the parts.

Importing LlamaIndex takes seconds, so it is imported at the first long definition, or ahead of time by `code.preload`.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

from tree_sitter import Node

from repopilot.code.chunks.spans import LONGEST, OVERLAP

_PIECE_LINES = 25
_MIN_CHARS = 300
_MAX_DEPTH = 40


def structural_windows(data: bytes, node: Node, start: int, end: int, grammar: str) -> list[tuple[int, int]]:
    """Cut a definition between its statements.

    Args:
        data: the file's text as UTF-8.
        node: the definition's node in the file's syntax tree.
        start: the first line, including comments above the definition.
        end: the last line.
        grammar: the name of the tree-sitter grammar.

    Returns:
        First and last lines (1-based, inclusive) of windows of at most 80 lines, the first 10 of which repeat the end
        of the window before; [] where the structure allows no such cuts.
    """
    cuts = [c for c in _cuts(data, node, end - start + 1, grammar) if start < c <= end]
    result = []
    uncovered = start
    begin = start
    while uncovered <= end:
        if end - begin + 1 <= LONGEST:
            result.append((begin, end))
            return result
        reachable = [c for c in cuts if uncovered < c <= begin + LONGEST]
        if not reachable:
            return []
        cut = reachable[-1]
        result.append((begin, cut - 1))
        uncovered = cut
        begin = max(cut - OVERLAP, begin + 1)
    return result


def _cuts(data: bytes, node: Node, line_count: int, grammar: str) -> list[int]:
    """The lines (1-based, ascending) on which the splitter's pieces begin."""
    from llama_index.core.node_parser.text.code import CodeSplitter

    text = data[node.start_byte : node.end_byte].decode("utf-8")
    max_chars = max(_MIN_CHARS, len(text) * _PIECE_LINES // line_count)
    parser: Any = _Parsed(node)
    splitter = CodeSplitter(language=grammar, max_chars=max_chars, parser=parser, tokenizer=str.split)
    cuts = []
    position = 0
    line = node.start_point[0] + 1
    for piece in splitter.split_text(text):
        found = text.find(piece, position)
        if found < 0 or not piece:
            continue
        line += text.count("\n", position, found)
        # A piece may begin in the middle of a line; the cut is then before the next line.
        begins_line = text[text.rfind("\n", 0, found) + 1 : found].strip() == ""
        cuts.append(line if begins_line else line + 1)
        line += text.count("\n", found, found + len(piece))
        position = found + len(piece)
    return sorted(set(cuts))


@dataclass(frozen=True, slots=True)
class _RelativeNode:
    """A tree-sitter node with byte offsets from the start of the definition, as the splitter expects them."""

    node: Node
    offset: int
    depth: int = 0

    @property
    def type(self) -> str:
        return "code"

    @property
    def start_byte(self) -> int:
        return self.node.start_byte - self.offset

    @property
    def end_byte(self) -> int:
        return self.node.end_byte - self.offset

    @property
    def children(self) -> list[_RelativeNode]:
        if self.depth >= _MAX_DEPTH:
            return []
        return [_RelativeNode(child, self.offset, self.depth + 1) for child in self.node.children]


@dataclass(frozen=True, slots=True)
class _Parsed:
    """Replaces the splitter's parser: the definition is parsed already, and might not parse outside its file."""

    node: Node

    @property
    def root_node(self) -> _RelativeNode:
        return _RelativeNode(self.node, self.node.start_byte)

    def parse(self, _text: bytes) -> _Parsed:
        return self
