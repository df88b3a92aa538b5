"""The code graph on disk: one file beside the generations, see column_file.py.

Its columns are those of the graph.
"""

from __future__ import annotations

import os
from contextlib import suppress
from pathlib import Path

import numpy as np

from repopilot.code.graph.graph import VERSION, Graph
from repopilot.code.graph.nodes import ByName, Nodes
from repopilot.index.storage import column_file, layout
from repopilot.index.storage.column_file import Stored
from repopilot.index.storage.layout import version

_FORMAT = 2
_NODES = ("kinds", "files", "lines", "ends", "starts", "text")
_EDGES = ("sources", "targets", "kinds", "confidence", "lines")
_ORDERS = ("forward", "backward", "defined")


def file_version() -> str:
    """The version of the format and of everything that decides what is in the file."""
    return f"{_FORMAT}.{VERSION}.{version()}"


def save(folder: Path, key: str, graph: Graph, name: str = layout.GRAPH) -> None:
    """Replace the stored graph.

    Args:
        folder: the folder of the repository's index.
        key: identifies the content the graph was linked from.
        graph: the graph.
        name: the file.

    Raises:
        StorageError: it can't be written.
    """
    head = {"version": file_version(), "key": key, "unresolved": graph.unresolved}
    column_file.save(folder / name, head, _columns(graph))


def load(folder: Path, key: str) -> Graph | None:
    """The graph of the content `key`, also one that was linked ahead, which becomes the stored one.

    Returns:
        The graph; None when it isn't there, is broken or of another version.
    """
    for name in (layout.GRAPH, layout.GRAPH_AHEAD):
        found = column_file.load(folder / name, file_version())
        if found is not None and found.head["key"] == key:
            if name == layout.GRAPH_AHEAD:
                with suppress(OSError):  # another process may have moved it, or the folder can't be written
                    os.replace(folder / name, folder / layout.GRAPH)
            return _graph(found)
    return None


def _columns(graph: Graph) -> dict[str, np.ndarray]:
    return {
        **{f"node.{name}": getattr(graph.nodes, name) for name in _NODES},
        **{f"edge.{name}": getattr(graph, name) for name in _EDGES},
        **{f"order.{name}.{n}": part for name in _ORDERS for n, part in enumerate(getattr(graph, name))},
        "name.sums": graph.by_name.sums,
        "name.numbers": graph.by_name.numbers,
    }


def _graph(stored: Stored) -> Graph:
    column = stored.columns
    nodes = Nodes(*(column[f"node.{name}"] for name in _NODES))
    forward, backward, defined = ((column[f"order.{name}.0"], column[f"order.{name}.1"]) for name in _ORDERS)
    return Graph(
        nodes,
        by_name=ByName(nodes, column["name.sums"], column["name.numbers"]),
        by_path={path: number for number, path in enumerate(nodes.paths)},
        sources=column["edge.sources"],
        targets=column["edge.targets"],
        kinds=column["edge.kinds"],
        confidence=column["edge.confidence"],
        lines=column["edge.lines"],
        forward=forward,
        backward=backward,
        defined=defined,
        unresolved=stored.head["unresolved"],
    )
