"""Questions to the code graph: who calls a definition, what it calls, and the call path between two places. Sync."""

from __future__ import annotations

import re
from collections.abc import Callable, Iterable, Sequence
from dataclasses import dataclass, replace
from itertools import pairwise, product
from typing import TYPE_CHECKING

from repopilot.code.graph import graph as graphs
from repopilot.code.graph.graph import VERBS, Edge, Graph, Link
from repopilot.errors import UsageError
from repopilot.i18n import Message, message
from repopilot.index.graph.code_graph import graph_of
from repopilot.index.store import Index
from repopilot.resolve.uses.unused import said_unused
from repopilot.resolve.uses.usage import VERB_OF, Usage, UsePlace, usage_of, used_by
from repopilot.types import Symbol

if TYPE_CHECKING:
    from repopilot.resolve.names import Resolver

Follow = Callable[[Graph, Sequence[int], int], dict[int, tuple[int, int, Link]]]

DEEPEST = 5
"""Most hops that are followed."""
SURE = 0.9
"""Confidence of a link by scope, by import or by a declared type."""
MOST_FOLLOWED = 60
"""Most definitions whose own relations are looked up for a further hop."""
LONGEST_LINE = 120
_RELATION_KEYS = {verb: kind.name.lower() for kind, verb in VERBS.items()}
DEFINED = frozenset(("class", "function", "value"))

_CANDIDATES = 3  # definitions of one name that a path may begin or end at
_IN_FILE = re.compile(r"(?<![\w./-])([\w./-]+\.\w+):([A-Za-z_$][\w.$]*)")


@dataclass(frozen=True, slots=True)
class RelatedPlace:
    """A place that has to do with a definition.

    Attributes:
        path: of the file.
        line: of the use, or of the definition that is used.
        name: of the definition around the use, or of what is used; '' for a whole file.
        relation: what one does with the other, a verb.
        sure: whether it certainly is this definition; else it may be one of the same name.
        distance: hops from the definition.
        text: the line.
    """

    path: str
    line: int
    name: str
    relation: str
    sure: bool
    distance: int = 1
    text: str = ""

    def row(self, *, uses: bool) -> Message:
        """The place in words.

        Args:
            uses: whether the place uses the requested definition; else the definition uses what is at the place.
        """
        way = "using" if uses else "used"
        relation = "further" if self.distance > 1 else _RELATION_KEYS[self.relation]
        related = message(f"relations.{way}.{relation}", hops=self.distance)
        place = f"{self.path}:{self.line}"
        named = message(f"relations.{way}.named" if self.name else f"relations.{way}.file", place=place, name=self.name)
        source = self.text.strip()[:LONGEST_LINE]
        key = "relations.with_line" if source else "relations.without_line"
        return message(key, place=named, related=related, line=source)


@dataclass(frozen=True, slots=True)
class Relations:
    """The places related to a definition.

    Attributes:
        places: the sure ones, the nearest first, then those by name, the likelier ones first.
        usage: the uses behind the first hop; None where they weren't looked up.
    """

    places: tuple[RelatedPlace, ...]
    usage: Usage | None = None


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


def callers(index: Index, name: str, depth: int = 1, resolver: Resolver | None = None) -> Relations:
    """What depends on a definition.

    Args:
        index: the repository.
        name: a path, `path:Symbol` or `Class.method`.
        depth: how many hops to follow, 1 to DEEPEST.
        resolver: of the repository.

    Returns:
        The places where it is used, each definition once.

    Raises:
        UsageError: the name is unknown, or the depth out of range.
    """
    found = _used(index, name, depth, resolver)
    using = {place.path for place in found.places if place.relation != VERBS[Edge.IMPORTS]}
    first: dict[tuple[str, str], RelatedPlace] = {}
    for place in found.places:
        if place.relation != VERBS[Edge.IMPORTS] or place.path not in using:
            first.setdefault((place.path, place.name), place)
    return replace(found, places=tuple(first.values()))


