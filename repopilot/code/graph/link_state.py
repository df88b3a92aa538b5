"""What a graph was linked from, kept with it, so that the next one links again only what can have changed. Pure.

All of it is made of lists, dicts, strings and numbers: it is the same after a journey through JSON.
"""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np

from repopilot.code.graph.graph import Graph
from repopilot.code.graph.import_resolver import ImportTarget
from repopilot.code.graph.nodes import FILE, PACKAGE
from repopilot.code.split import FileAnalysis

Outline = list[list[str]]
"""The definitions of a file in order: [name, qualified name, kind]."""

Tie = list
"""One import, resolved: [files, {local name: [files, name in them]}, is it a star import?]. Files are numbers."""


@dataclass(frozen=True, slots=True)
class Linkage:
    """By file, in the order of the graph. `keys` tell contents apart; the edges of the uses in file n are
    `spans[n][0]:spans[n][1]` of the graph's; `unresolved` are those of the graph by the file that uses the name."""

    paths: list[str]
    keys: list[str]
    languages: list[str]
    packages: list[str]
    outlines: list[Outline]
    ties: list[list[Tie]]
    unresolved: list[dict[str, int]]
    spans: list[list[int]]


@dataclass(frozen=True, slots=True)
class Linked:
    """A graph with what it was linked from."""

    graph: Graph
    linkage: Linkage


def outline(file: FileAnalysis) -> Outline:
    """The definitions of a file, as far as other files can see them."""
    return [[symbol.name, symbol.qualified, symbol.kind] for symbol in file.symbols]


def ties(targets: Sequence[ImportTarget]) -> list[Tie]:
    """The imports of a file, without where they are written."""
    return [
        [list(t.files), {local: [list(files), name] for local, (files, name) in t.bound.items()}, t.star]
        for t in targets
    ]


class KeptLinks:
    """The links of an earlier graph, told in the numbers of the nodes of a new one."""

    def __init__(self, before: Linked, paths: Sequence[str], outlines: Sequence[Outline], first: int) -> None:
        """`first` is the new node of the first definition; they follow each other file by file."""
        graph, linkage = before.graph, before.linkage
        numbers = {path: number for number, path in enumerate(paths)}
        new = [numbers.get(path, -1) for path in linkage.paths]
        nodes = np.full(len(graph.nodes), -1, np.int32)
        nodes[: len(new)] = new
        starts = first + np.concatenate(([0], np.cumsum([len(found) for found in outlines], dtype=np.int64)))
        at = int(np.count_nonzero((graph.nodes.kinds == FILE) | (graph.nodes.kinds == PACKAGE)))
        for number, old in zip(new, linkage.outlines, strict=True):
            if number >= 0:
                nodes[at : at + len(old)] = _places(old, outlines[number], int(starts[number]))
            at += len(old)
        self._spans = {number: span for number, span in zip(new, linkage.spans, strict=True) if number >= 0}
        self._columns = (nodes[graph.sources], nodes[graph.targets], graph.kinds, graph.confidence, graph.lines)
        self._unresolved = dict(zip(new, linkage.unresolved, strict=True))

    def of(self, file: int) -> tuple[np.ndarray, ...]:
        """The edges of the uses in a file: the columns of a graph. A node that is gone is negative."""
        span = slice(*self._spans[file])
        return tuple(column[span] for column in self._columns)

    def torn(self) -> set[int]:
        """The files with a link to or from what is gone."""
        broken = np.flatnonzero((self._columns[0] < 0) | (self._columns[1] < 0))
        return {
            n
            for n, (start, end) in self._spans.items()
            if np.searchsorted(broken, start) < np.searchsorted(broken, end)
        }

    def unresolved(self, file: int) -> dict[str, int]:
        """The ambiguous names of a file."""
        return self._unresolved[file]


def _places(old: Outline, new: Outline, start: int) -> Sequence[int]:
    """The new node of each old definition: the one with the same name, the first for the first and so on; -1 for none.
    `start` is the node of the first new one."""
    if old == new:
        return range(start, start + len(new))
    places: dict[str, list[int]] = defaultdict(list)
    for place, (name, _, _) in enumerate(new):
        places[name].append(start + place)
    result = []
    for name, _, _ in old:
        result.append(places[name].pop(0) if places.get(name) else -1)
    return result
