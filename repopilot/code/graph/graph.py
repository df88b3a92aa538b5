"""The code graph and its queries: files, packages, classes, functions and tables, and what declares, imports,
calls, inherits from, uses or tests what. Pure; stored in flat arrays. build.py builds it."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from enum import IntEnum
from typing import NamedTuple

import numpy as np

from repopilot.code.graph.nodes import ByName, Nodes
from repopilot.code.languages import dotted

VERSION = "11"
"""The version of how graphs are built: a graph of another version is rebuilt."""


class Edge(IntEnum):
    """The kinds of edges: what the source does to the target."""

    DECLARES = 0
    IMPORTS = 1
    CALLS = 2
    INHERITS = 3
    USES = 4
    TESTS = 5


VERBS = {
    Edge.DECLARES: "declares",
    Edge.IMPORTS: "imports",
    Edge.CALLS: "calls",
    Edge.INHERITS: "inherits from",
    Edge.USES: "uses",
    Edge.TESTS: "tests",
}
"""What the source of an edge does to its target."""

DEPENDING = (Edge.IMPORTS, Edge.CALLS, Edge.INHERITS, Edge.USES, Edge.TESTS)
"""The edges along which a change propagates, against their direction."""


class Link(NamedTuple):
    """An edge seen from one of its ends: the node at the other end, and `line` in the source's file."""

    node: int
    kind: Edge
    confidence: float
    line: int


@dataclass(frozen=True, slots=True)
class Graph:
    """Nodes, and edges as columns: `sources`, `targets`, `lines` (int32), `kinds` (uint8), `confidence` (float32, 0–1).

    `forward`, `backward` and `defined` index the edges that leave a node, those that arrive at it, and the definitions
    of a file: (starts, order), so that those of n are `order[starts[n]:starts[n + 1]]`. `unresolved[name]` counts uses
    of a name that may refer to several definitions.
    """

    nodes: Nodes
    by_name: ByName
    by_path: Mapping[str, int]
    sources: np.ndarray
    targets: np.ndarray
    kinds: np.ndarray
    confidence: np.ndarray
    lines: np.ndarray
    forward: tuple[np.ndarray, np.ndarray]
    backward: tuple[np.ndarray, np.ndarray]
    defined: tuple[np.ndarray, np.ndarray]
    unresolved: Mapping[str, int]

    def outgoing(self, node: int, kinds: Sequence[Edge] = tuple(Edge)) -> Iterator[Link]:
        """The edges of these kinds that leave a node."""
        return self._links(self.forward, self.targets, node, kinds)

    def incoming(self, node: int, kinds: Sequence[Edge] = tuple(Edge)) -> Iterator[Link]:
        """The edges of these kinds that arrive at a node."""
        return self._links(self.backward, self.sources, node, kinds)

    def file_of(self, node: int) -> int:
        """The node of the file that defines a node; for a file or package, the node itself."""
        file = int(self.nodes.files[node])
        return file if file >= 0 else node

    def inside(self, file: int) -> list[int]:
        """The nodes that a file defines."""
        starts, order = self.defined
        return self.nodes.definitions[order[starts[file] : starts[file + 1]]].tolist()

    def _links(
        self, ends: tuple[np.ndarray, np.ndarray], other: np.ndarray, node: int, kinds: Sequence[Edge]
    ) -> Iterator[Link]:
        starts, order = ends
        places = order[starts[node] : starts[node + 1]]
        # Plain ints: those of numpy are slow to compare with an Edge.
        for at, kind in zip(places.tolist(), self.kinds[places].tolist(), strict=True):
            if kind in kinds:
                yield Link(int(other[at]), Edge(kind), float(self.confidence[at]), int(self.lines[at]))


def graph_of(nodes: Nodes, by_name: ByName, columns: Sequence[Sequence], unresolved: Mapping[str, int]) -> Graph:
    """Make a graph.

    Args:
        nodes: the nodes.
        by_name: the definitions among them by name.
        columns: sources, targets, kinds, confidence and lines of the edges.
        unresolved: see `Graph`.
    """
    dtypes = (np.int32, np.int32, np.uint8, np.float32, np.int32)
    sources, targets, kinds, confidence, lines = (
        np.array(column, dtype) for column, dtype in zip(columns, dtypes, strict=True)
    )
    by_path = {path: number for number, path in enumerate(nodes.paths)}
    size = len(nodes)
    defined = _index_by(nodes.files[nodes.definitions], len(by_path))
    return Graph(
        nodes,
        by_name,
        by_path,
        sources,
        targets,
        kinds,
        confidence,
        lines,
        _index_by(sources, size),
        _index_by(targets, size),
        defined,
        unresolved,
    )


def _index_by(numbers: np.ndarray, size: int) -> tuple[np.ndarray, np.ndarray]:
    """(starts, order): the places of number n in `numbers` are `order[starts[n]:starts[n + 1]]`."""
    order = np.argsort(numbers, kind="stable").astype(np.int32)
    return np.searchsorted(numbers[order], np.arange(size + 1)).astype(np.int32), order


