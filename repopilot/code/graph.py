"""The code graph: files, packages, classes, functions and tables, and what declares, imports, calls, inherits from,
uses or tests what. Questions to it; `build_graph` makes it. Pure, held in flat arrays."""

from __future__ import annotations

import re
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass
from enum import IntEnum
from typing import NamedTuple

import numpy as np


class Edge(IntEnum):
    """What an edge says of its source and its target."""

    DECLARES = 0
    IMPORTS = 1
    CALLS = 2
    INHERITS = 3
    USES = 4
    TESTS = 5


DEPENDING = (Edge.IMPORTS, Edge.CALLS, Edge.INHERITS, Edge.USES, Edge.TESTS)
"""The edges along which a change travels, against their direction."""


class Node(NamedTuple):
    """`kind` is file, package, class, function, value or table; `name` a path, a qualified name or a table's name."""

    kind: str
    name: str
    path: str
    line: int
    end_line: int


class Link(NamedTuple):
    """An edge seen from one of its ends: the node at the other end, and `line` in the source's file."""

    node: int
    kind: Edge
    confidence: float
    line: int


@dataclass(frozen=True, slots=True)
class Graph:
    """Edges are columns: `sources`, `targets` (int32), `kinds` (uint8), `confidence` (float32), `lines` (int32).

    `inside[file]` are the nodes a file defines. `unresolved[name]` counts uses of a name that fits several definitions.
    """

    nodes: Sequence[Node]
    sources: np.ndarray
    targets: np.ndarray
    kinds: np.ndarray
    confidence: np.ndarray
    lines: np.ndarray
    forward: tuple[np.ndarray, np.ndarray]
    backward: tuple[np.ndarray, np.ndarray]
    by_path: dict[str, int]
    by_name: dict[str, list[int]]
    inside: dict[int, list[int]]
    unresolved: dict[str, int]

    def outgoing(self, node: int, kinds: Sequence[Edge] = tuple(Edge)) -> Iterator[Link]:
        """Edges that leave a node."""
        return self._links(self.forward, self.targets, node, kinds)

    def incoming(self, node: int, kinds: Sequence[Edge] = tuple(Edge)) -> Iterator[Link]:
        """Edges that arrive at a node."""
        return self._links(self.backward, self.sources, node, kinds)

    def file_of(self, node: int) -> int:
        """The node of the file a node lies in (itself for a file or package)."""
        return self.by_path.get(self.nodes[node].path, node)

    def _links(
        self, ends: tuple[np.ndarray, np.ndarray], other: np.ndarray, node: int, kinds: Sequence[Edge]
    ) -> Iterator[Link]:
        starts, order = ends
        for at in order[starts[node] : starts[node + 1]].tolist():
            if self.kinds[at] in kinds:
                yield Link(int(other[at]), Edge(int(self.kinds[at])), float(self.confidence[at]), int(self.lines[at]))


def find(graph: Graph, text: str) -> list[int]:
    """Nodes called `text`: a path, `path:Symbol`, or a name qualified to any depth."""
    if text in graph.by_path:
        return [graph.by_path[text]]
    path, colon, symbol = text.partition(":")
    if colon and path in graph.by_path:
        inside = graph.inside[graph.by_path[path]]
        return [n for n in inside if f".{graph.nodes[n].name}".endswith(f".{symbol}")]
    last = re.split(r"[.#]|::|->", text)[-1]
    wanted = "." + re.sub(r"#|::|->", ".", text)
    return [n for n in graph.by_name.get(last, ()) if f".{graph.nodes[n].name}".endswith(wanted)]


def callers(graph: Graph, node: int) -> list[Link]:
    """Who calls, uses or inherits from a node, surest first."""
    found = graph.incoming(node, (Edge.CALLS, Edge.USES, Edge.INHERITS))
    return sorted(found, key=lambda link: -link.confidence)


def callees(graph: Graph, node: int) -> list[Link]:
    """What a node calls, uses or inherits from, surest first."""
    found = graph.outgoing(node, (Edge.CALLS, Edge.USES, Edge.INHERITS))
    return sorted(found, key=lambda link: -link.confidence)


def dependents(
    graph: Graph, start: Iterable[int], depth: int = 3, least: float = 0.25
) -> dict[int, tuple[int, int, Link]]:
    """Nodes that depend on any of `start`, within `depth` hops: node → (distance, the node reached from, the edge).

    Breadth first, the surest edges of a hop first; edges less sure than `least` are not followed.
    """
    found: dict[int, tuple[int, int, Link]] = {}
    seen = set(start)
    frontier = sorted(seen)
    for distance in range(1, depth + 1):
        links = (
            (node, link) for node in frontier for link in graph.incoming(node, DEPENDING) if link.confidence >= least
        )
        following: list[int] = []
        for node, link in sorted(links, key=lambda pair: (-pair[1].confidence, pair[1].node)):
            if link.node not in seen:
                seen.add(link.node)
                found[link.node] = (distance, node, link)
                following.append(link.node)
        frontier = following
    return found


def path(graph: Graph, start: int, end: int, least: float = 0.25, longest: int = 12) -> list[int]:
    """A shortest way from one node to another along calls, uses, inheritance, imports and declarations; [] for none."""
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
    way = [end]
    while way[-1] != start:
        way.append(before[way[-1]])
    return way[::-1]
