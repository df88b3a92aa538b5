"""Questions to the code graph: who calls a definition, what it calls, and the call path between two places. Sync."""

from __future__ import annotations

import re
from collections.abc import Sequence
from dataclasses import dataclass
from itertools import pairwise, product

from repopilot.code.graph import graph as graphs
from repopilot.code.graph.graph import VERBS, Graph, Link
from repopilot.errors import UsageError
from repopilot.i18n import message
from repopilot.index.code_graph import graph_of
from repopilot.index.store import Index
from repopilot.tools.lookup import join_rows

DEEPEST = 5
"""Most hops that `callers` follows."""

_CANDIDATES = 3  # definitions of one name that a path may begin or end at
_SHORTEST_WORD = 4
_ASKS_FOR_A_PATH = re.compile(
    r"\b(?:from|between|reach\w*|gets? (?:to|into)|lead\w* to|end up in|flows?|path|connect\w*|all the way|"
    r"de|depuis|entre|arrive\w*|chemin|relie\w*)\b",
    re.IGNORECASE,
)


@dataclass(frozen=True, slots=True)
class PathNode:
    """One definition or file on a call path; `verb` is what the node before does to it, '' for the first."""

    verb: str
    name: str
    path: str
    line: int
    end_line: int

    def __str__(self) -> str:
        place = self.path if self.name == self.path else f"{self.path}:{self.line} {self.name}"
        return f"{self.verb} {place}".strip()


def callers(index: Index, name: str, depth: int = 1) -> str:
    """List what depends on a definition.

    Args:
        index: the repository.
        name: a path, `path:Symbol` or `Class.method`.
        depth: how many hops to follow, 1 to DEEPEST.

    Returns:
        Hops, place, definition and why, a line each.

    Raises:
        UsageError: the name is unknown, or the depth out of range.
    """
    if not 1 <= depth <= DEEPEST:
        raise UsageError(message("tools.depth", depth=depth, deepest=DEEPEST))
    graph = graph_of(index)
    found = graphs.dependents(graph, _nodes(graph, name), depth)
    rows = [
        f"{distance} {_place(graph, node, link.line)} {_relation(link)} {graph.nodes[via].name}"
        for node, (distance, via, link) in found.items()
    ]
    return join_rows(rows) or message("tools.no_dependents", name=name)


def callees(index: Index, name: str) -> str:
    """List what a definition itself calls, uses or inherits from.

    Args:
        index: the repository.
        name: as for `callers`.

    Returns:
        The relation and the place, a line each, surest first.

    Raises:
        UsageError: the name is unknown.
    """
    graph = graph_of(index)
    links: dict[int, Link] = {}
    for node in _nodes(graph, name):
        for link in graphs.callees(graph, node):
            links.setdefault(link.node, link)
    rows = [f"{_relation(link)} {_place(graph, node, graph.nodes[node].line)}" for node, link in links.items()]
    return join_rows(rows) or message("tools.uses_nothing", name=name)


def call_path(index: Index, start: str, end: str) -> str:
    """Show how one definition or file reaches another through calls, uses and imports.

    Args:
        index: the repository.
        start: where the path begins, as for `callers`.
        end: where it ends.

    Returns:
        The definitions on a shortest path, a line each.

    Raises:
        UsageError: a name is unknown.
    """
    graph = graph_of(index)
    nodes = shortest_path(graph, _nodes(graph, start), _nodes(graph, end))
    return "\n".join(map(str, path_nodes(graph, nodes))) or message("tools.no_path", start=start, end=end)


def shortest_path(graph: Graph, starts: Sequence[int], ends: Sequence[int]) -> list[int]:
    """Find the shortest path from one of some nodes to one of others.

    Args:
        graph: the code graph.
        starts: numbers of nodes, the best candidates first.
        ends: the same for the other end.

    Returns:
        The numbers of the nodes from start to end; [] when there is no path.
    """
    paths = (graphs.shortest_path(graph, a, b) for a, b in product(starts[:_CANDIDATES], ends[:_CANDIDATES]) if a != b)
    return min(filter(None, paths), key=len, default=[])


def path_nodes(graph: Graph, nodes: Sequence[int]) -> list[PathNode]:
    """The nodes of a path with their places and relations."""
    found = [_path_node(graph, "", node) for node in nodes[:1]]
    for node, following in pairwise(nodes):
        link = max((link for link in graph.outgoing(node) if link.node == following), key=lambda k: k.confidence)
        found.append(_path_node(graph, VERBS[link.kind], following))
    return found


def detect_path_query(index: Index, text: str, names: Sequence[str]) -> list[PathNode]:
    """Find the call path that a question asks for.

    Args:
        index: the repository.
        text: the question.
        names: what certainly is a name in it; other words count as one where they fit a definition.

    Returns:
        The path between the two places the question names, in either direction; [] when it asks for none.
    """
    if not _ASKS_FOR_A_PATH.search(text):
        return []
    graph = graph_of(index)
    rest = _ASKS_FOR_A_PATH.sub(" ", text)
    words = [word for word in re.findall(r"[\w.:/-]*\w", rest) if len(word) >= _SHORTEST_WORD]
    known = [name for name in dict.fromkeys((*names, *words)) if graphs.find(graph, name)][:2]
    if len(known) < 2:
        return []
    start, end = (graphs.find(graph, name) for name in sorted(known, key=text.find))
    return path_nodes(graph, shortest_path(graph, start, end) or shortest_path(graph, end, start))


def _path_node(graph: Graph, verb: str, node: int) -> PathNode:
    found = graph.nodes[node]
    return PathNode(verb, found.name, found.path, found.line, max(found.line, found.end_line))


def _nodes(graph: Graph, name: str) -> list[int]:
    found = graphs.find(graph, name)
    if not found:
        raise UsageError(message("tools.unknown_name", name=name), message("tools.unknown_name_hint"))
    return found


def _relation(link: Link) -> str:
    return f"{VERBS[link.kind]} ({link.confidence:.2f})"


def _place(graph: Graph, node: int, line: int) -> str:
    found = graph.nodes[node]
    return found.name if found.kind in ("file", "package") else f"{found.path}:{line} {found.name}"
