"""The syntax trees of indexed files, and ways through them."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from functools import lru_cache
from threading import Lock

from tree_sitter import Node

from repopilot.code.languages import language_of
from repopilot.code.syntax import parse, text_of
from repopilot.index.store import Index

LARGEST = 250_000
"""Bytes of a file that are parsed: about a tenth of a second."""
_SECONDS = 0.3
_PARSING = Lock()  # parsers are shared by all threads


@dataclass(frozen=True, slots=True)
class ParsedFile:
    """A file with its syntax tree."""

    path: str
    language: str
    data: bytes
    root: Node
    lines: tuple[str, ...]

    def text(self, node: Node) -> str:
        """The source of a node."""
        return text_of(node, self.data)


def parsed_file(index: Index, path: str) -> ParsedFile | None:
    """Parse a file of the index.

    Returns:
        The file; None where it is not in the index or could not be parsed there, or is too large.
    """
    text, language = index.text(path), language_of(path)
    if text is None or language is None or not index.files[path].parsed:
        return None
    return _parsed(path, language, text) if len(text) <= LARGEST else None


@lru_cache(maxsize=16)
def _parsed(path: str, language: str, text: str) -> ParsedFile | None:
    """A question reads the same few files several times."""
    data = text.encode("utf-8", "surrogatepass")
    with _PARSING:
        tree = parse(data, language, _SECONDS)
    return None if tree is None else ParsedFile(path, language, data, tree.root_node, tuple(text.split("\n")))


def node_of_lines(file: ParsedFile, start: int, end: int) -> Node:
    """The smallest node that holds all text of some lines, which are 1-based and inclusive."""
    lines = file.data.split(b"\n")
    first, last = lines[start - 1 : start], lines[end - 1 : end]
    indent = len(first[0]) - len(first[0].lstrip()) if first else 0
    width = len(last[0].rstrip()) if last else 0
    found = file.root.named_descendant_for_point_range((start - 1, indent), (end - 1, max(width, 1)))
    return found or file.root


def walk(node: Node, stop: frozenset[str] = frozenset()) -> Iterator[Node]:
    """A node and all named nodes below it, in the order of the text; not into nodes of the types of `stop`."""
    waiting = [node]
    while waiting:
        found = waiting.pop()
        yield found
        waiting += [child for child in reversed(found.named_children) if child.type not in stop]


def parents(node: Node) -> Iterator[tuple[Node, Node]]:
    """Each node around another with the child that leads to it, inside out."""
    child, parent = node, node.parent
    while parent is not None:
        yield parent, child
        child, parent = parent, parent.parent


def first_line(node: Node) -> int:
    """The 1-based line on which a node begins."""
    return node.start_point[0] + 1


def last_line(node: Node) -> int:
    """The 1-based line on which a node ends."""
    return node.end_point[0] + 1