def references(index: Index, name: str, depth: int = 1, resolver: Resolver | None = None) -> Relations:
    """Every place where a name is used; for a plain name, of any definition. From the second hop on, what depends on
    those.

    Args:
        index: the repository.
        name: plain, or as for `callers`.
        depth: how many hops to follow, 1 to DEEPEST.
        resolver: of the repository.

    Raises:
        UsageError: nothing has the name, or the depth is out of range.
    """
    if graphs.find(graph_of(index), name):
        return _used(index, name, depth, resolver)
    _check_depth(depth)
    plain = name.rpartition(":")[2].rpartition(".")[2]
    rows = () if ":" in name else index.references(plain)
    if not rows:
        raise _unknown(index, name)
    return Relations(
        tuple(
            RelatedPlace(
                path=r.path,
                line=r.line,
                name=r.scope,
                relation=VERB_OF.get(r.kind, VERBS[Edge.USES]),
                sure=r.kind == "import",  # no definition here has the name, so an import of it is certain
                text=_line(index, r.path, r.line),
            )
            for r in sorted(rows, key=lambda r: r.kind != "import")
        )
    )


def callees(index: Index, name: str, depth: int = 1, resolver: Resolver | None = None) -> Relations:
    """What a definition calls, uses or inherits from.

    Args:
        index: the repository.
        name: as for `callers`.
        depth: as for `callers`.
        resolver: of the repository.

    Returns:
        The definitions, the nearest first.

    Raises:
        UsageError: as `callers`.
    """
    _check_depth(depth)
    graph = graph_of(index)
    nodes = _nodes(graph, index, name)
    places = _others(graph, nodes, depth, graphs.dependencies, at_use=False)
    level = symbols_of(index, graph, nodes)
    seen = set[tuple[str, str]]()
    for distance in range(1, depth + 1):
        following: list[Symbol] = []
        places += _tables_used(graph, level, distance)
        for symbol in level[:MOST_FOLLOWED]:
            for place, target, sure in used_by(index, symbol, resolver):
                if (target.path, target.qualified) not in seen:
                    seen.add((target.path, target.qualified))
                    following.append(target)
                    places.append(
                        RelatedPlace(target.path, target.start_line, target.qualified, place.relation, sure, distance)
                    )
        level = following
    return Relations(_in_order(places))


def _tables_used(graph: Graph, symbols: Iterable[Symbol], distance: int) -> list[RelatedPlace]:
    """The database tables that definitions name in SQL or map to classes."""
    nodes = [node for s in symbols for node in graphs.find(graph, f"{s.path}:{s.qualified}")]
    links = [link for node in nodes for link in graph.outgoing(node, (Edge.USES,))]
    tables = [(link, graph.nodes[link.node]) for link in links if graph.nodes[link.node].kind == "table"]
    return [RelatedPlace(t.path, t.line, t.name, VERBS[link.kind], True, distance) for link, t in tables]


def unused(index: Index, name: str, usage: Usage | None) -> Message:
    """The message for a name without certain uses."""
    graph = graph_of(index)
    return said_unused(name, usage, index, symbols_of(index, graph, graphs.find(graph, name)))


def symbols_of(index: Index, graph: Graph, nodes: Iterable[int]) -> list[Symbol]:
    """The definitions that nodes stand for; files and tables are left out."""
    wanted = {(graph.nodes[node].path, graph.nodes[node].name) for node in nodes if graph.nodes[node].kind in DEFINED}
    return [
        s for path in dict.fromkeys(p for p, _ in wanted) for s in index.outline(path) if (path, s.qualified) in wanted
    ]


