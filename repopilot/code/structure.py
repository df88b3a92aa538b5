"""Long definitions cut along their structure by LlamaIndex's `CodeSplitter`, with exact lines.

Importing LlamaIndex takes seconds, so it happens at the first long definition only. Worker processes should be forked
from a process that has called `preload()`.
"""

from __future__ import annotations

from dataclasses import dataclass
from functools import lru_cache
from typing import Any

from tree_sitter import Node

from repopilot.code.spans import LONGEST, OVERLAP

_PIECE_LINES = 25
_MIN_CHARS = 300
_MAX_DEPTH = 40


def preload() -> None:
    """Import what cutting long definitions needs, once, before worker processes are forked."""
    _splitter_class()


def structural_windows(data: bytes, node: Node, start: int, end: int, grammar: str) -> list[tuple[int, int]]:
    """Windows of at most 80 lines (10 of them repeated from the one before) over lines `start..end`, which `node`
    fills; cut between its statements. Empty where the structure gives no such cuts."""
    cuts = [c for c in _cuts(data, node, end - start + 1, grammar) if start < c <= end]
    result, first, begin = [], start, start
    while first <= end:
        if end - begin + 1 <= LONGEST:
            result.append((begin, end))
            return result
        # `first` is the first line not yet covered, `begin` where the window starts, with its overlap.
        reachable = [c for c in cuts if first < c <= begin + LONGEST]
        if not reachable:
            return []
        cut = reachable[-1]
        result.append((begin, cut - 1))
        first, begin = cut, max(cut - OVERLAP, begin + 1)
    return result


def _cuts(data: bytes, node: Node, line_count: int, grammar: str) -> list[int]:
    """The 1-based lines on which the splitter's pieces begin, ascending."""
    text = data[node.start_byte : node.end_byte].decode("utf-8")
    limit = max(_MIN_CHARS, len(text) * _PIECE_LINES // line_count)
    splitter = _splitter_class()(language=grammar, max_chars=limit, parser=_Parsed(node), tokenizer=str.split)
    cuts, at, line = [], 0, node.start_point[0] + 1
    for piece in splitter.split_text(text):
        found = text.find(piece, at)
        if found < 0 or not piece:
            continue
        line += text.count("\n", at, found)
        # A piece may begin in the middle of a line; cut before the next line then.
        begins = text[text.rfind("\n", 0, found) + 1 : found].strip() == ""
        cuts.append(line if begins else line + 1)
        line += text.count("\n", found, found + len(piece))
        at = found + len(piece)
    return sorted(set(cuts))


@dataclass(frozen=True, slots=True)
class _View:
    """A tree-sitter node whose byte offsets count from the start of the definition, as the splitter expects."""

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
    def children(self) -> list[_View]:
        if self.depth >= _MAX_DEPTH:
            return []
        return [_View(child, self.offset, self.depth + 1) for child in self.node.children]


@dataclass(frozen=True, slots=True)
class _Parsed:
    """Stands in for the splitter's parser: the definition is parsed already, and out of its file it might not parse."""

    node: Node

    @property
    def root_node(self) -> _View:
        return _View(self.node, self.node.start_byte)

    def parse(self, _text: bytes) -> _Parsed:
        return self


@lru_cache(maxsize=1)
def _splitter_class() -> Any:
    from llama_index.core.node_parser.text.code import CodeSplitter

    return CodeSplitter
