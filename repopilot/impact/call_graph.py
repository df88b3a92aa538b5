"""Questions to the code graph: who calls a definition, what it calls, and the call path between two places. Sync."""

from __future__ import annotations

import re
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from itertools import pairwise, product

from repopilot.code.graph import graph as graphs
from repopilot.code.graph.graph import DEPENDING, VERBS, Graph, Link
from repopilot.errors import UsageError
from repopilot.i18n import message
from repopilot.index.graph.code_graph import graph_of
from repopilot.index.store import Index

DEEPEST = 5
"""Most hops that are followed."""
SURE = 0.6
"""Confidence of a link by scope, by import, or by a name that only one definition has."""

_CANDIDATES = 3  # definitions of one name that a path may begin or end at
_SHORTEST_WORD = 4
_ASKS_FOR_A_PATH = re.compile(
    r"\b(?:from|between|reach\w*|gets? (?:to|into)|lead\w* to|end up in|flows?|path|connect\w*|all the way|"
    r"de|depuis|entre|arrive\w*|chemin|relie\w*)\b",
    re.IGNORECASE,
)


Follow = Callable[[Graph, Sequence[int], int], dict[int, tuple[int, int, Link]]]


@dataclass(frozen=True, slots=True)
class RelatedPlace:
    """A place that has to do with a definition.

    Attributes:
        path: of the file.
        line: of the use, or of the definition that is used.
        name: of the definition around the use, or of what is used; '' for a whole file.
        relation: what the one does with the other.
        confidence: that it is this definition, 0 to 1.
        distance: hops from the definition.
    """

    path: str
    line: int
    name: str
    relation: str
    confidence: float
    distance: int = 1

    @property
    def sure(self) -> bool:
        """Whether scope, imports and names leave no other meaning."""
        return self.confidence >= SURE

    def __str__(self) -> str:
        hops = f" ({self.distance} hops)" if self.distance > 1 else ""
        return f"{self.path}:{self.line} {self.relation} {self.name}".rstrip() + hops


PlaceOf = Callable[[Graph, int, Link, int], RelatedPlace]


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


def callers(index: Index, name: str, depth: int = 1) -> list[RelatedPlace]:
    """What depends on a definition.

    Args:
        index: the repository.
        name: a path, `path:Symbol` or `Class.method`.
        depth: how many hops to follow, 1 to DEEPEST.

    Returns:
        The places where it is used, the nearest first.

    Raises:
        UsageError: the name is unknown, or the depth out of range.
    """
    return _followed(index, name, depth, graphs.dependents, _used_at)


def callees(index: Index, name: str, depth: int = 1) -> list[RelatedPlace]:
    """What a definition calls, uses or inherits from.

    Args:
        index: the repository.
        name: as for `callers`.
        depth: as for `callers`.

    Returns:
        The definitions, the nearest first.

    Raises:
        UsageError: as `callers`.
    """
    return _followed(index, name, depth, graphs.dependencies, _defined_at)


def references(index: Index, name: str, depth: int = 1) -> list[RelatedPlace]:
    """Where a name is used. Those that the code graph links with a definition of it, or that can mean only one, are
    sure; from the second hop on, what depends on them.

    Args:
        index: the repository.
        name: plain, or as for `callers`.
        depth: how many hops to follow, 1 to DEEPEST.

    Raises:
        UsageError: the depth is out of range.
    """
    _check_depth(depth)
    plain = name.rpartition(":")[2].rpartition(".")[2]
    graph = graph_of(index)
    linked = {
        (graph.nodes[link.node].path, link.line): link.confidence
        for node in graphs.find(graph, name)
        for link in graph.incoming(node, DEPENDING)
    }
    found = [
        RelatedPlace(r.path, r.line, r.scope, r.kind, linked.get((r.path, r.line), 0.0))
        for r in index.references(plain)
    ]
    further = callers(index, name, depth) if depth > 1 and graphs.find(graph, name) else []
    return [*found, *(place for place in further if place.distance > 1)]


def _check_depth(depth: int) -> None:
    if not 1 <= depth <= DEEPEST:
        raise UsageError(message("tools.depth", depth=depth, deepest=DEEPEST))


def _followed(index: Index, name: str, depth: int, follow: Follow, place: PlaceOf) -> list[RelatedPlace]:
    _check_depth(depth)
    graph = graph_of(index)
    found = follow(graph, _nodes(graph, name), depth)
    return [place(graph, node, link, distance) for node, (distance, _, link) in found.items()]


def _used_at(graph: Graph, node: int, link: Link, distance: int) -> RelatedPlace:
    """The place in a definition where it uses what it was reached from."""
    return _related(graph, node, link.line, link, distance)


def _defined_at(graph: Graph, node: int, link: Link, distance: int) -> RelatedPlace:
    return _related(graph, node, graph.nodes[node].line, link, distance)


def _related(graph: Graph, node: int, line: int, link: Link, distance: int) -> RelatedPlace:
    found = graph.nodes[node]
    name = "" if found.kind in ("file", "package") else found.name
    return RelatedPlace(found.path, line, name, VERBS[link.kind], round(float(link.confidence), 2), distance)


def call_path(index: Index, start: str, end: str) -> list[PathNode]:
    """Show how one definition or file reaches another through calls, uses and imports.

    Args:
        index: the repository.
        start: where the path begins, as for `callers`.
        end: where it ends.

    Returns:
        The definitions on a shortest path; [] where there is none.

    Raises:
        UsageError: a name is unknown.
    """
    graph = graph_of(index)
    nodes = shortest_path(graph, _nodes(graph, start), _nodes(graph, end))
    return path_nodes(graph, nodes)


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
