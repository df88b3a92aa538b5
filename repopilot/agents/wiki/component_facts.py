"""What the pages of all components are written from. Sync."""

from __future__ import annotations

from collections import Counter
from collections.abc import Sequence
from dataclasses import dataclass

from repopilot.agents.overview.overview_values import Overview
from repopilot.agents.overview.own_code import called_by_name
from repopilot.agents.overview.repository_parts import needed_places, tests_of
from repopilot.agents.wiki.public_names import IsPublic, public_names
from repopilot.code.graph.graph import Edge, Graph
from repopilot.foreign_text import literal
from repopilot.index.graph.code_graph import graph_of
from repopilot.index.store import Index


@dataclass
class ComponentFacts:
    """What the pages of all components are written from; `names` are the files of the pages, `links` lead to them."""

    index: Index
    overview: Overview
    names: Sequence[str]

    def __post_init__(self) -> None:
        named = zip(self.overview.components, self.names, strict=True)
        self.links: list[str] = [f"[{literal(component.name)}]({name})" for component, name in named]
        self.graph: Graph = graph_of(self.index)
        self.tests: list[list[str]] = tests_of(self.graph, self.overview.components)
        self.component_of: dict[str, int] = {
            path: number for number, component in enumerate(self.overview.components) for path in component.files
        }
        self.needed: Counter[tuple[str, int]] = needed_places(self.graph, self.component_of)
        inherited = self.graph.targets[self.graph.kinds == Edge.INHERITS].tolist()
        self.bases: set[tuple[str, int]] = {
            (place.path, place.line) for place in map(self.graph.nodes.__getitem__, inherited)
        }
        self.called: Counter[str] = self.index.derived(called_by_name)
        self.is_public: IsPublic = public_names(self.index, self.graph, self.overview.entry_points)
        self.is_imported: bool = any(entry.kind == "facade" for entry in self.overview.entry_points)
