"""An overview of a repository, computed from its index without a model. Sync; remembered by the index."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import replace

import numpy as np

from repopilot.agents.overview.best_commands import best_commands
from repopilot.agents.overview.entry_points import entry_points
from repopilot.agents.overview.flows import flows
from repopilot.agents.overview.manifests import facts
from repopilot.agents.overview.overview_values import Component, EntryPoint, NamedPlace, Overview
from repopilot.agents.overview.own_code import main_languages, own_code
from repopilot.agents.overview.purpose import purpose_of
from repopilot.agents.overview.repository_parts import component_uses, components_of, cycles, summary_between
from repopilot.agents.overview.uses import file_uses
from repopilot.code.graph.graph import Graph
from repopilot.code.graph.nodes import KINDS
from repopilot.impact.centrality import page_rank
from repopilot.index.graph.code_graph import graph_of
from repopilot.index.store import Index
from repopilot.repo.history import Commit

MOST_READ = 6
MOST_TERMS = 10
RECENT = 5
HOT = 5


def overview_of(index: Index) -> Overview:
    """What a repository is.

    Args:
        index: the repository.

    Returns:
        The overview; of an index that was asked before, the same.

    Raises:
        IndexFailed: the index is broken.
    """
    return _with_history(index.derived(_structure), index.commits)


def _structure(index: Index) -> Overview:
    """The overview without what the history says: that is read later than the code."""
    graph = graph_of(index)
    lines = own_code(index)
    uses = file_uses(graph, lines)
    components = components_of(index, graph, lines, uses)
    between = component_uses(components, uses)
    entries = entry_points(index, graph, lines)
    rank = page_rank(graph)
    purpose = purpose_of(index)
    licence = next(facts(index, "licence"), None)
    return Overview(
        name=index.name,
        commit=index.commit,
        purpose=purpose.note if purpose else "",
        purpose_source=purpose,
        languages=tuple(main_languages(index, lines).items()),
        lines=sum(info.lines for info in index.files.values()),
        files=len(index.files),
        licence=licence.value if licence else "",
        entry_points=entries,
        components=components,
        uses=between,
        cycles=cycles(len(components), between),
        commands=best_commands(index),
        flows=flows(graph, entries, components, rank.tolist()),
        reading=_reading(entries, components),
        terms=_terms(index, graph, lines, rank),
    )


def _with_history(overview: Overview, commits: Sequence[Commit]) -> Overview:
    """The overview with what changed, as far as the history is known."""
    changed = changes(commits)
    components = tuple(
        replace(component, commits=sum(changed[path] for path in component.files)) for component in overview.components
    )
    hot = hottest(changed, (path for component in components for path in component.files), HOT)
    recent = tuple((commit.sha[:8], commit.subject) for commit in commits[:RECENT])
    return replace(overview, components=components, hot=tuple(hot), recent=recent)


def changes(commits: Sequence[Commit]) -> Counter[str]:
    """How many commits changed each file."""
    return Counter(path for commit in commits for path in set(commit.paths))


def hottest(changed: Mapping[str, int], files: Iterable[str], most: int) -> list[tuple[str, int]]:
    """The files that change most often, with how many commits changed them; those that none changed are left out.

    Args:
        changed: as `changes` gives it.
        files: those that count.
        most: how many.
    """
    found = [(path, changed[path]) for path in files if changed[path]]
    return sorted(found, key=lambda each: (-each[1], each[0]))[:most]


def _reading(entries: Sequence[EntryPoint], components: Sequence[Component]) -> tuple[NamedPlace, ...]:
    """Where to start: the entry, then of each component the file with the definition that others use most."""
    found: dict[str, NamedPlace] = {}
    for entry in entries[:1]:
        found[entry.path] = NamedPlace(entry.name, entry.path, entry.line, entry.kind)
    for component in components:
        if component.symbols and len(found) < MOST_READ:
            first = component.symbols[0]
            found.setdefault(first.path, NamedPlace(first.name, first.path, first.line, component.name))
    return tuple(found.values())


def _terms(index: Index, graph: Graph, lines: Mapping[str, int], rank: np.ndarray) -> tuple[NamedPlace, ...]:
    """The names that everyone must know: types first, by how much depends on them, each with what it is."""
    found: dict[str, NamedPlace] = {}
    classes = np.flatnonzero(graph.nodes.kinds == KINDS.index("class"))
    for node in classes[np.argsort(-rank[classes], kind="stable")].tolist():
        place = graph.nodes[node]
        if place.path not in lines or place.name.startswith("_") or place.name in found:
            continue
        said = summary_between(index, place.path, place.line, place.end_line)
        found[place.name] = NamedPlace(place.name, place.path, place.line, said)
        if len(found) == MOST_TERMS:
            break
    return tuple(found.values())
