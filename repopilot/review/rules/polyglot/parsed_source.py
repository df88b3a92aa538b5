"""A file in a language other than Python, parsed once for all rules."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from functools import cached_property, lru_cache

from ast_grep_py import SgNode, SgRoot
from tree_sitter import Node

from repopilot.code.languages import grammar
from repopilot.code.syntax import parse, text_of
from repopilot.review.code import Code

LANGUAGES = (
    "c",
    "cpp",
    "csharp",
    "go",
    "java",
    "javascript",
    "kotlin",
    "php",
    "ruby",
    "rust",
    "scala",
    "swift",
    "tsx",
    "typescript",
)
"""Languages that have rules here; each is also the name of a grammar of ast-grep."""

_PARSE_SECONDS = 5.0
_MINIFIED = 500
"""Characters per line, on average, above which a file was not written by a person."""
_MAX_DEPTH = 500
"""Levels of nesting above which a file was not written by a person; ast-grep's searches are quadratic in the depth."""


@dataclass(frozen=True, eq=False)
class ParsedSource:
    """The syntax trees of one file.

    Attributes:
        code: the file.
        data: its redacted text in UTF-8, which the offsets of `nodes` refer to.
        root: the root of tree-sitter's tree, for rules written in Python.
        nodes: the named nodes of that tree by type, the outermost first.
    """

    code: Code
    data: bytes
    root: Node
    nodes: dict[str, list[Node]]

    @cached_property
    def ast_grep(self) -> SgNode:
        """The root of ast-grep's tree, for rules written in YAML."""
        return SgRoot(self.code.safe, self.code.language).root()

    def of(self, *types: str) -> Iterator[Node]:
        """Every node of the given types, type by type."""
        for name in types:
            yield from self.nodes.get(name, ())

    def text(self, node: Node | None) -> str:
        """The source text of a node, '' for None."""
        return "" if node is None else text_of(node, self.data)


@lru_cache(maxsize=16)
def parse_source(code: Code) -> ParsedSource | None:
    """Parses a file.

    Returns:
        None for a language without a grammar, minified or extremely nested code, and files that take longer than five
        seconds to parse.
    """
    if grammar(code.language) is None or len(code.safe) > _MINIFIED * (code.safe.count("\n") + 1):
        return None
    data = code.safe.encode()
    tree = parse(data, code.language, _PARSE_SECONDS)
    nodes = _nodes_by_type(tree.root_node) if tree is not None else None
    return ParsedSource(code, data, tree.root_node, nodes) if tree is not None and nodes is not None else None


def _nodes_by_type(root: Node) -> dict[str, list[Node]] | None:
    """The named nodes below a root by type, None where they are nested too deeply."""
    nodes: dict[str, list[Node]] = {}
    level, depth = [root], 0
    while level:
        depth += 1
        if depth > _MAX_DEPTH:
            return None
        below: list[Node] = []
        for node in level:
            nodes.setdefault(node.type, []).append(node)
            below += node.named_children
        level = below
    return nodes
