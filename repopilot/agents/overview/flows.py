"""The most important ways through a repository: chains of calls from where it is entered to where the work is done."""

from __future__ import annotations

import math
from collections.abc import Iterable, Mapping, Sequence

from repopilot.agents.overview.overview_values import Component, EntryPoint, Flow, NamedPlace
from repopilot.agents.overview.uses import SURE
from repopilot.code.graph.graph import Edge, Graph

MOST_FLOWS = 3
LONGEST = 7
"""Calls from the entry on."""
FEWEST_STEPS = 3


def flows(
    graph: Graph, entries: Sequence[EntryPoint], components: Sequence[Component], rank: Sequence[float]
) -> tuple[Flow, ...]:
    """Find the ways through the code.

    Of all that an entry reaches by calls, the way is shown to the definition with most work in it: the one that is
    called from many places (its PageRank), is long, and lies in another component. A way whose end an earlier one
    passed isn't shown.

    Args:
        graph: of the repository.
        entries: where it is entered.
        components: its components, whose most used definitions are where users of a library begin.
        rank: PageRank by node.
    """
    of = {path: number for number, component in enumerate(components) for path in component.files}
    found: list[Flow] = []
    seen: set[int] = set()
    for title, start in _starts(graph, entries, components):
        way = _way(graph, start, of, rank, seen)
        if len(way) >= FEWEST_STEPS:
            seen |= set(way[1:])
            found.append(Flow(title, tuple(_step(graph, node) for node in way)))
        if len(found) == MOST_FLOWS:
            break
    return tuple(found)


def _starts(graph: Graph, entries: Sequence[EntryPoint], components: Sequence[Component]) -> Iterable[tuple[str, int]]:
    """Nodes at which a flow may begin: entries that are definitions, entries that are files, then what is used most."""
    for entry in entries:
        if entry.symbol and (node := _definition(graph, entry.path, entry.symbol)) is not None:
            yield entry.name, node
    for entry in entries:
        if not entry.symbol and entry.kind != "facade" and entry.path in graph.by_path:
            yield entry.name, graph.by_path[entry.path]
    for component in components:
        for symbol in component.symbols[:3]:
            if (node := _definition(graph, symbol.path, symbol.name)) is not None:
                yield symbol.name, node


def _definition(graph: Graph, path: str, name: str) -> int | None:
    """The last definition of exactly this name in a file: of overloads, the one with the body."""
    inside = graph.inside(graph.by_path[path]) if path in graph.by_path else []
    return next((node for node in reversed(inside) if graph.nodes.name(node) == name), None)


def _way(graph: Graph, start: int, of: Mapping[str, int], rank: Sequence[float], seen: set[int]) -> list[int]:
    """The calls from a node to the definition with most work that it reaches."""
    parents: dict[int, int] = {start: -1}
    depth = {start: 0}
    queue = [start]
    home = of.get(graph.nodes[start].path)
    best, most = start, 0.0
    for node in queue:
        if depth[node] >= LONGEST:
            continue
        for called in _called(graph, node):
            place = graph.nodes[called]
            if called in parents or place.path not in of:
                continue
            parents[called] = node
            depth[called] = depth[node] + 1
            queue.append(called)
            size = math.log1p(place.end_line - place.line) * math.log1p(rank[called])
            worth = size * (1 + min(depth[called], 4)) * (1.5 if of[place.path] != home else 1.0)
            if worth > most and called not in seen and depth[called] >= 2:
                best, most = called, worth
    way = [best]
    while parents[way[-1]] >= 0:
        way.append(parents[way[-1]])
    return way[::-1]


def _called(graph: Graph, node: int) -> list[int]:
    """What a definition calls, and a class by its methods."""
    calls = [link.node for link in graph.outgoing(node, (Edge.CALLS,)) if link.confidence >= SURE]
    inside = [link.node for link in graph.outgoing(node, (Edge.DECLARES,))] if graph.nodes[node].kind == "class" else []
    return [*calls, *inside]


def _step(graph: Graph, node: int) -> NamedPlace:
    place = graph.nodes[node]
    return NamedPlace(place.name, place.path, max(1, place.line))
