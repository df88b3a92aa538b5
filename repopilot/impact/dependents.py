"""What depends on a change: code by hops in the code graph, and the tests that cover it."""

from __future__ import annotations

from collections.abc import Sequence

from repopilot.code.graph.graph import DEPENDING, Edge, Graph, Link, dependents
from repopilot.code.languages import is_test_path
from repopilot.i18n import Message, message
from repopilot.impact.change import Change
from repopilot.impact.codebase import Codebase, changed_nodes
from repopilot.index.store import Index
from repopilot.results import AffectedPlace, CoveringTest

DEPTH = 3
"""Hops along which dependents are followed."""
_LEAST_TEST = 0.5
_NAMED_AFTER = 0.9
_MOST_TESTS = 20

REASONS = {
    Edge.DECLARES: "impact.reasons.declares",
    Edge.IMPORTS: "impact.reasons.imports",
    Edge.CALLS: "impact.reasons.calls",
    Edge.INHERITS: "impact.reasons.inherits",
    Edge.USES: "impact.reasons.uses",
    Edge.TESTS: "impact.reasons.tests",
}
"""Keys of the texts that say what the source of an edge does to its target."""


def affected_places(base: Codebase, changes: Sequence[Change]) -> list[AffectedPlace]:
    """Everything that depends on the changes within DEPTH hops, nearest and surest first; tests among it, ids empty."""
    graph = base.graph
    start = [node for change in changes for node in changed_nodes(base, change)]
    changed = {change.path for change in changes}
    found = []
    for node, (distance, via, link) in dependents(graph, start, DEPTH).items():
        place = graph.nodes[node]
        if place.path not in changed and place.kind != "package":
            symbol = "" if place.kind == "file" else place.name
            line = link.line if link.line else place.line
            reason = _reason(graph, via, link)
            confidence = round(link.confidence, 2)
            origin = graph.nodes[via].path
            found.append(AffectedPlace("", place.path, symbol, place.kind, line, distance, confidence, reason, origin))
    return sorted(found, key=lambda item: (item.distance, -item.confidence, not item.symbol, item.path, item.line))


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
    """The reason why the changed code uses a file, by its path."""
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
        The tests, without ids, most certain first. A file that only uses something else of a changed file comes after
        those with tests that reach the change.
    """
    result: dict[str, CoveringTest] = {}
    by_path: dict[str, list[AffectedPlace]] = {}
    for item in affected:
        if is_test_path(item.path):
            by_path.setdefault(item.path, []).append(item)
    for path, items in by_path.items():
        names = tuple(dict.fromkeys(item.symbol for item in items if item.symbol))
        best = items[0]
        result[path] = CoveringTest("", path, names[:_MOST_TESTS], best.distance, best.confidence, best.reason)
    for change in changes:
        number = base.graph.by_path.get(change.path)
        for link in base.graph.incoming(number, (Edge.TESTS,)) if number is not None else ():
            path = base.graph.nodes[link.node].path
            if path not in result and link.confidence >= _LEAST_TEST:
                reason = message("impact.reasons.tests", name=change.path)
                result[path] = CoveringTest("", path, (), 1, round(link.confidence, 2), reason)
    changed = {change.path for change in changes}
    return sorted((test for test in result.values() if test.path not in changed), key=_by_certainty)


def _by_certainty(test: CoveringTest) -> tuple[int, float, str]:
    direct = test.tests or test.confidence >= _NAMED_AFTER
    return test.distance if direct else test.distance + DEPTH, -test.confidence, test.path


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
