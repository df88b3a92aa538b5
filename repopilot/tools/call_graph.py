"""Questions to the code graph: who calls a definition, what it calls, and how one place reaches another. Sync."""

from __future__ import annotations

import re
from collections.abc import Sequence
from dataclasses import dataclass
from itertools import pairwise, product

from repopilot.code.graph import graph as graphs
from repopilot.code.graph.graph import VERBS, Graph, Link
from repopilot.errors import UsageError
from repopilot.index.code_graph import graph_of
from repopilot.index.store import Index
from repopilot.tools.lookup import in_rows
from repopilot.types import Chunk, Hit

_CANDIDATES = 3
"""Definitions of one name that a way may begin or end at."""
_SHORTEST = 4
_ASKS_FOR_A_WAY = re.compile(
    r"\b(?:from|between|reach\w*|gets? (?:to|into)|lead\w* to|end up in|flows?|path|connect\w*|all the way|"
    r"de|depuis|entre|arrive\w*|chemin|relie\w*)\b",
    re.IGNORECASE,
)


@dataclass(frozen=True, slots=True)
class Stop:
    """One definition or file on a way, and what the stop before does to it ('' for the first)."""

    verb: str
    name: str
    path: str
    line: int
    end_line: int

    def __str__(self) -> str:
        place = self.path if self.name == self.path else f"{self.path}:{self.line} {self.name}"
        return f"{self.verb} {place}".strip()


def callers(index: Index, name: str, depth: int = 1) -> str:
    """What depends on a definition within `depth` (1 to 5) hops: hops, place, definition and why, a line each.

    Raises UsageError on an unknown name or a depth out of range.
    """
    if not 1 <= depth <= 5:
        raise UsageError(f"depth is {depth}; 1 to 5 hops can be asked for.")
    graph = graph_of(index)
    found = graphs.dependents(graph, _nodes(graph, name), depth)
    rows = [
        f"{distance} {_place(graph, node, link.line)} {_sure(link)} {graph.nodes[via].name}"
        for node, (distance, via, link) in found.items()
    ]
    return in_rows(rows) or f"nothing was found that depends on {name}"


def callees(index: Index, name: str) -> str:
    """What a definition itself calls, uses or inherits from, surest first, a line each. Raises UsageError."""
    graph = graph_of(index)
    links: dict[int, Link] = {}
    for node in _nodes(graph, name):
        for link in graphs.callees(graph, node):
            links.setdefault(link.node, link)
    rows = [f"{_sure(link)} {_place(graph, node, graph.nodes[node].line)}" for node, link in links.items()]
    return in_rows(rows) or f"{name} uses nothing else of this repository"


def way(index: Index, start: str, end: str) -> str:
    """How one definition or file reaches another, step by step, a line each. Raises UsageError on an unknown name."""
    graph = graph_of(index)
    found = shortest(graph, _nodes(graph, start), _nodes(graph, end))
    return "\n".join(map(str, stops_of(graph, found))) or f"no way was found from {start} to {end}"


def shortest(graph: Graph, starts: Sequence[int], ends: Sequence[int]) -> list[int]:
    """The shortest way from one of some nodes to one of others; [] for none."""
    ways = (graphs.path(graph, a, b) for a, b in product(starts[:_CANDIDATES], ends[:_CANDIDATES]) if a != b)
    return min(filter(None, ways), key=len, default=[])


def stops_of(graph: Graph, found: Sequence[int]) -> list[Stop]:
    """The stops of a way."""
    stops = [Stop("", *_stop(graph, node)) for node in found[:1]]
    for node, following in pairwise(found):
        link = max((k for k in graph.outgoing(node) if k.node == following), key=lambda k: k.confidence)
        stops.append(Stop(VERBS[link.kind], *_stop(graph, following)))
    return stops


def _stop(graph: Graph, node: int) -> tuple[str, str, int, int]:
    found = graph.nodes[node]
    return found.name, found.path, found.line, max(found.line, found.end_line)


def detect_path_query(index: Index, text: str, names: Sequence[str]) -> list[Stop]:
    """The way that a question means between two places it names; [] for none. `names` are what certainly is a name in
    it; other words are taken for one where they fit a definition. The other direction is tried, too."""
    if not _ASKS_FOR_A_WAY.search(text):
        return []
    graph = graph_of(index)
    rest = _ASKS_FOR_A_WAY.sub(" ", text)
    words = [word for word in re.findall(r"[\w.:/-]*\w", rest) if len(word) >= _SHORTEST]
    known = [name for name in dict.fromkeys((*names, *words)) if graphs.find(graph, name)][:2]
    if len(known) < 2:
        return []
    start, end = (graphs.find(graph, name) for name in sorted(known, key=text.find))
    return stops_of(graph, shortest(graph, start, end) or shortest(graph, end, start))


def hits_on(index: Index, way: Sequence[Stop], best: float) -> list[Hit]:
    """The passages in which the definitions of a way begin, in its order, each with the score `best`."""
    places = [(stop.path, stop.line) for stop in way if stop.name != stop.path]
    chunks = [chunk for path, line in places if (chunk := _chunk_at(index, path, line)) is not None]
    return [Hit(chunk, best, {"on the way": best}) for chunk in {c.id: c for c in chunks}.values()]


def _chunk_at(index: Index, path: str, line: int) -> Chunk | None:
    return next((c for c in index.chunks_of(path) if c.start_line <= line <= c.end_line), None)


def _nodes(graph: Graph, name: str) -> list[int]:
    found = graphs.find(graph, name)
    if not found:
        raise UsageError(f"No file or definition is called {name!r}.", "Write path, path:Symbol or Class.method.")
    return found


def _sure(link: Link) -> str:
    return f"{VERBS[link.kind]} ({link.confidence:.2f})"


def _place(graph: Graph, node: int, line: int) -> str:
    found = graph.nodes[node]
    return found.name if found.kind in ("file", "package") else f"{found.path}:{line} {found.name}"
