"""An overview of a repository, computed from its index without a model. Sync; remembered by the index."""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import replace
from itertools import islice

import numpy as np

from repopilot.agents.overview.best_commands import best_commands
from repopilot.agents.overview.data import data_of
from repopilot.agents.overview.entry_points import entry_points
from repopilot.agents.overview.flows import flows
from repopilot.agents.overview.layers import cycles
from repopilot.agents.overview.overview_values import Component, EntryPoint, Flow, NamedPlace, Overview
from repopilot.agents.overview.own_code import called_by_name, code_files, main_languages, own_code, product_code
from repopilot.agents.overview.purpose import purpose_of
from repopilot.agents.overview.repository_parts import component_uses, components_of, is_private
from repopilot.agents.overview.uses import STUBS, between, file_uses
from repopilot.code.graph.centrality import page_rank
from repopilot.code.graph.graph import Graph
from repopilot.code.graph.nodes import KINDS
from repopilot.code.languages import is_licence_path, is_product_path
from repopilot.code.symbols import reachable
from repopilot.index.graph.code_graph import graph_of
from repopilot.index.manifests import facts, project_name
from repopilot.index.store import Index
from repopilot.project.licence_text import licence_in
from repopilot.repo.history import Commit, commit_authors
from repopilot.retrieval.places.checked_docs import is_deprecated, said_of
from repopilot.types import Snapshot

MOST_READ = 6
ON_A_FLOW = 3
"""The factor for a file that a flow passes through, in the order to read files in."""
MOST_TERMS = 10
RECENT = 5
HOT = 5
YEARS = 2
YEAR_S = 365 * 86_400
MOST_PEOPLE = 3
_SPDX = re.compile(r"\(?[\w.+/-]+(?: (?:OR|AND|WITH) [\w.+()-]+)*\)?")


def overview_of(index: Index) -> Overview:
    """What a repository is.

    Args:
        index: the repository.

    Returns:
        The overview. Whatever doesn't depend on the history is computed once per index.

    Raises:
        IndexFailed: the index is broken.
    """
    return _with_history(index.derived(_structure), index.commits)


def _structure(index: Index) -> Overview:
    """The overview without facts from the history, which is read later than the code."""
    graph = graph_of(index)
    code = code_files(index)
    uses = file_uses(graph, code)
    own = own_code(index, code, uses)
    entries = entry_points(index, graph, own, uses)
    lines = product_code(own, [entry.path for entry in entries if entry.path in own], between(uses, own))
    uses = between(uses, lines)
    components = components_of(index, graph, lines, uses)
    links = component_uses(components, uses)
    ways = flows(index, graph, entries, lines, index.derived(called_by_name))
    of_code = {path: info.lines for path, info in index.files.items() if info.kind == "code" and info.language}
    of_product = {path: count for path, count in code.items() if is_product_path(path)}
    counted = [info for info in index.files.values() if info.kind == "code"] or list(index.files.values())
    purpose = purpose_of(index, (e.path for e in entries if e.kind == "facade" and not e.export_depth))
    return Overview(
        name=project_name(index),
        commit=index.commit,
        purpose=purpose.note if purpose else "",
        purpose_source=purpose,
        languages=tuple(main_languages(index, of_product or of_code).items()),
        lines=sum(info.lines for info in counted),
        files=len(counted),
        licence=_licence(index),
        entry_points=entries,
        components=components,
        uses=links,
        cycles=cycles(len(components), links),
        commands=best_commands(index, entries),
        flows=ways,
        reading=_reading(entries, ways, components, uses),
        terms=_terms(index, graph, lines),
        data=data_of(index, graph, lines),
    )


def _licence(index: Index) -> str:
    """The licence that a manifest at the root names exactly, else the one whose text stands there, else that of another
    manifest. A text of the GPL doesn't say whether later versions apply, as a manifest may."""
    declared = [fact for fact in facts(index, "licence") if fact.value not in index.files]
    said = next((fact.value for fact in declared if "/" not in fact.path), "")
    paths = sorted(path for path in index.files if "/" not in path and is_licence_path(path))
    known = list(dict.fromkeys(filter(None, (licence_in(index.text(path) or "") for path in paths))))
    known = [each for each in known if f"L{each}" not in known]  # the LGPL is an addition to the GPL
    text = ", ".join(known if all("-" in path for path in paths) else known[:1])
    if said and (("GPL" in said and "GPL" in text) or (_SPDX.fullmatch(said) and not text.startswith(said))):
        return said
    return next(filter(None, (text, said, *(fact.value for fact in declared))), "")


