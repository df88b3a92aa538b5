"""Who depends on a change: code by hops, and the tests that cover it, as items of the report."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

from repopilot.code.graph.graph import DEPENDING, VERBS, Edge, Graph, Link, dependents
from repopilot.code.languages import is_test_path
from repopilot.impact.change import Change
from repopilot.impact.codebase import Codebase, changed_nodes
from repopilot.index.store import Index

DEPTH = 3
_LEAST_TEST = 0.5
_NAMED_AFTER = 0.9


@dataclass(frozen=True, slots=True)
class Reached:
    """A definition or file that depends on the change, `distance` hops away, and why; reached from the file `via`."""

    path: str
    symbol: str
    kind: str
    line: int
    distance: int
    confidence: float
    reason: str
    via: str


def reached(base: Codebase, changes: Sequence[Change]) -> list[Reached]:
    """Everything that depends on the changes within three hops, nearest and surest first; tests among it."""
    graph = base.graph
    start = [node for change in changes for node in changed_nodes(base, change)]
    inside = {change.path for change in changes}
    found = []
    for node, (distance, via, link) in dependents(graph, start, DEPTH).items():
        where = graph.nodes[node]
        if where.path not in inside and where.kind != "package":
            symbol = "" if where.kind == "file" else where.name
            line = link.line if link.line else where.line
            why = _why(graph, via, link)
            sure = round(link.confidence, 2)
            came = graph.nodes[via].path
            found.append(Reached(where.path, symbol, where.kind, line, distance, sure, why, came))
    return sorted(found, key=lambda r: (r.distance, -r.confidence, not r.symbol, r.path, r.line))


def named_elsewhere(index: Index, changes: Sequence[Change]) -> list[Reached]:
    """Uses of definitions that are gone from the index already, by their names alone."""
    found: dict[tuple[str, str], Reached] = {}
    for change in (c for c in changes if c.path not in index.files):
        for qualified in change.symbols:
            name = qualified.rpartition(".")[2]
            for use in index.references(name) if not index.symbols(name) else ():
                why = f"uses {qualified} (by its name)"
                item = Reached(
                    use.path, use.scope, "function" if use.scope else "file", use.line, 1, 0.6, why, change.path
                )
                found.setdefault((use.path, use.scope), item)
    return list(found.values())


def used_by_change(base: Codebase, changes: Sequence[Change]) -> dict[str, str]:
    """Files that the changed code itself uses, with the reason."""
    found: dict[str, tuple[float, str]] = {}
    for change in changes:
        for node in changed_nodes(base, change):
            for link in base.graph.outgoing(node, DEPENDING):
                target = base.graph.nodes[link.node]
                if target.path != change.path and link.confidence > found.get(target.path, (0.0, ""))[0]:
                    found[target.path] = (
                        link.confidence,
                        f"the change {VERBS[link.kind]} {_label(base.graph, link.node)}",
                    )
    return {path: reason for path, (_, reason) in found.items()}


@dataclass(frozen=True, slots=True)
class Covering:
    """A test file that exercises the change; `tests` are its functions that reach it."""

    path: str
    tests: tuple[str, ...]
    distance: int
    confidence: float
    reason: str


def covering(base: Codebase, changes: Sequence[Change], found: Sequence[Reached]) -> list[Covering]:
    """Test files that reach the changes by calls, or are named after a changed file; the surest first.

    A file that only uses something else of a changed file comes after those with tests that reach the change.
    """
    result: dict[str, Covering] = {}
    by_path: dict[str, list[Reached]] = {}
    for item in found:
        if is_test_path(item.path):
            by_path.setdefault(item.path, []).append(item)
    for path, items in by_path.items():
        names = tuple(dict.fromkeys(item.symbol for item in items if item.symbol))
        best = items[0]
        result[path] = Covering(path, names[:20], best.distance, best.confidence, best.reason)
    for change in changes:
        number = base.graph.by_path.get(change.path)
        for link in base.graph.incoming(number, (Edge.TESTS,)) if number is not None else ():
            path = base.graph.nodes[link.node].path
            if path not in result and link.confidence >= _LEAST_TEST:
                result[path] = Covering(path, (), 1, round(link.confidence, 2), f"tests {change.path}")
    inside = {change.path for change in changes}
    return sorted((c for c in result.values() if c.path not in inside), key=_surest)


def _surest(test: Covering) -> tuple[int, float, str]:
    direct = test.tests or test.confidence >= _NAMED_AFTER
    return test.distance if direct else test.distance + DEPTH, -test.confidence, test.path


def _why(graph: Graph, via: int, link: Link) -> str:
    guess = "" if link.confidence >= 0.7 else " (by its name)" if link.confidence >= 0.5 else " (a guess by its name)"
    return f"{VERBS[link.kind]} {_label(graph, via)}{guess}"


def _label(graph: Graph, node: int) -> str:
    found = graph.nodes[node]
    return found.path if found.kind == "file" else f"table {found.name}" if found.kind == "table" else found.name