def find(graph: Graph, text: str) -> list[int]:
    """The nodes that a text names: a path, `path:Symbol`, or a name qualified to any depth."""
    if text in graph.by_path:
        return [graph.by_path[text]]
    path, colon, symbol = text.partition(":")
    if colon and path in graph.by_path:
        inside = graph.inside(graph.by_path[path])
        found = [n for n in inside if f".{graph.nodes.name(n)}".endswith(f".{symbol}")]
        owner, _, member = symbol.rpartition(".")
        return found or (_inherited(graph, find(graph, f"{path}:{owner}"), member) if owner else [])
    wanted = f".{dotted(text)}"
    last = wanted.rpartition(".")[2]
    found = [n for n in graph.by_name[last] if f".{graph.nodes.name(n)}".endswith(wanted)]
    owner = wanted.strip(".").rpartition(".")[0]
    return found or (_inherited(graph, find(graph, owner), last) if owner else [])


def _inherited(graph: Graph, classes: Sequence[int], member: str) -> list[int]:
    """The members with a name in the nearest base classes, those of the surest base classes only."""
    seen = set(classes)
    level = list(classes)
    while level:
        links = [link for node in level for link in graph.outgoing(node, (Edge.INHERITS,)) if link.node not in seen]
        level = [link.node for link in links]
        seen |= set(level)
        for confidence in sorted({link.confidence for link in links}, reverse=True):
            above = [link.node for link in links if link.confidence == confidence]
            wanted = {(graph.file_of(node), f"{graph.nodes.name(node)}.{member}") for node in above}
            found = [n for n in graph.by_name[member] if (graph.file_of(n), graph.nodes.name(n)) in wanted]
            if found:
                return found
    return []


def callers(graph: Graph, node: int) -> list[Link]:
    """What calls, uses or inherits from a node, surest first."""
    found = graph.incoming(node, (Edge.CALLS, Edge.USES, Edge.INHERITS))
    return sorted(found, key=lambda link: -link.confidence)


def callees(graph: Graph, node: int) -> list[Link]:
    """What a node calls, uses or inherits from, surest first."""
    found = graph.outgoing(node, (Edge.CALLS, Edge.USES, Edge.INHERITS))
    return sorted(found, key=lambda link: -link.confidence)


def dependents(
    graph: Graph, start: Iterable[int], depth: int = 3, least: float = 0.25
) -> dict[int, tuple[int, int, Link]]:
    """Find the nodes that depend on the given ones, breadth first, by the surest edges.

    Args:
        graph: the graph.
        start: the nodes depended on.
        depth: how many edges to follow at most.
        least: edges of less confidence are not followed.

    Returns:
        For each dependent node its distance, the node it was reached from, and the edge between the two.
    """
    return _reached(start, depth, lambda node: (k for k in graph.incoming(node, DEPENDING) if k.confidence >= least))


def dependencies(graph: Graph, start: Iterable[int], depth: int = 1) -> dict[int, tuple[int, int, Link]]:
    """Find the nodes that the given ones call, use or inherit from; arguments and result as for `dependents`."""
    return _reached(start, depth, lambda node: callees(graph, node))


def _reached(
    start: Iterable[int], depth: int, links_of: Callable[[int], Iterable[Link]]
) -> dict[int, tuple[int, int, Link]]:
    found: dict[int, tuple[int, int, Link]] = {}
    seen = set(start)
    frontier = sorted(seen)
    for distance in range(1, depth + 1):
        links = ((node, link) for node in frontier for link in links_of(node))
        following: list[int] = []
        for node, link in sorted(links, key=lambda pair: (-pair[1].confidence, pair[1].node)):
            if link.node not in seen:
                seen.add(link.node)
                found[link.node] = (distance, node, link)
                following.append(link.node)
        frontier = following
    return found


def shortest_path(graph: Graph, start: int, end: int, least: float = 0.25, longest: int = 12) -> list[int]:
    """Find a shortest path along calls, uses, inheritance, imports and declarations.

    Args:
        graph: the graph.
        start: the first node.
        end: the last node.
        least: edges of less confidence are not followed.
        longest: how many edges the path has at most.

    Returns:
        The nodes of the path, both ends included; [] when there is none.
    """
    before: dict[int, int] = {start: start}
    frontier = [start]
    for _ in range(longest):
        if end in before or not frontier:
            break
        following = []
        for node in frontier:
            for link in graph.outgoing(node):
                if link.node not in before and link.confidence >= least:
                    before[link.node] = node
                    following.append(link.node)
        frontier = following
    if end not in before:
        return []
    reversed_path = [end]
    while reversed_path[-1] != start:
        reversed_path.append(before[reversed_path[-1]])
    return reversed_path[::-1]
