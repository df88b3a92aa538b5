"""What depends on a change: code by hops in the code graph, and the tests that cover it."""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING

from repopilot.agents.impact.change import Change
from repopilot.agents.impact.codebase import Codebase, changed_nodes
from repopilot.code.graph.graph import DEPENDING, VERBS, Edge, Graph, Link, dependents
from repopilot.code.languages import is_example_path, is_test_path, language_of
from repopilot.i18n import Message, message
from repopilot.index.store import Index
from repopilot.resolve.uses.call_graph import DEFINED, symbols_of
from repopilot.resolve.uses.covering_tests import is_test_place
from repopilot.resolve.uses.usage import Usage, UsePlace, name_span, usage_of, usage_of_file
from repopilot.results import AffectedPlace, CoveringTest

if TYPE_CHECKING:
    from repopilot.resolve.names import Resolver

DEPTH = 3
"""Hops along which dependents are followed."""
_LEAST_TEST = 0.5
_NAMED_AFTER = 0.9
_MOST_TESTS = 20
LIKELY = 0.5
"""The confidence from which a place counts as a use."""
_SURE = 0.95
_BY_NAME = 0.4
_MOST_BY_NAME = 20
MOST_RESOLVED = 60
"""The most changed definitions whose uses are resolved one by one; for more, the code graph has to suffice."""
_EDGES = {verb: kind for kind, verb in VERBS.items()}
_USING = (Edge.CALLS, Edge.USES, Edge.INHERITS)
_KINDS = (Edge.CALLS, Edge.INHERITS, Edge.USES, Edge.IMPORTS, Edge.TESTS, Edge.DECLARES)

REASONS = {
    Edge.DECLARES: "impact.reasons.declares",
    Edge.IMPORTS: "impact.reasons.imports",
    Edge.CALLS: "impact.reasons.calls",
    Edge.INHERITS: "impact.reasons.inherits",
    Edge.USES: "impact.reasons.uses",
    Edge.TESTS: "impact.reasons.tests",
}
"""Keys of the texts that say what the source of an edge does to its target."""


def affected_places(
    base: Codebase, changes: Sequence[Change], resolver: Resolver | None = None
) -> tuple[list[AffectedPlace], list[Usage]]:
    """Everything that depends on the changes within DEPTH hops, in the changed files too; nearest and surest first.

    Args:
        base: the codebase.
        changes: what changes.
        resolver: of the repository.

    Returns:
        The places, tests included, without ids; and the usages behind the direct ones. A class or file around a changed
        definition doesn't count as a dependent.
    """
    graph = base.graph
    index = base.index
    start = [node for change in changes for node in changed_nodes(base, change)]
    around = _around(graph, start)
    reached, unlisted, usages = _reached(base, start, resolver)
    found = [(_order(index, item, Edge.USES), item) for item in unlisted]
    for node, (distance, via, link) in reached.items():
        place = graph.nodes[node]
        origin = graph.nodes[via]
        by_itself = place.kind == "file" and link.kind in _USING
        nested = origin.path == place.path and origin.name.startswith(f"{place.name}.")
        if (node not in around or by_itself) and not nested and place.kind != "package":
            symbol = "" if place.kind == "file" else place.name
            line = link.line if link.line else place.line
            reason = _reason(graph, via, link)
            confidence = round(link.confidence, 2)
            item = AffectedPlace("", place.path, symbol, place.kind, line, distance, confidence, reason, origin.path)
            found.append((_order(index, item, link.kind), item))
    return [item for _, item in sorted(found, key=lambda pair: pair[0])], usages


