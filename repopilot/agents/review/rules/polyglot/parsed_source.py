"""A file as a tree of ast-grep, parsed once for all rules."""

from __future__ import annotations

from functools import lru_cache

from ast_grep_py import SgNode, SgRoot

from repopilot.code.file_version import Code
from repopilot.code.languages import grammar
from repopilot.code.syntax import parse

_PARSE_SECONDS = 5.0
_MINIFIED = 500
"""Characters per line, on average, above which a file was not written by a person."""
_MAX_DEPTH = 500
"""Levels of nesting above which a file was not written by a person; ast-grep's searches are quadratic in the depth."""


@lru_cache(maxsize=16)
def parse_source(code: Code) -> SgNode | None:
    """Parses a file.

    Returns:
        The root of its tree; None for a language without a grammar, minified or extremely nested code, and files that
        take longer than five seconds to parse.
    """
    if grammar(code.language) is None or len(code.safe) > _MINIFIED * (code.safe.count("\n") + 1):
        return None
    tree = parse(code.safe.encode(), code.language, _PARSE_SECONDS)
    if tree is None:
        return None
    level = [tree.root_node]
    for _ in range(_MAX_DEPTH):
        level = [child for node in level for child in node.named_children]
        if not level:
            return SgRoot(code.safe, code.language).root()
    return None
