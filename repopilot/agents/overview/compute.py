"""An overview of a repository, computed from its index without a model. Sync; remembered by the index."""

from __future__ import annotations

from collections import Counter
from collections.abc import Mapping, Sequence

import numpy as np

from repopilot.agents.overview.best_commands import project_commands_of
from repopilot.agents.overview.entry_points import entry_points
from repopilot.agents.overview.flows import flows
from repopilot.agents.overview.manifests import facts
from repopilot.agents.overview.overview_values import Component, EntryPoint, NamedPlace, Overview
from repopilot.agents.overview.own_code import main_languages, own_code
from repopilot.agents.overview.purpose import purpose_of
from repopilot.agents.overview.repository_parts import component_uses, components_of, cycles
from repopilot.agents.overview.uses import file_uses
from repopilot.code.graph.graph import Graph
from repopilot.impact.centrality import page_rank
from repopilot.index.graph.code_graph import graph_of
from repopilot.index.store import Index
from repopilot.retrieval.places.doc_summary import doc_summary

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
    return index.derived(_overview)


def _overview(index: Index) -> Overview:
    graph = graph_of(index)
    lines = own_code(index)
    uses = file_uses(graph, lines)
    components = components_of(index, graph, lines, uses)
    between = component_uses(components, uses)
    entries = entry_points(index, graph, lines)
    rank = page_rank(graph)
    purpose = purpose_of(index)
    licence = next(facts(index, "licence"), None)
    changed = Counter(path for commit in index.commits for path in commit.paths if path in lines)
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
        commands=project_commands_of(index),
        flows=flows(graph, entries, components, rank.tolist()),
        reading=_reading(index, entries, components),
        terms=_terms(index, graph, lines, rank),
        recent=tuple((commit.sha[:8], commit.subject) for commit in index.commits[:RECENT]),
        hot=tuple(changed.most_common(HOT)),
    )


def _reading(index: Index, entries: Sequence[EntryPoint], components: Sequence[Component]) -> tuple[NamedPlace, ...]:
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
    for node in np.argsort(-rank, kind="stable").tolist():
        place = graph.nodes[node]
        if place.kind != "class" or place.path not in lines or place.name.startswith("_") or place.name in found:
            continue
        rows = (index.text(place.path) or "").split("\n")
        said = doc_summary(rows, max(1, place.line), min(place.end_line, place.line + 12))
        found[place.name] = NamedPlace(place.name, place.path, place.line, said)
        if len(found) == MOST_TERMS:
            break
    return tuple(found.values())
