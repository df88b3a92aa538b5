"""The code graph on disk: one file beside the generations, see column_file.py.

The columns are those of the graph; the rest is what it was linked from, as JSON, which only the next build reads.
"""

from __future__ import annotations

import json
from dataclasses import fields
from pathlib import Path

import numpy as np

from repopilot.code.graph import build
from repopilot.code.graph.graph import Graph
from repopilot.code.graph.link_state import Linkage, Linked
from repopilot.code.graph.nodes import ByName, Nodes
from repopilot.index.storage import column_file, layout
from repopilot.index.storage.layout import version

_FORMAT = 1
_NODES = ("kinds", "files", "lines", "ends", "starts", "text")
_EDGES = ("sources", "targets", "kinds", "confidence", "lines")
_ORDERS = ("forward", "backward", "defined")


def file_version() -> str:
    """The version of the format and of everything that decides what is in the file."""
    return f"{_FORMAT}.{build.VERSION}.{version()}"


def save(folder: Path, key: str, linked: Linked) -> None:
    """Replace the stored graph.

    Args:
        folder: the folder of the repository's index.
        key: identifies the content the graph was linked from.
        linked: the graph, and what the next build needs to update it.

    Raises:
        StorageError: it can't be written.
    """
    head = {"version": file_version(), "key": key, "unresolved": linked.graph.unresolved}
    linkage = {field.name: getattr(linked.linkage, field.name) for field in fields(Linkage)}
    rest = json.dumps(linkage, separators=(",", ":")).encode("ascii")
    column_file.save(folder / layout.GRAPH, head, _columns(linked.graph), rest)


def stored_key(folder: Path) -> str:
    """The key of the content whose graph is stored; '' when none is, or one of another version."""
    try:
        with (folder / layout.GRAPH).open("rb") as file:
            return column_file.read_whole_head(file, file_version())["key"]
    except (OSError, ValueError):
        return ""


def load(folder: Path, key: str) -> Graph | None:
    """The graph of the content `key`; None when it isn't there, is broken or of another version."""
    try:
        with (folder / layout.GRAPH).open("rb") as file:
            head = column_file.read_head(file, file_version())
            return _graph(head, column_file.read_columns(file, head)) if head["key"] == key else None
    except (OSError, ValueError):
        return None


def load_linked(folder: Path) -> Linked | None:
    """The stored graph whatever its content, and what it was linked from; None as for `load`."""
    try:
        with (folder / layout.GRAPH).open("rb") as file:
            head = column_file.read_head(file, file_version())
            graph = _graph(head, column_file.read_columns(file, head))
            return Linked(graph, Linkage(**json.loads(column_file.read_rest(file, head))))
    except (OSError, ValueError):
        return None


def _columns(graph: Graph) -> dict[str, np.ndarray]:
    return {
        **{f"node.{name}": getattr(graph.nodes, name) for name in _NODES},
        **{f"edge.{name}": getattr(graph, name) for name in _EDGES},
        **{f"order.{name}.{n}": part for name in _ORDERS for n, part in enumerate(getattr(graph, name))},
        "name.sums": graph.by_name.sums,
        "name.numbers": graph.by_name.numbers,
    }


def _graph(head: dict, column: dict[str, np.ndarray]) -> Graph:
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
        unresolved=head["unresolved"],
    )
