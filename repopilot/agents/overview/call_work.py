"""Which definitions of a repository call which, and how much work is behind each.

The work of a definition is its own lines plus its share of the work of what it calls, as a profiler apportions the time
of a function among its callers (Graham, Kessler, McKusick, "gprof: a call graph execution profiler", 1982), with lines
for time.
"""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass

import numpy as np

from repopilot.agents.overview.uses import SURE
from repopilot.code.graph.graph import Edge, Graph
from repopilot.code.graph.nodes import KINDS
from repopilot.resolve.uses.covering_tests import is_test_place

CLASS = KINDS.index("class")
FUNCTION = KINDS.index("function")
LIKELY = 0.6
"""The confidence of a call whose name has one definition."""
_ABSTRACT_LINES = 3
"""A longer method does something itself where it isn't overridden."""
_DAMPING = 0.9
_ROUNDS = 20
CONSTRUCTORS = frozenset(("__init__", "constructor", "new", "initialize"))
_Overrides = Callable[[int], Sequence[int]]
"""Gives the methods that override a method."""


@dataclass(frozen=True, slots=True)
class CallWork:
    """The calls between the definitions of a repository, and the work behind each.

    Attributes:
        work: lines of a definition plus its share of the work of what it calls, float (nodes,).
        calls: the nodes that each node calls.
        one_of: the node that stands for each, int (nodes,): overloads are one.
        by_name: the calls that are known by name only, as (caller, called).
        unsure: these, and the calls that may go to another override.
    """

    work: np.ndarray
    calls: Mapping[int, list[int]]
    one_of: np.ndarray
    by_name: frozenset[tuple[int, int]]
    unsure: frozenset[tuple[int, int]]


def call_work(graph: Graph, paths: Iterable[str]) -> CallWork:
    """Apportion the lines of definitions to those that call them, or pass them on as callbacks.

    Args:
        graph: the code graph.
        paths: the files that count.
    """
    size = len(graph.nodes)
    is_own = _nodes_of(graph, paths)
    is_handed_on = (graph.kinds == Edge.USES) & (graph.confidence >= SURE)
    is_handed_on &= graph.nodes.kinds[graph.targets] == FUNCTION
    is_call = graph.kinds == Edge.CALLS
    last_names = [name.rpartition(".")[2] for name in graph.nodes.names]
    overrides = _overrides_of(graph, last_names)
    inside = is_own[graph.sources] & is_own[graph.targets] & (graph.sources != graph.targets)
    wanted = ((is_call & (graph.confidence >= LIKELY)) | is_handed_on) & inside
    sources, targets = _extended(
        graph.sources[wanted],
        graph.targets[wanted],
        _dispatched(graph, last_names, np.flatnonzero(is_call & (graph.confidence < LIKELY) & inside), overrides),
    )
    sources, targets = _with_constructors(graph, last_names, sources, targets)
    known = set(zip(sources.tolist(), targets.tolist(), strict=True))
    sources, targets = _with_overrides(last_names, sources, targets, overrides)
    is_function = is_own & (graph.nodes.kinds == FUNCTION)  # a class does its work in its methods
    one_of = _overloads_as_one(graph, np.flatnonzero(is_function))
    pairs = np.unique(one_of[np.stack([sources, targets])], axis=1)
    pairs = pairs[:, pairs[0] != pairs[1]]
    sources, targets = pairs
    callers = np.maximum(1, np.bincount(targets, minlength=size))
    spans = np.where(is_function, graph.nodes.ends - graph.nodes.lines + 1, 0)
    lines = np.bincount(one_of, spans, size)
    work = lines
    for _ in range(_ROUNDS):
        work = lines + _DAMPING * np.bincount(sources, work[targets] / callers[targets], size)
    calls: dict[int, list[int]] = defaultdict(list)
    for source, target in zip(sources.tolist(), targets.tolist(), strict=True):
        calls[source].append(target)
    by_name = _unsure(graph, one_of, is_call & inside, pairs)
    works = spans > _ABSTRACT_LINES
    chosen = {(n, each) for n in set(targets.tolist()) if len(found := overrides(n)) > 1 or works[n] for each in found}
    of_several = {(int(one_of[base]), int(one_of[each])) for base, each in chosen - known}
    return CallWork(work, calls, one_of, by_name, by_name | of_several)


def _nodes_of(graph: Graph, paths: Iterable[str]) -> np.ndarray:
    """bool (nodes,): which nodes are in some files, without tests that stand beside the code."""
    is_file = np.zeros(len(graph.nodes), bool)
    is_file[[graph.by_path[path] for path in paths if path in graph.by_path]] = True
    found = is_file[graph.nodes.owners]
    for path in paths:
        for node in graph.inside(graph.by_path[path]) if path in graph.by_path else ():
            found[node] = not is_test_place(path, graph.nodes.names[node])
    return found


