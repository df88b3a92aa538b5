"""A call graph around a definition, or the folders of a repository with what uses what, as boxes in columns. Sync."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass

import numpy as np

from repopilot.code.graph.graph import DEPENDING, Graph
from repopilot.code.languages import is_test_path
from repopilot.errors import UsageError
from repopilot.i18n import message
from repopilot.impact.call_graph import RelatedPlace, callees, callers
from repopilot.index.graph.code_graph import graph_of
from repopilot.index.store import Index

ROWS, MODULES, COLUMNS = 12, 24, 4


@dataclass(frozen=True, slots=True)
class Box:
    """A definition, file or folder; `line` is 0 for a folder, 1 for a file."""

    label: str
    path: str
    line: int
    column: int


@dataclass(frozen=True, slots=True)
class Diagram:
    """Boxes by column, the lines between them as (box, box, weight), and how many boxes each column leaves out."""

    boxes: tuple[Box, ...]
    lines: tuple[tuple[int, int, int], ...]
    left_out: tuple[int, ...] = ()


def call_diagram(index: Index, name: str) -> Diagram:
    """What uses a definition on its left, what it uses on its right.

    Args:
        index: the repository.
        name: a path, `path:Symbol` or `Class.method`.

    Raises:
        UsageError: no definition has the name.
    """
    before, after = _places(callers(index, name).places), _places(callees(index, name).places)
    path, _, symbol = name.rpartition(":")
    definition = next((s for s in index.outline(path) if s.qualified == symbol), None) if path else None
    subject = Box(symbol or name, path or name, definition.start_line if definition else 1, 1)
    boxes = [subject, *_column(before[:ROWS], 0), *_column(after[:ROWS], 2)]
    lines = [(n, 0, 1) if box.column == 0 else (0, n, 1) for n, box in enumerate(boxes) if n]
    return Diagram(tuple(boxes), tuple(lines), (max(0, len(before) - ROWS), 0, max(0, len(after) - ROWS)))


def module_diagram(index: Index) -> Diagram:
    """The folders with the program's code: what uses others on the left, what is used on the right.

    Raises:
        UsageError: fewer than two folders hold code.
    """
    graph = graph_of(index)
    paths = [path for path, node in graph.by_path.items() if graph.inside(node) and not is_test_path(path)]
    modules = _modules(paths)
    if len(modules) < 2:
        raise UsageError(message("impact.diagram.one_folder"))
    uses = _uses(graph, {path: number for number, (_, inside) in enumerate(modules) for path in inside})
    columns = _layers(len(modules), uses)
    boxes = tuple(Box(n, n, int(files == [n]), at) for (n, files), at in zip(modules, columns, strict=True))
    return Diagram(boxes, tuple((a, b, weight) for (a, b), weight in sorted(uses.items())))


def _places(found: Iterable[RelatedPlace]) -> list[RelatedPlace]:
    """One place for each definition, the program's own before its tests."""
    first = {(place.path, place.name): place for place in reversed(list(found))}
    return sorted(first.values(), key=lambda place: (is_test_path(place.path), not place.sure))


def _column(places: Sequence[RelatedPlace], column: int) -> list[Box]:
    return [Box(place.name or place.path, place.path, place.line, column) for place in places]


def _modules(paths: Sequence[str]) -> list[tuple[str, list[str]]]:
    """Folders or files, each with the files inside: the folder with most files is opened while there is room for it."""
    found = {"": list(paths)}
    whole: set[str] = set()
    while found.keys() - whole:
        opened = max(sorted(found.keys() - whole), key=lambda name: len(found[name]))
        inside: dict[str, list[str]] = {}
        for path in found[opened]:
            name = path[len(opened) :].lstrip("/").partition("/")[0]
            inside.setdefault(f"{opened}/{name}".lstrip("/"), []).append(path)
        if len(found) - 1 + len(inside) > MODULES:
            whole.add(opened)
            continue
        del found[opened]
        found |= inside
        whole |= {name for name, files in inside.items() if files == [name]}
    return sorted(found.items(), key=lambda item: -len(item[1]))


def _uses(graph: Graph, module_of: Mapping[str, int]) -> Counter[tuple[int, int]]:
    """How often one module uses another, by (user, used)."""
    files = graph.nodes.owners
    module = np.full(len(graph.nodes), -1)
    for path, number in graph.by_path.items():
        module[number] = module_of.get(path, -1)
    wanted = np.isin(graph.kinds, DEPENDING) & (graph.confidence >= 0.5)
    ends = module[files[graph.sources[wanted]]], module[files[graph.targets[wanted]]]
    pairs = zip(ends[0].tolist(), ends[1].tolist(), strict=True)
    return Counter((a, b) for a, b in pairs if a != b and a >= 0 and b >= 0)


def _layers(size: int, uses: Mapping[tuple[int, int], int]) -> list[int]:
    """A column for each module: right of those that use it more than it uses them."""
    out, into = Counter[int](), Counter[int]()
    for (a, b), weight in uses.items():
        out[a] += weight
        into[b] += weight
    columns = [0] * size
    for used in sorted(range(size), key=lambda n: into[n] - out[n]):
        users = [a for (a, b), weight in uses.items() if b == used and weight > uses.get((b, a), 0)]
        columns[used] = min(COLUMNS, 1 + max((columns[a] for a in users), default=-1))
    return columns
