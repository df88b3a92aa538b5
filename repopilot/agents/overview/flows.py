"""The most important flows through a repository: chains of calls from its entry points to where the work is done.

A definition matters by the work behind it (see call_work.py), and by how often documents and tests call it. Flows are
chosen greedily: each is the chain whose calls matter most in total, beside the calls that the flows before it show.
Calls within files that these pass through count less, so that together the flows show more of the repository.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable, Collection, Iterable, Mapping, Sequence
from dataclasses import replace
from functools import partial
from itertools import pairwise, takewhile

import numpy as np

from repopilot.agents.overview.call_sites import usual_calls
from repopilot.agents.overview.call_work import CONSTRUCTORS, FUNCTION, CallWork, call_work
from repopilot.agents.overview.offered import offered
from repopilot.agents.overview.overview_values import UNSURE, EntryPoint, Flow, NamedPlace
from repopilot.code.graph.graph import Graph
from repopilot.code.languages import is_public
from repopilot.index.store import Index

MOST_FLOWS = 3
LONGEST = 8
"""Steps of one flow."""
FEWEST_STEPS = 3
_USUAL_STEPS = 5
"""A longer flow ends at its last call that counts."""
MOST_STATIONS = 2000
"""How many definitions flows may pass through, those that matter most."""
_NAMED = 0.3
"""The weight of being called by documents and tests, beside that of work."""
_BY_NAME = 0.6
"""The factor for a call that is known by name only."""
_SHOWN = 0.2
"""The factor for a call at a definition that another flow shows."""
_SHOWN_FILE = 0.6
"""The factor for a call of a definition in a file that another flow passes through."""
_INNER_START = 0.5
"""The factor for a flow that begins at a definition that users don't import, and again for one they don't call."""
_LEAST = 0.25
"""A call counts where its value is at least this share of the highest one in its flow."""
_BEAM = 4
"""How many of the best chains to one definition are continued."""


def flows(
    index: Index,
    graph: Graph,
    entries: Sequence[EntryPoint],
    paths: Collection[str],
    told: Mapping[str, int],
    *,
    sure: bool = False,
) -> tuple[Flow, ...]:
    """Find the most important flows.

    Args:
        index: the repository.
        graph: its code graph.
        entries: where it is entered. A program can only be the first step of a flow.
        paths: the files of its own code.
        told: how often documents and tests call each name.
        sure: whether every call must be known by more than its name, and happen where nothing fails.
    """
    calls = call_work(graph, paths)
    programs = {int(calls.one_of[node]) for entry in entries if (node := _program(graph, entry)) is not None}
    matters = _what_matters(graph, calls, programs, told)
    called = {node for nodes in calls.calls.values() for node in nodes}
    imported = offered(graph, entries) or matters
    starts = {
        node: 1.0
        if node in programs
        else _INNER_START ** ((node not in imported) + (not _is_for_users(graph, node, called, told)))
        for node in matters
    }
    between = {
        node: {
            called: matters[node] * matters[called] * (_BY_NAME if (node, called) in calls.by_name else 1.0)
            for called in calls.calls.get(node, ())
            if called in matters and not (sure and (node, called) in calls.unsure)
        }
        for node in matters
    }
    entered = {node: factor for node, factor in starts.items() if factor == 1.0}
    found: list[tuple[int, ...]] = []
    is_usual = usual_calls(index, graph)
    find = partial(_usual_way, is_usual) if sure else _best_way
    for begun in (entered, *[starts] * MOST_FLOWS):
        if len(found) < MOST_FLOWS and (way := find(graph, between, begun, programs, found)):
            found.append(way)
    unsure = {pair for way in found for pair in pairwise(way) if pair in calls.unsure or not is_usual(*pair)}
    return tuple(Flow(graph.nodes.name(way[0]), _steps(graph, _without_tail(way, between), unsure)) for way in found)


def _what_matters(
    graph: Graph, calls: CallWork, programs: Collection[int], told: Mapping[str, int]
) -> dict[int, float]:
    """The definitions that matter most, each with its weight as a factor."""
    functions = np.flatnonzero((calls.work > 0) & (graph.nodes.kinds == FUNCTION))
    nodes = np.union1d(functions, np.array(sorted(programs), np.int64))
    if not len(nodes):
        return {}
    names = [_told_name(graph.nodes.names[node]) for node in nodes.tolist()]
    often = Counter(names)
    work = _standard(np.log1p(calls.work[nodes]))
    named = _standard(np.array([np.log1p(told.get(name, 0) / often[name]) for name in names]))
    value = work + _NAMED * named
    best = np.argsort(-value, kind="stable")[:MOST_STATIONS]
    return dict(zip(nodes[best].tolist(), np.exp(value[best] / 2).tolist(), strict=True))


def _told_name(name: str) -> str:
    """The name by which users call a definition; for a constructor, the name of its class."""
    owner, _, last = name.rpartition(".")
    return (owner.rpartition(".")[2] if owner and last in CONSTRUCTORS else last).lstrip("#")


def _standard(values: np.ndarray) -> np.ndarray:
    return (values - values.mean()) / (values.std() or 1.0)


def _is_for_users(graph: Graph, node: int, called: Collection[int], told: Mapping[str, int]) -> bool:
    """Whether users call a definition: it is public, and documents and tests call it, or nothing else does."""
    name = graph.nodes.name(node)
    return (node not in called or _told_name(name) in told) and is_public(name, "", graph.nodes[node].path)


def _without_tail(way: tuple[int, ...], between: Mapping[int, Mapping[int, float]]) -> tuple[int, ...]:
    """A chain of calls up to its last call that counts, but with at least _USUAL_STEPS steps where it has them."""
    values = [between[caller][called] for caller, called in pairwise(way)]
    last = max(place for place, value in enumerate(values) if value >= _LEAST * max(values))
    return way[: max(_USUAL_STEPS, last + 2)]


def _comes_back(graph: Graph, last: Sequence[int]) -> bool:
    """Whether three methods of one name follow each other: after a call of the overridden method, no other override
    runs."""
    return len(last) > 2 and len({graph.nodes.names[node].rpartition(".")[2] for node in last}) == 1


def _usual_way(
    is_usual: Callable[[int, int], bool],
    graph: Graph,
    between: Mapping[int, dict[int, float]],
    starts: Mapping[int, float],
    programs: Collection[int],
    found: Sequence[Sequence[int]],
) -> tuple[int, ...]:
    """The best chain of which no call is made in another case only; such calls are taken out of `between`."""
    while way := _best_way(graph, between, starts, programs, found):
        unusual = [pair for pair in pairwise(way) if not is_usual(*pair)]
        if not unusual:
            break
        for caller, called in unusual:
            del between[caller][called]
    return way


def _best_way(
    graph: Graph,
    between: Mapping[int, Mapping[int, float]],
    starts: Mapping[int, float],
    programs: Collection[int],
    found: Iterable[Sequence[int]],
) -> tuple[int, ...]:
    """The chain whose calls count most, without those that other flows show; () for none. A beam search that keeps the
    best chains to each definition."""
    shown = {node for way in found for node in way}
    taken = {pair for way in found for pair in pairwise(way)}
    files = {graph.file_of(node) for node in shown}
    beside = {node for node in between if graph.file_of(node) in files}
    best: tuple[float, tuple[int, ...]] = (0.0, ())
    ways: list[tuple[float, tuple[int, ...]]] = [(0.0, (start,)) for start in starts]
    for length in range(2, LONGEST + 1):
        to: dict[int, list[tuple[float, tuple[int, ...]]]] = {}
        for worth, way in ways:
            for called, value in between[way[-1]].items():
                if called in way or called in programs or _comes_back(graph, (*way[-2:], called)):
                    continue
                more = 0.0 if (way[-1], called) in taken else value * starts[way[0]]
                more *= _SHOWN ** ((called in shown) + (way[-1] in shown)) * _SHOWN_FILE ** (called in beside)
                to.setdefault(called, []).append((worth + more, (*way, called)))
        ways = [each for group in to.values() for each in sorted(group, key=lambda e: -e[0])[:_BEAM]]
        if length >= FEWEST_STEPS:
            best = max([best, *ways], key=lambda each: each[0])
    return best[1]


def _program(graph: Graph, entry: EntryPoint) -> int | None:
    """The last definition of a program's name in its file (of overloads, the one with the body); else the file."""
    if entry.kind == "facade" or entry.path not in graph.by_path:
        return None
    file = graph.by_path[entry.path]
    if not entry.symbol:
        return file
    return next((node for node in reversed(graph.inside(file)) if graph.nodes.name(node) == entry.symbol), None)


def _steps(graph: Graph, way: Sequence[int], unsure: Collection[tuple[int, int]]) -> tuple[NamedPlace, ...]:
    notes = ["", *(UNSURE if pair in unsure else "" for pair in pairwise(way))]
    places = [graph.nodes[node] for node in way]
    return tuple(NamedPlace(p.name, p.path, max(1, p.line), note) for p, note in zip(places, notes, strict=True))


def sure_flows(found: Iterable[Flow]) -> tuple[Flow, ...]:
    """Flows up to their first call that is unsure, where they still have FEWEST_STEPS steps."""
    cut = (replace(flow, path=tuple(takewhile(lambda step: step.note != UNSURE, flow.path))) for flow in found)
    return tuple(flow for flow in cut if len(flow.path) >= FEWEST_STEPS)