def _dispatched(
    graph: Graph, last_names: Sequence[str], edges: np.ndarray, overrides: _Overrides
) -> Iterator[tuple[int, int]]:
    """The calls whose name several definitions have: to the only one of them that counts, or to the method that at
    least two thirds of the others override."""
    called: dict[tuple[int, str], list[int]] = defaultdict(list)
    for source, target in _pairs(graph, edges):
        called[source, last_names[target]].append(target)
    for (source, _), found in called.items():
        overridden = {node: len({*overrides(node)}.intersection(found)) for node in found}
        best = max(found, key=overridden.__getitem__)
        if 3 * overridden[best] >= 2 * (len(found) - 1):
            yield source, best


def _unsure(graph: Graph, one_of: np.ndarray, is_call: np.ndarray, pairs: np.ndarray) -> frozenset[tuple[int, int]]:
    """The calls of which no edge is sure."""
    sure = is_call & (graph.confidence >= SURE)
    named = is_call & ~sure
    columns = ((one_of[graph.sources[chosen]], one_of[graph.targets[chosen]]) for chosen in (named, sure))
    by_name, known = (set(zip(a.tolist(), b.tolist(), strict=True)) for a, b in columns)
    return frozenset((by_name - known).intersection(zip(*pairs.tolist(), strict=True)))


def _overloads_as_one(graph: Graph, functions: np.ndarray) -> np.ndarray:
    """int (nodes,): the node that stands for each: the longest of the definitions with one name in one file."""
    one_of = np.arange(len(graph.nodes))
    longest: dict[tuple[int, str], int] = {}
    for node in functions[
        np.argsort(graph.nodes.lines[functions] - graph.nodes.ends[functions], kind="stable")
    ].tolist():
        one_of[node] = longest.setdefault((int(graph.nodes.owners[node]), graph.nodes.names[node]), node)
    return one_of


def _with_constructors(
    graph: Graph, last_names: Sequence[str], sources: np.ndarray, targets: np.ndarray
) -> tuple[np.ndarray, np.ndarray]:
    """The calls, and those from each called class to its constructors."""
    classes = [node for node in set(targets.tolist()) if graph.nodes.kinds[node] == CLASS]
    members = ((node, link.node) for node in classes for link in graph.outgoing(node, (Edge.DECLARES,)))
    made_by = ((node, each) for node, each in members if last_names[each] in (last_names[node], *CONSTRUCTORS))
    return _extended(sources, targets, made_by)


def _with_overrides(
    last_names: Sequence[str], sources: np.ndarray, targets: np.ndarray, overrides: _Overrides
) -> tuple[np.ndarray, np.ndarray]:
    """The calls, and those from a called method to the methods of subclasses that override it."""
    methods = [node for node in set(targets.tolist()) if last_names[node] not in CONSTRUCTORS]
    return _extended(sources, targets, ((node, each) for node in methods for each in overrides(node)))


def _extended(
    sources: np.ndarray, targets: np.ndarray, more: Iterable[tuple[int, int]]
) -> tuple[np.ndarray, np.ndarray]:
    extra = np.array(list(more), np.int64).reshape(-1, 2)
    return np.concatenate([sources, extra[:, 0]]), np.concatenate([targets, extra[:, 1]])


def _overrides_of(graph: Graph, last_names: Sequence[str]) -> _Overrides:
    """Index the members and heirs of classes, so that the overrides of a method are found without its classes' edges.

    An heir may declare a member several times: overloads, or a property and its setter.
    """
    owners: dict[int, list[int]] = defaultdict(list)
    heirs: dict[int, list[int]] = defaultdict(list)
    members: dict[tuple[int, str], list[int]] = defaultdict(list)
    for heir, base in _pairs(graph, graph.kinds == Edge.INHERITS):
        heirs[base].append(heir)
    for owner, member in _pairs(graph, graph.kinds == Edge.DECLARES):
        members[owner, last_names[member]].append(member)
        if graph.nodes.kinds[owner] == CLASS:
            owners[member].append(owner)

    def overrides(method: int) -> list[int]:
        below = (heir for owner in owners.get(method, ()) for heir in heirs.get(owner, ()))
        return [each for heir in below for each in members.get((heir, last_names[method]), ())]

    return overrides


def _pairs(graph: Graph, wanted: np.ndarray) -> Iterator[tuple[int, int]]:
    """The sources and targets of some edges."""
    return zip(graph.sources[wanted].tolist(), graph.targets[wanted].tolist(), strict=True)