def _reached(
    base: Codebase, start: Sequence[int], resolver: Resolver | None
) -> tuple[dict[int, tuple[int, int, Link]], list[AffectedPlace], list[Usage]]:
    """The dependent nodes, direct ones resolved use by use and further ones by the code graph; the direct dependents in
    files outside the graph; and the usages behind the direct ones."""
    graph = base.graph
    index = base.index
    defined = [node for node in start if graph.nodes[node].kind in DEFINED]
    if len(defined) > MOST_RESOLVED:
        return dependents(graph, start, DEPTH), [], []
    others = [node for node in start if node not in set(defined)]
    found = dependents(graph, others, 1) if others else {}
    usages = []
    unlisted = []
    if resolver is not None and not found:
        usages = [usage_of_file(path, resolver) for path in sorted({graph.nodes[node].path for node in others})]
    for node in defined:
        usage = usage_of(index, symbols_of(index, graph, [node]), resolver)
        usages.append(usage)
        using = {place.path for place in usage.sure if place.relation != VERBS[Edge.IMPORTS]}
        certain = [p for p in usage.sure if p.relation != VERBS[Edge.IMPORTS] or p.path not in using]
        for sure, place in [*((True, p) for p in certain), *((False, p) for p in usage.by_name[:_MOST_BY_NAME])]:
            user = _node_at(graph, place)
            link = Link(user, _EDGES[place.relation], _SURE if sure else _BY_NAME, place.line)
            if user < 0:
                row = (place.path, place.scope, "file", place.line, 1, link.confidence, _reason(graph, node, link))
                unlisted.append(AffectedPlace("", *row, graph.nodes[node].path))
            known = found.get(user)
            if user >= 0 and user not in start and (known is None or known[2].confidence < link.confidence):
                found[user] = (1, node, link)
        for link in _implementing(base, node, resolver):
            if link.node not in start:
                found.setdefault(link.node, (1, node, link))
    inner = {*start, *found}
    likely = [node for node, (_, _, link) in found.items() if link.confidence >= LIKELY]
    further = dependents(graph, likely, DEPTH - 1)
    return found | {n: (d + 1, via, link) for n, (d, via, link) in further.items() if n not in inner}, unlisted, usages


def _implementing(base: Codebase, node: int, resolver: Resolver | None) -> list[Link]:
    """What implements a Go interface or one of its methods, which Go code doesn't declare: found by matching methods,
    and certain where the language server confirms it."""
    graph = base.graph
    path = graph.nodes[node].path
    links = list(graph.incoming(node, (Edge.INHERITS,))) if language_of(path) == "go" else []
    spans = [name_span(resolver.text(path) or "", s) for s in symbols_of(base.index, graph, [node])] if resolver else []
    places = [(path, span.start) for span in spans if span is not None]
    if resolver is None or not links or not places:
        return links
    told = resolver.at_server(path, lambda session: session.implementations(places)) or []
    lines = {(target.path, target.start[0] + 1) for found in told for target in found if target.inside}
    sure = {link.node for link in links if (graph.nodes[link.node].path, graph.nodes[link.node].line) in lines}
    return [link._replace(confidence=_SURE) if link.node in sure else link for link in links]


def _node_at(graph: Graph, place: UsePlace) -> int:
    """The node of the definition around a place, else that of its file; -1 for a file that isn't in the graph."""
    file = graph.by_path.get(place.path, -1)
    inside = graph.inside(file) if file >= 0 and place.scope else ()
    return next((node for node in inside if graph.nodes.name(node) == place.scope), file)


def _order(index: Index, item: AffectedPlace, kind: Edge) -> tuple:
    """Sort key: nearest first, then likely uses, own code before examples and foreign code, calls before other uses."""
    unsure = item.confidence < LIKELY
    aside = is_example_path(item.path) or index.is_foreign(item.path)
    return item.distance, unsure, aside, _KINDS.index(kind), item.path, item.line


def _around(graph: Graph, nodes: Sequence[int]) -> set[int]:
    """The files and definitions around some definitions."""
    found: set[int] = set()
    for file in {graph.file_of(node) for node in nodes}:
        names = {graph.nodes.name(node) for node in nodes if graph.file_of(node) == file}
        outer = {name.rpartition(".")[0] for name in names} - names - {""}
        outer |= {name.rpartition(".")[0] for name in outer}
        found |= {file, *(node for node in graph.inside(file) if graph.nodes.name(node) in outer - names)}
    return found


