"""What a graph was linked from, stored with it, so that the next build relinks only what can have changed. Pure.

It consists of lists, dicts, strings and numbers, and is the same after a round trip through JSON.
"""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Sequence
from dataclasses import dataclass
from zlib import crc32

import numpy as np

from repopilot.code.graph.graph import Graph
from repopilot.code.graph.import_resolver import ImportTarget
from repopilot.code.graph.nodes import FILE, PACKAGE
from repopilot.code.split import FileAnalysis

Outline = list[list[str]]
"""The definitions of a file in order: [name, qualified name, kind, digest of the signature]."""

ImportRecord = list
"""An `ImportTarget` without its line: [files, {local name: [files, name in them]}, is it a star import?]."""


@dataclass(frozen=True, slots=True)
class Linkage:
    """What the links of each file depend on; every list is by file, in the order of the graph.

    `keys` identify contents; the edges of the uses in file n are `spans[n][0]:spans[n][1]` of the graph's;
    `unresolved` are those of the graph by the file that uses the name.
    """

    paths: list[str]
    keys: list[str]
    languages: list[str]
    packages: list[str]
    outlines: list[Outline]
    imports: list[list[ImportRecord]]
    unresolved: list[dict[str, int]]
    spans: list[list[int]]


@dataclass(frozen=True, slots=True)
class Linked:
    """A graph, and what it was linked from."""

    graph: Graph
    linkage: Linkage


def outline(file: FileAnalysis) -> Outline:
    """The definitions of a file as other files see them."""
    return [[s.name, s.qualified, s.kind, f"{crc32(s.signature.encode()):x}"] for s in file.symbols]


def import_records(targets: Sequence[ImportTarget]) -> list[ImportRecord]:
    """The resolved imports of a file as records."""
    return [
        [list(t.files), {local: [list(files), name] for local, (files, name) in t.bound.items()}, t.star]
        for t in targets
    ]


class EarlierLinks:
    """The links of an earlier graph, in the node numbers of a new one."""

    def __init__(self, before: Linked, paths: Sequence[str], outlines: Sequence[Outline], first: int) -> None:
        """Renumber the links.

        Args:
            before: the earlier graph.
            paths: the paths of the new graph's files.
            outlines: their definitions.
            first: the node of the first definition in the new graph; the others follow, file by file.
        """
        graph, linkage = before.graph, before.linkage
        numbers = {path: number for number, path in enumerate(paths)}
        new = [numbers.get(path, -1) for path in linkage.paths]
        nodes = np.full(len(graph.nodes), -1, np.int32)
        nodes[: len(new)] = new
        starts = first + np.concatenate(([0], np.cumsum([len(found) for found in outlines], dtype=np.int64)))
        at = int(np.count_nonzero((graph.nodes.kinds == FILE) | (graph.nodes.kinds == PACKAGE)))
        for number, old in zip(new, linkage.outlines, strict=True):
            if number >= 0:
                nodes[at : at + len(old)] = _new_nodes(old, outlines[number], int(starts[number]))
            at += len(old)
        self._spans = {number: span for number, span in zip(new, linkage.spans, strict=True) if number >= 0}
        self._columns = (nodes[graph.sources], nodes[graph.targets], graph.kinds, graph.confidence, graph.lines)
        self._unresolved = dict(zip(new, linkage.unresolved, strict=True))

    def of(self, file: int) -> tuple[np.ndarray, ...]:
        """The edges of the uses in a file, as columns of a graph. Nodes that no longer exist are negative."""
        span = slice(*self._spans[file])
        return tuple(column[span] for column in self._columns)

    def files_with_broken_edges(self) -> set[int]:
        """The files with an edge from or to a node that no longer exists."""
        broken = np.flatnonzero((self._columns[0] < 0) | (self._columns[1] < 0))
        return {
            n
            for n, (start, end) in self._spans.items()
            if np.searchsorted(broken, start) < np.searchsorted(broken, end)
        }

    def unresolved(self, file: int) -> dict[str, int]:
        """The ambiguous names of a file, with how often it uses them."""
        return self._unresolved[file]


def _new_nodes(old: Outline, new: Outline, start: int) -> Sequence[int]:
    """The new node of each old definition, -1 for none; definitions of one name correspond in their order.

    Args:
        old: the definitions of a file in the earlier graph.
        new: those in the new graph.
        start: the node of the first of the new ones.
    """
    if old == new:
        return range(start, start + len(new))
    by_name: dict[str, list[int]] = defaultdict(list)
    for offset, (name, *_) in enumerate(new):
        by_name[name].append(start + offset)
    result = []
    for name, *_ in old:
        result.append(by_name[name].pop(0) if by_name.get(name) else -1)
    return result
