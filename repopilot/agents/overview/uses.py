"""What uses what between the files of a repository, from its code graph. Sync."""

from __future__ import annotations

from collections.abc import Collection
from dataclasses import dataclass

import numpy as np

from repopilot.code.graph.graph import DEPENDING, Edge, Graph

SURE = 0.75
"""The confidence of a use that an import or a scope resolves; a name that only one definition has isn't one."""


@dataclass(slots=True)
class FileUse:
    """One file uses another: how often, and the line of the surest use."""

    count: int
    line: int


def file_uses(graph: Graph, files: Collection[str]) -> dict[tuple[str, str], FileUse]:
    """How files use each other, by (user, used).

    Args:
        graph: of the repository.
        files: the files that count.
    """
    wanted = np.isin(graph.kinds, [int(kind) for kind in DEPENDING]) & (graph.confidence >= SURE)
    wanted &= graph.kinds != int(Edge.TESTS)
    owner = np.where(graph.nodes.files >= 0, graph.nodes.files, np.arange(len(graph.nodes.files)))
    path_of = {number: path for path, number in graph.by_path.items() if path in files}
    columns = (owner[graph.sources[wanted]], owner[graph.targets[wanted]], graph.lines[wanted])
    found: dict[tuple[str, str], FileUse] = {}
    for one, other, line in zip(*(column.tolist() for column in columns), strict=True):
        if one == other or one not in path_of or other not in path_of:
            continue
        use = found.setdefault((path_of[one], path_of[other]), FileUse(0, line))
        use.count += 1
    return found