def _with_history(overview: Overview, commits: Sequence[Commit]) -> Overview:
    """The overview with what changed, as far as the history is known."""
    last = commits[0].at if commits else 0
    changed = Counter(path for commit in commits for path in set(commit.paths))
    components = tuple(
        replace(component, commits=sum(changed[path] for path in component.files)) for component in overview.components
    )
    own = {path for component in overview.components for path in component.files}
    changing = ((path, changed[path]) for path in own if changed[path])
    hot = sorted(changing, key=lambda each: (-each[1], each[0]))[:HOT]
    year = sum(commit.at > last - YEAR_S for commit in commits)
    # The paths of a commit that changed very many files aren't known.
    of_code = (commit for commit in commits if not own or not commit.paths or not own.isdisjoint(commit.paths))
    recent = tuple((commit.sha[:8], commit.subject) for commit in islice(of_code, RECENT))
    return replace(overview, components=components, hot=tuple(hot), recent=recent, last_commit=last, year=year)


def with_people(overview: Overview, snapshot: Snapshot, commits: Sequence[Commit]) -> Overview:
    """The overview with the people who know each component: the authors of its commits in the last YEARS years, without
    bots.

    A name that ends in `[bot]` or `(bot)` is a bot's: hosts and Weblate name them like that.

    Args:
        overview: the overview.
        snapshot: the repository, whose history is on this machine.
        commits: those of its history, newest first.
    """
    since = commits[0].at - YEARS * YEAR_S if commits else 0
    recent = [commit for commit in commits if commit.at >= since]
    names = commit_authors(snapshot, [commit.sha for commit in recent])
    authors = {sha: name for sha, name in names.items() if not name.endswith(("[bot]", "(bot)"))}
    components = []
    for component in overview.components:
        files = set(component.files)
        known = [commit for commit in recent if commit.sha in authors]
        made = Counter(authors[commit.sha] for commit in known if not files.isdisjoint(commit.paths))
        components.append(replace(component, people=tuple(name for name, _ in made.most_common(MOST_PEOPLE))))
    return replace(overview, components=tuple(components))


def _reading(
    entries: Sequence[EntryPoint],
    ways: Sequence[Flow],
    components: Sequence[Component],
    uses: Iterable[tuple[str, str]],
) -> tuple[NamedPlace, ...]:
    """Where to start: the entry, then the files that use most others or are used by most, before all those that a flow
    passes through."""
    ties = Counter(path for pair in uses for path in pair)
    on_the_way = {step.path: replace(step, note=way.title) for way in reversed(ways) for step in reversed(way.path)}
    files = {path: NamedPlace(path, path, 1, c.name) for c in components for path in c.files}
    most_used = {symbol.path: replace(symbol, note=c.name) for c in components for symbol in reversed(c.symbols)}
    places = {**files, **on_the_way, **most_used}
    central = sorted(places, key=lambda path: (-ties[path] * (ON_A_FLOW if path in on_the_way else 1), path))
    found = {entry.path: NamedPlace(entry.name, entry.path, entry.line, entry.kind) for entry in entries[:1]}
    for path in central:
        if len(found) < MOST_READ:
            found.setdefault(path, places[path])
    return tuple(found.values())


def _terms(index: Index, graph: Graph, lines: Mapping[str, int]) -> tuple[NamedPlace, ...]:
    """The names that everyone must know: types, by how much depends on them and how long they are, each with what it
    is."""
    classes = np.flatnonzero(graph.nodes.kinds == KINDS.index("class"))
    rank = page_rank(graph) * np.log1p(graph.nodes.ends - graph.nodes.lines + 1)
    ranked = [graph.nodes[node] for node in classes[np.argsort(-rank[classes], kind="stable")].tolist()]
    # What is declared in a stub is told at its definition, at the rank of the stub.
    names = dict.fromkeys(place.name for place in ranked if place.path in lines or place.path.endswith(STUBS))
    own = [place for place in reversed(ranked) if place.path in lines and not is_private(place.name)]
    best = {place.name: place for place in own}
    outside = (
        symbol
        for place in filter(None, map(best.get, names))
        for symbol in reachable(index.outline(place.path))
        if symbol.qualified == place.name and symbol.start_line == place.line and not is_deprecated(index, symbol)
    )
    shown = islice(outside, MOST_TERMS)
    return tuple(NamedPlace(s.qualified, s.path, s.start_line, said_of(index, s)) for s in shown)
