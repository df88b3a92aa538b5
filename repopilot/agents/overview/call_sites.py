"""Which calls happen on the usual way through a function, by the text around them. Sync."""

from __future__ import annotations

import re
from collections.abc import Callable
from functools import cache

from tree_sitter import Tree

from repopilot.agents.overview.call_work import CONSTRUCTORS
from repopilot.code.graph.graph import Edge, Graph
from repopilot.code.syntax import ancestors, parse
from repopilot.index.store import Index

PARSE_S = 1.0
_HANDLER = re.compile(r"(?:except|catch|rescue)(?:_(?:group_)?(?:clause|block))?")
"""The nodes that handle a failure, in the grammars of the languages that have them."""

_SET = r"^[ \t]*(?:[\w{{]+[ \t,]+)*{}[ \t]*(?:,[\w., \t]+)?[ \t}}]*:?=(?![=>])"
"""How a line sets a variable of a name, alone or among others."""


def usual_calls(index: Index, graph: Graph) -> Callable[[int, int], bool]:
    """Make a check of calls; files are parsed when it needs them.

    Args:
        index: the repository.
        graph: its code graph.

    Returns:
        Tells whether one node calls another one, or passes it on, outside of code that handles a failure, and not only
        by a variable of the same name. Calls of constructors and overrides, which have no edge of their own, are usual.
    """

    @cache
    def tree_of(path: str) -> Tree | None:
        return parse((index.text(path) or "").encode(), index.files[path].language, PARSE_S)

    def is_after_failure(path: str, line: int) -> bool:
        tree, text = tree_of(path), index.lines(path, line, line) or ""
        start = (line - 1, len(text) - len(text.lstrip()))
        node = tree.root_node.descendant_for_point_range(start, start) if tree else None
        around = (node, *ancestors(node)) if node is not None else ()
        return any(_HANDLER.fullmatch(each.type) for each in around)

    def is_usual(caller: int, called: int) -> bool:
        place = graph.nodes[caller]
        overloads = {
            n for n in graph.inside(graph.file_of(called)) if graph.nodes.names[n] == graph.nodes.names[called]
        }
        links = [link for link in graph.outgoing(caller, (Edge.CALLS, Edge.USES)) if link.node in overloads]
        outer, _, name = graph.nodes.names[called].rpartition(".")
        is_named = bool(links) and all(link.kind == Edge.USES for link in links)
        if is_named and name in CONSTRUCTORS:  # `this.constructor` and the like are compared or read, not called
            return False
        if is_named and outer != graph.nodes.names[caller]:
            text = index.lines(place.path, place.line, place.end_line) or ""
            if re.search(_SET.format(re.escape(name)), text, re.M):
                return False
        lines = {link.line for link in links}
        return not lines or not all(is_after_failure(place.path, line) for line in lines)

    return is_usual
