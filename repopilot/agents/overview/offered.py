"""What a repository offers to those who import it. Pure."""

from __future__ import annotations

from collections.abc import Iterable

from repopilot.agents.overview.overview_values import EntryPoint
from repopilot.agents.overview.uses import reached
from repopilot.code.graph.graph import Edge, Graph
from repopilot.code.graph.nodes import FILE, KINDS
from repopilot.code.languages import C_FAMILY, folder_is_module, language_of

_FUNCTION = KINDS.index("function")


def offered(graph: Graph, entries: Iterable[EntryPoint]) -> set[int]:
    """What users import: the definitions of a facade and those that it imports, with their members and bases.

    Args:
        graph: the code graph.
        entries: where it is entered.

    Returns:
        Nodes; none where users import nothing.
    """
    facades = [file for e in entries if e.kind == "facade" and not e.export_depth for file in _module(graph, e.path)]
    files = {*facades, *reached(facades, lambda file: _passed_on(graph, file))}
    found = {node for file in files for node in (*graph.inside(file), *_declared(graph, file))}
    found |= {link.node for file in files for link in graph.outgoing(file, (Edge.IMPORTS, Edge.USES))}
    found = {node for node in found if graph.nodes.kinds[node] != FILE}
    members = (Edge.DECLARES, Edge.INHERITS)
    return found | reached(found, lambda node: (link.node for link in graph.outgoing(node, members)))


def _passed_on(graph: Graph, file: int) -> list[int]:
    """The files whose definitions a file re-exports: those it imports, where it defines no function."""
    if any(graph.nodes.kinds[node] == _FUNCTION for node in graph.inside(file)):
        return []
    return [link.node for link in graph.outgoing(file, (Edge.IMPORTS,))]


def _module(graph: Graph, path: str) -> list[int]:
    """The file of a facade; in languages whose modules are folders, all files beside it."""
    if not folder_is_module(language_of(path) or ""):
        return [graph.by_path[path]] if path in graph.by_path else []
    folder = path.rpartition("/")[0]
    return [number for other, number in graph.by_path.items() if other.rpartition("/")[0] == folder]


def _declared(graph: Graph, file: int) -> list[int]:
    """The definitions of what a header declares."""
    if language_of(graph.nodes[file].path) not in C_FAMILY:
        return []
    return [node for own in graph.inside(file) for node in graph.by_name[graph.nodes.name(own)]]
