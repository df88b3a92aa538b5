"""The code graph: files, packages, classes, functions and tables, and what declares, imports, calls, inherits from,
uses or tests what. Questions to it; `build_graph` makes it. Pure, held in flat arrays."""

from __future__ import annotations

import re
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from enum import IntEnum
from typing import NamedTuple

import numpy as np

from repopilot.code.graph.nodes import ByName, Nodes


class Edge(IntEnum):
    """What an edge says of its source and its target."""

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
"""The edges along which a change travels, against their direction."""


class Link(NamedTuple):
    """An edge seen from one of its ends: the node at the other end, and `line` in the source's file."""

    node: int
    kind: Edge
    confidence: float
    line: int


@dataclass(frozen=True, slots=True)
class Graph:
    """Edges are columns: `sources`, `targets` (int32), `kinds` (uint8), `confidence` (float32), `lines` (int32).

    `forward`, `backward` and `defined` give the edges that leave a node, those that arrive at it, and the definitions
    of a file: where they begin in an order, and that order. `unresolved[name]` counts uses of a name that fits several
    definitions.
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
        """Edges that leave a node."""
        return self._links(self.forward, self.targets, node, kinds)

    def incoming(self, node: int, kinds: Sequence[Edge] = tuple(Edge)) -> Iterator[Link]:
        """Edges that arrive at a node."""
        return self._links(self.backward, self.sources, node, kinds)

    def file_of(self, node: int) -> int:
        """The node of the file a node lies in (itself for a file or package)."""
        file = int(self.nodes.files[node])
        return file if file >= 0 else node

    def inside(self, file: int) -> list[int]:
        """The nodes of what a file defines."""
        starts, order = self.defined
        return self.nodes.definitions[order[starts[file] : starts[file + 1]]].tolist()

    def _links(
        self, ends: tuple[np.ndarray, np.ndarray], other: np.ndarray, node: int, kinds: Sequence[Edge]
    ) -> Iterator[Link]:
        starts, order = ends
        places = order[starts[node] : starts[node + 1]]
        # Plain numbers: numpy's compare slowly with an Edge.
        for at, kind in zip(places.tolist(), self.kinds[places].tolist(), strict=True):
            if kind in kinds:
                yield Link(int(other[at]), Edge(kind), float(self.confidence[at]), int(self.lines[at]))


def graph_of(nodes: Nodes, by_name: ByName, columns: Sequence[Sequence], unresolved: Mapping[str, int]) -> Graph:
    """A graph from its nodes and its edges' columns, in the order of `Graph`."""
    dtypes = (np.int32, np.int32, np.uint8, np.float32, np.int32)
    sources, targets, kinds, confidence, lines = (
        np.array(column, dtype) for column, dtype in zip(columns, dtypes, strict=True)
    )
    by_path = {path: number for number, path in enumerate(nodes.paths)}
    size, defined = len(nodes), _ends(nodes.files[nodes.definitions], len(by_path))
    return Graph(
        nodes,
        by_name,
        by_path,
        sources,
        targets,
        kinds,
        confidence,
        lines,
        _ends(sources, size),
        _ends(targets, size),
        defined,
        unresolved,
    )


def _ends(numbers: np.ndarray, size: int) -> tuple[np.ndarray, np.ndarray]:
    """For each number where its places begin in the order, and that order."""
    order = np.argsort(numbers, kind="stable").astype(np.int32)
    return np.searchsorted(numbers[order], np.arange(size + 1)).astype(np.int32), order


def find(graph: Graph, text: str) -> list[int]:
    """Nodes called `text`: a path, `path:Symbol`, or a name qualified to any depth."""
    if text in graph.by_path:
        return [graph.by_path[text]]
    path, colon, symbol = text.partition(":")
    if colon and path in graph.by_path:
        inside = graph.inside(graph.by_path[path])
        return [n for n in inside if f".{graph.nodes.name(n)}".endswith(f".{symbol}")]
    last = re.split(r"[.#]|::|->", text)[-1]
    wanted = "." + re.sub(r"#|::|->", ".", text)
    return [n for n in graph.by_name.get(last, ()) if f".{graph.nodes.name(n)}".endswith(wanted)]


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