def uses_of_removed(index: Index, changes: Sequence[Change]) -> list[AffectedPlace]:
    """Uses of definitions whose file is no longer in the index, matched by name alone; ids empty."""
    found: dict[tuple[str, str], AffectedPlace] = {}
    for change in (c for c in changes if c.path not in index.files):
        for qualified in change.symbols:
            name = qualified.rpartition(".")[2]
            for use in index.references(name) if not index.symbols(name) else ():
                reason = message("impact.reasons.by_name", reason=message("impact.reasons.uses", name=qualified))
                kind = "function" if use.scope else "file"
                item = AffectedPlace("", use.path, use.scope, kind, use.line, 1, 0.6, reason, change.path)
                found.setdefault((use.path, use.scope), item)
    return list(found.values())


def used_by_change(base: Codebase, changes: Sequence[Change]) -> dict[str, Message]:
    """The files that the changed code uses, each path with the reason."""
    found: dict[str, tuple[float, Message]] = {}
    for change in changes:
        for node in changed_nodes(base, change):
            for link in base.graph.outgoing(node, DEPENDING):
                target = base.graph.nodes[link.node]
                if target.path != change.path and link.confidence > found.get(target.path, (0.0, ""))[0]:
                    verb = message(REASONS[link.kind], name=_label(base.graph, link.node))
                    found[target.path] = (link.confidence, message("impact.reasons.used_by_change", reason=verb))
    return {path: reason for path, (_, reason) in found.items()}


def covering_tests(base: Codebase, changes: Sequence[Change], affected: Sequence[AffectedPlace]) -> list[CoveringTest]:
    """Find the test files that reach the changes by calls, or are named after a changed file.

    Args:
        base: the codebase.
        changes: what changes.
        affected: the places that depend on it, tests among them.

    Returns:
        The tests, without ids, most certain first. A test file that only uses another part of a changed file comes
        after those that reach the change.
    """
    result: dict[str, CoveringTest] = {}
    by_path: dict[str, list[AffectedPlace]] = {}
    for item in affected:
        if is_test_place(item.path, item.symbol) and not base.index.is_foreign(item.path):
            by_path.setdefault(item.path, []).append(item)
    for path, items in by_path.items():
        names = tuple(dict.fromkeys(item.symbol for item in items if item.symbol))
        best = min(items, key=lambda item: (item.distance, -item.confidence))
        result[path] = CoveringTest("", path, names[:_MOST_TESTS], best.distance, best.confidence, best.reason)
    for change in changes:
        number = base.graph.by_path.get(change.path)
        for link in base.graph.incoming(number, (Edge.TESTS,)) if number is not None else ():
            path = base.graph.nodes[link.node].path
            if path not in result and link.confidence >= _LEAST_TEST and not base.index.is_foreign(path):
                reason = message("impact.reasons.tests", name=change.path)
                result[path] = CoveringTest("", path, (), 1, round(link.confidence, 2), reason)
    changed = {change.path for change in changes}
    whole = all(change.whole for change in changes)
    found = (test for test in result.values() if test.path not in changed or not is_test_path(test.path))
    return sorted(found, key=lambda test: _by_certainty(test, whole))


def _by_certainty(test: CoveringTest, whole: bool) -> tuple[bool, int, float, str]:
    direct = bool(test.tests) or test.confidence >= _NAMED_AFTER
    reaches = whole or bool(test.tests)
    return not reaches, test.distance if direct else test.distance + DEPTH, -test.confidence, test.path


def _reason(graph: Graph, via: int, link: Link) -> Message:
    reason = message(REASONS[link.kind], name=_label(graph, via))
    if link.confidence >= 0.7:
        return reason
    return message("impact.reasons.by_name" if link.confidence >= 0.5 else "impact.reasons.guess", reason=reason)


def _label(graph: Graph, node: int) -> str:
    found = graph.nodes[node]
    if found.kind == "table":
        return message("impact.table", name=found.name)
    return found.path if found.kind == "file" else found.name
