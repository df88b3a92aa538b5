"""The code graph on disk: one file beside the generations, replaced in one step.

    <CRC-32 of the next line, 8 hex digits>\\n
    <JSON: version, key of the content, ambiguous names, and for each part its size and CRC-32>\\n
    <part 1: the columns of the graph, each begun at a multiple of eight>
    <part 2: what it was linked from, as JSON; read by the next build only>

A file that is damaged or of another version counts as missing.
"""

from __future__ import annotations

import json
import os
import zlib
from collections.abc import Mapping
from dataclasses import fields
from pathlib import Path
from typing import BinaryIO

import numpy as np

from repopilot.code.graph import build
from repopilot.code.graph.graph import Graph
from repopilot.code.graph.link_state import Linkage, Linked
from repopilot.code.graph.nodes import ByName, Nodes
from repopilot.index import layout
from repopilot.index.database import storage_errors
from repopilot.index.layout import version

_FORMAT = 1
_NODES = ("kinds", "files", "lines", "ends", "starts", "text")
_EDGES = ("sources", "targets", "kinds", "confidence", "lines")
_ORDERS = ("forward", "backward", "defined")
_ALIGNED = 8
_CHECKSUM_BYTES = 9


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
    columns, graph = _pack(_columns(linked.graph))
    linkage = _json({field.name: getattr(linked.linkage, field.name) for field in fields(Linkage)})
    head = _json(
        {
            "version": file_version(),
            "key": key,
            "unresolved": linked.graph.unresolved,
            "columns": columns,
            "parts": [[len(part), zlib.crc32(part)] for part in (graph, linkage)],
        }
    )
    draft = layout.draft_of(folder / layout.GRAPH)
    with storage_errors():
        try:
            draft.write_bytes(b"".join((b"%08x\n" % zlib.crc32(head), head, b"\n", graph, linkage)))
            os.replace(draft, folder / layout.GRAPH)
        finally:
            draft.unlink(missing_ok=True)


def stored_key(folder: Path) -> str:
    """The key of the content whose graph is stored; '' when none is, or one of another version."""
    try:
        with (folder / layout.GRAPH).open("rb") as file:
            return _head(file)["key"]
    except (OSError, ValueError):
        return ""


def load(folder: Path, key: str) -> Graph | None:
    """The graph of the content `key`; None when it isn't there, is broken or of another version."""
    try:
        with (folder / layout.GRAPH).open("rb") as file:
            head = _head(file)
            return _graph(head, _part(file, head, 0)) if head["key"] == key else None
    except (OSError, ValueError):
        return None


def load_linked(folder: Path) -> Linked | None:
    """The stored graph whatever its content, and what it was linked from; None as for `load`."""
    try:
        with (folder / layout.GRAPH).open("rb") as file:
            head = _head(file)
            graph = _graph(head, _part(file, head, 0))
            return Linked(graph, Linkage(**json.loads(_part(file, head, 1))))
    except (OSError, ValueError):
        return None


def _head(file: BinaryIO) -> dict:
    """The decoded head. Raises ValueError, OSError."""
    checksum, head = file.readline(_CHECKSUM_BYTES), file.readline()[:-1]
    if checksum != b"%08x\n" % zlib.crc32(head):
        raise ValueError("the head is damaged")
    found = json.loads(head)
    if found["version"] != file_version():
        raise ValueError("another version")
    return found


def _part(file: BinaryIO, head: dict, number: int) -> bytes:
    """The next part. Raises ValueError, OSError."""
    size, checksum = head["parts"][number]
    part = file.read(size)
    if zlib.crc32(part) != checksum:
        raise ValueError("a part is damaged")
    return part


def _columns(graph: Graph) -> dict[str, np.ndarray]:
    return {
        **{f"node.{name}": getattr(graph.nodes, name) for name in _NODES},
        **{f"edge.{name}": getattr(graph, name) for name in _EDGES},
        **{f"order.{name}.{n}": part for name in _ORDERS for n, part in enumerate(getattr(graph, name))},
        "name.sums": graph.by_name.sums,
        "name.numbers": graph.by_name.numbers,
    }


def _pack(columns: Mapping[str, np.ndarray]) -> tuple[list, bytes]:
    """[[name, type, offset, length], …] and the bytes."""
    table: list = []
    pieces: list[bytes] = []
    offset = 0
    for name, column in columns.items():
        data = column.tobytes()
        table.append([name, column.dtype.str, offset, len(column)])
        pieces += [data, bytes(-len(data) % _ALIGNED)]
        offset += len(data) + len(pieces[-1])
    return table, b"".join(pieces)


def _graph(head: dict, part: bytes) -> Graph:
    column = {name: np.frombuffer(part, kind, length, at) for name, kind, at, length in head["columns"]}
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


def _json(value: object) -> bytes:
    return json.dumps(value, separators=(",", ":")).encode("ascii")