def _used(index: Index, name: str, depth: int, resolver: Resolver | None) -> Relations:
    """What uses a definition, by hops."""
    _check_depth(depth)
    graph = graph_of(index)
    nodes = _nodes(graph, index, name)
    places = _others(graph, nodes, depth, graphs.dependents, at_use=True)
    symbols = symbols_of(index, graph, nodes)
    usage = usage_of(index, symbols, resolver) if symbols else None
    level = usage
    seen = {(s.path, s.qualified) for s in symbols}
    for distance in range(1, depth + 1):
        if level is None:
            break
        places += [_at_use(place, True, distance) for place in level.sure]
        if distance == 1:
            places += [_at_use(place, False, distance) for place in level.by_name]
        around = {(p.path, p.scope) for p in level.sure if p.scope} - seen
        seen |= around
        users = [
            s for path in sorted({p for p, _ in around}) for s in index.outline(path) if (path, s.qualified) in around
        ]
        level = usage_of(index, users[:MOST_FOLLOWED], resolver) if users and distance < depth else None
    return Relations(_in_order(places), usage)


def _at_use(place: UsePlace, sure: bool, distance: int) -> RelatedPlace:
    return RelatedPlace(place.path, place.line, place.scope, place.relation, sure, distance, place.source)


def _in_order(places: Iterable[RelatedPlace]) -> tuple[RelatedPlace, ...]:
    """Sure places by distance, then the others as they come; each line once."""
    first = {(p.path, p.line, p.name): p for p in sorted(places, key=lambda p: (not p.sure, p.distance), reverse=True)}
    return tuple(sorted(first.values(), key=lambda p: (not p.sure, p.distance)))


def _others(graph: Graph, nodes: Sequence[int], depth: int, follow: Follow, *, at_use: bool) -> list[RelatedPlace]:
    """The places related to files and tables, by the code graph."""
    starts = [node for node in nodes if graph.nodes[node].kind not in DEFINED]
    found = follow(graph, starts, depth).items() if starts else ()
    return [
        RelatedPlace(
            (other := graph.nodes[node]).path,
            link.line if at_use else other.line,
            "" if other.kind in ("file", "package") else other.name,
            VERBS[link.kind],
            link.confidence >= SURE,
            distance,
        )
        for node, (distance, _, link) in found
    ]


def _line(index: Index, path: str, line: int) -> str:
    return (index.lines(path, line, line) or "").strip("\n")


def _check_depth(depth: int) -> None:
    if not 1 <= depth <= DEEPEST:
        raise UsageError(message("tools.depth", depth=depth, deepest=DEEPEST))


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
    nodes = shortest_path(graph, _nodes(graph, index, start), _nodes(graph, index, end))
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


def path_between(index: Index, one: str, other: str) -> list[PathNode]:
    """The call path between two names, in either direction; [] where there is none."""
    graph = graph_of(index)
    start, end = (graphs.find(graph, name) for name in (one, other))
    return path_nodes(graph, shortest_path(graph, start, end) or shortest_path(graph, end, start))


def _path_node(graph: Graph, verb: str, node: int) -> PathNode:
    found = graph.nodes[node]
    return PathNode(verb, found.name, found.path, found.line, max(found.line, found.end_line))


def _nodes(graph: Graph, index: Index, name: str) -> list[int]:
    found = graphs.find(graph, name)
    if not found:
        raise _unknown(index, name)
    return found


def missing_in_file(question: str, index: Index) -> UsageError | None:
    """The error for a question that names, as `path:Symbol`, a definition which the file doesn't have; None for
    none."""
    for path, symbol in _IN_FILE.findall(question):
        paths = index.files_named(path)
        graph = graph_of(index) if paths else None
        if graph is not None and not any(graphs.find(graph, f"{known}:{symbol}") for known in paths):
            return _unknown(index, f"{paths[0]}:{symbol}")
    return None


def _unknown(index: Index, name: str) -> UsageError:
    path, colon, symbol = name.rpartition(":")
    if colon and path in index.files:
        return UsageError(
            message("tools.unknown_symbol_in", name=symbol, path=path), message("tools.unknown_name_hint")
        )
    return UsageError(message("tools.unknown_name", name=name), message("tools.unknown_name_hint"))
